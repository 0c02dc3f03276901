#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/result.h"

namespace ctkit::installer {

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
  std::string executable = {};      ///< as the process itself sees it; what lies there now, if it was replaced meanwhile
  FileIdentity program = {};        ///< of what lies there now
  std::string working_folder = {};  ///< as the process itself sees it
  std::int64_t own_pid = 0;         ///< in the process's own pid namespace, which is its service manager's
  bool operator==(const ProcessFacts&) const = default;
};

/// Seam: processes of the host, by their pid in our namespace.
class Processes {
 public:
  Processes() = default;
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;
  Processes(Processes&&) = delete;
  Processes& operator=(Processes&&) = delete;
  virtual ~Processes() = default;

  /// `not_found` if there is none of that number; `permission` if it isn't ours to look at.
  [[nodiscard]] virtual engine::Result<ProcessFacts> look_at(std::int64_t pid) = 0;

  /// The program that we are, as a path of our own root; `failed` if it can't be told.
  [[nodiscard]] virtual engine::Result<std::string> own_program() = 0;

  /// Its bytes.
  [[nodiscard]] virtual engine::Result<std::string> own_bytes() = 0;

  /// Whether the process sees the same files as we do: its root folder is ours.
  [[nodiscard]] virtual bool shares_our_root(std::int64_t pid) = 0;
};

}  // namespace ctkit::installer
