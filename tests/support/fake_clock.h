#pragma once

#include <vector>

#include "installer/clock.h"

namespace ctkit::test {

/// Fake of the time: it passes only by sleeping, and both clocks go alike.
class FakeClock : public installer::Clock {
 public:
  explicit FakeClock(std::int64_t real_time = 1'700'000'000'000'000) : real_time_(real_time) {}

  /// The sleeps asked for, in their order.
  [[nodiscard]] const std::vector<std::chrono::milliseconds>& sleeps() const { return sleeps_; }

  [[nodiscard]] installer::Moment now() override { return installer::Moment() + passed_; }
  [[nodiscard]] std::int64_t real_time() override { return real_time_ + passed_.count(); }
  void sleep(std::chrono::milliseconds time) override {
    sleeps_.push_back(time);
    passed_ += time;
  }

  /// Time passes without anybody sleeping.
  void advance(std::chrono::microseconds time) { passed_ += time; }

 private:
  std::int64_t real_time_ = 0;
  std::chrono::microseconds passed_{0};
  std::vector<std::chrono::milliseconds> sleeps_;
};

}  // namespace ctkit::test
