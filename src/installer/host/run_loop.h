#pragma once

#include <functional>
#include <string>
#include <vector>

#include "daemonset/lifecycle.h"
#include "daemonset/mounts.h"
#include "daemonset/pass_report.h"
#include "daemonset/resolve_settings.h"
#include "engine/result.h"
#include "installer/file_system.h"

namespace ctkit::installer::host {

/// What the loop holds the node with.
struct LoopParts {
  const daemonset::ResolvedSettings& resolved;
  FileSystem& files;  ///< the host's
  std::string version = {};
  /// Makes one pass; `driver_ready` is the operator's file as it was last whole.
  std::function<daemonset::PassReport(daemonset::PassMode mode, const std::string& driver_ready)> pass = {};
};

/// Holds the node until somebody ends it; the exit status. One poll over signals, file changes, the end of the daemon's
/// process, mounts, the pass that runs, and HTTP.
engine::Result<int> run_loop(const LoopParts& parts);

}  // namespace ctkit::installer::host
