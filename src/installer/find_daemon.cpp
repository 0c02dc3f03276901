#include "installer/find_daemon.h"

#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "installer/daemon_build.h"
#include "installer/daemon_kind.h"
#include "installer/own_program.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using namespace std::literals;

constexpr auto kPatience = 5s;

constexpr auto kRestartTime = 5s;
constexpr auto kPause = 50ms;

/// Those that change a daemon wait for one that somebody else is just restarting.
bool waits(const Request& request) {
  return (request.verb == Verb::apply || request.verb == Verb::uninstall) && request.restart != RestartMode::none;
}

Error nobody_runs(std::string where) {
  return {.code = ErrorCode::unreachable,
          .message = "neither containerd nor CRI-O is running here: none of the usual sockets is there",
          .where = std::move(where),
          .hint = "give it as --socket; --restart none writes the files all the same"};
}

/// Of the daemon that is asked for, else of all.
std::vector<std::string_view> usual_sockets(const Request& request) {
  std::vector<std::string_view> sockets;
  for (const DaemonKind& kind : daemon_kinds()) {
    if (request.engine.empty() || request.engine == kind.engine)
      sockets.insert(sockets.end(), kind.sockets.begin(), kind.sockets.end());
  }
  return sockets;
}

std::vector<std::string> candidates(const Request& request, const FileSystem& files) {
  if (!request.socket.empty()) return {request.socket};
  std::vector<std::string> sockets;
  for (const std::string_view socket : usual_sockets(request)) {
    if (files.exists(socket)) sockets.emplace_back(socket);
  }
  return sockets;
}

Result<LiveDaemon> observe(const std::string& socket,
                           DaemonStatus& status,
                           const std::string& state_folder,
                           const Search& search) {
  const auto process = status.peer();
  if (!process) return std::unexpected(process.error());
  auto facts = search.processes.look_at(process->pid);
  if (!facts) {
    Error error = facts.error().with_context("looking at the process that serves '" + socket + "'");
    if (error.code == ErrorCode::not_found) error.code = ErrorCode::unreachable;
    return std::unexpected(error);
  }
  LiveDaemon daemon{.socket = socket, .process = *process, .facts = *std::move(facts)};
  daemon.config = config_of(daemon.facts);
  if (auto kept = read_build(search.files, state_folder); kept && kept->program == daemon.facts.program) {
    daemon.build = *std::move(kept);
    daemon.build_is_kept = true;
    return daemon;
  }
  auto build = ask_build(search.runner, daemon.process, daemon.facts);
  if (!build) return std::unexpected(build.error());
  daemon.build = *std::move(build);
  return daemon;
}

}  // namespace

bool is_node(const engine::FileReader& files) {
  return files.exists("/run/systemd/private") || files.exists("/run/dbus/system_bus_socket");
}

bool asks_daemon(const Request& request, bool is_capture) {
  if (is_capture) return false;
  switch (request.verb) {
    case Verb::effective:
    case Verb::explain:
    case Verb::lint:
    case Verb::preflight:
      return request.release.empty();
    case Verb::plan:
    case Verb::apply:
    case Verb::uninstall:
    case Verb::verify:
    case Verb::status:
    case Verb::rollback:
      return true;
  }
  return true;
}

Result<void> check_found(const Request& request, const std::string& host_root, bool found) {
  const bool changes = request.verb == Verb::apply && request.restart != RestartMode::none;
  if (found || host_root != "/" || !changes) return {};
  return std::unexpected(nobody_runs(""));
}

std::string config_path_of(const LiveDaemon& daemon) {
  return daemon.config.empty() ? std::string(kind_of(daemon.build.version).usual_config) : daemon.config;
}

std::string config_of(const ProcessFacts& facts) {
  std::string path;
  for (std::size_t i = 1; i < facts.argv.size(); ++i) {
    const std::string_view word = facts.argv[i];
    // Go's flags take one dash or two.
    for (const std::string_view flag : {"--config"sv, "-config"sv, "-c"sv, "--c"sv}) {
      if (word == flag && i + 1 < facts.argv.size()) path = facts.argv[i + 1];
      if (word.starts_with(flag) && word.substr(flag.size()).starts_with('=')) path = word.substr(flag.size() + 1);
    }
  }
  if (path.empty() || path.starts_with('/')) return path;
  return (facts.working_folder == "/" ? "" : facts.working_folder) + "/" + path;
}

namespace {

std::optional<FoundDaemon> find_now(const Request& request, const std::string& state_folder, const Search& search) {
  const std::vector<std::string> sockets = candidates(request, search.files);
  std::optional<FoundDaemon> first;
  for (const std::string& socket : sockets) {
    auto status = search.connect(socket);
    if (!status) {
      if (!first) first = FoundDaemon{.socket = socket, .daemon = std::unexpected(status.error())};
      continue;
    }
    FoundDaemon found{.socket = socket, .status = *std::move(status)};
    // Docker has a containerd of its own beside that of Kubernetes.
    const bool chosen = sockets.size() == 1 || found.status->status(search.clock.now() + kPatience).has_value();
    if (!chosen && first) continue;
    found.daemon = observe(socket, *found.status, state_folder, search);
    if (chosen) return found;
    first = std::move(found);
  }
  return first;
}

/// A node whose daemon is down, or not there.
std::optional<FoundDaemon> nobody(const Request& request, const Search& search) {
  if (!is_node(search.files)) return std::nullopt;
  const std::string socket(usual_sockets(request).front());
  FoundDaemon found{.socket = socket, .daemon = std::unexpected(nobody_runs(socket))};
  if (auto status = search.connect(socket)) found.status = *std::move(status);
  return found;
}

}  // namespace

std::optional<FoundDaemon> find_daemon(const Request& request, const std::string& state_folder, const Search& search) {
  const Moment deadline = search.clock.now() + kRestartTime;
  while (true) {
    auto found = find_now(request, state_folder, search);
    if (!found) found = nobody(request, search);
    const bool down = found && !found->daemon && found->daemon.error().code == ErrorCode::unreachable;
    if (!down || !waits(request) || search.clock.now() >= deadline) return found;
    search.clock.sleep(kPause);
  }
}

}  // namespace ctkit::installer
