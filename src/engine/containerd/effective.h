#pragma once

#include <string_view>

#include "engine/containerd/build_types.h"
#include "engine/containerd/loader.h"
#include "engine/containerd/regime.h"
#include "engine/effective_config.h"
#include "engine/file_reader.h"
#include "engine/result.h"

namespace ctkit::engine::containerd {

/// What the daemon makes of the files. `events` are recorded only if asked for. Fails with `daemon_refuses` or
/// `daemon_crashes` as the daemon would.
Result<EffectiveConfig> effective(const Daemon& daemon,
                                  const FileReader& files,
                                  const LoadRequest& request,
                                  bool with_events);

/// The built-in values of one plugin of this daemon; empty if the daemon hasn't got it.
Table built_in_section(const Daemon& daemon, std::string_view plugin);

}  // namespace ctkit::engine::containerd
