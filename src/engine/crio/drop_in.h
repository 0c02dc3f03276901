#pragma once

#include <vector>

#include "engine/crio/known_release.h"
#include "engine/crio/loader.h"
#include "engine/engine.h"

namespace ctkit::engine::crio {

/// Drop-ins that may bring the desired handlers about, the preferred one first; the caller
/// simulates each on the whole tree.
///
/// Ours holds the handlers, each a copy of the effective default one, and the default runtime if
/// one is asked for, under the wanted name or one that is read later. A file of somebody else's in
/// its place keeps all else that it says. Where naming a default runtime makes the release forget
/// `runc` (up to 1.25.0), a second file that is read after ours defines it again. Fails with
/// `needs_decision` where nothing in the wanted folder would be read.
Result<std::vector<Candidate>> make_candidates(const Known& known,
                                               const LoadRequest& request,
                                               const FileReader& files,
                                               const EffectiveConfig& bare,
                                               const Desired& desired);

}  // namespace ctkit::engine::crio
