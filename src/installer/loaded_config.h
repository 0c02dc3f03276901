#pragma once

#include <string>

#include "engine/result.h"
#include "installer/loaded_state.h"

namespace ctkit::installer {

/// Whether the daemon's Status left out which handlers it has, as CRI-O's does: what it says of itself elsewhere is
/// wanted.
bool lacks_handlers(const LoadedState& state);

/// The state with the handlers and settings of the daemon's whole configuration in memory, TOML as CRI-O gives it on
/// its socket under `/config`.
engine::Result<LoadedState> with_whole_config(LoadedState state, const std::string& toml);

}  // namespace ctkit::installer
