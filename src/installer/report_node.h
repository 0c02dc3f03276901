#pragma once

#include <string>

#include "installer/outcome.h"

namespace ctkit::installer {

/// What was wrong with a change that was rolled back, for the log; empty: nothing was.
std::string report_verdict(const NodeChange& change);

/// What was done to the running daemon, for the result.
std::string report_change_text(const NodeChange& change);

/// verify: what differs; status: that, the daemon, the last apply.
std::string report_verify_text(const NodeState& state);
std::string report_status_text(const NodeState& state);

/// rollback.
std::string report_rollback_text(const Outcome& outcome);

/// {schema: ctkit/v1/verify or ctkit/v1/status, …}.
std::string report_state_json(const NodeState& state, bool verify);

/// {schema: ctkit/v1/rollback, files, node}.
std::string report_rollback_json(const Outcome& outcome);

/// The `node` member of plan, apply, uninstall and rollback, as JSON text; "null" on a tree.
std::string change_json_text(const std::optional<NodeChange>& change);

}  // namespace ctkit::installer
