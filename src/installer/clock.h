#pragma once

#include <chrono>
#include <cstdint>

namespace ctkit::installer {

/// A moment on the monotonic clock; waits end at one.
using Moment = std::chrono::steady_clock::time_point;

/// Seam: the time, and waiting.
class Clock {
 public:
  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  Clock(Clock&&) = delete;
  Clock& operator=(Clock&&) = delete;
  virtual ~Clock() = default;

  [[nodiscard]] virtual Moment now() = 0;

  /// Microseconds since the epoch, as systemd and files tell it; somebody may set this clock.
  [[nodiscard]] virtual std::int64_t real_time() = 0;

  virtual void sleep(std::chrono::milliseconds time) = 0;
};

}  // namespace ctkit::installer
