#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "engine/containerd/handlers.h"
#include "engine/containerd/lint_parts.h"
#include "engine/containerd/merge.h"
#include "engine/go_duration.h"
#include "engine/letter_case.h"

namespace ctkit::engine::containerd {

namespace {

KeyPath parent_of(KeyPath key) {
  if (!key.parts.empty()) key.parts.pop_back();
  return key;
}

/// What the OCI runtime's shim takes from a handler's options, in any release.
constexpr std::array<std::string_view, 13> kRuncOptions = {"binaryname",
                                                           "criuimagepath",
                                                           "criupath",
                                                           "criuworkpath",
                                                           "iogid",
                                                           "iouid",
                                                           "nonewkeyring",
                                                           "nopivotroot",
                                                           "root",
                                                           "shimcgroup",
                                                           "systemdcgroup",
                                                           "taskapiaddress",
                                                           "taskapiversion"};

/// Options that the shim does not know: `SystemCgroup` for SystemdCgroup. Free-form to the daemon.
void lint_options(LintView& view) {
  const Table* containerd = containerd_table(*view.effective, view.regime());
  const Value* runtimes = containerd ? find(*containerd, "runtimes") : nullptr;
  if (!runtimes || !runtimes->table()) return;
  std::set<Place> seen;
  for (const auto& [name, handler] : *runtimes->table()) {
    if (!handler.table() || !is_runc_type(*handler.table())) continue;
    const Value* options = find(*handler.table(), "options");
    if (!options || !options->table()) continue;
    for (const auto& [key, value] : *options->table()) {
      if (value.origin.built_in() || lower(key) == "runtime") continue;
      if (std::ranges::find(kRuncOptions, lower(key)) != kRuncOptions.end()) continue;
      if (!seen.insert(place_of(value.origin)).second) continue;
      view.add(RuleId::unread_key,
               value.origin,
               fmt::format("the runc shim has no option '{}' (handler '{}')", key, name),
               "see runc's options in `containerd config default`; the daemon passes any on");
    }
  }
}

/// Where a key of a 2.x section was meant to stand.
std::string other_place(const std::vector<std::string>& parts) {
  if (parts.size() < 3 || parts[1] != kRuntime) return "";
  constexpr std::array<std::string_view, 8> kImageKeys = {"snapshotter",
                                                          "disable_snapshot_annotations",
                                                          "discard_unpacked_layers",
                                                          "sandbox_image",
                                                          "max_concurrent_downloads",
                                                          "image_decryption",
                                                          "pinned_images",
                                                          "image_pull_progress_timeout"};
  const bool image = std::ranges::find(kImageKeys, parts.back()) != kImageKeys.end();
  if (!image) return "";
  return fmt::format(
      "it belongs to [plugins.\"{}\"]{}", kImages, parts.back() == "sandbox_image" ? ", as pinned_images.sandbox" : "");
}

/// Names below a struct, and free-form options, are read ignoring case; a map's keys are not.
bool ignores_case(const Type* type) {
  return type && (type->kind == Kind::table || type->kind == Kind::any ||
                  (type->kind == Kind::map && type->element->kind == Kind::any));
}

const Type* member_type(const Type& type, std::string_view key) {
  if (type.kind == Kind::any) return &type;
  if (type.kind == Kind::map) return type.element;
  const std::string lowered = lower(key);
  for (const Type& field : type.fields) {
    if (lower(field.name) == lowered) return &field;
  }
  return nullptr;
}

void spellings_below(LintView& view, const Table& table, const Type* type, const KeyPath& path, std::set<Place>& seen) {
  if (!type) return;
  std::map<std::string, const Table::value_type*> first;
  for (const auto& entry : table) {
    const auto& [key, value] = entry;
    if (value.table()) spellings_below(view, *value.table(), member_type(*type, key), path.child(key), seen);
    if (!ignores_case(type)) continue;
    const auto [other, fresh] = first.try_emplace(lower(key), &entry);
    if (fresh) continue;
    const Value& earlier = other->second->second;
    if (value.origin.built_in() || earlier.origin.built_in() || !seen.insert(place_of(value.origin)).second) continue;
    view.add(RuleId::two_spellings,
             value.origin,
             fmt::format("'{}' and '{}' ({}) in '{}' are one option to the daemon and its shim, and "
                         "which of them counts differs between releases",
                         key,
                         other->second->first,
                         earlier.origin.to_string(),
                         path.to_string()),
             "keep one of them, in the spelling of `containerd config default`");
  }
}

const Type* section_type(const LintView& view, std::string_view id) {
  const std::string end = "." + std::string(id);
  for (const PluginType& plugin : view.daemon.known.schema->plugins) {
    if (plugin.id == id || (!id.contains('.') && plugin.id.ends_with(end))) return plugin.type;
  }
  return nullptr;
}

void spellings_of_sections(LintView& view, const Table& plugins, std::set<Place>& seen) {
  for (const auto& [id, section] : plugins) {
    if (!section.table()) continue;
    spellings_below(view, *section.table(), section_type(view, id), {{"plugins", id}}, seen);
  }
}

const Value* at(const EffectiveConfig& config, std::initializer_list<std::string_view> keys) {
  KeyPath key{{"plugins"}};
  for (const std::string_view part : keys)
    key.parts.emplace_back(part);
  return value_at(config.config, key);
}

}  // namespace

void lint_unread_keys(LintView& view) {
  std::map<std::pair<std::string, KeyPath>, std::vector<const Event*>> groups;
  for (const Event* event : unread_values(view).rest) {
    if (event->key.parts.size() > 1 && event->key.parts[1] == "io") continue;
    groups[{*event->value.origin.file, parent_of(event->key)}].push_back(event);
  }
  for (auto& [group, events] : groups) {
    std::ranges::stable_sort(events, {}, [](const Event* event) { return place_of(event->value.origin); });
    std::vector<std::string> names;
    std::set<std::string> seen;
    for (const Event* event : events) {
      std::string name = "'" + quote_key(event->key.parts.back()) + "'";
      if (seen.insert(name).second) names.push_back(std::move(name));
    }
    const std::string table = group.second.to_string();
    const std::string place = other_place(events.front()->key.parts);
    const bool harmless = std::ranges::all_of(events, [](const Event* event) { return is_zero(event->value); });
    view.add(RuleId::unread_key,
             harmless ? Severity::note : Severity::warning,
             events.front()->value.origin,
             fmt::format("nothing in {} reads {}{}",
                         view.release(),
                         listed(names, 6),
                         table.empty() ? std::string() : fmt::format(" in '{}'", table)),
             !place.empty() ? place
             : view.one()   ? "1.x says nothing of such keys; take it out, or correct its name"
                            : "take it out, or correct its name");
  }
  lint_options(view);
}

void lint_lost_in_migration(LintView& view) {
  if (view.one()) return;
  std::set<Place> accounted;
  const auto account = [&](const Value& value) {
    accounted.insert(place_of(value.origin));
    if (const Array* array = value.array()) {
      for (const Value& item : *array)
        accounted.insert(place_of(item.origin));
    }
  };
  each_leaf(view.effective->config, {}, [&](const KeyPath&, const Value& value) { account(value); });
  for (const Event& event : view.effective->events) {
    if (event.kind != Event::Kind::moved) account(event.value);
  }
  const Value* disabled = find(view.effective->config, "disabled_plugins");
  for (const Layer& layer : view.layers) {
    const Table* plugins = plugins_of(layer);
    if (!plugins) continue;
    for (const auto& [id, section] : *plugins) {
      if (!section.table() || !reads_plugin(view, layer, id)) continue;
      const bool off = disabled && disabled->array() && std::ranges::any_of(*disabled->array(), [&](const Value& name) {
                         return name.string() && *name.string() == id;
                       });
      if (off) continue;
      each_leaf(*section.table(), {{"plugins", id}}, [&](const KeyPath& key, const Value& value) {
        if (is_zero(value) || accounted.contains(place_of(value.origin))) return;
        view.add(
            RuleId::lost_in_migration,
            value.origin,
            fmt::format("{} drops '{}' while it migrates the file, without a word", view.release(), key.to_string()),
            fmt::format("write the file for version {}: `containerd config migrate` loses it too",
                        view.regime().schema_version));
      });
    }
  }
}

void lint_spellings(LintView& view) {
  std::set<Place> seen;
  Table together;
  const Transcript silent(nullptr);
  for (const Layer& layer : view.layers) {
    const Table* plugins = plugins_of(layer);
    if (!plugins) continue;
    if (view.regime().keyed_plugins) {
      merge_raw(together, *plugins, {}, silent);
    } else {
      spellings_of_sections(view, *plugins, seen);
    }
  }
  spellings_of_sections(view, together, seen);
  if (const Value* plugins = find(view.effective->config, "plugins"); plugins && plugins->table()) {
    spellings_of_sections(view, *plugins->table(), seen);
  }
}

void lint_durations(LintView& view) {
  const EffectiveConfig& config = *view.effective;
  if (const Value* timeouts = find(config.config, "timeouts"); timeouts && timeouts->table()) {
    for (const auto& [name, value] : *timeouts->table()) {
      if (!value.string() || value.origin.built_in() || parse_duration(*value.string())) continue;
      view.add(RuleId::bad_duration,
               value.origin,
               fmt::format("timeout '{}' is no duration: '{}', and the daemon does not start", name, *value.string()),
               "a number with a unit, such as \"10s\"");
    }
  }
  // containerd: ValidatePluginConfig (1.x), ValidateImageConfig, ValidateRuntimeConfig,
  // ValidateServerConfig (2.x)
  const std::array values = {std::pair("stream_idle_timeout", at(config, {kCri, "stream_idle_timeout"})),
                             std::pair("image_pull_progress_timeout",
                                       at(config, {view.one() ? kCri : kImages, "image_pull_progress_timeout"})),
                             std::pair("drain_exec_sync_io_timeout",
                                       at(config, {view.one() ? kCri : kRuntime, "drain_exec_sync_io_timeout"}))};
  for (const auto& [name, value] : values) {
    if (!value || !value->string() || value->string()->empty() || value->origin.built_in()) continue;
    if (parse_duration(*value->string())) continue;
    for (const std::string& reason : config.not_serving) {
      if (reason.contains(name)) view.explained.insert(reason);
    }
    view.add(RuleId::bad_duration,
             value->origin,
             fmt::format("'{}' is no duration: '{}', and the CRI plugin does not load", name, *value->string()),
             "a number with a unit, such as \"10s\"");
  }
}

}  // namespace ctkit::engine::containerd
