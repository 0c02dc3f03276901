#pragma once

#include <vector>

#include "engine/containerd/effective.h"
#include "engine/engine.h"

namespace ctkit::engine::containerd {

/// Drop-ins that may bring the desired handlers about, the preferred one first; the caller simulates each on the whole
/// tree.
///
/// Where a later file's plugin table replaces all others (1.x): ours carries what every author meant (authors_union.h)
/// and the handlers, under the id that the merged version looks up, and must load last. Where tables merge by key
/// (2.x): ours holds the handlers only, under either id and with or without a version key, as the simulation decides.
/// If no import covers our file, the top-level config gets one pattern that matches nothing else.
/// Fails with `needs_decision` where the top-level config cannot be edited.
Result<std::vector<Candidate>> make_candidates(const Daemon& daemon,
                                               const LoadRequest& request,
                                               const FileReader& files,
                                               const EffectiveConfig& bare,
                                               const Desired& desired);

}  // namespace ctkit::engine::containerd
