#pragma once

#include "daemonset/pass_report.h"

namespace ctkit::daemonset {

/// The report with what is still known from those before it, where its own pass ended before it looked:
///
/// 1. The operator's file as it was last whole.
/// 2. The driver and its spec, as they were last looked at.
/// 3. Handlers that are wanted, restarts, the daemon's process.
/// 4. What is watched: a pass that ended early doesn't know all of it.
///
/// Whether the node is ready, and which handlers are served, is never carried over.
PassReport carried_over(const PassReport& previous, PassReport report);

}  // namespace ctkit::daemonset
