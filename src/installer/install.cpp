#include "installer/install.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <utility>

#include "installer/apply.h"
#include "installer/journal.h"

namespace ctkit::installer {

namespace {

using engine::Result;

std::string state_folder(const Request& request) {
  return request.state_dir.empty() ? std::string(kStateFolder) : request.state_dir;
}

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
engine::FileModes modes_of(const engine::Engine& engine, const FileSystem& files,
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
  for (const engine::Layer& layer : effective.layers) ask(layer.path);
  for (const engine::Handler& handler : engine.handlers(effective)) {
    if (!handler.binary.empty()) ask(handler.binary);
  }
  return modes;
}

Result<Outcome> find_problems(const engine::Engine& engine, Host& host) {
  using enum engine::ErrorCode;
  const auto effective = engine.effective(host.files, true);
  const bool refused = !effective && (effective.error().code == daemon_refuses || effective.error().code == daemon_crashes);
  if (!effective && !refused) return std::unexpected(effective.error());
  Lint lint{.engine = engine.name()};
  lint.findings = engine.lint(host.files, effective,
                              effective ? modes_of(engine, host.files, *effective) : engine::FileModes{});
  if (effective) {
    std::ranges::copy_if(effective->diagnostics, std::back_inserter(lint.diagnostics),
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
  if (request.verb == Verb::plan) return outcome;
  if (auto done = apply(host.files, state_folder(request), *journal, *outcome.plan); !done) {
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

}  // namespace

Result<Outcome> run(const Request& request, const engine::Engine& engine, Host& host) {
  std::shared_ptr<void> held;
  if (request.verb == Verb::apply || request.verb == Verb::uninstall) {
    auto lock = host.files.lock();
    if (!lock) return std::unexpected(lock.error());
    held = *std::move(lock);
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
    case Verb::apply:
      return make_change(request, engine, host);
    case Verb::uninstall:
      return take_off(request, engine, host);
  }
  assert(false);
  return Outcome{};
}

}  // namespace ctkit::installer
