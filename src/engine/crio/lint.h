#pragma once

#include <vector>

#include "engine/crio/known_release.h"
#include "engine/crio/loader.h"
#include "engine/effective_config.h"
#include "engine/file_reader.h"
#include "engine/finding.h"
#include "engine/result.h"

namespace ctkit::engine::crio {

/// Problems in everyone's files, for this release. `effective` is what the daemon makes of them,
/// with events, or its refusal, which becomes a finding. Sorted by place.
std::vector<Finding> lint(const Known& known,
                          const LoadRequest& request,
                          const FileReader& files,
                          const Result<EffectiveConfig>& effective,
                          const FileModes& modes);

}  // namespace ctkit::engine::crio
