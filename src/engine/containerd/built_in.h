#pragma once

#include <optional>

#include "engine/containerd/schema.h"
#include "engine/value.h"

namespace ctkit::engine::containerd {

/// A Go variable as the decoder sees it; nothing: nil.
using Slot = std::optional<Value>;

/// What the type starts from in the daemon. A struct's nil members are left out of its table.
Slot built_in(const Type& type);

/// What Go gives a new variable of the type.
Slot zero(const Type& type);

}  // namespace ctkit::engine::containerd
