#pragma once

#include <optional>

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/host.h"
#include "installer/journal.h"
#include "installer/request.h"

namespace ctkit::installer {

/// What came of an apply that ended before its verdict.
struct Recovered {
  bool took_back = false;  ///< the daemon may have loaded what is no longer there
  std::optional<Journal> journal = std::nullopt;
};

/// Gives the verdict that an earlier run has left open: if a daemon that started since then serves what that run
/// wanted, and no less than before, it holds; else it is taken back. So a run that its own restart has ended, as may
/// happen to one in a container, costs no second restart.
engine::Result<Recovered> recover(const Request& request, const engine::Engine& engine, Host& host);

}  // namespace ctkit::installer
