#include <cassert>
#include <string>

#include "engine/crio/effective.h"
#include "engine/crio/schema.h"

namespace ctkit::engine::crio {

namespace {

Value value_of(const Scalar& scalar, std::span<const std::string_view> texts) {
  if (const auto* boolean = std::get_if<bool>(&scalar)) return {.data = *boolean};
  if (const auto* integer = std::get_if<std::int64_t>(&scalar)) return {.data = *integer};
  if (const auto* text = std::get_if<std::string_view>(&scalar)) return {.data = std::string(*text)};
  Array array;
  for (const std::string_view text : texts)
    array.push_back({.data = std::string(text)});
  return {.data = std::move(array)};
}

Table built_in_handler_entries(const Known& known) {
  Table handlers;
  for (const BuiltInHandler& handler : built_in_handlers()) {
    if (!known.has(handler.releases)) continue;
    Table values;
    for (const HandlerValue& value : handler.values)
      values.emplace(value.key, value_of(value.value, value.texts));
    handlers.emplace(handler.name, Value{.data = std::move(values)});
  }
  return handlers;
}

/// The members that have a built-in value; of those without one nothing is printed.
Table built_in_members(const Key& key, const Known& known) {
  Table table;
  for (const Key& member : key.keys) {
    if (!known.has(member.releases)) continue;
    if (member.kind == Kind::table) {
      Table inner = built_in_members(member, known);
      if (!inner.empty()) table.emplace(member.name, Value{.data = std::move(inner)});
    } else if (member.name == "runtimes") {
      table.emplace(member.name, Value{.data = built_in_handler_entries(known)});
    } else {
      for (const BuiltIn& built_in : member.built_in) {
        if (known.has(built_in.releases)) table.emplace(member.name, value_of(built_in.value, built_in.texts));
      }
    }
  }
  return table;
}

}  // namespace

Table built_in(const Known& known) {
  return built_in_members(document(), known);
}

}  // namespace ctkit::engine::crio
