#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "engine/containerd/lint_parts.h"

// What one file's sections do to those of the others.
namespace ctkit::engine::containerd {

namespace {

/// The type whose members a CRI section of this id names; null if it is none.
const Type* cri_type(const LintView& view, std::string_view id) {
  const bool old = id == kCri || id == "cri";
  const Schema* schema = view.daemon.known.schema;
  if (old && !view.one()) {
    // 2.x reads only the rest of the old section; what a copy of it names is in the last 1.x.
    const auto last = find_release({.major = 1, .minor = 7, .patch = 34});
    if (!last) return nullptr;
    schema = last->schema;
  }
  const auto plugin =
      std::ranges::find(schema->plugins, old ? kCri : id, [](const PluginType& item) { return item.id; });
  return plugin == schema->plugins.end() ? nullptr : plugin->type;
}

/// Whether a section names so many members that nobody wrote them by hand.
bool is_whole_copy(const Table& section, const Type& type) {
  const auto named =
      std::ranges::count_if(type.fields, [&](const Type& field) { return find(section, field.name) != nullptr; });
  return named * 4 >= static_cast<long>(type.fields.size()) * 3;
}

std::size_t equal_leaves(const Table& section, const Table& built_in) {
  std::size_t count = 0;
  each_leaf(section, {}, [&](const KeyPath& key, const Value& value) {
    const Value* other = value_at(built_in, key);
    if (other && *other == value) ++count;
  });
  return count;
}

}  // namespace

void lint_erasers(LintView& view) {
  using Eraser = std::tuple<std::string, std::uint32_t, KeyPath>;
  std::map<Eraser, std::vector<const Event*>> erasers;
  for (const Event& event : view.effective->events) {
    if (!is_lost(event, *view.effective) || event.by.built_in() || !event.value.origin.file) continue;
    if (*event.by.file == *event.value.origin.file) continue;
    const bool plugin = event.key.parts.front() == "plugins" && event.key.parts.size() > 2;
    if (plugin && view.regime().keyed_plugins) continue;
    KeyPath table = event.key;
    table.parts.resize(std::min<std::size_t>(table.parts.size(), 2));
    erasers[{*event.by.file, event.by.line, table}].push_back(&event);
  }
  for (const auto& [eraser, events] : erasers) {
    const KeyPath& table = std::get<KeyPath>(eraser);
    view.add(RuleId::erases_others,
             events.front()->by,
             fmt::format("this table replaces all that earlier files say under '{}': {} lost: {}",
                         table.to_string(),
                         settings(events.size()) + (events.size() == 1 ? " is" : " are"),
                         summary(events, table)),
             "repeat them in this file, or let `ctkit plan` write a drop-in that keeps them; "
             "containerd 2.x merges plugin tables by key");
  }
}

void lint_versions(LintView& view) {
  const Layer* stopper = view.effective ? migration_stopper(view) : nullptr;
  const UnreadValues unread = view.effective ? unread_values(view) : UnreadValues{};
  const Layer* const root = view.layers.empty() ? nullptr : &view.layers.front();
  long first = 0;
  for (const Layer& layer : view.layers) {
    if (first == 0) first = layer.schema_version;
    if (layer.schema_version <= first) continue;
    const std::string above = fmt::format("version {} is above the top-level config's {}", layer.schema_version, first);
    const std::string hint =
        fmt::format("write version = {} and that version's plugin ids here, or bring '{}' to version {}",
                    first,
                    root->path,
                    layer.schema_version);
    if (view.regime().root_caps_version) {
      view.add(RuleId::version_above_root,
               layer.version_origin,
               above + ", and " + view.release() + " refuses to start",
               hint);
      return;
    }
    if (&layer == stopper && !unread.version.empty()) {
      view.add(RuleId::version_above_root,
               layer.version_origin,
               fmt::format("{}: {} then migrates no file, and {} under the old plugin id have no "
                           "effect: {}",
                           above,
                           view.release(),
                           settings(unread.version.size()),
                           summary(unread.version, {{"plugins", std::string(kCri)}})),
               hint);
      return;
    }
    if (&layer == stopper || !stopper) {
      if (layer.schema_version > view.regime().schema_version && view.regime().rejects_newer) return;
      view.add(RuleId::version_above_root,
               Severity::note,
               layer.version_origin,
               above + ", which containerd 2.3.0 to 2.3.4 refuse",
               hint);
      return;
    }
  }
}

void lint_frozen_copies(LintView& view) {
  for (const Layer& layer : view.layers) {
    const Table* plugins = plugins_of(layer);
    if (!plugins || &layer == view.layers.data()) continue;
    for (const std::string_view id : {std::string_view("cri"), kCri, kRuntime}) {
      const Value* section = find(*plugins, id);
      const Type* type = cri_type(view, id);
      if (!section || !section->table() || !type || !is_whole_copy(*section->table(), *type)) continue;
      const bool own =
          view.one() || id == kRuntime;  // 2.x has other built-in values than the release it was copied from
      const std::size_t repeated =
          own ? equal_leaves(*section->table(), built_in_section(view.daemon, id == "cri" ? kCri : id)) : 0;
      view.add(RuleId::frozen_copy,
               section->origin,
               fmt::format("this drop-in repeats the whole CRI configuration{}: what earlier files or a "
                           "newer containerd say to it has no effect any more",
                           repeated == 0 ? std::string() : fmt::format(", {} as built in", settings(repeated))),
               "keep only what this file is for; `ctkit plan` writes such a drop-in");
    }
  }
}

}  // namespace ctkit::engine::containerd
