#pragma once

#include "engine/containerd/effective.h"
#include "engine/preflight.h"

namespace ctkit::engine::containerd {

/// What the files come to under another release, against this one, by meaning: a value that the
/// daemon's own migration takes to another key is the same setting. Settings are compared as
/// effective; what a file says and neither release makes effective is `already` without effect.
Preflight make_preflight(const Daemon& today,
                         const Daemon& target,
                         const LoadRequest& request,
                         const FileReader& files);

}  // namespace ctkit::engine::containerd
