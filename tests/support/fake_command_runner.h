#pragma once

#include <functional>
#include <vector>

#include "installer/command_runner.h"

namespace ctkit::test {

/// Fake of running programs: `answer` says what each would do; by default it succeeds in silence.
class FakeCommandRunner : public installer::CommandRunner {
 public:
  std::function<engine::Result<installer::CommandResult>(const installer::Command&)> answer = {};

  /// What was run.
  [[nodiscard]] const std::vector<installer::Command>& log() const { return log_; }

  [[nodiscard]] engine::Result<installer::CommandResult> run(const installer::Command& command) override {
    log_.push_back(command);
    if (answer) return answer(command);
    return installer::CommandResult{.exit_code = 0};
  }

 private:
  std::vector<installer::Command> log_;
};

}  // namespace ctkit::test
