#include "installer/change_node.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "engine/change.h"
#include "engine/overlay.h"
#include "installer/apply.h"
#include "installer/before_change.h"
#include "installer/daemon_build.h"
#include "installer/dead_man.h"
#include "installer/loaded_files.h"
#include "installer/own_program.h"
#include "installer/recover.h"
#include "installer/restart_daemon.h"
#include "installer/restart_decision.h"
#include "installer/state_place.h"

namespace ctkit::installer {

namespace {

using engine::Result;
using Verdict = NodeChange::Verdict;

std::vector<std::string> not_loaded(const engine::Desired& desired, const std::optional<LoadedState>& loaded) {
  std::vector<std::string> names;
  for (const engine::DesiredHandler& handler : desired.handlers) {
    const LoadedHandler* there = loaded ? loaded->find_handler(handler.name) : nullptr;
    if (!there || there->binary_name != handler.binary) names.push_back(handler.name);
  }
  return names;
}

/// The daemon's default handler, if a restart is what our wish about it waits for.
std::string stale_default(const engine::Desired& desired, const Expected& expected, const LoadedState& loaded) {
  if (loaded.default_handler.empty() || loaded.default_handler == expected.default_handler) return "";
  const auto is_ours = [&](const std::string& name) {
    return std::ranges::find(desired.handlers, name, &engine::DesiredHandler::name) != desired.handlers.end();
  };
  return is_ours(expected.default_handler) || is_ours(loaded.default_handler) ? loaded.default_handler : "";
}

struct Written {
  std::string unit = {};
  Expected expected = {};
  std::optional<LoadedState> before = std::nullopt;
};

/// Something changed the files while we restarted.
std::vector<std::string> changed_meanwhile(const engine::Engine& engine,
                                           const FileSystem& files,
                                           const engine::EffectiveConfig& predicted) {
  const auto now = engine.effective(files, false);
  if (!now) return {"the files have changed meanwhile, and the daemon would refuse them: " + now.error().message};
  std::vector<std::string> problems;
  for (const engine::Change& change : engine::differences(predicted.config, now->config)) {
    problems.push_back("the files have changed meanwhile: " + change.key.to_string() + " is no longer as planned");
    constexpr std::size_t kMost = 5;
    if (problems.size() == kMost) break;
  }
  return problems;
}

/// After a change that doesn't hold: files back, one restart, and the daemon has to serve what it served before.
void undo(const Request& request, Host& host, const Written& written, bool restart, NodeChange& change) {
  LiveNode& node = *host.live;
  change.verdict = Verdict::rolled_back;
  node.say("taking the change back");
  const auto journal = read_journal(host.files, state_folder(request));
  if (journal && *journal && (*journal)->last) {
    Journal last = **journal;
    if (restart) last.restarts += 2;  // the one that is taken back, and the one for that
    const auto done = roll_back(host.files, state_folder(request), std::move(last));
    if (!done) {
      change.rollback_problems.push_back(done.error().message + " (" + done.error().where + ")");
    } else {
      for (const std::string& path : done->left) {
        change.notes.push_back("left '" + path + "', which somebody else has changed meanwhile");
      }
    }
  } else if (!journal) {
    change.rollback_problems.push_back(journal.error().message);
  }
  if (restart) {
    const Restarted again = restart_daemon(node, written.unit, Expected{}, written.before);
    change.rollback_problems.insert(change.rollback_problems.end(), again.problems.begin(), again.problems.end());
  }
  if (!change.rollback_problems.empty()) change.verdict = Verdict::rollback_failed;
}

/// The journal of a change that holds.
void confirm(const Request& request,
             Host& host,
             Journal journal,
             const Restarted& restarted,
             const engine::EffectiveConfig& config) {
  if (journal.last) journal.last->confirmed = true;
  journal.restarts += 1;
  if (restarted.process) {
    journal.settled = {.start_ticks = restarted.process->start_ticks, .up_to = last_change(host.files, config)};
  }
  static_cast<void>(write_journal(host.files, state_folder(request), journal));
}

void keep_build(const Request& request, Host& host) {
  const LiveNode& node = *host.live;
  // Costs the next run a call of the daemon's program if it fails.
  if (node.daemon && !node.daemon->build_is_kept) {
    static_cast<void>(write_build(host.files, state_folder(request), node.daemon->build));
  }
}

/// The files are written: restart, and see whether the daemon agrees.
void prove(const Request& request,
           const engine::Engine& engine,
           Host& host,
           const Plan& plan,
           const Journal& journal,
           const Written& written,
           NodeChange& change) {
  LiveNode& node = *host.live;
  Restarted restarted = restart_daemon(node, written.unit, written.expected, written.before);
  if (restarted.problems.empty()) restarted.problems = changed_meanwhile(engine, host.files, plan.predicted);
  change.restarted = restarted.queued;
  change.problems = restarted.problems;
  if (change.problems.empty()) {
    change.verdict = Verdict::verified;
    confirm(request, host, journal, restarted, plan.predicted);
    keep_build(request, host);
    return;
  }
  undo(request, host, written, restarted.queued, change);
}

}  // namespace

RestartDecision restart_due(const Request& request,
                            Host& host,
                            const Plan& plan,
                            const std::optional<Journal>& journal) {
  RestartFacts facts{.effective_changes = plan.restart_due()};
  const LiveNode& node = *host.live;
  if (node.daemon && plan.today) {
    facts.newer_files =
        newer_files(host.files, *plan.today, node.daemon->process, journal ? journal->settled : Settled{});
  }
  const bool by_its_word = request.restart == RestartMode::unserved;
  // What isn't written yet isn't loaded either: that is said already.
  if ((by_its_word || !facts.effective_changes) && node.daemon) {
    const auto loaded = loaded_before(*host.live);
    if (loaded) facts.not_loaded = not_loaded(request.desired, *loaded);
    if (by_its_word && loaded && *loaded) {
      facts.default_handler = stale_default(request.desired, make_expected(plan.predicted, plan.handlers), **loaded);
    }
  }
  return decide_restart(request.restart, facts);
}

Result<Outcome> apply_to_node(const Request& request, const engine::Engine& engine, Host& host) {
  LiveNode& node = *host.live;
  const std::string folder = state_folder(request);
  remove_rehearsal(host.files);
  const auto recovered = recover(request, engine, host);
  if (!recovered) return std::unexpected(recovered.error());
  const std::optional<Journal>& journal = recovered->journal;
  // What a run left that ended before its first list; else the folder would pass for somebody else's.
  if (!journal) static_cast<void>(remove_orphans(host.files, folder));
  auto plan = make_plan(engine, host.files, journal, request.desired, Outlooks::left_out);
  if (!plan) return std::unexpected(plan.error());
  if (!node.daemon && request.restart != RestartMode::none) return std::unexpected(node.daemon.error());
  if (auto there = check_binaries(request, host); !there) return std::unexpected(there.error());

  Outcome outcome{.plan = *std::move(plan), .applied = true, .node = NodeChange{}};
  NodeChange& change = *outcome.node;
  const RestartDecision decision = restart_due(request, host, *outcome.plan, journal);
  change.reasons = decision.reasons;
  if (outcome.plan->files.empty() && !decision.restart && journal && journal->finished) {
    if (node.daemon && !node.daemon->build_is_kept) keep_build(request, host);
    return outcome;
  }

  Written written{.expected = make_expected(outcome.plan->predicted, outcome.plan->handlers)};
  if (decision.restart) {
    auto before = loaded_before(node);
    if (!before) return std::unexpected(before.error());
    written.before = *std::move(before);
    if (auto kept = check_loss(request, engine, *outcome.plan, written.before); !kept)
      return std::unexpected(kept.error());
  }
  if (node.daemon) {
    engine::Overlay planned(static_cast<const engine::FileReader&>(host.files));
    planned.apply(outcome.plan->files);
    if (auto fits = check_with_own_program(request, host, planned); !fits) return std::unexpected(fits.error());
  }
  LastApply last{
      .confirmed = !decision.restart, .token = make_token(node.clock.real_time()), .time = node.clock.real_time()};
  if (!decision.restart) {
    auto now = apply(host.files, folder, journal, *outcome.plan, std::move(last));
    if (!now) return std::unexpected(now.error());
    // What was just written changes nothing for the daemon, unless it is behind anyway.
    if (decision.reasons.empty() && node.daemon) {
      now->settled = {.start_ticks = node.daemon->process.start_ticks,
                      .up_to = last_change(host.files, outcome.plan->predicted)};
      static_cast<void>(write_journal(host.files, folder, *now));
    }
    keep_build(request, host);
    return outcome;
  }

  auto unit = find_unit(request, node);
  if (!unit) return std::unexpected(unit.error());
  written.unit = change.unit = *std::move(unit);
  last.unit = written.unit;
  if (written.before) last.loaded = written.before->json;
  std::optional<Journal> current = journal;
  if (request.confirm_timeout > 0) {
    if (auto armed = arm(request, host, last, journal); !armed) return std::unexpected(armed.error());
    if (auto again = read_journal(host.files, folder)) current = *std::move(again);
  }
  auto now = apply(host.files, folder, current, *outcome.plan, last);
  if (!now) {
    if (request.confirm_timeout > 0) disarm(request, host, change);
    return std::unexpected(now.error());
  }
  // Files of an earlier run that no daemon has loaded yet are as unproven as those of this one.
  const bool ours_unproven =
      outcome.plan->files.empty() && now->last && !may_have_read(node.daemon->process, now->last->time);
  if (ours_unproven || !outcome.plan->files.empty()) {
    prove(request, engine, host, *outcome.plan, *now, written, change);
  } else {
    Restarted restarted = restart_daemon(node, written.unit, written.expected, written.before);
    change.restarted = restarted.queued;
    change.problems = restarted.problems;
    change.verdict = change.problems.empty() ? Verdict::verified : Verdict::rollback_failed;
    if (change.problems.empty()) {
      confirm(request, host, *now, restarted, outcome.plan->predicted);
      keep_build(request, host);
    }
  }
  if (request.confirm_timeout > 0) disarm(request, host, change);
  return outcome;
}

}  // namespace ctkit::installer
