#pragma once

#include "engine/go_duration.h"

namespace ctkit::engine::containerd {

using engine::parse_duration;
using engine::render_duration;

}  // namespace ctkit::engine::containerd
