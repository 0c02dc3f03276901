#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/result.h"

namespace ctkit::installer {

/// When the process started, in clock ticks since boot, out of its /proc/<pid>/stat (proc(5), field
/// 22).
engine::Result<std::int64_t> parse_start_ticks(std::string_view stat);

/// The process's number in the innermost pid namespace it is in, out of its /proc/<pid>/status (NSpid); none: the
/// kernel doesn't say.
std::optional<std::int64_t> parse_own_pid(std::string_view status);

}  // namespace ctkit::installer
