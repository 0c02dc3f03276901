#include "engine/containerd/lint_parts.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace ctkit::engine::containerd {

const Value* value_at(const Table& table, const KeyPath& key) {
  const Table* at = &table;
  const Value* value = nullptr;
  for (const std::string& part : key.parts) {
    value = at ? find(*at, part) : nullptr;
    if (!value) return nullptr;
    at = value->table();
  }
  return value;
}

void each_leaf(const Table& table,
               const KeyPath& path,
               const std::function<void(const KeyPath&, const Value&)>& visit) {
  for (const auto& [key, value] : table) {
    const KeyPath here = path.child(key);
    if (value.table()) {
      each_leaf(*value.table(), here, visit);
    } else {
      visit(here, value);
    }
  }
}

std::string listed(std::span<const std::string> items, std::size_t most) {
  std::string text;
  const std::size_t shown = items.size() > most ? most : items.size();
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == items.size() ? " and " : ", ";
    text += items[i];
  }
  if (items.size() > shown) text += " and " + std::to_string(items.size() - shown) + " more";
  return text;
}

std::string below(const KeyPath& key, const KeyPath& prefix) {
  if (!key.starts_with(prefix) || key.parts.size() == prefix.parts.size()) return key.to_string();
  KeyPath rest = key;
  rest.parts.erase(rest.parts.begin(), rest.parts.begin() + static_cast<long>(prefix.parts.size()));
  return rest.to_string();
}

bool is_lost(const Event& event, const EffectiveConfig& config) {
  if (event.kind != Event::Kind::erased || event.value.origin.built_in()) return false;
  const Value* now = value_at(config.config, event.key);
  return !now || *now != event.value;
}

bool is_zero(const Value& value) {
  if (const bool* boolean = value.boolean()) return !*boolean;
  if (const auto* integer = value.integer()) return *integer == 0;
  if (const auto* text = value.string()) return text->empty() || *text == "0s";
  if (const Array* array = value.array()) return array->empty();
  const Table* table = value.table();
  return table && table->empty();
}

const Table* plugins_of(const Layer& layer) {
  const Value* plugins = find(layer.table, "plugins");
  return plugins ? plugins->table() : nullptr;
}

const Layer* layer_of(const LintView& view, const Origin& origin) {
  for (const Layer& layer : view.layers) {
    if (origin.file && layer.path == *origin.file) return &layer;
  }
  return nullptr;
}

std::string summary(const std::vector<const Event*>& events, const KeyPath& prefix) {
  std::map<std::string, Origin> items;
  std::vector<std::string> order;
  for (const Event* event : events) {
    KeyPath key = event->key;
    const auto runtimes = std::ranges::find(key.parts, "runtimes");
    if (runtimes != key.parts.end() && key.parts.end() - runtimes > 2) {
      key.parts.erase(runtimes + 2, key.parts.end());
    }
    const std::string name = below(key, prefix);
    const auto [item, fresh] = items.try_emplace(name, event->value.origin);
    if (fresh) order.push_back(name);
    if (event->value.origin.line < item->second.line) item->second = event->value.origin;
  }
  std::ranges::stable_sort(order, {}, [](const std::string& name) { return name.contains("runtimes.") ? 0 : 1; });
  for (std::string& name : order)
    name += " (" + items[name].to_string() + ")";
  return listed(order);
}

std::string settings(std::size_t count) {
  return count == 1 ? "1 setting" : fmt::format("{} settings", count);
}

}  // namespace ctkit::engine::containerd
