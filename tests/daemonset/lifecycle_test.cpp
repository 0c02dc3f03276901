#include "daemonset/lifecycle.h"

#include <gtest/gtest.h>

namespace ctkit::daemonset {
namespace {

using Kind = Step::Kind;

constexpr Time kSecond = 1000;

Settings settings() {
  return {.on_drift = "repair",
          .debounce = 500,
          .resync = 300,
          .repair_limit = 3,
          .repair_window = 600,
          .driver_timeout = 60};
}

PassReport settled(bool repaired = false) {
  return {.end = PassReport::End::settled, .exit_code = 0, .changed = repaired};
}

PassReport failed(int exit_code = 1) {
  return {.end = PassReport::End::failed, .exit_code = exit_code, .message = "no"};
}

PassReport waiting() {
  return {.end = PassReport::End::waiting, .exit_code = 1, .message = "the driver"};
}

Step pass(PassMode mode) {
  return {.kind = Kind::pass, .mode = mode};
}

Step wait_until(Time time) {
  return {.kind = Kind::wait, .until = time};
}

Step end(int exit_code) {
  return {.kind = Kind::end, .exit_code = exit_code};
}

/// Runs the pass that is due.
void run_pass(Lifecycle& life, Time now, const PassReport& report) {
  ASSERT_EQ(life.next(now).kind, Kind::pass);
  life.pass_started();
  EXPECT_EQ(life.next(now), (Step{.kind = Kind::wait}));
  life.pass_ended(now, report);
}

TEST(Lifecycle, SetsTheNodeUpAtOnceThenHolds) {
  Lifecycle life(settings(), 0);
  EXPECT_EQ(life.next(0), pass(PassMode::install));
  run_pass(life, 0, settled(true));
  EXPECT_TRUE(life.settled());
  EXPECT_EQ(life.next(0), wait_until(300 * kSecond));
  EXPECT_EQ(life.next(300 * kSecond), pass(PassMode::repair));
}

TEST(Lifecycle, WithoutADaemonItEndsAfterTheFirstPass) {
  Settings once = settings();
  once.no_daemon = true;
  Lifecycle life(once, 0);
  run_pass(life, 0, settled());
  EXPECT_EQ(life.next(0), end(0));
}

TEST(Lifecycle, AFirstPassThatFailsEndsItWithItsExitCode) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, failed(6));
  EXPECT_EQ(life.next(0), end(6));
}

TEST(Lifecycle, UnlessErrorsAreToBeIgnored) {
  Settings tolerant = settings();
  tolerant.ignore_errors = true;
  Lifecycle life(tolerant, 0);
  run_pass(life, 0, failed(6));
  EXPECT_EQ(life.next(0), wait_until(10 * kSecond));
  EXPECT_EQ(life.next(10 * kSecond), pass(PassMode::install));
}

TEST(Lifecycle, WaitsForTheDriverAndLooksAgainAtEachChange) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, waiting());
  EXPECT_EQ(life.next(0), wait_until(kSecond));
  life.change(100);
  EXPECT_EQ(life.next(100), wait_until(150));
  EXPECT_EQ(life.next(150), pass(PassMode::install));
  run_pass(life, 150, waiting());
  EXPECT_EQ(life.next(1150), pass(PassMode::install));
  run_pass(life, 1150, settled());
  EXPECT_EQ(life.next(1150).kind, Kind::wait);
}

TEST(Lifecycle, ButNotForEver) {
  Lifecycle life(settings(), 0);
  run_pass(life, 59 * kSecond, waiting());
  EXPECT_EQ(life.next(59 * kSecond).kind, Kind::wait);
  run_pass(life, 60 * kSecond, waiting());
  EXPECT_EQ(life.next(60 * kSecond), end(1));
}

TEST(Lifecycle, ADriverThatGoesAwayLaterIsWaitedForWithoutEnd) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, settled());
  life.change(1000 * kSecond);
  run_pass(life, 1001 * kSecond, waiting());
  EXPECT_EQ(life.next(1001 * kSecond), wait_until(1011 * kSecond));
}

TEST(Lifecycle, AChangeIsLookedAtWhenItIsQuiet) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, settled());
  life.change(1000);
  EXPECT_EQ(life.next(1000), wait_until(1500));
  life.change(1400);
  EXPECT_EQ(life.next(1500), wait_until(1900));
  EXPECT_EQ(life.next(1900), pass(PassMode::repair));
}

TEST(Lifecycle, SomebodyWhoNeverRestsDoesNotKeepUsFromLooking) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, settled());
  for (Time now = 1000; now < 4000; now += 100) {
    life.change(now);
    ASSERT_EQ(life.next(now).kind, Kind::wait) << now;
  }
  life.change(4000);
  EXPECT_EQ(life.next(4000), pass(PassMode::repair));
}

TEST(Lifecycle, WhatChangesDuringAPassIsLookedAtAfterIt) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, settled());
  life.change(1000);
  EXPECT_EQ(life.next(1500).kind, Kind::pass);
  life.pass_started();
  life.change(1600);
  EXPECT_EQ(life.next(5000), (Step{.kind = Kind::wait}));
  life.pass_ended(5000, settled(true));
  EXPECT_EQ(life.next(5000), pass(PassMode::repair));
}

