#pragma once

#include "engine/result.h"
#include "installer/clock.h"
#include "installer/loaded_state.h"
#include "installer/process_facts.h"

namespace ctkit::installer {

/// Seam: the running daemon, asked over its socket. `permission` if we may not connect.
class DaemonStatus {
 public:
  DaemonStatus() = default;
  DaemonStatus(const DaemonStatus&) = delete;
  DaemonStatus& operator=(const DaemonStatus&) = delete;
  DaemonStatus(DaemonStatus&&) = delete;
  DaemonStatus& operator=(DaemonStatus&&) = delete;
  virtual ~DaemonStatus() = default;

  /// What it has loaded: asked once, answered before the deadline. `unreachable` if there is no
  /// answer (yet): no socket, nobody listening, not ready, gone meanwhile, too late. `not_found` if
  /// it answers but doesn't serve the CRI.
  [[nodiscard]] virtual engine::Result<LoadedState> status(Moment deadline) = 0;

  /// Who serves the socket; `unreachable` as above, also if that process is in a pid namespace we
  /// can't see.
  [[nodiscard]] virtual engine::Result<PeerProcess> peer() = 0;
};

}  // namespace ctkit::installer
