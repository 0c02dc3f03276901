#pragma once

#include "engine/crio/known_release.h"
#include "engine/crio/loader.h"
#include "engine/effective_config.h"
#include "engine/file_reader.h"
#include "engine/result.h"

namespace ctkit::engine::crio {

/// What the daemon makes of the files, as it holds it once all are read. `events` are recorded only
/// if asked for. Fails with `daemon_refuses` as the daemon would; what it refuses only when it
/// starts is in `not_serving`.
Result<EffectiveConfig> effective(const Known& known,
                                  const LoadRequest& request,
                                  const FileReader& files,
                                  bool with_events);

/// The built-in configuration of a release.
Table built_in(const Known& known);

}  // namespace ctkit::engine::crio
