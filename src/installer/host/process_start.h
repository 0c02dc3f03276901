#pragma once

#include <cstdint>

#include "engine/result.h"

namespace ctkit::installer::host {

/// When a process of our pid namespace started.
struct ProcessStart {
  std::int64_t ticks = 0;  ///< since boot
  std::int64_t time = 0;   ///< microseconds since the epoch
};

/// `not_found` if it is gone.
engine::Result<ProcessStart> read_process_start(std::int64_t pid);

}  // namespace ctkit::installer::host
