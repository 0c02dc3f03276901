#include "engine/containerd/go_fields.h"

#include <algorithm>
#include <array>

#include "engine/letter_case.h"

namespace ctkit::engine::containerd {

namespace {

std::string first_lower(std::string_view text) {
  return lower(text.substr(0, 1)) + std::string(text.substr(std::min<std::size_t>(text.size(), 1)));
}

/// As Go's strings.ToLower: two letters beyond ASCII have their small one in ASCII.
constexpr std::array<FoldedLetter, 2> kToLower = {{{"\u0130", 'i'}, {"\u212a", 'k'}}};

}  // namespace

const Value* find_member(const Table& table, std::string_view name) {
  for (const std::string& key : {std::string(name), lower(name), upper(name), first_lower(name)}) {
    if (const Value* value = find(table, key)) return value;
  }
  return nullptr;
}

bool is_read(const Type& type, const Table& table, std::string_view key) {
  return std::ranges::any_of(type.fields, [&](const Type& field) {
    return key == field.name || key == lower(field.name) || key == upper(field.name) ||
           first_lower(key) == first_lower(field.name) ||
           (field.embedded && !find_member(table, field.name) && is_read(field, table, key));
  });
}

const Type* find_field(const Type& type, std::string_view key) {
  for (const Type& field : type.fields) {
    if (field.name == key) return &field;
  }
  const std::string lowered = folded(key, kToLower);
  for (const Type& field : type.fields) {
    if (lower(field.name) == lowered) return &field;
  }
  return nullptr;
}

bool has_place(const Type& type, std::span<const std::string> path) {
  const Type* at = &type;
  for (const std::string& key : path) {
    while (at->kind == Kind::array)
      at = at->element;
    if (at->kind == Kind::map) {
      at = at->element;
    } else if (at->kind == Kind::table) {
      at = find_field(*at, key);
      if (!at) return false;
    } else {
      return true;
    }
  }
  return true;
}

}  // namespace ctkit::engine::containerd
