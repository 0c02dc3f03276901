#pragma once

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/host.h"
#include "installer/outcome.h"
#include "installer/request.h"

namespace ctkit::installer {

/// Files, prediction, the daemon's own `config dump` and what it has loaded, side by side: verify and status. Status
/// looks at no dump: it runs no program.
engine::Result<Outcome> look_at_node(const Request& request, const engine::Engine& engine, Host& host);

}  // namespace ctkit::installer
