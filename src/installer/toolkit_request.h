#pragma once

#include <string>
#include <vector>

#include "daemonset/settings.h"
#include "engine/engine.h"
#include "engine/file_reader.h"
#include "toolkit/config_settings.h"

namespace ctkit::installer {

/// What the settings say for the toolkit's config.toml. `low_level` are the daemon's own runtimes; `here` our files,
/// which show the driver root, `host_files` the host's.
toolkit::ConfigSettings make_toolkit_config(const daemonset::Settings& settings,
                                            const std::vector<std::string>& low_level,
                                            const engine::FileReader& here,
                                            const engine::FileReader& host_files);

/// The programs that the daemon's handlers of the runc kind start, without NVIDIA's: the default one's, runc's, crun's.
std::vector<std::string> low_level_runtimes(const std::vector<engine::Handler>& handlers);

}  // namespace ctkit::installer
