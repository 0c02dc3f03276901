#include "installer/change_node.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "engine/change.h"
#include "engine/overlay.h"
#include "installer/apply.h"
#include "installer/cri_message.h"
#include "installer/daemon_build.h"
#include "installer/dead_man.h"
#include "installer/loaded_files.h"
#include "installer/own_program.h"
#include "installer/recover.h"
#include "installer/redact.h"
#include "installer/restart_daemon.h"
#include "installer/restart_decision.h"
#include "installer/state_place.h"

namespace ctkit::installer {

namespace {

using namespace std::literals;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using Verdict = NodeChange::Verdict;

constexpr auto kStatusTime = 10s;

Error decision_needed(std::string message, std::string where, std::string hint) {
  return {.code = ErrorCode::needs_decision,
          .message = std::move(message),
          .where = std::move(where),
          .hint = std::move(hint)};
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

/// What it serves; none: it answers, and serves no CRI.
Result<std::optional<LoadedState>> loaded_now(LiveNode& node) {
  auto status = node.status.status(node.clock.now() + kStatusTime);
  if (status) return *std::move(status);
  if (status.error().code == ErrorCode::not_found) return std::nullopt;
  return std::unexpected(status.error());
}

Result<void> check_binaries(const Request& request, const FileSystem& files) {
  constexpr unsigned kExecutable = 0111;
  for (const engine::DesiredHandler& handler : request.desired.handlers) {
    const auto mode = files.mode_of(handler.binary);
    if (mode && (*mode & kExecutable) != 0) continue;
    return std::unexpected(decision_needed("handler '" + handler.name + "' would start '" + handler.binary +
                                               "', which " + (mode ? "is not executable" : "is not on this node"),
                                           handler.binary,
                                           "install it first, or name another one with --handler"));
  }
  return {};
}

/// systemd's unit of the daemon, fit to be restarted.
Result<std::string> find_unit(const Request& request, LiveNode& node) {
  std::string unit = request.unit;
  if (unit.empty()) {
    auto found = node.services.find_unit(node.daemon->facts.own_pid);
    if (!found) return std::unexpected(found.error());
    unit = *std::move(found);
  }
  if (!unit.ends_with(".service")) {
    return std::unexpected(
        decision_needed("the daemon runs in '" + unit + "', which is no service that systemd could restart",
                        unit,
                        "name its service with --unit, or use --restart none"));
  }
  const auto state = node.services.state(unit);
  if (!state) return std::unexpected(state.error());
  if (state->load_state != "loaded" && !state->load_state.empty()) {
    return std::unexpected(
        Error{.message = "'" + unit + "' can't be restarted: it is " + state->load_state,
              .where = unit,
              .hint = state->load_state == "masked" ? "see 'systemctl unmask'" : "see 'systemctl status'"});
  }
  return unit;
}

std::string in_words(const engine::Mismatch& mismatch) {
  const auto value = [&](const std::optional<engine::Value>& item) {
    return item ? shown(mismatch.key, *item) : std::string("nothing");
  };
  return mismatch.key.to_string() + ": predicted " + value(mismatch.predicted) + ", it says " +
         value(mismatch.answered);
}

/// The node's own program on the planned files.
Result<void> check_with_own_program(const Request& request, Host& host, const engine::FileReader& planned) {
  LiveNode& node = *host.live;
  if (!node.check) return {};
  const auto mismatches = rehearse(host.files, node.runner, *node.daemon, *node.check, planned);
  if (!mismatches) {
    if (request.trust == Trust::prediction && mismatches.error().code != ErrorCode::daemon_refuses) return {};
    return std::unexpected(mismatches.error());
  }
  if (mismatches->empty() || request.trust != Trust::neither) return {};
  constexpr std::size_t kMostShown = 8;
  std::string hint = "--trust dump or --trust prediction goes on all the same:";
  for (std::size_t i = 0; i < std::min(mismatches->size(), kMostShown); ++i)
    hint += "\n    " + in_words((*mismatches)[i]);
  return std::unexpected(decision_needed("the node's own '" + node.daemon->facts.executable +
                                             "' makes something else of these files than we predict, in " +
                                             std::to_string(mismatches->size()) + " keys",
                                         node.daemon->facts.executable,
                                         hint));
}

/// A restart makes the daemon forget what only it knows. What today's files have, and the plan gives up, is another
/// matter.
Result<void> check_loss(const Request& request,
                        const engine::Engine& engine,
                        const Plan& plan,
                        const std::optional<LoadedState>& before) {
  if (!before || request.restart == RestartMode::always) return {};
  Expected known{.handlers = plan.handlers};
  if (plan.today) {
    const auto today = engine.handlers(*plan.today);
    known.handlers.insert(known.handlers.end(), today.begin(), today.end());
  }
  const auto lost = handlers_to_lose(known, *before);
  if (lost.empty()) return {};
  return std::unexpected(decision_needed(
      "the running daemon serves handlers that its files no longer have, and a restart would lose them: " +
          listed(lost),
      "",
      "put them back into a file, or accept it with --restart always"));
}

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
    const auto done = roll_back(host.files, state_folder(request), **journal);
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

/// The files are without us already; the daemon may still have ours in memory.
Result<void> unload(const Request& request, const engine::Engine& engine, Host& host, NodeChange& change) {
  LiveNode& node = *host.live;
  const auto today = engine.effective(host.files, false);
  if (!today || !node.daemon) return {};
  const Expected expected = make_expected(*today, engine.handlers(*today));
  const auto loaded = loaded_now(node);
  RestartFacts facts;
  if (!loaded || !*loaded || !handlers_to_lose(expected, **loaded).empty())
    facts.not_loaded = {"of the files as they are"};
  const RestartDecision decision = decide_restart(request.restart, facts);
  if (!facts.not_loaded.empty()) change.reasons = {"the daemon has loaded what is no longer in its files"};
  if (!decision.restart) return {};
  auto unit = find_unit(request, node);
  if (!unit) return std::unexpected(unit.error());
  change.unit = *std::move(unit);
  const Restarted restarted = restart_daemon(node, change.unit, expected, std::nullopt);
  change.restarted = restarted.queued;
  change.problems = restarted.problems;
  change.verdict = restarted.problems.empty() ? Verdict::verified : Verdict::rollback_failed;
  return {};
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
    const auto loaded = loaded_now(*host.live);
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
  if (auto there = check_binaries(request, host.files); !there) return std::unexpected(there.error());

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
    auto before = loaded_now(node);
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
  const bool ours_unproven = outcome.plan->files.empty() && now->last && now->last->time > node.daemon->process.started;
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

Result<Outcome> uninstall_from_node(const Request& request, const engine::Engine& engine, Host& host) {
  LiveNode& node = *host.live;
  const std::string folder = state_folder(request);
  remove_rehearsal(host.files);
  const auto recovered = recover(request, engine, host);
  if (!recovered) return std::unexpected(recovered.error());
  const std::optional<Journal>& journal = recovered->journal;
  Outcome outcome{.node = NodeChange{}};
  if (!journal) {
    if (auto done = remove_orphans(host.files, folder); !done) return std::unexpected(done.error());
    if (recovered->took_back) {
      if (auto done = unload(request, engine, host, *outcome.node); !done) return std::unexpected(done.error());
    }
    return outcome;
  }
  NodeChange& change = *outcome.node;
  const auto taken = take_back(engine, host.files, *journal);
  if (!taken) return std::unexpected(taken.error());
  engine::Overlay without(static_cast<const engine::FileReader&>(host.files));
  for (const TakenBack& file : *taken)
    without.put(file.path, file.left);
  const auto today = engine.effective(host.files, false);
  const auto predicted = engine.effective(without, false);
  Written written;
  if (predicted) written.expected = make_expected(*predicted, engine.handlers(*predicted));
  if (node.daemon) {
    auto before = loaded_now(node);
    if (!before && request.restart != RestartMode::none) return std::unexpected(before.error());
    if (before) written.before = *std::move(before);
  }
  RestartFacts facts{.effective_changes =
                         !today || !predicted || !differences(today->config, predicted->config).empty()};
  if (written.before && predicted) facts.not_loaded = handlers_to_lose(written.expected, *written.before);
  const RestartDecision decision = decide_restart(request.restart, facts);
  change.reasons = decision.reasons;
  if (decision.restart && !predicted) return std::unexpected(predicted.error().with_context("without our files"));

  bool queued = false;
  Settle settle;
  if (decision.restart) {
    std::string unit = journal->last ? journal->last->unit : "";
    if (node.daemon) {
      auto found = find_unit(request, node);
      if (!found) return std::unexpected(found.error());
      unit = *std::move(found);
    } else if (!request.unit.empty()) {
      unit = request.unit;
    }
    if (unit.empty()) return std::unexpected(node.daemon.error());
    written.unit = change.unit = unit;
    settle = [&]() -> Result<void> {
      const Restarted restarted = restart_daemon(node, written.unit, written.expected, written.before);
      queued = change.restarted = restarted.queued;
      change.problems = restarted.problems;
      if (change.problems.empty()) return {};
      return std::unexpected(Error{.message = change.problems.front(), .where = written.unit});
    };
  }
  auto removed = uninstall(engine, host.files, folder, *journal, settle);
  if (!removed && change.problems.empty()) return std::unexpected(removed.error());
  if (removed) {
    outcome.removed = *std::move(removed);
    change.verdict = decision.restart ? Verdict::verified : Verdict::untouched;
    return outcome;
  }
  // The files are back in place, the journal still names them.
  change.verdict = Verdict::rolled_back;
  if (queued) {
    const Restarted again = restart_daemon(node, written.unit, Expected{}, written.before);
    change.rollback_problems = again.problems;
    if (!again.problems.empty()) change.verdict = Verdict::rollback_failed;
  }
  return outcome;
}

Result<Outcome> roll_back_node(const Request& request, Host& host) {
  const std::string folder = state_folder(request);
  auto journal = read_journal(host.files, folder);
  if (!journal) return std::unexpected(journal.error());
  Outcome outcome;
  const LastApply* last = *journal && (*journal)->last ? &*(*journal)->last : nullptr;
  if (!request.if_unconfirmed.empty() && (!last || last->confirmed || last->token != request.if_unconfirmed))
    return outcome;
  if (!last) {
    if (!request.if_unconfirmed.empty()) return outcome;
    return std::unexpected(Error{.message = "there is no apply to take back", .where = folder});
  }
  Written written{.unit = last->unit};
  if (!last->loaded.empty()) {
    auto loaded = make_loaded_state({.info = {{"config", last->loaded}}});
    if (loaded) written.before = *std::move(loaded);
  }
  const bool restart = host.live && request.restart != RestartMode::none;
  if (restart) {
    if (host.live->daemon || !request.unit.empty()) {
      auto unit = find_unit(request, *host.live);
      if (!unit) return std::unexpected(unit.error());
      written.unit = *std::move(unit);
    }
    if (written.unit.empty()) return std::unexpected(host.live->daemon.error());
  }
  // One that started before the apply has never seen its files.
  constexpr std::int64_t kSlack = 20'000;  // microseconds: a process's start is known to a hundredth of a second
  const bool may_have_loaded =
      !host.live || !host.live->daemon || host.live->daemon->process.started + kSlack > last->time;
  auto done = roll_back(host.files, folder, **journal);
  if (!done) return std::unexpected(done.error());
  outcome.rolled_back = *std::move(done);
  if (!host.live) return outcome;
  NodeChange change{.unit = written.unit};
  const bool put_back = !outcome.rolled_back->put_back.empty();
  if (restart && ((put_back && may_have_loaded) || request.restart == RestartMode::always)) {
    change.reasons.emplace_back("the files are those from before the last apply");
    const Restarted restarted = restart_daemon(*host.live, written.unit, Expected{}, written.before);
    change.restarted = restarted.queued;
    change.rollback_problems = restarted.problems;
    change.verdict = restarted.problems.empty() ? Verdict::verified : Verdict::rollback_failed;
  }
  outcome.node = std::move(change);
  return outcome;
}

}  // namespace ctkit::installer
