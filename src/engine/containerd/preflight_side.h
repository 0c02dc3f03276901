#pragma once

#include <map>

#include "engine/containerd/effective.h"
#include "engine/containerd/lint_parts.h"

namespace ctkit::engine::containerd {

/// What one release makes of a tree, laid out so that another release's can be held against it.
struct Side {
  const EffectiveConfig* effective = nullptr;
  Table comparable = {};  ///< at the newer release's keys
  Table built_in = {};    ///< the daemon without files, at the newer release's keys
  /// Where each file's value is effective, at this side's own keys.
  std::map<Place, KeyPath> authors = {};
};

/// Of two releases the older one's values go to the keys that the newer one has for the same
/// settings, as the daemon's own migration does it, but that none of its gaps count. `effective`
/// must outlive the side.
Side make_side(const Daemon& daemon, const Daemon& other, const EffectiveConfig& effective, const LoadRequest& request);

}  // namespace ctkit::engine::containerd
