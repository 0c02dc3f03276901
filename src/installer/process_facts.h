#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ctkit::installer {

/// The process at the other end of the daemon's socket, which is systemd itself for a socket it
/// keeps for the daemon.
struct PeerProcess {
  std::int64_t pid = 0;          ///< in our pid namespace
  std::int64_t start_ticks = 0;  ///< since boot; with the pid, names one process for ever
  std::int64_t started = 0;      ///< microseconds since the epoch, to a hundredth of a second
  bool operator==(const PeerProcess&) const = default;
};

/// Which file a program is: the same numbers are the same bytes.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified = 0;  ///< nanoseconds since the epoch
  bool operator==(const FileIdentity&) const = default;
};

/// A process of the host as /proc shows it.
struct ProcessFacts {
  std::vector<std::string> argv = {};
  std::vector<std::string> environment = {};  ///< as NAME=value; may hold secrets. Empty where it isn't ours to read
  std::string executable = {};  ///< as the process itself sees it; what lies there now, if it was replaced meanwhile
  FileIdentity program = {};    ///< of what lies there now
  std::string working_folder = {};  ///< as the process itself sees it
  std::int64_t own_pid = 0;         ///< in the process's own pid namespace, which is its service manager's
  bool operator==(const ProcessFacts&) const = default;
};

}  // namespace ctkit::installer
