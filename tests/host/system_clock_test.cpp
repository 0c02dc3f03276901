#include "installer/host/system_clock.h"

#include <ctime>

#include <gtest/gtest.h>

namespace ctkit::installer::host {
namespace {

using namespace std::literals;

TEST(SystemClock, SleepsAtLeastAsLong) {
  SystemClock clock;
  const Moment before = clock.now();
  clock.sleep(2ms);
  EXPECT_GE(clock.now() - before, 2ms);
}

TEST(SystemClock, RealTimeIsInMicrosecondsSinceTheEpoch) {
  const std::time_t before = std::time(nullptr);
  const std::int64_t time = SystemClock().real_time();
  EXPECT_GE(time / 1'000'000 + 1, before);
  EXPECT_LE(time / 1'000'000, std::time(nullptr) + 1);
}

}  // namespace
}  // namespace ctkit::installer::host
