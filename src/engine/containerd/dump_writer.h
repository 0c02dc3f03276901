#pragma once

#include <string>

#include "engine/containerd/regime.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

/// The effective config as the release's own `config dump` lays it out. go-toml 1: keys sorted, every header after an
/// empty line. go-toml 2: struct members in declaration order, map keys sorted, single quotes where it can. The 1.x
/// daemon prints `imports` in random order; here they are in load order.
std::string render_dump(const Table& config, const Known& known);

}  // namespace ctkit::engine::containerd
