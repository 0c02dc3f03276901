#include "installer/install.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>

#include "installer/apply.h"
#include "installer/change_node.h"
#include "installer/journal.h"
#include "installer/leave_node.h"
#include "installer/leave_toolkit.h"
#include "installer/locked_run.h"
#include "installer/node_state.h"
#include "installer/plan_file.h"
#include "installer/spec_state.h"
#include "installer/state_place.h"

namespace ctkit::installer {

namespace {

using engine::Result;

/// `TOOLKIT_PID_FILE` of the operator's DaemonSet, and the stock image's default.
const std::string kStockLock = "/run/nvidia/toolkit/toolkit.pid";

Result<Outcome> show_effective(const Request& request, const engine::Engine& engine, Host& host) {
  auto effective = engine.effective(host.files, false);
  if (!effective) return std::unexpected(effective.error());
  Outcome outcome{.effective = *std::move(effective)};
  if (request.format == Format::text) outcome.rendered = engine.render(*outcome.effective);
  return outcome;
}

Result<Outcome> show_explanation(const Request& request, const engine::Engine& engine, Host& host) {
  auto effective = engine.effective(host.files, true);
  if (!effective) return std::unexpected(effective.error());
  Outcome outcome{.effective = *std::move(effective)};
  outcome.handlers = engine.handlers(*outcome.effective);
  for (const std::string& text : request.keys) {
    auto key = parse_asked_key(text, *outcome.effective);
    if (!key) return std::unexpected(key.error());
    outcome.explanations.push_back(explain(*outcome.effective, *key));
  }
  return outcome;
}

/// Who may read what lint judges: the files that are loaded, and the programs that handlers start.
engine::FileModes modes_of(const engine::Engine& engine,
                           const FileSystem& files,
                           const engine::EffectiveConfig& effective) {
  engine::FileModes modes;
  const auto ask = [&](const std::string& path) {
    const auto mode = files.mode_of(path);
    if (mode) {
      modes[path] = *mode;
    } else if (mode.error().code == engine::ErrorCode::not_found) {
      modes[path] = std::nullopt;
    }
  };
  for (const engine::Layer& layer : effective.layers)
    ask(layer.path);
  for (const engine::Handler& handler : engine.handlers(effective)) {
    if (!handler.binary.empty()) ask(handler.binary);
  }
  return modes;
}

Result<Outcome> find_problems(const engine::Engine& engine, Host& host) {
  using enum engine::ErrorCode;
  const auto effective = engine.effective(host.files, true);
  const bool refused =
      !effective && (effective.error().code == daemon_refuses || effective.error().code == daemon_crashes);
  if (!effective && !refused) return std::unexpected(effective.error());
  Lint lint{.engine = engine.name()};
  lint.findings =
      engine.lint(host.files, effective, effective ? modes_of(engine, host.files, *effective) : engine::FileModes{});
  if (host.tree && host.cdi_level) {
    const SpecState specs =
        look_at_specs(*host.tree, host.files, spec_folders_of(effective ? &*effective : nullptr), *host.cdi_level);
    std::ranges::move(find_spec_problems(specs), std::back_inserter(lint.findings));
    engine::sort_by_place(lint.findings);
  }
  if (effective) {
    std::ranges::copy_if(effective->diagnostics,
                         std::back_inserter(lint.diagnostics),
                         [](const engine::Diagnostic& item) { return item.origin.built_in(); });
  }
  return Outcome{.lint = std::move(lint)};
}

Result<Outcome> look_ahead(const Request& request, const engine::Engine& engine, Host& host) {
  auto preflight = engine.preflight(host.files, request.target);
  if (!preflight) return std::unexpected(preflight.error());
  return Outcome{.preflight = *std::move(preflight)};
}

Result<Outcome> make_change(const Request& request, const engine::Engine& engine, Host& host) {
  auto journal = read_journal(host.files, state_folder(request));
  if (!journal) return std::unexpected(journal.error());
  auto plan = make_plan(engine, host.files, *journal, request.desired);
  if (!plan) return std::unexpected(plan.error());
  Outcome outcome{.plan = *std::move(plan)};
  if (request.verb == Verb::plan) {
    if (host.live) outcome.node = NodeChange{.reasons = restart_due(request, host, *outcome.plan, *journal).reasons};
    return outcome;
  }
  if (auto done = apply(host.files, state_folder(request), *journal, *outcome.plan, {.confirmed = true}); !done) {
    return std::unexpected(done.error());
  }
  outcome.applied = true;
  return outcome;
}

Result<Outcome> take_off(const Request& request, const engine::Engine& engine, Host& host) {
  auto journal = read_journal(host.files, state_folder(request));
  if (!journal) return std::unexpected(journal.error());
  if (!*journal) {
    // A run that ended before its first list: nothing of the host was touched, only its own contents are there.
    if (auto done = remove_orphans(host.files, state_folder(request)); !done) return std::unexpected(done.error());
    return Outcome{};
  }
  auto removed = uninstall(engine, host.files, state_folder(request), **journal);
  if (!removed) return std::unexpected(removed.error());
  return Outcome{.removed = *std::move(removed)};
}

Result<Outcome> leave(const Request& request, const engine::Engine& engine, Host& host) {
  if (request.with_toolkit) {
    if (auto is_free = check_toolkit_is_free(request, engine, host); !is_free) return std::unexpected(is_free.error());
  }
  auto outcome = host.live ? uninstall_from_node(request, engine, host) : take_off(request, engine, host);
  if (!outcome || !request.with_toolkit) return outcome;
  using enum NodeChange::Verdict;
  const bool came_back =
      outcome->node && (outcome->node->verdict == rolled_back || outcome->node->verdict == rollback_failed);
  if (came_back) return outcome;
  auto gone = take_toolkit_off(request, engine, host);
  if (!gone) return std::unexpected(gone.error());
  outcome->toolkit_gone = *std::move(gone);
  return outcome;
}

Result<Outcome> run_on(const Request& request, const engine::Engine& engine, Host& host) {
  if (request.kept_plan) {
    const auto journal = read_journal(host.files, state_folder(request));
    if (!journal) return std::unexpected(journal.error());
    if (auto same = check_kept_plan(request, engine, host.files, *journal); !same) return std::unexpected(same.error());
  }
  switch (request.verb) {
    case Verb::effective:
      return show_effective(request, engine, host);
    case Verb::explain:
      return show_explanation(request, engine, host);
    case Verb::lint:
      return find_problems(engine, host);
    case Verb::preflight:
      return look_ahead(request, engine, host);
    case Verb::plan:
      return make_change(request, engine, host);
    case Verb::apply:
      return host.live ? apply_to_node(request, engine, host) : make_change(request, engine, host);
    case Verb::uninstall:
      return leave(request, engine, host);
    case Verb::verify:
    case Verb::status:
      return look_at_node(request, engine, host);
    case Verb::rollback:
      break;
  }
  assert(false);
  return Outcome{};
}

}  // namespace

Result<Locks> lock_host(const Request& request, FileSystem& files, bool is_node) {
  Locks held;
  if (request.verb != Verb::apply && request.verb != Verb::uninstall && request.verb != Verb::rollback) return held;
  if (is_node) {
    auto lock = files.lock_file(request.lock.empty() ? kStockLock : request.lock);
    if (!lock) return std::unexpected(lock.error());
    held.push_back(*std::move(lock));
  }
  auto lock = files.lock();
  if (!lock) return std::unexpected(lock.error());
  held.push_back(*std::move(lock));
  return held;
}

Result<Outcome> run_locked(const Request& request, const engine::Engine* engine, Host& host) {
  if (request.verb == Verb::rollback || !engine) return roll_back_node(request, host);
  if (!host.without_handlers) return run_on(request, *engine, host);
  Request fitted = request;
  fitted.desired.handlers.clear();
  fitted.desired.default_handler.clear();
  return run_on(fitted, *engine, host);
}

Result<Outcome> run(const Request& request, const engine::Engine& engine, Host& host) {
  const auto held = lock_host(request, host.files, host.live != nullptr);
  if (!held) return std::unexpected(held.error());
  return run_locked(request, &engine, host);
}

}  // namespace ctkit::installer
