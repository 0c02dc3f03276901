#include "engine/change.h"

#include <string>
#include <utility>

namespace ctkit::engine {
namespace {

void collect(const Table& before, const Table& after, const KeyPath& parent, std::vector<Change>& changes);

void collect(const Value* before, const Value* after, KeyPath key, std::vector<Change>& changes) {
  static const Table none;
  const Table* old_table = before != nullptr ? before->table() : nullptr;
  const Table* new_table = after != nullptr ? after->table() : nullptr;
  const bool both = old_table != nullptr && new_table != nullptr;
  const bool only_old = old_table != nullptr && !old_table->empty() && after == nullptr;
  const bool only_new = new_table != nullptr && !new_table->empty() && before == nullptr;
  if (both || only_old || only_new) {
    collect(old_table != nullptr ? *old_table : none, new_table != nullptr ? *new_table : none, key, changes);
    return;
  }
  const bool same = before != nullptr && after != nullptr && *before == *after;
  if (!same) changes.push_back({.key = std::move(key), .before = before, .after = after});
}

void collect(const Table& before, const Table& after, const KeyPath& parent, std::vector<Change>& changes) {
  auto old = before.begin();
  auto now = after.begin();
  while (old != before.end() || now != after.end()) {
    const bool old_first = now == after.end() || (old != before.end() && old->first < now->first);
    const bool new_first = old == before.end() || (now != after.end() && now->first < old->first);
    const std::string& name = new_first ? now->first : old->first;
    collect(new_first ? nullptr : &old->second, old_first ? nullptr : &now->second, parent.child(name), changes);
    if (!new_first) ++old;
    if (!old_first) ++now;
  }
}

}  // namespace

std::vector<Change> differences(const Table& before, const Table& after) {
  std::vector<Change> changes;
  collect(before, after, {}, changes);
  return changes;
}

}  // namespace ctkit::engine
