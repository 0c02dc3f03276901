#include "engine/containerd/go_fields.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ctkit::engine::containerd {

namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return result;
}

std::string first_lower(std::string_view text) {
  return lower(text.substr(0, 1)) + std::string(text.substr(std::min<std::size_t>(text.size(), 1)));
}

/// As Go's strings.ToLower: two letters beyond ASCII have their small one in ASCII.
std::string folded(std::string_view key) {
  std::string result = lower(key);
  constexpr std::array<std::pair<std::string_view, char>, 2> kLetters = {{{"\u0130", 'i'}, {"\u212a", 'k'}}};
  for (const auto& [letter, plain] : kLetters) {
    for (std::size_t at = result.find(letter); at != std::string::npos; at = result.find(letter, at)) {
      result.replace(at, letter.size(), 1, plain);
    }
  }
  return result;
}

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
  const std::string lowered = folded(key);
  for (const Type& field : type.fields) {
    if (lower(field.name) == lowered) return &field;
  }
  return nullptr;
}

bool has_place(const Type& type, std::span<const std::string> path) {
  const Type* at = &type;
  for (const std::string& key : path) {
    while (at->kind == Kind::array) at = at->element;
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
