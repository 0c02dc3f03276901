#pragma once

#include <string>

#include "installer/process_facts.h"

namespace ctkit::installer {

/// What the daemon's own program says of itself; kept in the state folder while the program is the same file.
struct DaemonBuild {
  FileIdentity program = {};
  std::string version = {};   ///< as `--version` prints it
  std::string defaults = {};  ///< as `config default` prints it; empty: it doesn't
  bool operator==(const DaemonBuild&) const = default;
};

/// The running daemon and how it was started. Paths are the host's.
struct LiveDaemon {
  std::string socket = {};
  PeerProcess process = {};
  ProcessFacts facts = {};
  std::string config = {};  ///< named on its command line; empty: its usual place
  DaemonBuild build = {};
  bool build_is_kept = false;  ///< the state folder has it already
};

}  // namespace ctkit::installer
