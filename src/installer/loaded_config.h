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

/// What the journal has kept of a daemon's state: its configuration as it came, JSON or TOML.
engine::Result<LoadedState> read_loaded(const std::string& text);

}  // namespace ctkit::installer
