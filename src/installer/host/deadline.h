#pragma once

#include <algorithm>
#include <chrono>

#include "installer/clock.h"

namespace ctkit::installer::host {

/// Milliseconds until the deadline, as poll(2) takes them: rounded up, 0 when it has passed, at
/// most a day.
inline int milliseconds_until(Moment deadline) {
  using std::chrono::milliseconds;
  constexpr Moment::duration kNone{0};
  constexpr Moment::duration kDay = std::chrono::hours(24);
  const Moment::duration left = std::clamp(deadline - Moment::clock::now(), kNone, kDay);
  return static_cast<int>(std::chrono::ceil<milliseconds>(left).count());
}

}  // namespace ctkit::installer::host
