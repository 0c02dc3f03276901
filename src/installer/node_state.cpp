#include "installer/node_state.h"

#include <utility>

#include "installer/loaded_files.h"
#include "installer/loaded_now.h"
#include "installer/own_program.h"
#include "installer/state_place.h"

namespace ctkit::installer {

namespace {

using engine::ErrorCode;
using engine::Result;

void look_at_files(const FileSystem& files, const Journal& journal, NodeState& state) {
  for (const JournalEntry& entry : journal.files) {
    const auto present = files.read(entry.change.path);
    const bool same =
        present ? entry.change.after == *present : !entry.change.after && present.error().code == ErrorCode::not_found;
    if (!same) state.drifted.push_back(entry.change.path);
  }
}

/// With another `--root` the programs of handlers need not be there.
void look_at_binaries(const FileSystem& files, const std::vector<engine::Handler>& handlers, NodeState& state) {
  constexpr unsigned kExecutable = 0111;
  for (const engine::Handler& handler : handlers) {
    if (!handler.binary.starts_with('/')) continue;
    const auto mode = files.mode_of(handler.binary);
    if (!mode || (*mode & kExecutable) == 0) state.missing_binaries.push_back(handler.binary);
  }
}

void look_at_dump(Host& host, NodeState& state) {
  LiveNode& node = *host.live;
  if (!node.check) return;
  const auto dump = ask_dump(node.runner, *node.daemon, node.check->config_path());
  auto compared = dump ? node.check->compare(host.files, *dump)
                       : Result<std::vector<engine::Mismatch>>(std::unexpected(dump.error()));
  if (compared) {
    state.dump_differences = *std::move(compared);
  } else {
    state.dump_failed = compared.error().message;
  }
}

void look_at_daemon(const Expected* expected, const engine::EffectiveConfig* today, Host& host, NodeState& state) {
  LiveNode& node = *host.live;
  state.socket = node.socket;
  if (!node.daemon) {
    state.unreachable = node.daemon.error().message;
    return;
  }
  state.pid = node.daemon->facts.own_pid;
  state.started = node.daemon->process.started;
  if (const auto unit = node.services.find_unit(node.daemon->facts.own_pid)) {
    state.unit = *unit;
    if (const auto now = node.services.state(*unit)) state.unit_state = now->active_state + " (" + now->sub_state + ")";
  }
  auto loaded = loaded_now(node);
  if (!loaded) {
    state.unreachable = loaded.error().message;
  } else {
    if (expected) state.differences = compare_loaded(*expected, *loaded);
    state.loaded = *std::move(loaded);
  }
  if (today) {
    state.newer_files =
        newer_files(host.files, *today, node.daemon->process, state.journal ? state.journal->settled : Settled{});
  }
}

}  // namespace

Result<Outcome> look_at_node(const Request& request, const engine::Engine& engine, Host& host) {
  NodeState state{.engine = engine.name()};
  auto journal = read_journal(host.files, state_folder(request));
  if (!journal) return std::unexpected(journal.error());
  state.journal = *std::move(journal);
  if (state.journal) look_at_files(host.files, *state.journal, state);
  const auto today = engine.effective(host.files, false);
  Outcome outcome;
  std::optional<Expected> expected;
  if (today) {
    outcome.handlers = engine.handlers(*today);
    expected = make_expected(*today, outcome.handlers);
    state.not_serving = today->not_serving;
  } else if (today.error().code == ErrorCode::daemon_refuses || today.error().code == ErrorCode::daemon_crashes) {
    state.refused = today.error().message + " (" + today.error().where + ")";
  } else {
    return std::unexpected(today.error());
  }
  if (host.tree) {
    const auto level = host.cdi_level.value_or(cdi::Level::v1_1_0);
    state.cdi = look_at_specs(*host.tree, host.files, spec_folders_of(today ? &*today : nullptr), level);
  }
  if (host.live) {
    look_at_binaries(host.files, outcome.handlers, state);
    look_at_daemon(expected ? &*expected : nullptr, today ? &*today : nullptr, host, state);
    if (request.verb == Verb::verify && host.live->daemon && today) look_at_dump(host, state);
  }
  outcome.state = std::move(state);
  return outcome;
}

}  // namespace ctkit::installer
