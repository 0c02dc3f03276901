#pragma once

#include <vector>

#include "engine/containerd/effective.h"
#include "engine/finding.h"
#include "engine/result.h"

namespace ctkit::engine::containerd {

/// Problems in everyone's files, for this release. `effective` is what the daemon makes of them,
/// with events, or its refusal, which becomes a finding. Sorted by place.
std::vector<Finding> lint(const Daemon& daemon,
                          const LoadRequest& request,
                          const FileReader& files,
                          const Result<EffectiveConfig>& effective,
                          const FileModes& modes);

}  // namespace ctkit::engine::containerd
