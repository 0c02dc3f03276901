#pragma once

#include <string>

#include "engine/result.h"
#include "installer/clock.h"
#include "installer/host/root_folder.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// Connects to the stream socket that the path below the root names, however long the path is; the
/// descriptor doesn't block. `unreachable` if there is none, nobody listens or nobody accepts by
/// the deadline; `permission`.
engine::Result<UniqueFd> connect_below(const RootFolder& root, const std::string& path, Moment deadline);

}  // namespace ctkit::installer::host
