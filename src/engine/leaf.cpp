#include "engine/leaf.h"

namespace ctkit::engine {

const Value* find_anywhere(const Table& document, std::string_view key) {
  if (const Value* value = find(document, key)) return value;
  for (const auto& [name, value] : document) {
    if (!value.table()) continue;
    if (const Value* found = find_anywhere(*value.table(), key)) return found;
  }
  return nullptr;
}

}  // namespace ctkit::engine
