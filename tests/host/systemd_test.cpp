#include "installer/host/systemd.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_systemd.h"
#include "support/temp_folder.h"

// The real client against a real sd-bus server on a Unix socket: what systemd 252, 257 and 262 were
// seen to do.

namespace ctkit::installer::host {
namespace {

using namespace std::literals;
using engine::ErrorCode;
using test::FakeSystemd;
using test::SystemdScript;
using test::TempFolder;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Answer = SystemdScript::Answer;
using Manners = SystemdScript::Manners;

constexpr auto kUnit = "containerd.service";
constexpr auto kShort = 50ms;
constexpr auto kModest = 1s;  // enough for those who answer, on a busy machine too
constexpr auto kLong = 30s;

const UnitState kRunning{.load_state = "loaded",
                         .active_state = "active",
                         .sub_state = "running",
                         .result = "success",
                         .main_pid = 101,
                         .invocation_id = "aa",
                         .active_since = 1'700'000'000'000'001,
                         .main_started = 1'700'000'000'000'000};

// What the client makes of the fake's bytes "aa", "bb".
constexpr auto kFirstInvocation = "6161";
constexpr auto kSecondInvocation = "6262";

UnitState restarted() {
  UnitState state = kRunning;
  state.main_pid = 102;
  state.invocation_id = "bb";
  return state;
}

UnitState in_state(std::string active, std::string sub, std::string result, std::string invocation = "bb") {
  return {.load_state = "loaded",
          .active_state = std::move(active),
          .sub_state = std::move(sub),
          .result = std::move(result),
          .invocation_id = std::move(invocation)};
}

class SystemdTest : public testing::Test {
 protected:
  SystemdTest() {
    folder.make_folder("run/systemd");
    folder.make_folder("run/dbus");
  }

  TempFolder folder = {};
  std::string private_socket = folder.path_of("run/systemd/private");
  std::string bus_socket = folder.path_of("run/dbus/system_bus_socket");

  [[nodiscard]] std::unique_ptr<Systemd> client(Systemd::Patience patience = {}) const {
    return *Systemd::open(folder.path(), patience);
  }

  [[nodiscard]] engine::Result<RestartOutcome> restart(std::chrono::milliseconds time = kLong) const {
    return client()->restart(kUnit, Moment::clock::now() + time);
  }

  [[nodiscard]] engine::Result<RestartOutcome> restart_with(SystemdScript script,
                                                            std::chrono::milliseconds time = kLong) const {
    const FakeSystemd systemd(private_socket, std::move(script));
    return restart(time);
  }
};

template <typename T>
std::string refusal_of(const engine::Result<T>& result) {
  return result ? "no error" : result.error().message;
}

template <typename T>
ErrorCode code_of(const engine::Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorCode::usage : result.error().code;
}

TEST_F(SystemdTest, RestartsTheUnitAndSaysHowItWasAndIs) {
  const FakeSystemd systemd(private_socket, {.before = kRunning, .after = restarted()});
  const auto outcome = restart();
  ASSERT_TRUE(outcome) << refusal_of(outcome);
  EXPECT_EQ(outcome->job, "done");
  EXPECT_EQ(outcome->before.main_pid, 101);
  EXPECT_EQ(outcome->before.invocation_id, kFirstInvocation);
  EXPECT_EQ(outcome->after.main_pid, 102);
  EXPECT_EQ(outcome->after.invocation_id, kSecondInvocation);
  EXPECT_TRUE(outcome->runs_anew());
  EXPECT_THAT(systemd.calls(),
              ElementsAre("LoadUnit containerd.service",
                          "Subscribe",
                          "ResetFailedUnit containerd.service",
                          "RestartUnit containerd.service replace",
                          "LoadUnit containerd.service"));
}

// A row of the table in reference/e2e.md.
struct Row {
  std::string_view name = {};
  UnitState before = {};
  UnitState after = {};
  std::string job = {};
  bool runs_anew = false;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

class WhatSystemdSays : public SystemdTest, public testing::WithParamInterface<Row> {};

TEST_P(WhatSystemdSays, IsReported) {
  const Row& row = GetParam();
  const auto outcome = restart_with({.before = row.before, .after = row.after, .job_result = row.job});
  ASSERT_TRUE(outcome) << refusal_of(outcome);
  EXPECT_EQ(outcome->job, row.job);
  EXPECT_EQ(outcome->after.active_state, row.after.active_state);
  EXPECT_EQ(outcome->after.sub_state, row.after.sub_state);
  EXPECT_EQ(outcome->after.result, row.after.result);
  EXPECT_EQ(outcome->runs_anew(), row.runs_anew);
}

INSTANTIATE_TEST_SUITE_P(
    Systemd,
    WhatSystemdSays,
    testing::Values(
        Row{"GoodRestart", kRunning, restarted(), "done", true},
        Row{"BrokenConfig", kRunning, in_state("activating", "auto-restart", "exit-code"), "failed", false},
        Row{"RepairedWhileRetrying",
            in_state("activating", "auto-restart", "exit-code", "cc"),
            restarted(),
            "done",
            true},
        Row{"StartLimit", kRunning, in_state("failed", "failed", "start-limit-hit", "aa"), "failed", false},
        Row{"UnitWasInactive", in_state("inactive", "dead", "success", ""), restarted(), "done", true},
        Row{"StartTakesTooLong", kRunning, in_state("failed", "failed", "timeout"), "failed", false},
        Row{"JobTakesTooLong", kRunning, in_state("deactivating", "stop-sigterm", "success", "aa"), "timeout", false},
        Row{"StoppedMeanwhile", kRunning, in_state("inactive", "dead", "success"), "canceled", false},
        Row{"RequiredUnitFails", kRunning, in_state("inactive", "dead", "success"), "dependency", false},
        Row{"ConditionKeepsItDown", kRunning, in_state("inactive", "dead", "success"), "done", false},
        Row{"SimpleServiceDiesAtOnce", kRunning, in_state("failed", "failed", "exit-code"), "done", false},
        Row{"StillTheOldInvocation", kRunning, kRunning, "done", false},
        Row{"Skipped", kRunning, kRunning, "skipped", false}),
    [](const auto& row) { return std::string(row.param.name); });

TEST_F(SystemdTest, JobMayBeOverBeforeRestartUnitIsAnswered) {
  const auto outcome = restart_with({.before = kRunning, .after = restarted(), .answer = Answer::before_the_reply});
  ASSERT_TRUE(outcome) << refusal_of(outcome);
  EXPECT_EQ(outcome->job, "done");
  EXPECT_TRUE(outcome->runs_anew());
}

TEST_F(SystemdTest, OtherJobsAreNotOurs) {
  for (const auto answer : {Answer::before_the_reply, Answer::after_the_reply}) {
    const auto outcome = restart_with({.before = kRunning, .after = restarted(), .answer = answer, .other_jobs = true});
    ASSERT_TRUE(outcome) << refusal_of(outcome);
    EXPECT_EQ(outcome->job, "done");
  }
}

TEST_F(SystemdTest, AtTheDeadlineTheUnitDecides) {
  const auto up = restart_with({.before = kRunning, .after = restarted(), .answer = Answer::never}, kShort);
  ASSERT_TRUE(up) << refusal_of(up);
  EXPECT_EQ(up->job, "");
  EXPECT_TRUE(up->runs_anew());

  const auto starting = in_state("activating", "start", "success");
  const auto down = restart_with({.before = kRunning, .after = starting, .answer = Answer::never}, kShort);
  ASSERT_TRUE(down) << refusal_of(down);
  EXPECT_EQ(down->job, "");
  EXPECT_EQ(down->after.active_state, "activating");
  EXPECT_FALSE(down->runs_anew());
}

TEST_F(SystemdTest, DeadlineInThePastStillRestarts) {
  const auto outcome = restart_with({.before = kRunning, .after = restarted(), .answer = Answer::never}, -1s);
  ASSERT_TRUE(outcome) << refusal_of(outcome);
  EXPECT_TRUE(outcome->runs_anew());
}

TEST_F(SystemdTest, SaysThatTheConnectionBroke) {
  for (const auto answer : {Answer::hang_up, Answer::hang_up_later}) {
    const auto outcome = restart_with({.before = kRunning, .after = restarted(), .answer = answer});
    EXPECT_EQ(code_of(outcome), ErrorCode::unreachable);
    EXPECT_EQ(refusal_of(outcome), "cannot restart 'containerd.service': lost the connection to systemd");
    EXPECT_EQ(outcome.error().where, kUnit);
  }
}

TEST_F(SystemdTest, AfterABrokenConnectionTheStateCanBeAsked) {
  const FakeSystemd systemd(private_socket, {.before = kRunning, .after = restarted(), .answer = Answer::hang_up});
  const auto service = client();
  EXPECT_FALSE(service->restart(kUnit, Moment::clock::now() + kLong));
  const auto state = service->state(kUnit);
  ASSERT_TRUE(state) << refusal_of(state);
  EXPECT_EQ(state->invocation_id, kSecondInvocation);
}

TEST_F(SystemdTest, WaitsForNoAnswerForEver) {
  const FakeSystemd systemd(private_socket, {.before = kRunning, .after = restarted(), .answer = Answer::silent});
  const auto outcome = client({.call = kModest})->restart(kUnit, Moment::clock::now() + kLong);
  EXPECT_EQ(code_of(outcome), ErrorCode::unreachable);
  EXPECT_EQ(refusal_of(outcome), "cannot restart 'containerd.service': systemd gave no answer in time");
}

TEST_F(SystemdTest, SaysWhatSystemdRefuses) {
  const auto refused = [&](std::string name) {
    return restart_with({.before = kRunning, .after = kRunning, .restart_error = std::move(name)});
  };
  const auto missing = refused("org.freedesktop.systemd1.NoSuchUnit");
  EXPECT_EQ(code_of(missing), ErrorCode::not_found);
  EXPECT_EQ(refusal_of(missing), "cannot restart 'containerd.service': there is no such unit");

  const auto masked = refused("org.freedesktop.systemd1.UnitMasked");
  EXPECT_EQ(code_of(masked), ErrorCode::failed);
  EXPECT_EQ(refusal_of(masked), "cannot restart 'containerd.service': the unit is masked");

  const auto denied = refused("org.freedesktop.DBus.Error.AccessDenied");
  EXPECT_EQ(code_of(denied), ErrorCode::permission);

  const auto other = refused("org.freedesktop.systemd1.SomethingNew");
  EXPECT_EQ(code_of(other), ErrorCode::failed);
  EXPECT_EQ(refusal_of(other),
            "cannot restart 'containerd.service': systemd refused: in systemd's words "
            "(org.freedesktop.systemd1.SomethingNew)");
}

TEST_F(SystemdTest, RestartsThoughTheFailuresCannotBeReset) {
  const auto outcome =
      restart_with({.before = kRunning, .after = restarted(), .reset_error = "org.freedesktop.systemd1.NoSuchUnit"});
  ASSERT_TRUE(outcome) << refusal_of(outcome);
  EXPECT_TRUE(outcome->runs_anew());
}

TEST_F(SystemdTest, NothingIsQueuedForAMissingUnit) {
  const FakeSystemd systemd(private_socket, {.before = kRunning});
  const auto outcome = client()->restart("missing.service", Moment::clock::now() + kLong);
  EXPECT_EQ(code_of(outcome), ErrorCode::not_found);
  EXPECT_THAT(systemd.calls(), ElementsAre("LoadUnit missing.service"));
}

TEST_F(SystemdTest, ReadsTheState) {
  UnitState before = kRunning;
  before.load_state = "masked";
  before.needs_daemon_reload = true;
  before.automatic_restarts = 3;
  const FakeSystemd systemd(private_socket, {.before = before});
  UnitState expected = before;
  expected.invocation_id = kFirstInvocation;
  EXPECT_EQ(client()->state(kUnit), expected);
  EXPECT_EQ(code_of(client()->state("missing.service")), ErrorCode::not_found);
}

TEST_F(SystemdTest, TakesOnlyNamesOfUnits) {
  const FakeSystemd systemd(private_socket, {.load_error = "org.freedesktop.DBus.Error.InvalidArgs"});
  const auto state = client()->state("containerd");
  EXPECT_EQ(code_of(state), ErrorCode::usage);
  EXPECT_EQ(refusal_of(state), "cannot look at 'containerd': that isn't the name of a unit");
}

TEST_F(SystemdTest, FindsTheUnitOfAProcess) {
  const FakeSystemd systemd(private_socket, {.before = kRunning, .pid = 4242});
  EXPECT_EQ(client()->find_unit(4242), kUnit);
  EXPECT_EQ(code_of(client()->find_unit(4243)), ErrorCode::not_found);
}

TEST_F(SystemdTest, NeverAsksForPidZeroWhichIsOurself) {
  const FakeSystemd systemd(private_socket, {.before = kRunning, .pid = 0});
  for (const std::int64_t pid : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 32U}) {
    EXPECT_EQ(code_of(client()->find_unit(pid)), ErrorCode::not_found) << pid;
  }
  EXPECT_THAT(systemd.calls(), ElementsAre());
}

TEST_F(SystemdTest, PrefersTheSystemBus) {
  const FakeSystemd bus(bus_socket, {.before = kRunning, .after = restarted(), .is_bus = true});
  const FakeSystemd direct(private_socket, {.before = kRunning, .after = restarted()});
  const auto outcome = restart();
  ASSERT_TRUE(outcome) << refusal_of(outcome);
  EXPECT_TRUE(outcome->runs_anew());
  EXPECT_THAT(bus.calls(), Contains("Hello"));
  EXPECT_THAT(bus.calls(), Contains("RestartUnit containerd.service replace"));
  EXPECT_THAT(direct.calls(), ElementsAre());
}

TEST_F(SystemdTest, FallsBackToSystemdsOwnSocket) {
  const FakeSystemd direct(private_socket, {.before = kRunning, .after = restarted()});
  for (const auto manners : {Manners::turns_away, Manners::mute}) {
    const FakeSystemd bus(bus_socket, {.manners = manners});
    const auto state = client({.sign_in = kModest})->state(kUnit);
    EXPECT_TRUE(state) << refusal_of(state);
  }
  EXPECT_THAT(direct.calls(), Not(Contains("Hello")));
}

TEST_F(SystemdTest, SaysThatNobodyIsThere) {
  const auto state = client()->state(kUnit);
  EXPECT_EQ(code_of(state), ErrorCode::unreachable);
  EXPECT_EQ(refusal_of(state), "cannot reach systemd: cannot open: no such file or directory");
  EXPECT_EQ(state.error().where, "/run/dbus/system_bus_socket");
  EXPECT_THAT(state.error().hint, HasSubstr("/run/systemd/private"));
}

TEST_F(SystemdTest, SaysThatItIsTurnedAway) {
  const FakeSystemd systemd(private_socket, {.manners = Manners::turns_away});
  const auto state = client()->state(kUnit);
  EXPECT_EQ(code_of(state), ErrorCode::unreachable);
  EXPECT_THAT(state.error().hint, HasSubstr("lost the connection"));
}

TEST_F(SystemdTest, FollowsLinksInsideTheHostRoot) {
  const FakeSystemd systemd(folder.path_of("elsewhere"), {.before = kRunning});
  folder.link("run/systemd/private", "/elsewhere");
  const auto state = client()->state(kUnit);
  EXPECT_TRUE(state) << refusal_of(state);
}

TEST_F(SystemdTest, ATimerIsSetWithTheServiceItStarts) {
  const FakeSystemd systemd(private_socket, {.stop_error = "org.freedesktop.systemd1.NoSuchUnit"});
  const auto armed = client()->arm({.name = "back",
                                    .description = "d",
                                    .argv = {"/usr/bin/ctkit", "rollback", "--if-unconfirmed", "a b"},
                                    .after = 90s});
  ASSERT_TRUE(armed) << armed.error().message;
  EXPECT_THAT(systemd.calls(),
              Contains("StartTransientUnit back.timer replace Description TimersMonotonic=OnActiveSec 90000000 "
                       "AccuracyUSec RemainAfterElapse, back.service Description Type "
                       "ExecStart=/usr/bin/ctkit: /usr/bin/ctkit rollback --if-unconfirmed a b"));
}

TEST_F(SystemdTest, ATimerGoesWithItsServiceWhetherItIsThereOrNot) {
  {
    const FakeSystemd systemd(private_socket, {});
    EXPECT_TRUE(client()->disarm("back"));
    EXPECT_THAT(systemd.calls(), Contains("StopUnit back.timer"));
    EXPECT_THAT(systemd.calls(), Contains("StopUnit back.service"));
  }
  const FakeSystemd systemd(private_socket, {.stop_error = "org.freedesktop.systemd1.NoSuchUnit"});
  EXPECT_TRUE(client()->disarm("back"));
}

TEST_F(SystemdTest, ATimerThatCannotBeSetIsAnError) {
  const FakeSystemd systemd(private_socket, {.stop_error = "org.freedesktop.DBus.Error.AccessDenied"});
  const auto armed = client()->arm({.name = "back", .argv = {"/x"}, .after = 1s});
  ASSERT_FALSE(armed);
  EXPECT_EQ(armed.error().where, "back");
}

}  // namespace
}  // namespace ctkit::installer::host
