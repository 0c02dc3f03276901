#pragma once

#include "installer/processes.h"

namespace ctkit::installer::host {

/// Processes by /proc.
class ProcProcesses : public Processes {
 public:
  [[nodiscard]] engine::Result<ProcessFacts> look_at(std::int64_t pid) override;
  [[nodiscard]] engine::Result<std::string> own_program() override;
  [[nodiscard]] engine::Result<std::string> own_bytes() override;
  [[nodiscard]] bool shares_our_root(std::int64_t pid) override;
};

}  // namespace ctkit::installer::host
