#pragma once

#include <string_view>

#include "engine/result.h"

namespace ctkit::installer::host {

/// Writes all of the text to the open file, over interruptions; `path` is for the error.
engine::Result<void> write_all(int file, std::string_view text, std::string_view path);

}  // namespace ctkit::installer::host
