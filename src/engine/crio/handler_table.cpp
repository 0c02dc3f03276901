#include "engine/crio/handler_table.h"

#include <algorithm>
#include <array>

#include "engine/crio/handlers.h"

namespace ctkit::engine::crio {

namespace {

constexpr std::string_view kOci = "oci";

bool is_oci(const Table& handler) {
  const std::string type = text_of(handler, "runtime_type");
  return type.empty() || type == kOci;
}

bool is_desired(const Desired& desired, std::string_view name) {
  return std::ranges::any_of(desired.handlers, [&](const DesiredHandler& handler) { return handler.name == name; });
}

bool is_zero(const Value& value) {
  const auto* integer = value.integer();
  return (value.boolean() && !*value.boolean()) || (integer && *integer == 0) ||
         (value.string() && value.string()->empty()) || (value.array() && value.array()->empty()) ||
         (value.table() && value.table()->empty());
}

}  // namespace

Parent find_parent(const Table& handlers, std::string_view default_name, const Desired& desired) {
  const std::array<std::string_view, 3> names = {default_name, "runc", "crun"};
  for (const std::string_view name : names) {
    const Value* handler = find(handlers, name);
    if (!handler || !handler->table() || is_desired(desired, name)) continue;
    if (!is_oci(*handler->table()) || is_stock_handler(*handler->table())) continue;
    return {.name = std::string(name), .handler = handler};
  }
  return {};
}

Table make_handler(const DesiredHandler& handler, const Table& parent) {
  Table table;
  std::string type = handler.type.empty() ? std::string(kOci) : handler.type;
  if (type == kOci) {
    table = without_zeros(parent);
    for (const std::string_view key : {"inherit_default_runtime", "platform_runtime_paths", "DisallowedAnnotations"}) {
      if (const auto at = table.find(key); at != table.end()) table.erase(at);
    }
  }
  table.insert_or_assign("runtime_type", Value{.data = std::move(type)});
  table.insert_or_assign("runtime_path", Value{.data = handler.binary});
  return table;
}

Table without_zeros(const Table& handler) {
  Table table;
  for (const auto& [key, value] : handler) {
    if (!is_zero(value)) table.emplace(key, value);
  }
  return table;
}

}  // namespace ctkit::engine::crio
