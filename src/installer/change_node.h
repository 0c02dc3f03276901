#pragma once

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/host.h"
#include "installer/outcome.h"
#include "installer/request.h"
#include "installer/restart_decision.h"

namespace ctkit::installer {

// The verbs that change a host on which the daemon runs. The caller holds the locks.
//
// 1. What an earlier run left unconfirmed is taken back first.
// 2. Plan; then what could go wrong is looked at while nothing is written: the handlers' binaries, what a restart would
// lose,
//    the node's own program on a copy of the new files, the unit.
// 3. The files are written, in the journal as unconfirmed, with a timer on the host that takes them back if we are
// gone.
// 4. One restart, if one is due; the daemon itself has to say that it serves what was wanted.
// 5. Else the files are put back and it is restarted once more.

/// Plan and carry out. A change that doesn't hold is an Outcome too: its verdict says so.
engine::Result<Outcome> apply_to_node(const Request& request, const engine::Engine& engine, Host& host);

/// Why a restart is due on this node, for the plan.
RestartDecision restart_due(const Request& request,
                            Host& host,
                            const Plan& plan,
                            const std::optional<Journal>& journal);

}  // namespace ctkit::installer
