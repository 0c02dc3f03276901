#pragma once

#include <vector>

#include "engine/key_path.h"
#include "engine/value.h"

namespace ctkit::engine {

/// One value that differs; null where there is none. The values belong to the tables that were
/// compared.
struct Change {
  KeyPath key = {};
  const Value* before = nullptr;
  const Value* after = nullptr;
};

/// The values that differ, in key order. Tables are gone through to their leaves, arrays compare
/// whole. A table counts as a value where it is empty and the other side has none, and where the
/// other side has something else.
std::vector<Change> differences(const Table& before, const Table& after);

}  // namespace ctkit::engine
