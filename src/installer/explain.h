#pragma once

#include <string>
#include <vector>

#include "engine/effective_config.h"
#include "engine/key_path.h"

namespace ctkit::installer {

/// One effective leaf below an asked key.
struct Winner {
  engine::KeyPath key = {};
  const engine::Value* value = nullptr;  ///< in the effective config
};

/// What is to say about one key. Pointers are into the effective config.
struct Explanation {
  engine::KeyPath asked = {};
  std::vector<Winner> winners = {};
  std::vector<const engine::Event*> events = {};  ///< that touched the key, what is below it, or where it moved
};

/// A key as people type it: a dotted TOML key whose plugin id may stand unquoted; the longest id that is in the config,
/// or was in a file, counts. Fails with `usage`.
engine::Result<engine::KeyPath> parse_asked_key(std::string_view text, const engine::EffectiveConfig& config);

/// Follows the key through moves to where it is effective.
Explanation explain(const engine::EffectiveConfig& config, const engine::KeyPath& key);

/// What files set and nothing came of: the erased leaves whose key is not effective with the same value.
std::vector<const engine::Event*> lost(const engine::EffectiveConfig& config);

}  // namespace ctkit::installer
