#pragma once

#include <string>
#include <vector>

#include "engine/own_check.h"
#include "installer/command_runner.h"
#include "installer/file_system.h"
#include "installer/observed.h"

namespace ctkit::installer {

/// What the daemon's own program says of itself. Fails where it can't be run or says nothing of its version.
engine::Result<DaemonBuild> ask_build(CommandRunner& runner, const PeerProcess& process, const ProcessFacts& facts);

/// What its `config dump` prints for the top-level config at the path. `daemon_refuses` with its own words where it
/// refuses.
engine::Result<std::string> ask_dump(CommandRunner& runner, const LiveDaemon& daemon, const std::string& config);

/// The node's own program on a copy of `planned`, below a folder of /run that is gone again afterwards; what it says
/// differs from our prediction in these keys. Fails with `daemon_refuses` where it refuses them.
engine::Result<std::vector<engine::Mismatch>> rehearse(FileSystem& files,
                                                       CommandRunner& runner,
                                                       const LiveDaemon& daemon,
                                                       const engine::OwnCheck& check,
                                                       const engine::FileReader& planned);

/// What a rehearsal that was killed has left.
void remove_rehearsal(FileSystem& files);

}  // namespace ctkit::installer
