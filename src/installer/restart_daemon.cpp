#include "installer/restart_daemon.h"

#include <chrono>

#include "installer/await_status.h"

namespace ctkit::installer {

namespace {

using namespace std::literals;
using engine::ErrorCode;
using engine::Result;

/// systemd's own limit for a start is 90 s, and for the stop before it as much.
constexpr auto kJobTime = 200s;
/// A daemon that has told systemd that it is up answers within half a second; k3s starts its containerd later.
constexpr auto kAnswerTime = 20s;
/// Up, and no CRI: its plugins are loaded before it listens, so this stays.
constexpr auto kDeadTime = 3s;

std::string in_words(const engine::Error& error) {
  std::string text = error.message;
  if (!error.hint.empty()) text += " (" + error.hint + ")";
  return text;
}

/// systemd may have done it although its answer was lost.
Result<RestartOutcome> restart(LiveNode& node, const std::string& unit, bool& queued) {
  const auto before = node.services.state(unit);
  auto outcome = node.services.restart(unit, node.clock.now() + kJobTime);
  queued = outcome || outcome.error().code == ErrorCode::unreachable;
  if (outcome || !queued || !before) return outcome;
  const auto after = node.services.state(unit);
  if (!after) return outcome;
  RestartOutcome told{.before = *before, .after = *after};
  if (told.runs_anew()) told.job = "done";
  return told;
}

Result<LoadedState> ask(LiveNode& node) {
  auto status = await_status(node.status, node.clock, node.clock.now() + kDeadTime);
  if (status || status.error().code != ErrorCode::unreachable) return status;
  return await_status(node.status, node.clock, node.clock.now() + (kAnswerTime - kDeadTime));
}

}  // namespace

Restarted restart_daemon(LiveNode& node,
                         const std::string& unit,
                         const Expected& expected,
                         const std::optional<LoadedState>& before) {
  Restarted result;
  node.say("restarting '" + unit + "' and waiting for its job");
  const auto outcome = restart(node, unit, result.queued);
  if (!outcome) {
    result.problems.push_back(in_words(outcome.error()));
    return result;
  }
  result.problems = judge_restart(unit, *outcome);
  if (!result.problems.empty()) return result;
  node.say("waiting for the daemon's answer on '" + node.socket + "'");
  auto status = ask(node);
  const bool dead_before = !before && expected.handlers.empty();
  if (!status) {
    if (!(dead_before && status.error().code == ErrorCode::not_found))
      result.problems.push_back(in_words(status.error()));
    return result;
  }
  result.problems = judge_loaded(expected, before, *status);
  result.loaded = *std::move(status);
  if (const auto process = node.status.peer()) {
    result.process = *process;
    if (node.daemon && process->pid == node.daemon->process.pid &&
        process->start_ticks == node.daemon->process.start_ticks) {
      result.problems.push_back("'" + unit + "' was restarted, but the process that serves '" + node.socket +
                                "' is the same as before: give the daemon's unit as --unit");
    }
  }
  return result;
}

}  // namespace ctkit::installer
