#pragma once

#include <string>
#include <vector>

#include "engine/result.h"

namespace ctkit::toolkit {

/// Seam: what runs on the host, and whether anything may run from a folder of it.
class RunningPrograms {
 public:
  RunningPrograms() = default;
  RunningPrograms(const RunningPrograms&) = delete;
  RunningPrograms& operator=(const RunningPrograms&) = delete;
  RunningPrograms(RunningPrograms&&) = delete;
  RunningPrograms& operator=(RunningPrograms&&) = delete;
  virtual ~RunningPrograms() = default;

  /// The programs of all processes we can see, as paths of the host.
  [[nodiscard]] virtual std::vector<std::string> list() = 0;

  /// Whether the file system of the folder, or of what is above it and there, lets programs run.
  [[nodiscard]] virtual engine::Result<bool> may_run_from(const std::string& folder) = 0;
};

}  // namespace ctkit::toolkit
