#pragma once

#include <optional>
#include <string>
#include <vector>

#include "installer/host.h"
#include "installer/verify.h"

namespace ctkit::installer {

/// What came of restarting the daemon.
struct Restarted {
  bool queued = false;                     ///< false: systemd refused, the daemon runs as it did
  std::vector<std::string> problems = {};  ///< empty: it serves what was expected
  std::optional<LoadedState> loaded = std::nullopt;
  std::optional<PeerProcess> process = std::nullopt;  ///< who serves the socket now
};

/// Restarts the unit, waits for the job and then for the daemon's answer, and judges both. `before`: what it had
/// loaded; none: it served nothing, and need not now unless something is expected.
Restarted restart_daemon(LiveNode& node,
                         const std::string& unit,
                         const Expected& expected,
                         const std::optional<LoadedState>& before);

}  // namespace ctkit::installer
