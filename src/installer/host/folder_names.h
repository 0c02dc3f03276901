#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// The names in an open folder, sorted by bytes, without `.` and `..`; `path` is for the error.
engine::Result<std::vector<std::string>> read_names(UniqueFd folder, std::string_view path);

}  // namespace ctkit::installer::host
