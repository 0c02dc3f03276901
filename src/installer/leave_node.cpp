#include "installer/leave_node.h"

#include <optional>
#include <string>
#include <utility>

#include "engine/change.h"
#include "engine/overlay.h"
#include "installer/apply.h"
#include "installer/before_change.h"
#include "installer/loaded_config.h"
#include "installer/loaded_files.h"
#include "installer/own_program.h"
#include "installer/recover.h"
#include "installer/restart_daemon.h"
#include "installer/restart_decision.h"
#include "installer/roll_back.h"
#include "installer/state_place.h"
#include "installer/take_back.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::Result;
using Verdict = NodeChange::Verdict;

struct Written {
  std::string unit = {};
  Expected expected = {};
  std::optional<LoadedState> before = std::nullopt;
};

/// The files are without us already; the daemon may still have ours in memory.
Result<void> unload(const Request& request, const engine::Engine& engine, Host& host, NodeChange& change) {
  LiveNode& node = *host.live;
  const auto today = engine.effective(host.files, false);
  if (!today || !node.daemon) return {};
  const Expected expected = make_expected(*today, engine.handlers(*today));
  const auto loaded = loaded_before(node);
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
    auto before = loaded_before(node);
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
    auto loaded = read_loaded(last->loaded);
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
  const bool may_have_loaded =
      !host.live || !host.live->daemon || may_have_read(host.live->daemon->process, last->time);
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
