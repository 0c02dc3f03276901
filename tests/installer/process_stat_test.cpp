#include "installer/process_stat.h"

#include <string_view>

#include <gtest/gtest.h>

namespace ctkit::installer {
namespace {

constexpr std::string_view kAfterTheName =
    " S 1 42 42 0 -1 4194560 3033 0 8 0 17 7 0 0 20 0 9 0 123456 1931468800 12000 "
    "18446744073709551615 1\n";

std::int64_t ticks_of(std::string_view name) {
  const auto ticks = parse_start_ticks("42 (" + std::string(name) + ")" + std::string(kAfterTheName));
  return ticks ? *ticks : -1;
}

TEST(ProcessStat, ReadsTheStart) {
  EXPECT_EQ(ticks_of("containerd"), 123456);
}

TEST(ProcessStat, NameMayHoldAnything) {
  EXPECT_EQ(ticks_of("a b"), 123456);
  EXPECT_EQ(ticks_of(") S 1 2 3"), 123456);
  EXPECT_EQ(ticks_of("(("), 123456);
}

TEST(ProcessStat, RefusesWhatIsCutShort) {
  for (const std::string_view text :
       {"", "42 (x", "42 (x) ", "42 (x) S 1 2 3", "42 (x) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x"}) {
    EXPECT_FALSE(parse_start_ticks(text)) << text;
  }
}

TEST(OwnPid, IsTheInnermostOfItsNumbers) {
  EXPECT_EQ(parse_own_pid("Name:\tx\nTgid:\t9\nNSpid:\t9\nThreads:\t1\n"), 9);
  EXPECT_EQ(parse_own_pid("Name:\tx\nNSpid:\t4711\t12\t7\nNSpgid:\t1\n"), 7);
}

TEST(OwnPid, IsNotKnownWithoutTheField) {
  EXPECT_FALSE(parse_own_pid("Name:\tNSpid: 4\n"));
  EXPECT_FALSE(parse_own_pid("Name:\tx\nNSpid:\t\n"));
  EXPECT_FALSE(parse_own_pid(""));
}

}  // namespace
}  // namespace ctkit::installer
