#include "daemonset/carried_over.h"

#include <gtest/gtest.h>

namespace ctkit::daemonset {
namespace {

/// A pass that saw everything.
PassReport whole() {
  return {.end = PassReport::End::settled,
          .exit_code = 0,
          .ready = true,
          .handlers_wanted = 3,
          .handlers_ready = 3,
          .restarts = 2,
          .looked_at_driver = true,
          .driver_ready = true,
          .driver_version = "580.95.05",
          .spec_current = true,
          .daemon_pid = 71,
          .driver_ready_text = "IS_HOST_DRIVER=false\n",
          .watch = {{.folder = "/etc/containerd", .prefix = "config.toml"}, {.folder = "/run/x"}}};
}

TEST(CarriedOver, APassWithoutAReportForgetsNothing) {
  const PassReport now = carried_over(whole(), parse_pass_report("half of i"));
  EXPECT_EQ(now.end, PassReport::End::failed);
  EXPECT_EQ(now.driver_ready_text, "IS_HOST_DRIVER=false\n");
  EXPECT_EQ(now.driver_version, "580.95.05");
  EXPECT_TRUE(now.looked_at_driver && now.driver_ready && now.spec_current);
  EXPECT_EQ(now.handlers_wanted, 3);
  EXPECT_EQ(now.restarts, 2);
  EXPECT_EQ(now.daemon_pid, 71);
  EXPECT_EQ(now.watch, whole().watch);
  // What only the daemon's own word can say.
  EXPECT_FALSE(now.ready);
  EXPECT_EQ(now.not_ready, "the pass ended without a report");
  EXPECT_EQ(now.handlers_ready, 0);
}

TEST(CarriedOver, NorDoesASecondOne) {
  const PassReport now = carried_over(carried_over(whole(), PassReport{}), PassReport{});
  EXPECT_EQ(now, carried_over(whole(), PassReport{}));
}

TEST(CarriedOver, WhatAPassSawCounts) {
  PassReport seen{.end = PassReport::End::waiting,
                  .handlers_wanted = 0,
                  .restarts = 0,
                  .looked_at_driver = true,
                  .daemon_pid = 0,
                  .driver_ready_text = "IS_HOST_DRIVER=true\n"};
  EXPECT_EQ(carried_over({}, seen), seen);
  PassReport expected = seen;
  expected.watch = whole().watch;
  EXPECT_EQ(carried_over(whole(), seen), expected);
}

TEST(CarriedOver, OneThatSettledKnowsAllThatIsWatched) {
  PassReport settled = whole();
  settled.watch = {{.folder = "/run/y"}};
  EXPECT_EQ(carried_over(whole(), settled), settled);
}

TEST(CarriedOver, WhatBothWatchIsWatchedOnce) {
  const PassReport failed{.watch = {{.folder = "/run/y"}, {.folder = "/run/x"}}};
  const std::vector<WatchItem> both = {
      {.folder = "/etc/containerd", .prefix = "config.toml"}, {.folder = "/run/x"}, {.folder = "/run/y"}};
  EXPECT_EQ(carried_over(whole(), failed).watch, both);
}

}  // namespace
}  // namespace ctkit::daemonset
