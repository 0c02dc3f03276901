#pragma once

#include <memory>
#include <vector>

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/host.h"
#include "installer/outcome.h"
#include "installer/request.h"

namespace ctkit::installer {

/// Held until they are let go.
using Locks = std::vector<std::shared_ptr<void>>;

/// For a verb that changes the host: the stock image's lock where a daemon runs or should, so that we and it exclude
/// one another, then ours. Before anything is looked at: whoever holds them may be restarting the daemon. `locked` if
/// somebody has one.
engine::Result<Locks> lock_host(const Request& request, FileSystem& files, bool is_node);

/// run() for who holds the locks; no engine: rollback, which needs none.
engine::Result<Outcome> run_locked(const Request& request, const engine::Engine* engine, Host& host);

}  // namespace ctkit::installer
