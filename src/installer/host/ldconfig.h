#pragma once

#include <string>

#include "engine/result.h"
#include "installer/host/root_folder.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// The host's ldconfig as a sealed copy in memory, which nobody in a container can change. Of
/// Debian's wrapper script the real program is taken: `PATH.real`, if there is one.
engine::Result<UniqueFd> load_ldconfig(const std::string& path);

/// Runs the program in a process of its own whose root is the container's, without network, other
/// mounts, device nodes, environment or new rights, for a minute at most, and waits for it.
engine::Result<void> run_ldconfig(const UniqueFd& program, const RootFolder& root);

}  // namespace ctkit::installer::host
