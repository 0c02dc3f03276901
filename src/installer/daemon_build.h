#pragma once

#include <optional>
#include <string>

#include "engine/result.h"
#include "installer/file_system.h"
#include "installer/observed.h"

namespace ctkit::installer {

/// The answers kept in the state folder; none if there are none that can be understood.
std::optional<DaemonBuild> read_build(const engine::FileReader& files, const std::string& state_folder);

/// Keeps them, in a folder that is there.
engine::Result<void> write_build(FileSystem& files, const std::string& state_folder, const DaemonBuild& build);

}  // namespace ctkit::installer
