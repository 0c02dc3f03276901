#pragma once

#include <map>
#include <string>

#include "installer/processes.h"

namespace ctkit::test {

/// Fake of the host's processes.
class FakeProcesses : public installer::Processes {
 public:
  std::map<std::int64_t, installer::ProcessFacts> processes = {};
  bool one_root = true;  ///< everybody's

  [[nodiscard]] engine::Result<installer::ProcessFacts> look_at(std::int64_t pid) override {
    const auto found = processes.find(pid);
    if (found != processes.end()) return found->second;
    return std::unexpected(engine::Error{.code = engine::ErrorCode::not_found, .message = "there is no such process"});
  }
  [[nodiscard]] engine::Result<std::string> own_program() override { return "/usr/bin/ctkit"; }
  [[nodiscard]] engine::Result<std::string> own_bytes() override { return "our program"; }
  [[nodiscard]] bool shares_our_root(std::int64_t /*pid*/) override { return one_root; }
};

}  // namespace ctkit::test
