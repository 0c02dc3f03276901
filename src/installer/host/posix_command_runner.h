#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/result.h"
#include "installer/command_runner.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// Runs programs with the host root as their root folder (chroot(2), unless it is ours anyway).
class PosixCommandRunner : public CommandRunner {
 public:
  /// `root` is the folder programs see as "/"; none: ours.
  explicit PosixCommandRunner(UniqueFd root) : root_(std::move(root)) {}

  static engine::Result<std::unique_ptr<PosixCommandRunner>> open(const std::string& folder);

  [[nodiscard]] engine::Result<CommandResult> run(const Command& command) override;

 private:
  UniqueFd root_;
};

}  // namespace ctkit::installer::host
