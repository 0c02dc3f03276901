#include "installer/pass_handlers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "cdi/path.h"
#include "installer/before_change.h"
#include "installer/exit_code.h"
#include "installer/locked_run.h"
#include "installer/node_state.h"
#include "installer/pass_end.h"
#include "installer/refused_change.h"
#include "installer/report_node.h"
#include "installer/watch_list.h"

namespace ctkit::installer {

using daemonset::PassMode;
using daemonset::PassReport;
using daemonset::Settings;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

/// What is other than we set it up, as the plan to set it up again shows.
void add_drift(const Outcome& outcome, PassReport& report) {
  for (const engine::FileChange& file : outcome.plan->files) {
    report.drift.push_back("'" + file.path + "' " +
                           (!file.after    ? "is not needed any more"
                            : !file.before ? "is not there"
                                           : "is not what it has to be"));
  }
  if (!outcome.node) return;
  report.drift.insert(report.drift.end(), outcome.node->reasons.begin(), outcome.node->reasons.end());
}

bool holds(const Outcome& outcome) {
  using enum NodeChange::Verdict;
  return !outcome.node || (outcome.node->verdict != rolled_back && outcome.node->verdict != rollback_failed);
}

void tell(const Outcome& outcome, PassMode mode, const PassHost& host) {
  if (mode != PassMode::look && holds(outcome)) {
    for (const engine::FileChange& file : outcome.plan->files)
      host.say((file.after ? "wrote '" : "removed '") + file.path + "'");
  }
  if (!outcome.node) return;
  for (const std::string& reason : outcome.node->reasons)
    host.say((outcome.node->restarted ? "restarted '" + outcome.node->unit + "': " : "a restart is due: ") + reason);
  const std::string verdict = report_verdict(*outcome.node);
  if (!verdict.empty()) host.say(verdict.substr(0, verdict.size() - 1));
}

/// Whether it is about what we set up. What others changed in files is theirs to make effective.
bool is_ours(const Difference& difference, const std::vector<engine::DesiredHandler>& handlers) {
  return std::ranges::any_of(handlers, [&](const engine::DesiredHandler& handler) {
    return difference.what == "handler '" + handler.name + "'" ||
           (difference.what == kDefaultHandler &&
            (difference.files == handler.name || difference.loaded == handler.name));
  });
}

/// Why files, daemon and wishes aren't of one mind; empty: they are. Which handlers it has loaded is another question.
std::string objection(const NodeState& state, const std::vector<engine::DesiredHandler>& handlers) {
  if (!state.refused.empty()) return "the daemon would refuse its files: " + state.refused;
  if (!state.not_serving.empty()) return state.not_serving.front();
  if (!state.drifted.empty()) return "'" + state.drifted.front() + "' is not as we wrote it";
  if (!state.missing_binaries.empty()) return "'" + state.missing_binaries.front() + "' is not there";
  if (state.socket.empty()) return "no daemon runs here";
  if (!state.unreachable.empty()) return "the daemon doesn't answer: " + state.unreachable;
  for (const Difference& difference : state.differences) {
    if (is_ours(difference, handlers)) return "the daemon has not loaded what its files say: " + difference.what;
  }
  return "";
}

Result<Outcome> planned(Request request, const NodeAtHand& node) {
  request.verb = Verb::plan;
  return run_locked(request, node.engine, *node.host);
}

/// Why the hook that stands for handlers isn't there, or can't do its work; empty: it is and can.
std::string hook_objection(const Request& request, const NodeAtHand& node) {
  const auto outcome = planned(request, node);
  if (!outcome) return outcome.error().message;
  if (!outcome->plan->files.empty()) return "'" + outcome->plan->files.front().path + "' is not as it has to be";
  const auto there = check_binaries(request, *node.host);
  return there ? "" : there.error().message;
}

Error with_read_only_hint(Error error, const Settings& settings) {
  if (settings.host_root != "/" && error.hint.contains("mounted read-only")) {
    error.hint +=
        "; RUNTIME_CONFIG and RUNTIME_DROP_IN_CONFIG (with the operator also CONTAINERD_SOCKET, in toolkit.env) say "
        "what is "
        "mounted for writing";
  }
  return error;
}

std::string refused_path(const Settings& settings) {
  return cdi::join(cdi::folder_of(settings.ready_file), "ctkit-refused");
}

/// The same change was taken back not long ago; the report says so.
bool was_refused(const Settings& settings,
                 const Request& request,
                 const NodeAtHand& found,
                 PassMode mode,
                 const PassHost& host,
                 PassReport& report) {
  if (request.verb != Verb::apply) return false;
  const auto refused = read_refused_change(found.host->files, refused_path(settings), host.clock.real_time());
  if (!refused) return false;
  const auto outcome = planned(request, found);
  if (!outcome || digest_of_change(found.engine->name(), *outcome, found.host->files) != refused->digest) return false;
  if (mode != PassMode::install) add_drift(*outcome, report);
  report.took_back = true;
  end_failed(
      report,
      {.code = ErrorCode::needs_decision,
       .message = "the daemon did not take this change, and it is not tried again for an hour: " + refused->reason,
       .hint = "`ctkit apply` tries it at once; so does any other change"});
  return true;
}

}  // namespace

