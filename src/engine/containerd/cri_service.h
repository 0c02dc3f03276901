#pragma once

#include "engine/containerd/regime.h"
#include "engine/effective_config.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

/// Whether the CRI plugin will load: the checks it makes itself after the daemon has started, so `config dump` does not
/// show them. Reasons go to `result.not_serving`; what stops the whole daemon (a required plugin that isn't there, a
/// timeout that is no duration) to its diagnostics. `merged` is the top-level struct, `result.config` the finished one.
/// containerd: pkg/cri/config ValidatePluginConfig (1.x), internal/cri/config ValidateRuntimeConfig (2.x), LoadPlugins.
void judge_cri_service(const Known& known, const Table& merged, EffectiveConfig& result);

}  // namespace ctkit::engine::containerd
