#include "engine/containerd/authors_union.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "engine/letter_case.h"

namespace ctkit::engine::containerd {

namespace {

/// Whether names below this type are read ignoring case: struct members and free-form options are, map keys aren't.
bool ignores_case(const Type* type) {
  return !type || type->kind == Kind::table || type->kind == Kind::any ||
         (type->kind == Kind::map && type->element->kind == Kind::any);
}

const Type* member_type(const Type* type, std::string_view key) {
  if (!type) return nullptr;
  if (type->kind == Kind::map) return type->element;
  const std::string lowered = lower(key);
  for (const Type& field : type->fields) {
    if (lower(field.name) == lowered) return &field;
  }
  return nullptr;
}

void lay_over(Table& to, const Table& later, const Type* type) {
  std::set<std::string, std::less<>> earlier;
  for (const auto& [key, value] : to)
    earlier.insert(key);
  for (const auto& [key, value] : later) {
    const std::string lowered = lower(key);
    Value merged = value;
    for (auto other = earlier.begin(); other != earlier.end();) {
      const bool same = *other == key || (ignores_case(type) && lower(*other) == lowered);
      if (!same) {
        ++other;
        continue;
      }
      Value& old = to.find(*other)->second;
      if (old.table() && value.table()) {
        Table both = std::move(*old.table());
        lay_over(both, *value.table(), member_type(type, key));
        *merged.table() = std::move(both);
      }
      to.erase(*other);
      other = earlier.erase(other);
    }
    to.insert_or_assign(key, std::move(merged));
  }
}

bool is_zero(const Value& value) {
  if (const bool* boolean = value.boolean()) return !*boolean;
  if (const auto* integer = value.integer()) return *integer == 0;
  if (const auto* text = value.string()) return text->empty();
  if (const Array* array = value.array()) return array->empty();
  if (const Table* table = value.table()) return table->empty();
  return false;
}

}  // namespace

Table union_of(std::span<const Source> sources, const Type& cri) {
  Table all;
  for (const Source& source : sources)
    lay_over(all, *source.section, &cri);
  return all;
}

void drop_built_in(Table& section, const Table& built_in, const Type& cri) {
  for (auto entry = section.begin(); entry != section.end();) {
    const Type* type = member_type(&cri, entry->first);
    const Value* value = type ? find(built_in, type->name) : nullptr;
    bool same = false;
    if (value && type->kind == Kind::table && entry->second.table() && value->table()) {
      drop_built_in(*entry->second.table(), *value->table(), *type);
      same = entry->second.table()->empty();
    } else if (value && type->kind != Kind::map) {
      same = *value == entry->second;
    }
    entry = same ? section.erase(entry) : std::next(entry);
  }
}

void fill_unset(Table& handler, const Table& from) {
  std::set<std::string, std::less<>> present;
  for (const auto& [key, value] : handler)
    present.insert(lower(key));
  for (const auto& [key, value] : from) {
    if (!present.contains(lower(key))) {
      if (!is_zero(value) || value.table()) handler.insert_or_assign(key, value);
      continue;
    }
    if (key != "options" || !value.table()) continue;
    Value* options = find(handler, "options");
    if (!options || !options->table()) continue;
    std::set<std::string, std::less<>> set;
    for (const auto& [name, option] : *options->table())
      set.insert(lower(name));
    for (const auto& [name, option] : *value.table()) {
      if (!set.contains(lower(name))) options->table()->insert_or_assign(name, option);
    }
  }
}

}  // namespace ctkit::engine::containerd
