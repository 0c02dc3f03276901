#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/result.h"

namespace ctkit::installer {

/// A program of the host to run. It gets nothing from us but what is here: no input, no open files,
/// "/" as its folder.
struct Command {
  std::string executable = {};                ///< absolute, inside the host root; nothing is searched
  std::vector<std::string> argv = {};         ///< first the name it is called by
  std::vector<std::string> environment = {};  ///< NAME=value
  std::int64_t process = 0;                   ///< whose root folder it gets, by its pid; 0: the host root
  std::chrono::milliseconds timeout{10'000};
  std::size_t most_output = std::size_t{16} << 20U;  ///< bytes kept of the output and of the errors, each
};

/// How it ended and what it wrote.
struct CommandResult {
  std::optional<int> exit_code = {};  ///< absent: a signal ended it
  int signal = 0;
  std::string output = {};
  std::string errors = {};  ///< what it wrote to standard error
  bool timed_out = false;   ///< we killed it
  bool truncated = false;   ///< it wrote more than was kept
  bool operator==(const CommandResult&) const = default;
};

/// Seam: running the host's own programs.
class CommandRunner {
 public:
  CommandRunner() = default;
  CommandRunner(const CommandRunner&) = delete;
  CommandRunner& operator=(const CommandRunner&) = delete;
  CommandRunner(CommandRunner&&) = delete;
  CommandRunner& operator=(CommandRunner&&) = delete;
  virtual ~CommandRunner() = default;

  /// Runs it to its end or its timeout, then ends what it left in its process group. `not_found`,
  /// `permission` or `failed` if it could not be started; anything that ran is a result.
  [[nodiscard]] virtual engine::Result<CommandResult> run(const Command& command) = 0;
};

}  // namespace ctkit::installer
