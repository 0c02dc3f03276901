#pragma once

#include <chrono>

#include "engine/result.h"
#include "installer/host.h"
#include "installer/loaded_state.h"

namespace ctkit::installer {

/// What the daemon says of itself within ten seconds; `not_found` if it answers, and serves no CRI.
inline engine::Result<LoadedState> loaded_now(LiveNode& node) {
  constexpr std::chrono::seconds kLimit{10};
  return node.status.status(node.clock.now() + kLimit);
}

}  // namespace ctkit::installer
