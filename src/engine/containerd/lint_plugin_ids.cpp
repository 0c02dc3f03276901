#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "engine/containerd/lint_parts.h"

// Which plugin id a file's settings stand under, and whether the release looks there.
namespace ctkit::engine::containerd {

namespace {

constexpr std::array<std::string_view, 6> kServerKeys = {"disable_tcp_service",
                                                         "stream_server_address",
                                                         "stream_server_port",
                                                         "stream_idle_timeout",
                                                         "enable_tls_streaming",
                                                         "x509_key_pair_streaming"};

bool is_cri(std::string_view id) {
  return id == "cri" || id == kCri || id == kRuntime || id == kImages;
}

bool has_plugin(const LintView& view, std::string_view id) {
  return std::ranges::any_of(view.daemon.known.schema->plugins,
                             [&](const PluginType& plugin) { return plugin.id == id; });
}

bool has_short_name(const LintView& view, std::string_view name) {
  const std::string end = "." + std::string(name);
  return !name.contains('.') && std::ranges::any_of(view.daemon.known.schema->plugins,
                                                    [&](const PluginType& plugin) { return plugin.id.ends_with(end); });
}

/// The version that the files come to where it only picks the names (1.x).
long merged_version(const LintView& view) {
  long version = 1;
  for (const Layer& layer : view.layers) {
    if (layer.schema_version != 0) version = layer.schema_version;
  }
  return version;
}

/// Whether the file fills a CRI section of its own accord, beyond the keys that stay under the old
/// id for good.
bool fills(const Layer& layer, std::string_view id) {
  const Table* plugins = plugins_of(layer);
  const Value* section = plugins ? find(*plugins, id) : nullptr;
  if (!section || !section->table()) return false;
  return std::ranges::any_of(*section->table(), [&](const auto& entry) {
    return id != kCri || std::ranges::find(kServerKeys, entry.first) == kServerKeys.end();
  });
}

const Layer* first_with(const LintView& view, std::initializer_list<std::string_view> ids) {
  for (const Layer& layer : view.layers) {
    if (std::ranges::any_of(ids, [&](std::string_view id) { return fills(layer, id); })) return &layer;
  }
  return nullptr;
}

Origin section_origin(const Layer& layer, std::initializer_list<std::string_view> ids) {
  for (const std::string_view id : ids) {
    if (const Value* section = find(*plugins_of(layer), id); section && fills(layer, id)) {
      return section->origin;
    }
  }
  return {};
}

/// 2.x: both ids in use. Which settings lose to the other id's is in the events of the migration.
void lint_both_ids(LintView& view) {
  if (view.one() || migration_stopper(view)) return;
  const Layer* old = first_with(view, {"cri", kCri});
  const Layer* fresh = first_with(view, {kRuntime, kImages});
  if (!old || !fresh) return;
  std::vector<const Event*> blocked;
  for (const Event& event : view.effective->events) {
    const bool loses = event.kind == Event::Kind::erased || event.kind == Event::Kind::overridden;
    if (loses && !event.value.origin.built_in() && !event.by.built_in() &&
        event.key.starts_with({{"plugins", std::string(kCri)}})) {
      blocked.push_back(&event);
    }
  }
  const std::string both = fmt::format(
      "the old plugin id {} is in use here and the new ones {} and {} in '{}'", kCri, kRuntime, kImages, fresh->path);
  const std::string hint = "write all files for one version: 3 and the new ids, or 2 and the old one";
  const Origin place = section_origin(*old, {kCri, "cri"});
  if (blocked.empty()) {
    view.add(RuleId::both_plugin_ids, Severity::note, place, both, hint);
    return;
  }
  const bool handlers = std::ranges::any_of(blocked, [](const Event* event) {
    return std::ranges::find(event->key.parts, "runtimes") != event->key.parts.end();
  });
  view.add(RuleId::both_plugin_ids,
           handlers ? Severity::error : Severity::warning,
           blocked.front()->value.origin,
           fmt::format("{}: {} under the old id lose to it: {}",
                       both,
                       settings(blocked.size()),
                       summary(blocked, {{"plugins", std::string(kCri)}})),
           hint);
}

/// A whole section that nothing reads.
void lint_section(LintView& view, const Layer& layer, const std::string& id, const Value& section) {
  std::size_t count = 0;
  if (section.table()) each_leaf(*section.table(), {}, [&](const auto&, const auto&) { ++count; });
  const std::string name = KeyPath{{"plugins", id}}.to_string();
  if (!is_cri(id)) {
    view.add(RuleId::unread_key,
             Severity::note,
             section.origin,
             fmt::format("{} has no plugin for '{}'", view.release(), name),
             "a misspelled id, or a plugin that only another build or release has");
    return;
  }
  if (count == 0) return;
  const bool is_new = id == kRuntime || id == kImages;
  std::string hint = fmt::format("write it as [plugins.\"{}\"]", kCri);
  std::string why;
  if (view.one() && is_new) {
    why = "only containerd 2.x reads that id";
  } else if (view.one()) {
    why = fmt::format("the version of this tree comes to {}, and that one goes by {} names",
                      merged_version(view),
                      merged_version(view) < 2 ? "short" : "full");
    hint = merged_version(view) < 2 ? "write version = 2 into every file" : hint;
  } else {
    why = fmt::format("a file of version {} names plugins in full", layer.schema_version);
  }
  view.add(RuleId::other_plugin_id,
           section.origin,
           fmt::format("{} does not read '{}': {}; {} here without effect", view.release(), name, why, settings(count)),
           hint);
}

/// Values under the old id that 2.x leaves where they are, one finding a file.
void lint_unmigrated(LintView& view, const std::vector<const Event*>& events, RuleId rule, std::string_view what) {
  std::map<std::string, std::vector<const Event*>> files;
  for (const Event* event : events) {
    if (event->value.origin.file) files[*event->value.origin.file].push_back(event);
  }
  for (const auto& [path, group] : files) {
    const Event* first = *std::ranges::min_element(
        group, {}, [](const Event* event) { return std::pair(event->value.origin.line, event->value.origin.column); });
    const Layer* layer = layer_of(view, first->value.origin);
    const KeyPath section{{"plugins", first->key.parts.at(1)}};
    std::string why;
    std::string hint;
    if (section.parts[1] != kCri) {
      why = fmt::format("the registry belongs to '{}'", KeyPath{{"plugins", std::string(kImages)}}.to_string());
      hint = fmt::format("move it to [plugins.\"{}\".registry]", kImages);
    } else if (layer && layer->schema_version >= 3) {
      why = fmt::format("in a file of version {} nothing is migrated from the old id", layer->schema_version);
      hint = fmt::format("move it to [plugins.\"{}\"] or [plugins.\"{}\"]", kImages, kRuntime);
    } else if (layer && layer->schema_version == 2) {
      why = "another file's version keeps it from being migrated";
      hint = "give all files the same version";
    } else {
      why =
          "containerd 2.0 to 2.2 take a file without a version, or with version 1, for a migrated "
          "one";
      hint = "write version = 2 into the file";
    }
    view.add(rule,
             first->value.origin,
             fmt::format("{} ignores {} under '{}': {}; without effect: {}",
                         view.release(),
                         what,
                         section.to_string(),
                         why,
                         summary(group, section)),
             hint);
  }
}

}  // namespace

bool reads_plugin(const LintView& view, const Layer& layer, std::string_view id) {
  if (view.one()) {
    const long version = merged_version(view);
    const bool short_names = version == 0 || version == 1;
    return short_names ? has_short_name(view, id) : has_plugin(view, id);
  }
  if (!id.contains('.')) return layer.schema_version < 2;
  return id == kCri || id == "io.containerd.monitor.v1.cgroups" || id == "io.containerd.internal.v1.restart" ||
         has_plugin(view, id);
}

const Layer* migration_stopper(const LintView& view) {
  if (view.regime().migration != Migration::after_merge) return nullptr;
  long first = 0;
  const Layer* last = nullptr;
  for (const Layer& layer : view.layers) {
    if (layer.schema_version == 0) continue;
    if (first == 0) first = layer.schema_version;
    last = &layer;
  }
  return last && first == 2 && last->schema_version > first ? last : nullptr;
}

UnreadValues unread_values(const LintView& view) {
  UnreadValues result;
  const Layer* stopper = migration_stopper(view);
  for (const Event& event : view.effective->events) {
    if (event.kind != Event::Kind::unread || event.value.origin.built_in()) continue;
    const auto& parts = event.key.parts;
    const Layer* layer = layer_of(view, event.value.origin);
    if (!layer || parts.empty()) continue;
    const bool in_plugin = parts.front() == "plugins" && parts.size() > 2;
    if (!in_plugin) {
      result.rest.push_back(&event);
      continue;
    }
    if (!reads_plugin(view, *layer, parts[1]) && parts[1] != kRuntime && parts[1] != kImages) continue;
    if (view.one() && (parts[1] == kRuntime || parts[1] == kImages)) continue;
    if (view.one() && (parts[2] == "enable_cdi" || parts[2] == "cdi_spec_dirs")) continue;
    const bool old = !view.one() && parts[1] == kCri;
    if (old && stopper && layer->schema_version == 2) {
      result.version.push_back(&event);
    } else if (!view.one() && parts[2] == "registry" && parts[1] != kImages) {
      result.registry.push_back(&event);
    } else if (old) {
      result.other_id.push_back(&event);
    } else {
      result.rest.push_back(&event);
    }
  }
  return result;
}

void lint_plugin_ids(LintView& view) {
  lint_both_ids(view);
  for (const Layer& layer : view.layers) {
    const Table* plugins = plugins_of(layer);
    if (!plugins) continue;
    for (const auto& [id, section] : *plugins) {
      if (id == "io" || reads_plugin(view, layer, id)) continue;
      lint_section(view, layer, id, section);
    }
  }
  const UnreadValues unread = unread_values(view);
  lint_unmigrated(view, unread.registry, RuleId::ignored_registry, "registry settings");
  lint_unmigrated(view, unread.other_id, RuleId::other_plugin_id, "settings");
}

void lint_nested_ids(LintView& view) {
  for (const Layer& layer : view.layers) {
    const Table* plugins = plugins_of(layer);
    const Value* io = plugins ? find(*plugins, "io") : nullptr;
    if (!io || !io->table()) continue;
    std::string first;
    each_leaf(*io->table(), {{"plugins", "io"}}, [&](const KeyPath& key, const Value&) {
      if (first.empty()) first = key.to_string();
    });
    view.add(RuleId::nested_plugin_id,
             io->origin,
             fmt::format("without quotes the dots of a plugin id nest tables, and {}: '{}'",
                         view.one() ? "containerd 1.x refuses to start" : "nothing reads them",
                         first),
             fmt::format("put the id in quotes: [plugins.\"{}\"]", view.one() ? kCri : kRuntime));
  }
}

}  // namespace ctkit::engine::containerd
