#include "engine/containerd/built_in.h"

#include <cassert>
#include <string>
#include <utility>

namespace ctkit::engine::containerd {

namespace {

Value scalar(const BuiltIn& built_in) {
  struct Copy {
    Value operator()(std::monostate) const { return {}; }
    Value operator()(bool value) const { return {.data = value}; }
    Value operator()(std::int64_t value) const { return {.data = value}; }
    Value operator()(double value) const { return {.data = value}; }
    Value operator()(std::string_view value) const { return {.data = std::string(value)}; }
  };
  return std::visit(Copy{}, built_in);
}

bool given(const BuiltIn& built_in) {
  return !std::holds_alternative<std::monostate>(built_in);
}

/// The members of a struct, each made by `make`.
template <typename Make>
Table members(const Type& type, const Make& make) {
  Table table;
  for (const Type& field : type.fields) {
    if (Slot slot = make(field)) table.emplace(field.name, *std::move(slot));
  }
  return table;
}

}  // namespace

Slot zero(const Type& type) {
  if (type.pointer) return std::nullopt;
  switch (type.kind) {
    case Kind::table:
      return Value{.data = members(type, zero)};
    case Kind::map:
    case Kind::any:
      return std::nullopt;
    case Kind::array:
      return Value{.data = Array{}};
    case Kind::boolean:
      return Value{.data = false};
    case Kind::integer:
    case Kind::duration_int:
      return Value{.data = std::int64_t{0}};
    case Kind::floating:
      return Value{.data = 0.0};
    case Kind::string:
      return Value{.data = std::string()};
    case Kind::duration_text:
      return Value{.data = std::string("0s")};
  }
  assert(false);
  return std::nullopt;
}

Slot built_in(const Type& type) {
  if (type.nil_default && type.entries.empty() && (type.pointer || type.kind == Kind::map)) {
    return std::nullopt;
  }
  if (type.kind == Kind::table) return Value{.data = members(type, built_in)};
  if (type.kind == Kind::map) {
    Table table;
    for (const Type& entry : type.entries) {
      if (Slot slot = built_in(entry)) table.emplace(entry.name, *std::move(slot));
    }
    return Value{.data = std::move(table)};
  }
  if (type.kind == Kind::array && (!type.items.empty() || !type.strings.empty())) {
    Array array;
    for (const Type& item : type.items) {
      if (Slot slot = built_in(item)) array.push_back(*std::move(slot));
    }
    for (const std::string_view text : type.strings)
      array.push_back({.data = std::string(text)});
    return Value{.data = std::move(array)};
  }
  if (!given(type.built_in)) return zero(type);
  return scalar(type.built_in);
}

}  // namespace ctkit::engine::containerd
