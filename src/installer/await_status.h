#pragma once

#include "engine/result.h"
#include "installer/clock.h"
#include "installer/daemon_status.h"

namespace ctkit::installer {

/// The daemon's status after a restart: asked again while it is `unreachable` or doesn't serve the
/// CRI yet (`not_found`), until the deadline; then the last error that isn't just the time being
/// up. Asks at least once.
engine::Result<LoadedState> await_status(DaemonStatus& daemon, Clock& clock, Moment deadline);

}  // namespace ctkit::installer
