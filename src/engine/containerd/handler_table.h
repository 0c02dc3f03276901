#pragma once

#include "engine/engine.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

/// The table of a desired handler. A runc-type one is a copy of the parent with our binary under one spelling and an
/// explicit runtime_type; any other type takes nothing from the parent, and its binary is the shim (`runtime_path`).
/// Wanted annotations stand before the parent's, as NVIDIA's installer has them.
Table make_handler(const DesiredHandler& handler, const Table& parent);

/// The handler to copy: the default one if it starts runc and is nobody's nvidia handler, else `runc`; null if there is
/// neither.
const Table* find_parent(const Table& runtimes, std::string_view default_name, const Desired& desired);

}  // namespace ctkit::engine::containerd
