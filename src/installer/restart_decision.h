#pragma once

#include <string>
#include <vector>

#include "installer/request.h"

namespace ctkit::installer {

/// What speaks for restarting the daemon.
struct RestartFacts {
  bool effective_changes = false;             ///< what is written changes the effective config
  std::vector<std::string> newer_files = {};  ///< loaded files that changed after the daemon started
  std::vector<std::string> not_loaded =
      {};  ///< handlers that the files have, and the daemon hasn't, or with another binary
  std::string default_handler =
      {};  ///< the daemon's, where that of the files is ours, or no longer is; empty: they agree
};

/// Whether to restart it, and why.
struct RestartDecision {
  bool restart = false;  ///< now
  std::vector<std::string> reasons =
      {};  ///< in words; also when the mode forbids it: then a restart is due all the same
};

RestartDecision decide_restart(RestartMode mode, const RestartFacts& facts);

}  // namespace ctkit::installer
