#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/containerd/own_check.h"
#include "installer/host.h"
#include "installer/node.h"
#include "installer/run_pass.h"
#include "installer/verify.h"
#include "support/fake_clock.h"
#include "support/fake_command_runner.h"
#include "support/fake_daemon_status.h"
#include "support/fake_processes.h"
#include "support/fake_service_manager.h"

namespace ctkit::test {

inline constexpr auto kUnit = "containerd.service";

/// A node with a daemon that loads its files when it starts, as the engine says it would.
class TestNode {
 public:
  explicit TestNode(MemoryFiles& files, std::string_view release = "1.7.27")
      : files_(files), engine_(make_engine<LastContainerd>(release)), check_(make_check(release)) {
    for (const std::string name : {"nvidia", "nvidia-cdi", "nvidia-legacy"})
      files.add_file("/opt/" + name, "", 0755);
    files.add_folder("/run");
    files.add_folder("/usr/local/nvidia");
    files.now = [this] { return clock.real_time(); };
    services.units[kUnit] = {.load_state = "loaded",
                             .active_state = "active",
                             .sub_state = "running",
                             .result = "success",
                             .main_pid = 100,
                             .invocation_id = "boot"};
    services.units_of_processes[100] = kUnit;
    services.on_restart = [this](const std::string& unit, installer::Moment) { return restart(unit); };
    status.on_status = [this] { return loaded(); };
    runner.answer = [this](const installer::Command& command) { return run_program(command); };
    start();
    clock.advance(std::chrono::seconds(100));
  }

  /// The node as a run finds it. The daemon's own answers are known already.
  installer::NodeAtHand find() {
    live_.emplace(installer::LiveNode{.socket = "/run/containerd/containerd.sock",
                                      .daemon = installer::LiveDaemon{.socket = "/run/containerd/containerd.sock",
                                                                      .process = process_,
                                                                      .facts = {.argv = {"/usr/bin/containerd"},
                                                                                .executable = "/usr/bin/containerd",
                                                                                .own_pid = 100},
                                                                      .build = {.version = "containerd 1.7.27"},
                                                                      .build_is_kept = true},
                                      .status = status,
                                      .services = services,
                                      .runner = runner,
                                      .processes = processes,
                                      .clock = clock,
                                      .check = check_.get()});
    if (down) live_->daemon = std::unexpected(engine::Error{.code = engine::ErrorCode::unreachable, .message = "down"});
    host_.emplace(installer::Host{.files = files_, .live = &*live_});
    return {.engine = engine_.get(), .host = &*host_, .daemon_pid = down ? 0 : process_.pid};
  }

  /// One run of a verb, as main does it.
  engine::Result<installer::Outcome> run(installer::Request request) {
    auto outcome = installer::run(request, *engine_, *find().host);
    clock.advance(std::chrono::seconds(10));
    return outcome;
  }
  engine::Result<installer::Outcome> run(installer::Verb verb) { return run(make_request(verb)); }

  /// How often the daemon was started since the node is there.
  [[nodiscard]] int starts() const { return starts_; }

  /// What it serves now.
  engine::Result<installer::LoadedState> loaded() {
    if (!serves_) return std::unexpected(serves_.error());
    return *serves_;
  }
  [[nodiscard]] bool serves(std::string_view handler) { return loaded() && loaded()->find_handler(handler); }

  /// Runs before each start; it may change the files.
  std::function<void()> before_start = [] {};
  /// What systemd makes of the n-th start from now on; nothing: what the files make of it.
  std::function<std::optional<std::string>(int start)> job_of = [](int) { return std::nullopt; };
  bool down = false;
  /// Replaces the answer of the daemon's own `config dump`.
  std::function<engine::Result<installer::CommandResult>()> on_dump = {};

  FakeClock clock;
  FakeServiceManager services;
  FakeDaemonStatus status;
  FakeCommandRunner runner;
  FakeProcesses processes;

 private:
  static std::unique_ptr<engine::OwnCheck> make_check(std::string_view release) {
    auto known = engine::containerd::find_release(engine::Release::parse(release).value());
    return std::make_unique<engine::containerd::ContainerdOwnCheck>(
        engine::containerd::Daemon{.known = std::move(known.value())}, engine::containerd::LoadRequest{});
  }

  void start() {
    const auto today = engine_->effective(files_, false);
    ++starts_;
    process_ = {.pid = 100, .start_ticks = starts_, .started = clock.real_time()};
    status.process = process_;
    if (!today) {
      serves_ = std::unexpected(engine::Error{.code = engine::ErrorCode::unreachable, .message = "nobody listens"});
      return;
    }
    if (!today->not_serving.empty()) {
      serves_ =
          std::unexpected(engine::Error{.code = engine::ErrorCode::not_found, .message = today->not_serving.front()});
      return;
    }
    installer::LoadedState state{.conditions = {{.type = "RuntimeReady", .holds = true}}, .json = "{}"};
    const auto expected = installer::make_expected(*today, engine_->handlers(*today));
    for (const engine::Handler& handler : expected.handlers) {
      state.handlers.push_back({.name = handler.name, .binary_name = handler.binary});
    }
    state.default_handler = expected.default_handler;
    state.sandbox_image = expected.sandbox_image;
    state.cni_binary_folders = expected.cni_binary_folders;
    state.cni_config_folder = expected.cni_config_folder;
    serves_ = std::move(state);
  }

  engine::Result<installer::RestartOutcome> restart(const std::string& unit) {
    clock.advance(std::chrono::seconds(1));
    before_start();
    const auto forced = job_of(starts_);
    const auto before = services.units.at(unit);
    start();
    auto& now = services.units.at(unit);
    const bool refused = !serves_ && serves_.error().code == engine::ErrorCode::unreachable;
    now.invocation_id = "start " + std::to_string(starts_);
    if (forced || refused) {
      serves_ = std::unexpected(engine::Error{.code = engine::ErrorCode::unreachable, .message = "nobody listens"});
      now.active_state = "activating";
      now.sub_state = "auto-restart";
      now.result = "exit-code";
    } else {
      now.active_state = "active";
      now.sub_state = "running";
      now.result = "success";
    }
    return installer::RestartOutcome{.job = forced    ? *forced
                                            : refused ? "failed"
                                                      : "done",
                                     .before = before,
                                     .after = now};
  }

  /// `containerd --config PATH config dump` of the real thing, by the engine.
  engine::Result<installer::CommandResult> run_program(const installer::Command& command) {
    if (command.argv.back() == "--version") return installer::CommandResult{.exit_code = 0};
    if (on_dump) return on_dump();
    const auto dumping = engine::containerd::ContainerdEngine(
        engine::containerd::Daemon{
            .known = std::move(engine::containerd::find_release(engine::Release::parse("1.7.27").value()).value())},
        engine::containerd::LoadRequest{.config_path = command.argv.at(2), .config_given = true, .as_dump = true});
    const auto effective = dumping.effective(files_, false);
    if (!effective) return installer::CommandResult{.exit_code = 1, .errors = effective.error().message};
    return installer::CommandResult{.exit_code = 0, .output = dumping.render(*effective)};
  }

  MemoryFiles& files_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::OwnCheck> check_;
  std::optional<installer::LiveNode> live_ = {};
  std::optional<installer::Host> host_ = {};
  int starts_ = 0;
  installer::PeerProcess process_ = {};
  engine::Result<installer::LoadedState> serves_ = installer::LoadedState{};
};

}  // namespace ctkit::test
