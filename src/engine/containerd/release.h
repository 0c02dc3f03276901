#pragma once

#include "engine/release.h"

namespace ctkit::engine::containerd {

using engine::compare;
using engine::Release;

}  // namespace ctkit::engine::containerd
