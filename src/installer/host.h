#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cdi/level.h"
#include "cdi/tree.h"
#include "engine/own_check.h"
#include "installer/clock.h"
#include "installer/command_runner.h"
#include "installer/daemon_status.h"
#include "installer/file_system.h"
#include "installer/observed.h"
#include "installer/processes.h"
#include "installer/service_manager.h"

namespace ctkit::toolkit {
class TreeWriter;
}

namespace ctkit::installer {

/// A host on which the daemon runs, or should.
struct LiveNode {
  std::string socket = {};
  engine::Result<LiveDaemon> daemon = LiveDaemon{};  ///< an error: there is its socket, but nobody we can see
  DaemonStatus& status;
  ServiceManager& services;
  CommandRunner& runner;
  Processes& processes;
  Clock& clock;
  const engine::OwnCheck* check = nullptr;  ///< null: the verb needs no engine
  /// Tells people what is waited for.
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

/// The machine, as references to the seams; put together by main.
struct Host {
  FileSystem& files;
  LiveNode* live = nullptr;                ///< null: files only, nobody runs on them
  const cdi::Tree* tree = nullptr;         ///< for CDI specs and the toolkit; null: the verb has no use for them
  toolkit::TreeWriter* writer = nullptr;   ///< for the toolkit's files; null: as above
  bool without_handlers = false;           ///< what a change brings about there is a hook, and no handlers
  std::vector<std::string> programs = {};  ///< besides the handlers' binaries, what the node must be able to start
  std::optional<cdi::Level> cdi_level = std::nullopt;  ///< of the daemon's CDI library; none: it has none
};

}  // namespace ctkit::installer
