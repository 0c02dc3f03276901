#pragma once

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/host.h"
#include "installer/outcome.h"
#include "installer/request.h"

namespace ctkit::installer {

/// Take everything of ours off. The caller holds the locks.
engine::Result<Outcome> uninstall_from_node(const Request& request, const engine::Engine& engine, Host& host);

/// Back to the state before the last apply. Needs no engine; the daemon may be down. On a tree `host.live` is null.
engine::Result<Outcome> roll_back_node(const Request& request, Host& host);

}  // namespace ctkit::installer
