#pragma once

#include <string>
#include <vector>

#include "daemonset/mounts.h"
#include "daemonset/settings.h"
#include "engine/result.h"
#include "installer/run_pass.h"

namespace ctkit::installer::host {

/// Brings the toolkit's files to the install folder, from the artifacts that the settings name or the image has.
/// Without any, and without a word of the settings, what is there stays. `low_level` are the programs that the daemon's
/// own handlers start.
engine::Result<ToolkitFiles> install_toolkit_files(const daemonset::Settings& settings,
                                                   const std::vector<daemonset::MappedFolder>& folders,
                                                   const std::vector<std::string>& low_level,
                                                   const engine::FileReader& host_files);

/// Makes the control device nodes that are missing where the driver's are; says which.
engine::Result<std::vector<std::string>> make_device_nodes(const std::string& dev_root);

}  // namespace ctkit::installer::host
