#include "engine/transcript.h"

#include <algorithm>
#include <string>

namespace ctkit::engine {

namespace {

/// Calls `visit(path, value)` for each leaf; an empty table is a leaf.
template <typename Visit>
void each_leaf(const PathNode& path, const Value& value, const Visit& visit) {
  const Table* table = value.table();
  if (!table || table->empty()) {
    visit(path, value);
    return;
  }
  for (const auto& [key, child] : *table)
    each_leaf({&path, key}, child, visit);
}

/// One event a leaf of `loser`; `whole` is the table that `winner`, which hasn't got them,
/// replaced.
void erase(
    std::vector<Event>& events, const PathNode& path, const PathNode& whole, const Value& loser, const Origin& by) {
  each_leaf(path, loser, [&](const PathNode& leaf, const Value& value) {
    events.push_back(
        {.kind = Event::Kind::erased, .key = leaf.key_path(), .value = value, .by = by, .to = whole.key_path()});
  });
}

void replace(
    std::vector<Event>& events, const PathNode& path, const PathNode& whole, const Value& loser, const Value& winner) {
  const Table* lost = loser.table();
  const Table* won = winner.table();
  if (!lost) {
    events.push_back({.kind = Event::Kind::overridden, .key = path.key_path(), .value = loser, .by = winner.origin});
    return;
  }
  if (!won) {
    erase(events, path, whole, loser, winner.origin);
    return;
  }
  for (const auto& [key, child] : *lost) {
    const PathNode here{&path, key};
    if (const Value* other = find(*won, key)) {
      replace(events, here, whole, child, *other);
    } else {
      erase(events, here, whole, child, winner.origin);
    }
  }
}

}  // namespace

KeyPath PathNode::key_path() const {
  KeyPath path;
  for (const PathNode* node = this; node; node = node->parent) {
    if (!node->part.empty() || node->parent) path.parts.emplace_back(node->part);
  }
  std::ranges::reverse(path.parts);
  return path;
}

void Transcript::replaced(const PathNode& path, const Value& loser, const Value& winner) const {
  if (events_) replace(*events_, path, path, loser, winner);
}

void Transcript::erased(const PathNode& path, const Value& loser, const Origin& by) const {
  if (events_) erase(*events_, path, path, loser, by);
}

void Transcript::moved(const KeyPath& from, const Value& value, const KeyPath& to) const {
  if (!events_) return;
  events_->push_back({.kind = Event::Kind::moved, .key = from, .value = value, .by = value.origin, .to = to});
}

void Transcript::unread(const PathNode& path, const Value& value) const {
  if (!events_) return;
  each_leaf(path, value, [&](const PathNode& leaf, const Value& child) {
    events_->push_back({.kind = Event::Kind::unread, .key = leaf.key_path(), .value = child, .by = child.origin});
  });
}

}  // namespace ctkit::engine
