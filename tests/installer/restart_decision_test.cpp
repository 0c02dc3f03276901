#include "installer/restart_decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::installer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(RestartDecision, NothingSpeaksForItNothingHappens) {
  const auto decision = decide_restart(RestartMode::automatic, {});
  EXPECT_FALSE(decision.restart);
  EXPECT_THAT(decision.reasons, IsEmpty());
}

TEST(RestartDecision, EachReasonIsEnough) {
  EXPECT_TRUE(decide_restart(RestartMode::automatic, {.effective_changes = true}).restart);
  const auto older = decide_restart(RestartMode::automatic, {.newer_files = {"/etc/a", "/etc/b"}});
  EXPECT_TRUE(older.restart);
  EXPECT_THAT(older.reasons, ElementsAre(HasSubstr("'/etc/a', '/etc/b'")));
  EXPECT_TRUE(decide_restart(RestartMode::automatic, {.not_loaded = {"nvidia"}}).restart);
}

TEST(RestartDecision, NoneNeverRestartsAndSaysThatItIsDue) {
  const auto decision = decide_restart(RestartMode::none, {.effective_changes = true});
  EXPECT_FALSE(decision.restart);
  EXPECT_THAT(decision.reasons, ElementsAre(HasSubstr("effective config")));
}

TEST(RestartDecision, UnservedAsksTheDaemonAloneAndSaysWhatElseIsDue) {
  const auto others = decide_restart(RestartMode::unserved, {.effective_changes = true, .newer_files = {"/etc/a"}});
  EXPECT_FALSE(others.restart);
  EXPECT_THAT(others.reasons, ElementsAre(HasSubstr("effective config"), HasSubstr("'/etc/a'")));
  EXPECT_TRUE(decide_restart(RestartMode::unserved, {.not_loaded = {"nvidia"}}).restart);
  EXPECT_TRUE(decide_restart(RestartMode::unserved, {.default_handler = "runc"}).restart);
}

TEST(RestartDecision, AlwaysNeedsNoReason) {
  EXPECT_TRUE(decide_restart(RestartMode::always, {}).restart);
}

}  // namespace
}  // namespace ctkit::installer
