#include "installer/explain.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "engine/find_key.h"

namespace ctkit::installer {

namespace {

using engine::EffectiveConfig;
using engine::Event;
using engine::KeyPath;

void collect(std::vector<Winner>& winners, const KeyPath& path, const engine::Value& value) {
  const engine::Table* table = value.table();
  if (!table || table->empty()) {
    winners.push_back({path, &value});
    return;
  }
  for (const auto& [key, child] : *table)
    collect(winners, path.child(key), child);
}

bool touches(const KeyPath& key, const KeyPath& asked) {
  return key.starts_with(asked) || asked.starts_with(key);
}

std::set<std::string> known_plugins(const EffectiveConfig& config) {
  std::set<std::string> names;
  const auto add = [&](const engine::Table& table) {
    const engine::Value* plugins = find(table, "plugins");
    if (!plugins || !plugins->table()) return;
    for (const auto& [name, section] : *plugins->table())
      names.insert(name);
  };
  add(config.config);
  for (const engine::Layer& layer : config.layers)
    add(layer.table);
  return names;
}

}  // namespace

engine::Result<KeyPath> parse_asked_key(std::string_view text, const EffectiveConfig& config) {
  constexpr std::string_view kPlugins = "plugins.";
  if (text.starts_with(kPlugins)) {
    const std::string_view rest = text.substr(kPlugins.size());
    std::string best;
    for (const std::string& name : known_plugins(config)) {
      const bool whole = rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '.');
      if (whole && name.size() > best.size()) best = name;
    }
    if (!best.empty()) {
      KeyPath key{{"plugins", best}};
      if (rest.size() == best.size()) return key;
      auto below = KeyPath::parse(rest.substr(best.size() + 1));
      if (!below) return below;
      key.parts.insert(key.parts.end(), below->parts.begin(), below->parts.end());
      return key;
    }
  }
  return KeyPath::parse(text);
}

Explanation explain(const EffectiveConfig& config, const KeyPath& key) {
  Explanation result{.asked = key};
  std::set<KeyPath> places = {key};
  // Moves are in the order they happened, so one pass follows a chain of them.
  for (const Event& event : config.events) {
    if (event.kind != Event::Kind::moved) continue;
    std::vector<KeyPath> reached;
    for (const KeyPath& place : places) {
      if (event.key.starts_with(place)) reached.push_back(event.to);
      if (place.starts_with(event.key) && place != event.key) {
        KeyPath below = event.to;
        below.parts.insert(
            below.parts.end(), place.parts.begin() + static_cast<long>(event.key.parts.size()), place.parts.end());
        reached.push_back(std::move(below));
      }
    }
    places.insert(reached.begin(), reached.end());
  }
  std::set<KeyPath> seen;
  for (const KeyPath& place : places) {
    std::vector<Winner> found;
    if (const engine::Value* value = find_key(config.config, place.parts)) collect(found, place, *value);
    for (Winner& winner : found) {
      if (seen.insert(winner.key).second) result.winners.push_back(std::move(winner));
    }
  }
  for (const Event& event : config.events) {
    const bool here = std::ranges::any_of(places, [&](const KeyPath& place) {
      return event.kind == Event::Kind::moved ? touches(event.key, place) : event.key.starts_with(place);
    });
    if (here) result.events.push_back(&event);
  }
  return result;
}

std::vector<const Event*> lost(const EffectiveConfig& config) {
  std::vector<const Event*> list;
  std::set<std::pair<KeyPath, std::string>> seen;
  for (const Event& event : config.events) {
    if (event.kind != Event::Kind::erased || event.value.origin.built_in()) continue;
    const engine::Value* now = find_key(config.config, event.key.parts);
    if (now && *now == event.value) continue;
    if (seen.insert({event.key, event.value.origin.to_string()}).second) list.push_back(&event);
  }
  return list;
}

}  // namespace ctkit::installer
