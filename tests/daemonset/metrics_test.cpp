#include "daemonset/metrics.h"

#include <set>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::daemonset {
namespace {

using testing::HasSubstr;

TEST(Metrics, WhatNobodyHasLookedAtIsNone) {
  const std::string text = render_metrics({}, {}, "");
  for (const std::string line : {"ctkit_handlers_wanted 0", "ctkit_restarts_total 0"})
    EXPECT_THAT(text, HasSubstr("\n" + line + "\n"));
}

TEST(Metrics, SayWhatTheReportSays) {
  const PassReport report{.ready = true,
                          .drift = {"a", "b"},
                          .handlers_wanted = 3,
                          .handlers_ready = 2,
                          .restarts = 5,
                          .driver_ready = true,
                          .driver_version = "580.95.05",
                          .spec_current = true};
  const Counters counters{.settled_passes = 4,
                          .waiting_passes = 1,
                          .failed_passes = 2,
                          .repairs = 3,
                          .last_pass = 1700000000,
                          .apply_microseconds = 1500000,
                          .limited = true};
  const std::string text = render_metrics(report, counters, "1.2.3");
  for (const std::string line : {"ctkit_build_info{version=\"1.2.3\"} 1",
                                 "ctkit_ready 1",
                                 "ctkit_handlers_wanted 3",
                                 "ctkit_handlers_ready 2",
                                 "ctkit_restarts_total 5",
                                 "ctkit_drift 2",
                                 "ctkit_repairs_total 3",
                                 "ctkit_repairs_limited 1",
                                 "ctkit_apply_seconds 1.5",
                                 "ctkit_driver_ready 1",
                                 "ctkit_driver_info{version=\"580.95.05\"} 1",
                                 "ctkit_cdi_spec_current 1",
                                 "ctkit_looks_total{end=\"settled\"} 4",
                                 "ctkit_looks_total{end=\"waiting\"} 1",
                                 "ctkit_looks_total{end=\"failed\"} 2",
                                 "ctkit_last_look_timestamp_seconds 1700000000"}) {
    EXPECT_THAT(text, HasSubstr("\n" + line + "\n"));
  }
}

TEST(Metrics, EachHasItsHelpAndItsTypeOnceAndBeforeIt) {
  std::istringstream text(render_metrics({}, {}, "x"));
  std::set<std::string> helped;
  std::set<std::string> typed;
  int values = 0;
  for (std::string line; std::getline(text, line);) {
    std::istringstream words(line);
    std::string hash;
    std::string kind;
    std::string name;
    words >> hash >> kind >> name;
    if (kind == "HELP") {
      EXPECT_TRUE(helped.insert(name).second) << line;
    } else if (kind == "TYPE") {
      EXPECT_TRUE(typed.insert(name).second) << line;
    } else {
      EXPECT_TRUE(typed.contains(hash.substr(0, hash.find('{')))) << line;
      ++values;
    }
  }
  EXPECT_EQ(helped, typed);
  EXPECT_GT(values, 10);
}

TEST(Metrics, LabelsAreQuoted) {
  EXPECT_THAT(render_metrics({.driver_version = "a\"b\\c\nd"}, {}, ""), HasSubstr("version=\"a\\\"b\\\\c d\"} 1\n"));
}

}  // namespace
}  // namespace ctkit::daemonset
