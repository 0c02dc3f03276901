#pragma once

#include <optional>
#include <string>

#include "engine/engine.h"
#include "engine/file_reader.h"
#include "engine/result.h"
#include "installer/host.h"
#include "installer/loaded_state.h"
#include "installer/plan.h"
#include "installer/request.h"

namespace ctkit::installer {

// What could go wrong with a change, looked at while nothing is written.

/// What the daemon has loaded; none: it answers, and serves no CRI.
engine::Result<std::optional<LoadedState>> loaded_before(LiveNode& node);

/// systemd's unit of the daemon, fit to be restarted.
engine::Result<std::string> find_unit(const Request& request, LiveNode& node);

/// What the handlers and the daemon would start is there and may be run.
engine::Result<void> check_binaries(const Request& request, const Host& host);

/// The node's own program on the planned files.
engine::Result<void> check_with_own_program(const Request& request, Host& host, const engine::FileReader& planned);

/// A restart makes the daemon forget what only it knows. What today's files have, and the plan gives up, is another
/// matter.
engine::Result<void> check_loss(const Request& request,
                                const engine::Engine& engine,
                                const Plan& plan,
                                const std::optional<LoadedState>& before);

}  // namespace ctkit::installer