void verify_handlers(const Request& request, const NodeAtHand& node, PassReport& report) {
  Request looking = request;
  looking.verb = Verb::status;
  const auto looked = look_at_node(looking, *node.engine, *node.host);
  if (!looked) {
    report.not_ready = looked.error().message;
    return;
  }
  const NodeState& state = *looked->state;
  report.restarts = state.journal ? state.journal->restarts : 0;
  report.not_ready = objection(state, request.desired.handlers);
  if (report.not_ready.empty() && node.host->without_handlers) report.not_ready = hook_objection(request, node);
  for (const engine::DesiredHandler& wanted : request.desired.handlers) {
    const LoadedHandler* there = state.loaded ? state.loaded->find_handler(wanted.name) : nullptr;
    if (there && there->binary_name == wanted.binary) ++report.handlers_ready;
  }
  if (report.not_ready.empty() && report.handlers_ready < report.handlers_wanted) {
    report.not_ready = "the daemon serves " + std::to_string(report.handlers_ready) + " of " +
                       std::to_string(report.handlers_wanted) + " handlers";
  }
}

void serve_handlers(const Settings& settings,
                    const Request& request,
                    const NodeAtHand& found,
                    PassMode mode,
                    const PassHost& host,
                    PassReport& report) {
  if (was_refused(settings, request, found, mode, host, report)) return;
  const std::string engine = found.engine->name();
  const Moment start = host.clock.now();
  const auto outcome = run_locked(request, found.engine, *found.host);
  if (!outcome) {
    end_failed(report, with_read_only_hint(outcome.error(), settings));
    return;
  }
  if (mode != PassMode::install) add_drift(*outcome, report);
  tell(*outcome, mode, host);
  const bool wrote = mode != PassMode::look && !outcome->plan->files.empty();
  if (wrote) {
    for (const engine::FileChange& file : outcome->plan->files)
      report.written.push_back(file.path);
  }
  const bool restarted = outcome->node && outcome->node->restarted;
  if (wrote || restarted) {
    report.changed = true;
    report.apply_microseconds = std::chrono::duration_cast<std::chrono::microseconds>(host.clock.now() - start).count();
    // The folders that were made for it.
    const auto now = config_watch_list(*found.engine, found.host->files);
    report.watch.insert(report.watch.end(), now.begin(), now.end());
  }
  // A daemon that was restarted is another process.
  const auto again = restarted ? host.find_node(request) : Result<NodeAtHand>(found);
  if (!again) {
    end_failed(report, again.error());
    return;
  }
  report.daemon_pid = again->daemon_pid;
  // A hook is no file of the daemon's config.
  for (const engine::FileChange& file : outcome->plan->desired)
    report.watch.push_back(watch_of(file.path));
  if (!holds(*outcome)) {
    const bool back = outcome->node->verdict == NodeChange::Verdict::rolled_back;
    report.took_back = true;
    end_failed(report,
               {.message = (back ? "the change was taken back: " : "the change could not be taken back: ") +
                           (outcome->node->problems.empty() ? "" : outcome->node->problems.front())});
    report.exit_code = static_cast<int>(back ? ExitCode::rolled_back : ExitCode::rollback_failed);
    const auto kept = keep_refused_change(again->host->files,
                                          refused_path(settings),
                                          {.digest = digest_of_change(engine, *outcome, again->host->files),
                                           .time = host.clock.real_time(),
                                           .reason = report.message});
    if (!kept) host.say("warning: " + kept.error().message);
    return;
  }
  verify_handlers(request, *again, report);
  if (report.not_ready.empty()) forget_refused_change(again->host->files, refused_path(settings));
}

}  // namespace ctkit::installer
