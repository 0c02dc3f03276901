#pragma once

#include <memory>

#include "engine/containerd/regime.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

/// A daemon: its release, and what its own `config default` printed if that is known.
struct Daemon {
  Known known = {};
  std::shared_ptr<const Table> defaults =
      nullptr;  ///< replaces the recorded built-in values; a plugin it lacks isn't in the build
  std::shared_ptr<const void> types = nullptr;  ///< owner of `known.schema` where it isn't a recorded one
};

/// The daemon whose own `config default` is at hand: a build may have fewer plugins and keys than the recorded release,
/// or more. A struct's key that every build prints and this one doesn't isn't there; a key that no record has gets the
/// type of the value it prints.
Daemon make_daemon(Known known, Table defaults);

}  // namespace ctkit::engine::containerd
