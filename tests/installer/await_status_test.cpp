#include "installer/await_status.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/fake_clock.h"
#include "support/fake_daemon_status.h"

namespace ctkit::installer {
namespace {

using namespace std::literals;
using engine::Error;
using engine::ErrorCode;
using test::FakeClock;
using test::FakeDaemonStatus;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

engine::Result<LoadedState> fails(ErrorCode code) {
  return std::unexpected(Error{.code = code, .message = "no"});
}

TEST(AwaitStatus, FirstAnswerCounts) {
  FakeClock clock;
  FakeDaemonStatus daemon;
  daemon.answers = {LoadedState{.default_handler = "runc"}};
  const Moment deadline = clock.now() + 1s;
  EXPECT_EQ(await_status(daemon, clock, deadline)->default_handler, "runc");
  EXPECT_THAT(daemon.deadlines(), ElementsAre(deadline));
  EXPECT_THAT(clock.sleeps(), IsEmpty());
}

TEST(AwaitStatus, AsksAgainUntilItServes) {
  FakeClock clock;
  FakeDaemonStatus daemon;
  daemon.answers = {fails(ErrorCode::unreachable), fails(ErrorCode::not_found), LoadedState{}};
  EXPECT_TRUE(await_status(daemon, clock, clock.now() + 1s));
  EXPECT_THAT(clock.sleeps(), ElementsAre(30ms, 30ms));
}

TEST(AwaitStatus, GivesUpAtTheDeadline) {
  FakeClock clock;
  FakeDaemonStatus daemon;
  daemon.answers = {fails(ErrorCode::unreachable), fails(ErrorCode::not_found)};
  const auto status = await_status(daemon, clock, clock.now() + 100ms);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::not_found);
  EXPECT_THAT(clock.sleeps(), ElementsAre(30ms, 30ms, 30ms));
}

TEST(AwaitStatus, LastQuestionCutShortIsNoNews) {
  FakeClock clock;
  FakeDaemonStatus daemon;
  int questions = 0;
  daemon.on_status = [&] {
    if (++questions == 1) return fails(ErrorCode::not_found);
    clock.advance(1s);
    return fails(ErrorCode::unreachable);
  };
  EXPECT_EQ(await_status(daemon, clock, clock.now() + 100ms).error().code, ErrorCode::not_found);
  EXPECT_EQ(questions, 2);
}

TEST(AwaitStatus, AsksOnceAfterTheDeadline) {
  FakeClock clock;
  FakeDaemonStatus daemon;
  daemon.answers = {fails(ErrorCode::unreachable)};
  EXPECT_FALSE(await_status(daemon, clock, clock.now() - 1s));
  EXPECT_THAT(daemon.deadlines(), SizeIs(1));
}

TEST(AwaitStatus, OtherFailuresAreFinal) {
  for (const auto code : {ErrorCode::failed, ErrorCode::permission}) {
    FakeClock clock;
    FakeDaemonStatus daemon;
    daemon.answers = {fails(code), LoadedState{}};
    EXPECT_FALSE(await_status(daemon, clock, clock.now() + 1s));
    EXPECT_THAT(clock.sleeps(), IsEmpty());
  }
}

}  // namespace
}  // namespace ctkit::installer
