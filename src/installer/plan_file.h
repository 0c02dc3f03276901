#pragma once

#include <optional>

#include "engine/engine.h"
#include "engine/file_reader.h"
#include "installer/kept_plan.h"
#include "installer/plan.h"
#include "installer/request.h"

namespace ctkit::installer {

/// What is kept of a plan.
KeptPlan make_kept_plan(const Request& request, const Plan& plan, const engine::FileReader& files);

/// Whether the request's kept plan is still the plan. Fails with `needs_decision`, which names the first file that is
/// another one now.
engine::Result<void> check_kept_plan(const Request& request,
                                     const engine::Engine& engine,
                                     const engine::FileReader& files,
                                     const std::optional<Journal>& journal);

}  // namespace ctkit::installer
