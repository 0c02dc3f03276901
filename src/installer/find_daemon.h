#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/result.h"
#include "installer/clock.h"
#include "installer/command_runner.h"
#include "installer/daemon_status.h"
#include "installer/file_system.h"
#include "installer/observed.h"
#include "installer/processes.h"
#include "installer/request.h"

namespace ctkit::installer {

/// What it takes to look for the running daemon.
struct Search {
  const FileSystem& files;
  Processes& processes;
  CommandRunner& runner;
  Clock& clock;
  std::function<engine::Result<std::unique_ptr<DaemonStatus>>(const std::string& socket)> connect = {};
};

/// The daemon's socket, and who serves it. An error: there is the socket, but nobody we can see.
struct FoundDaemon {
  std::string socket = {};
  std::unique_ptr<DaemonStatus> status = {};
  engine::Result<LiveDaemon> daemon = LiveDaemon{};
};

/// The daemon behind the request's socket, else behind the first of the usual ones that serves the CRI; none if there
/// is no such socket. Runs the daemon's program only if the state folder doesn't have its answers.
std::optional<FoundDaemon> find_daemon(const Request& request, const std::string& state_folder, const Search& search);

/// A host that systemd runs, no tree.
bool is_node(const engine::FileReader& files);

/// Whether the verb has something to ask a running daemon. A capture is a recorded tree, and a given release asks what
/// another daemon would do.
bool asks_daemon(const Request& request, bool is_capture);

/// A verb that restarts the daemon of the machine itself wants to have found one; else `unreachable`.
engine::Result<void> check_found(const Request& request, const std::string& host_root, bool found);

/// The top-level config it reads, wherever it is named.
std::string config_path_of(const LiveDaemon& daemon);

/// `--config` or `-c` of the command line; empty: it isn't there.
std::string config_of(const ProcessFacts& facts);

}  // namespace ctkit::installer
