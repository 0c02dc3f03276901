#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cdi/tree.h"
#include "daemonset/lifecycle.h"
#include "daemonset/mounts.h"
#include "daemonset/pass_report.h"
#include "daemonset/resolve_settings.h"
#include "engine/engine.h"
#include "engine/result.h"
#include "installer/clock.h"
#include "installer/file_system.h"
#include "installer/host.h"
#include "installer/request.h"

namespace ctkit::installer {

/// The node's daemon and its files, found and understood.
struct NodeAtHand {
  const engine::Engine* engine = nullptr;
  Host* host = nullptr;
  std::int64_t daemon_pid = 0;     ///< 0: none runs
  std::string daemon_config = {};  ///< that it reads; empty: none runs
};

/// What became of the toolkit's files.
struct ToolkitFiles {
  bool changed = false;
  std::vector<std::string> messages = {};
};

/// What a pass works with.
struct PassHost {
  FileSystem& here;            ///< our own files
  const cdi::Tree& here_tree;  ///< the same
  Clock& clock;
  std::function<void(const std::string&)> say = [](const std::string&) {};
  /// Brings the toolkit's files in place. `low_level` are the programs that the daemon's own handlers start.
  std::function<engine::Result<ToolkitFiles>(const daemonset::Settings& settings,
                                             const std::vector<std::string>& low_level)>
      install_toolkit = {};
  /// Makes the control device nodes that are missing below the device root; says which.
  std::function<engine::Result<std::vector<std::string>>(const std::string& dev_root)> make_device_nodes = {};
  /// Finds the daemon. The locks are held.
  std::function<engine::Result<NodeAtHand>(const Request&)> find_node = {};
};

/// What a pass is to be about.
struct PassOrder {
  const daemonset::ResolvedSettings& resolved;
  daemonset::PassMode mode = daemonset::PassMode::install;
  const std::vector<daemonset::MappedFolder>& folders;
  std::string driver_ready = {};  ///< the text of the operator's file when it was last whole; "": never
};

/// One pass over the node: the driver's place, the toolkit's files, the CDI spec, the handlers, and what the daemon
/// itself says of them.
daemonset::PassReport run_pass(const PassOrder& order, const PassHost& host);

/// The pass that could not even begin.
daemonset::PassReport failed_pass(const engine::Error& error);

}  // namespace ctkit::installer
