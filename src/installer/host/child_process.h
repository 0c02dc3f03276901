#pragma once

#include <string>
#include <sys/types.h>
#include <utility>

#include "engine/result.h"
#include "installer/command_runner.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// A child that leads a process group of its own. Whatever happens, the group is killed and the
/// child waited for.
class ChildProcess {
 public:
  ChildProcess() = default;
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, 0)) {}
  ChildProcess& operator=(ChildProcess&&) = delete;
  ~ChildProcess() {
    if (pid_ > 0) static_cast<void>(end());
  }

  /// Kills what is left of the group and gives the child's wait status, which a child that had
  /// ended before keeps. Once.
  int end();

 private:
  pid_t pid_ = 0;
};

/// What the child tells us before it becomes the program: nothing if all goes well.
struct StartFailure {
  int error_number = 0;
  bool in_root = false;  ///< the root folder is at fault, not the program
};

/// A program on its way. The descriptors don't block.
struct StartedProgram {
  ChildProcess child = {};
  UniqueFd process = {};  ///< a pidfd: readable once the child has ended
  UniqueFd output = {};
  UniqueFd errors = {};
  UniqueFd report = {};  ///< a StartFailure comes here if the program could not be run
};

/// Forks and becomes the command's program, with the folder `root` as "/" if it isn't -1. It gets
/// an empty input, the two pipes, the default signal actions and no other descriptor, and is killed
/// when our thread ends.
engine::Result<StartedProgram> start_program(const Command& command, int root);

}  // namespace ctkit::installer::host
