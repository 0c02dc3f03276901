#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "engine/containerd/effective.h"
#include "engine/containerd/migrate.h"
#include "engine/finding.h"

// The parts of lint.cpp: each looks at one side of the tree and adds its findings.
namespace ctkit::engine::containerd {

/// What the rules look at, and where they put what they found.
struct LintView {
  const Daemon& daemon;
  const LoadRequest& request;
  const FileReader& files;
  const FileModes& modes;
  std::span<const Layer> layers;     ///< also where the daemon refuses, as far as the files can be read
  const EffectiveConfig* effective;  ///< null: the daemon refuses
  std::vector<Finding>& findings;
  std::set<std::string> explained = {};  ///< reasons of `not_serving` that a more telling rule has named

  [[nodiscard]] const Regime& regime() const { return daemon.known.regime; }
  [[nodiscard]] bool one() const { return regime().decoding == Decoding::go_toml_1; }
  [[nodiscard]] std::string release() const { return "containerd " + daemon.known.release.to_string(); }

  /// With the rule's usual severity.
  void add(RuleId rule, Origin origin, std::string message, std::string hint);
  void add(RuleId rule, Severity severity, Origin origin, std::string message, std::string hint);
};

// lint_files.cpp: the files themselves.
void lint_imports(LintView& view);
void lint_stray_files(LintView& view);
void lint_secrets(LintView& view);
/// Whether a backup or a temporary file has this name.

// lint_sections.cpp: what one file does to others.
void lint_erasers(LintView& view);
void lint_versions(LintView& view);
void lint_frozen_copies(LintView& view);

// lint_plugin_ids.cpp: where a release looks for settings, and where it does not.
void lint_plugin_ids(LintView& view);
void lint_nested_ids(LintView& view);

// lint_keys.cpp: single keys.
void lint_unread_keys(LintView& view);
void lint_lost_in_migration(LintView& view);
void lint_spellings(LintView& view);
void lint_durations(LintView& view);

// lint_handlers.cpp: what the handlers come to.
void lint_handlers(LintView& view);
void lint_service(LintView& view);
void lint_cdi(LintView& view);

/// The value at the key, or null.
const Value* value_at(const Table& table, const KeyPath& key);

/// Calls `visit` for each value below that is no table, arrays whole.
void each_leaf(const Table& table, const KeyPath& path, const std::function<void(const KeyPath&, const Value&)>& visit);

/// `one`, `one and two`, `one, two and 3 more`.
std::string listed(std::span<const std::string> items, std::size_t most = 4);

/// The key without the parts of `prefix`, as TOML writes it.
std::string below(const KeyPath& key, const KeyPath& prefix);

/// Whether an author's value was overwritten by a table that says nothing about it, and nothing
/// brings it back.
bool is_lost(const Event& event, const EffectiveConfig& config);

/// What Go starts from: false, 0, "", nothing in it.
bool is_zero(const Value& value);

/// The file that a value was written in; null: none that was loaded.
const Layer* layer_of(const LintView& view, const Origin& origin);

/// What a group of lost or ignored values comes to, with places; the leaves of one handler count as
/// one item.
std::string summary(const std::vector<const Event*>& events, const KeyPath& prefix);

/// "1 setting", "2 settings".
std::string settings(std::size_t count);

/// The sections under `plugins` of one file.
const Table* plugins_of(const Layer& layer);

/// Unread values, less those that other rules explain better; in the order of the events.
struct UnreadValues {
  std::vector<const Event*> version = {};  ///< an old-id section that a later file's version keeps from being migrated
  std::vector<const Event*> registry = {};
  std::vector<const Event*> other_id = {};  ///< in a CRI section of another release
  std::vector<const Event*> rest = {};
};
UnreadValues unread_values(const LintView& view);

/// The file whose version keeps others' old sections from being migrated (2.0 to 2.2), or null.
const Layer* migration_stopper(const LintView& view);

/// A name that holds a plugin's settings in this tree, and whether the release reads it there.
bool reads_plugin(const LintView& view, const Layer& layer, std::string_view id);

}  // namespace ctkit::engine::containerd
