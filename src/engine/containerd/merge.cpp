#include "engine/containerd/merge.h"

#include <algorithm>
#include <string>

namespace ctkit::engine::containerd {

namespace {

bool is_zero(const Value& value) {
  struct Zero {
    bool operator()(bool item) const { return !item; }
    bool operator()(std::int64_t item) const { return item == 0; }
    bool operator()(std::uint64_t item) const { return item == 0; }
    bool operator()(double item) const { return item == 0.0; }
    bool operator()(const std::string& item) const { return item.empty(); }
    bool operator()(const DateTime&) const { return false; }
    bool operator()(const Array& item) const { return item.empty(); }
    bool operator()(const Table&) const { return false; }
  };
  return std::visit(Zero{}, value.data);
}

/// containerd 2.x mergeConfig: sliceTransformer adds what is not there yet. mergo's deepMerge asks it only about a
/// slice that is not nil, and `imports` starts as nil up to 2.1: the first list is taken as it is.
void append(Array& collected, const Array& file, bool unique, bool starts_nil) {
  if (unique && starts_nil && collected.empty()) {
    collected = file;
    return;
  }
  for (const Value& item : file) {
    if (unique && std::ranges::find(collected, item) != collected.end()) continue;
    collected.push_back(item);
  }
}

bool starts_nil(const Type& field) {
  return field.name == "imports";
}

/// Each entry of `file` replaces the one of its name.
void replace_entries(Table& collected, const Table& file, const PathNode& path, const Transcript& transcript) {
  for (const auto& [key, value] : file) {
    const auto [entry, fresh] = collected.try_emplace(key, value);
    if (fresh) continue;
    transcript.replaced({&path, key}, entry->second, value);
    entry->second = value;
  }
}

void merge_struct(const Type& type,
                  Table& collected,
                  const Table& file,
                  const PathNode& path,
                  const Regime& regime,
                  const Transcript& transcript);

void merge_member(const Type& field,
                  Table& collected,
                  const Value& value,
                  const PathNode& path,
                  const Regime& regime,
                  const Transcript& transcript) {
  const auto found = collected.find(field.name);
  if (found == collected.end()) {
    if (field.kind == Kind::array && regime.unique_lists) {
      Value list{.data = Array{}, .origin = value.origin};
      append(std::get<Array>(list.data), *value.array(), true, starts_nil(field));
      collected.emplace(field.name, std::move(list));
    } else {
      collected.emplace(field.name, value);
    }
    return;
  }
  Value& current = found->second;
  const PathNode here{&path, field.name};
  switch (field.kind) {
    case Kind::table:
      merge_struct(field, *current.table(), *value.table(), here, regime, transcript);
      return;
    case Kind::map:
      if (field.name == "plugins" && regime.keyed_plugins) {
        merge_raw(*current.table(), *value.table(), here, transcript);
      } else {
        replace_entries(*current.table(), *value.table(), here, transcript);
      }
      return;
    case Kind::array:
      append(std::get<Array>(current.data), *value.array(), regime.unique_lists, starts_nil(field));
      if (!value.array()->empty()) current.origin = value.origin;
      return;
    default:
      if (is_zero(value)) return;
      transcript.replaced(here, current, value);
      current = value;
  }
}

void merge_struct(const Type& type,
                  Table& collected,
                  const Table& file,
                  const PathNode& path,
                  const Regime& regime,
                  const Transcript& transcript) {
  for (const Type& field : type.fields) {
    if (const Value* value = find(file, field.name)) {
      merge_member(field, collected, *value, path, regime, transcript);
    }
  }
}

}  // namespace

void merge_raw(Table& collected, const Table& file, const PathNode& path, const Transcript& transcript) {
  for (const auto& [key, value] : file) {
    const auto [entry, fresh] = collected.try_emplace(key, value);
    if (fresh) continue;
    const PathNode here{&path, key};
    Value& current = entry->second;
    if (current.table() && value.table()) {
      merge_raw(*current.table(), *value.table(), here, transcript);
    } else {
      transcript.replaced(here, current, value);
      current = value;
    }
  }
}

void merge(const Type& top, Table& collected, const Table& file, const Regime& regime, const Transcript& transcript) {
  merge_struct(top, collected, file, {}, regime, transcript);
}

}  // namespace ctkit::engine::containerd