TEST(Lifecycle, ReportsOnlyIfToldSo) {
  Settings quiet = settings();
  quiet.on_drift = "report";
  Lifecycle life(quiet, 0);
  EXPECT_EQ(life.next(0), pass(PassMode::install));
  run_pass(life, 0, settled(true));
  life.change(1000);
  EXPECT_EQ(life.next(1500), pass(PassMode::look));
}

TEST(Lifecycle, RepairsSoOftenThenReportsAndRepairsAgainWhenTheWindowIsOver) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, settled(true));  // the setting up doesn't count
  for (const Time now : {10 * kSecond, 20 * kSecond, 30 * kSecond}) {
    life.change(now - 500);
    EXPECT_EQ(life.next(now), pass(PassMode::repair));
    run_pass(life, now, settled(true));
  }
  EXPECT_EQ(life.repairs(), 3);
  EXPECT_TRUE(life.limited(40 * kSecond));
  life.change(39 * kSecond);
  EXPECT_EQ(life.next(40 * kSecond), pass(PassMode::look));
  PassReport drifted = settled();
  drifted.drift = {"'/etc/x' is not what it has to be"};
  run_pass(life, 40 * kSecond, drifted);
  // The first repair leaves the window; the resync would come earlier, and only look.
  EXPECT_EQ(life.next(40 * kSecond), wait_until(340 * kSecond));
  EXPECT_EQ(life.next(340 * kSecond), pass(PassMode::look));
  run_pass(life, 340 * kSecond, drifted);
  EXPECT_EQ(life.next(340 * kSecond), wait_until(610 * kSecond));
  EXPECT_EQ(life.next(610 * kSecond), pass(PassMode::repair));
}

TEST(Lifecycle, WithoutAnyRepairAllowedItNeverRepairs) {
  Settings none = settings();
  none.repair_limit = 0;
  Lifecycle life(none, 0);
  run_pass(life, 0, settled());
  life.change(1000);
  EXPECT_EQ(life.next(1500), pass(PassMode::look));
}

TEST(Lifecycle, ALaterPassThatFailsIsRepeatedEverMoreSeldom) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, settled());
  Time now = 1000;
  life.change(now);
  now = 1500;
  for (const Time pause : {10, 20, 40, 80, 160, 300, 300}) {
    run_pass(life, now, failed(69));
    EXPECT_EQ(life.next(now), wait_until(now + (pause * kSecond)));
    now += pause * kSecond;
  }
  run_pass(life, now, settled());
  life.change(now);
  now += 500;
  run_pass(life, now, failed());
  EXPECT_EQ(life.next(now), wait_until(now + (10 * kSecond)));
}

TEST(Lifecycle, AChangeThatDidNotHoldIsNoReasonToLookAgainAtOnce) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, settled());
  life.change(1000);
  PassReport back = failed(4);
  back.took_back = back.changed = true;
  EXPECT_EQ(life.next(1500), pass(PassMode::repair));
  life.pass_started();
  life.change(2000);  // the change itself, and its taking back
  life.pass_ended(3000, back);
  EXPECT_EQ(life.next(3000), wait_until(303 * kSecond));
  // Somebody changes something.
  life.change(10 * kSecond);
  EXPECT_EQ(life.next((10 * kSecond) + 500), pass(PassMode::repair));
}

TEST(Lifecycle, AChangeThatDidNotHoldIsNoRepairButCountsAsATry) {
  Lifecycle life(settings(), 0);
  run_pass(life, 0, settled());
  PassReport back = failed(4);
  back.took_back = back.changed = true;
  for (const Time now : {10 * kSecond, 20 * kSecond, 30 * kSecond}) {
    EXPECT_FALSE(life.limited(now));
    life.change(now - 500);
    run_pass(life, now, back);
  }
  EXPECT_EQ(life.repairs(), 0);
  EXPECT_TRUE(life.limited(30 * kSecond));
  life.change(40 * kSecond);
  EXPECT_EQ(life.next(41 * kSecond), pass(PassMode::look));
  // One that was known again has changed nothing.
  back.changed = false;
  run_pass(life, 41 * kSecond, back);
  EXPECT_FALSE(life.limited(700 * kSecond));
}

TEST(Lifecycle, AStopEndsItAtAnyMoment) {
  Lifecycle fresh(settings(), 0);
  fresh.stop();
  EXPECT_EQ(fresh.next(0), end(0));

  Lifecycle held(settings(), 0);
  run_pass(held, 0, settled());
  held.stop();
  EXPECT_EQ(held.next(1), end(0));

  Lifecycle repairing(settings(), 0);
  run_pass(repairing, 0, settled());
  repairing.change(1000);
  EXPECT_EQ(repairing.next(1500).kind, Kind::pass);
  repairing.pass_started();
  repairing.stop();
  EXPECT_EQ(repairing.next(1501), end(0));
}

TEST(Lifecycle, AStopWhileTheNodeIsBeingSetUpSaysThatItIsNotDone) {
  Lifecycle life(settings(), 0);
  life.pass_started();
  life.stop();
  EXPECT_EQ(life.next(0), end(1));
}

}  // namespace
}  // namespace ctkit::daemonset
