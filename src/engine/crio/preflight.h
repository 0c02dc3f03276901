#pragma once

#include "engine/crio/known_release.h"
#include "engine/crio/loader.h"
#include "engine/file_reader.h"
#include "engine/preflight.h"

namespace ctkit::engine::crio {

/// What the files come to under another release, against this one. Keys have the same names in all
/// releases.
Preflight make_preflight(const Known& today, const Known& target, const LoadRequest& request, const FileReader& files);

}  // namespace ctkit::engine::crio
