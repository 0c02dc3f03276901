#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "installer/host/root_folder.h"
#include "toolkit/running_programs.h"

namespace ctkit::installer::host {

/// The programs of all processes in /proc, and the mounts of a host root.
class ProcPrograms : public toolkit::RunningPrograms {
 public:
  explicit ProcPrograms(RootFolder root) : root_(std::move(root)) {}

  [[nodiscard]] std::vector<std::string> list() override;
  [[nodiscard]] engine::Result<bool> may_run_from(const std::string& folder) override;

 private:
  RootFolder root_;
};

}  // namespace ctkit::installer::host
