#pragma once

#include "installer/clock.h"

namespace ctkit::installer::host {

/// The machine's time.
class SystemClock : public Clock {
 public:
  [[nodiscard]] Moment now() override;
  [[nodiscard]] std::int64_t real_time() override;
  void sleep(std::chrono::milliseconds time) override;
};

}  // namespace ctkit::installer::host
