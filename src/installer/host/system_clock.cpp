#include "installer/host/system_clock.h"

#include <thread>

namespace ctkit::installer::host {

Moment SystemClock::now() {
  return Moment::clock::now();
}

std::int64_t SystemClock::real_time() {
  const auto time = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

void SystemClock::sleep(std::chrono::milliseconds time) {
  std::this_thread::sleep_for(time);
}

}  // namespace ctkit::installer::host
