#pragma once

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/host.h"
#include "installer/outcome.h"
#include "installer/request.h"

namespace ctkit::installer {

/// One request, start to end: observe, plan, apply, report.
engine::Result<Outcome> run(const Request& request, const engine::Engine& engine, Host& host);

}  // namespace ctkit::installer
