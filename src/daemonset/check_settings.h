#pragma once

#include "daemonset/resolve_settings.h"
#include "engine/result.h"

namespace ctkit::daemonset {

/// What the settings say together, beyond each by itself: fills in what follows from others, warns of what is odd.
/// `usage` for what can't be, docker among it.
engine::Result<void> check_settings(Dialect dialect, ResolvedSettings& resolved);

}  // namespace ctkit::daemonset
