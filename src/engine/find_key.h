#pragma once

#include "engine/value.h"

namespace ctkit::engine {

/// The value at the path, a range of key parts, below the table; null if a part isn't there or no table.
template <typename Path>
const Value* find_key(const Table& table, const Path& path) {
  const Table* at = &table;
  const Value* value = nullptr;
  for (const auto& part : path) {
    value = at != nullptr ? find(*at, part) : nullptr;
    if (value == nullptr) return nullptr;
    at = value->table();
  }
  return value;
}

}  // namespace ctkit::engine
