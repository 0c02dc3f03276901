#pragma once

#include <string_view>
#include <vector>

#include "engine/effective_config.h"
#include "engine/key_path.h"
#include "engine/value.h"

namespace ctkit::engine {

/// A key path that lives on the stack while a tree is walked; made into a KeyPath only when somebody wants one.
struct PathNode {
  const PathNode* parent = nullptr;
  std::string_view part = {};

  [[nodiscard]] KeyPath key_path() const;
};

/// Collects what merging and decoding do to values; does nothing when nobody asked.
class Transcript {
 public:
  explicit Transcript(std::vector<Event>* events) : events_(events) {}

  [[nodiscard]] bool wanted() const { return events_ != nullptr; }

  /// `loser` stood at `path` and `winner` now does: one event a leaf, overridden where the winner has the same key,
  /// else erased.
  void replaced(const PathNode& path, const Value& loser, const Value& winner) const;

  /// Every leaf of `loser` is gone because of what stands at `by`.
  void erased(const PathNode& path, const Value& loser, const Origin& by) const;

  /// Every leaf of `value` went from one key to another.
  void moved(const KeyPath& from, const Value& value, const KeyPath& to) const;

  /// Nothing reads `value`.
  void unread(const PathNode& path, const Value& value) const;

 private:
  std::vector<Event>* events_;
};

}  // namespace ctkit::engine
