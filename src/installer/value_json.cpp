#include "installer/value_json.h"

#include <cmath>
#include <variant>

#include <nlohmann/json.hpp>

#include "installer/redact.h"

namespace ctkit::installer {

namespace {

using nlohmann::ordered_json;

struct ToJson {
  ordered_json operator()(bool item) const { return item; }
  ordered_json operator()(std::int64_t item) const { return item; }
  ordered_json operator()(std::uint64_t item) const { return item; }
  ordered_json operator()(double item) const {
    if (std::isnan(item)) return {{"$float", "nan"}};
    if (std::isinf(item)) return {{"$float", item > 0 ? "inf" : "-inf"}};
    return item;
  }
  ordered_json operator()(const std::string& item) const { return item; }
  ordered_json operator()(const engine::DateTime& item) const { return {{"$datetime", item.text}}; }
  ordered_json operator()(const engine::Array& item) const {
    ordered_json array = ordered_json::array();
    for (const engine::Value& element : item)
      array.push_back(to_json(element));
    return array;
  }
  ordered_json operator()(const engine::Table& item) const {
    // The keys are unique already; ordered_json would look for each.
    ordered_json::object_t object;
    for (const auto& [key, child] : item) {
      object.ordered_json::object_t::Container::emplace_back(key, to_json(child));
    }
    return object;
  }
};

}  // namespace

ordered_json to_json(const engine::Value& value) {
  return std::visit(ToJson{}, value.data);
}

ordered_json to_json(const engine::Table& table) {
  return ToJson{}(table);
}

ordered_json to_json(const engine::Origin& origin) {
  if (origin.built_in()) return nullptr;
  return {{"file", *origin.file}, {"line", origin.line}, {"column", origin.column}};
}

ordered_json shown_value(const engine::KeyPath& key, const engine::Value& value) {
  return to_json(redacted(key, value));
}

std::string render_json(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace ctkit::installer
