#include "installer/verify.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/node.h"

namespace ctkit::installer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

LoadedState loaded() {
  return {.conditions = {{.type = "RuntimeReady", .holds = true}},
          .handlers = {{.name = "nvidia", .binary_name = "/opt/nvidia"}, {.name = "runc"}},
          .default_handler = "runc",
          .sandbox_image = "pause:3.9",
          .cni_binary_folders = {"/opt/cni/bin"},
          .cni_config_folder = "/etc/cni/net.d",
          .json = "{}"};
}

Expected expected() {
  return {.handlers = {{.name = "nvidia", .binary = "/opt/nvidia"}, {.name = "runc", .is_default = true}},
          .default_handler = "runc",
          .sandbox_image = "pause:3.9",
          .cni_binary_folders = {"/opt/cni/bin"},
          .cni_config_folder = "/etc/cni/net.d"};
}

TEST(Verify, WhatIsAsTheFilesSayIsGood) {
  EXPECT_THAT(judge_loaded(expected(), loaded(), loaded()), IsEmpty());
  EXPECT_THAT(compare_loaded(expected(), loaded()), IsEmpty());
}

TEST(Verify, AMissingHandlerAndAnotherBinaryAreProblems) {
  LoadedState after = loaded();
  after.handlers.front().binary_name = "/usr/bin/other";
  EXPECT_THAT(judge_loaded(expected(), loaded(), after), ElementsAre(HasSubstr("/usr/bin/other")));
  after.handlers.erase(after.handlers.begin());
  EXPECT_THAT(judge_loaded(expected(), std::nullopt, after), ElementsAre("the daemon has no handler 'nvidia'"));
}

TEST(Verify, AHandlerFromBeforeHasToStay) {
  LoadedState before = loaded();
  before.handlers.push_back({.name = "kata", .binary_name = ""});
  Expected wanted = expected();
  wanted.handlers.push_back({.name = "kata"});
  EXPECT_THAT(judge_loaded(wanted, before, loaded()), testing::Contains(HasSubstr("'kata', which was there before")));
  // The files have it no longer: that was decided before.
  EXPECT_THAT(judge_loaded(expected(), before, loaded()), IsEmpty());
  EXPECT_THAT(handlers_to_lose(expected(), before), ElementsAre("kata"));
}

TEST(Verify, WithoutExpectationsAllIsAsBefore) {
  LoadedState after = loaded();
  after.handlers.front().binary_name = "/opt/new";
  EXPECT_THAT(judge_loaded(Expected{}, loaded(), after), ElementsAre(HasSubstr("/opt/new")));
  EXPECT_THAT(judge_loaded(Expected{}, loaded(), loaded()), IsEmpty());
}

struct Lost {
  const char* name;
  void (*change)(LoadedState&);
  const char* problem;
};
void PrintTo(const Lost& lost, std::ostream* out) {
  *out << lost.name;
}
class LostSetting : public testing::TestWithParam<Lost> {};

TEST_P(LostSetting, IsAProblemUnlessTheFilesSayIt) {
  LoadedState after = loaded();
  GetParam().change(after);
  EXPECT_THAT(judge_loaded(expected(), loaded(), after), ElementsAre(HasSubstr(GetParam().problem)));
  Expected wanted = expected();
  wanted.default_handler = after.default_handler;
  wanted.sandbox_image = after.sandbox_image;
  wanted.cni_config_folder = after.cni_config_folder;
  wanted.cni_binary_folders = after.cni_binary_folders;
  EXPECT_THAT(judge_loaded(wanted, loaded(), after), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All,
    LostSetting,
    testing::Values(Lost{"default_handler", [](LoadedState& s) { s.default_handler = "nvidia"; }, "default handler"},
                    Lost{"pause_image", [](LoadedState& s) { s.sandbox_image = "pause:3.1"; }, "pause image"},
                    Lost{"cni_binaries", [](LoadedState& s) { s.cni_binary_folders = {"/x"}; }, "CNI binaries"},
                    Lost{"cni_configs", [](LoadedState& s) { s.cni_config_folder = "/x"; }, "CNI configs"}),
    [](const auto& item) { return std::string(item.param.name); });

TEST(Verify, ARuntimeThatIsReadyNoMoreIsAProblem) {
  LoadedState after = loaded();
  after.conditions.front().holds = false;
  EXPECT_THAT(judge_loaded(expected(), loaded(), after), ElementsAre(HasSubstr("isn't ready")));
  EXPECT_THAT(judge_loaded(expected(), after, after), IsEmpty());
}

TEST(Verify, ComparingNamesBothSides) {
  LoadedState other = loaded();
  other.handlers = {{.name = "kata", .binary_name = "/usr/bin/kata"}, {.name = "runc"}, {.name = "untrusted"}};
  other.sandbox_image = "pause:3.1";
  EXPECT_THAT(compare_loaded(expected(), other),
              ElementsAre(Difference{.what = "handler 'nvidia'", .files = "/opt/nvidia"},
                          Difference{.what = "handler 'kata'", .loaded = "/usr/bin/kata"},
                          Difference{.what = "the pause image", .files = "pause:3.9", .loaded = "pause:3.1"}));
}

TEST(Verify, ADaemonThatTellsNothingDiffersInNothing) {
  EXPECT_THAT(compare_loaded(expected(), LoadedState{}), IsEmpty());
}

struct Job {
  const char* job;
  const char* active;
  const char* invocation;
  const char* problem;  // "": none
};
void PrintTo(const Job& job, std::ostream* out) {
  *out << job.job << " " << job.active;
}
class JudgedRestart : public testing::TestWithParam<Job> {};

// The rows are what systemd was seen to say.
TEST_P(JudgedRestart, OnlyAUnitThatRunsAnewIsGood) {
  const Job& row = GetParam();
  const RestartOutcome outcome{
      .job = row.job,
      .before = {.active_state = "active", .invocation_id = "aa"},
      .after = {
          .active_state = row.active, .sub_state = "sub", .result = "exit-code", .invocation_id = row.invocation}};
  const auto problems = judge_restart("containerd.service", outcome);
  if (std::string(row.problem).empty()) {
    EXPECT_THAT(problems, IsEmpty());
  } else {
    EXPECT_THAT(
        problems,
        ElementsAre(testing::AllOf(HasSubstr(row.problem), HasSubstr("containerd.service"), HasSubstr("exit-code"))));
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         JudgedRestart,
                         testing::Values(Job{"done", "active", "bb", ""},
                                         Job{"done", "active", "aa", "doesn't run"},
                                         Job{"done", "inactive", "bb", "doesn't run"},
                                         Job{"done", "failed", "bb", "doesn't run"},
                                         Job{"failed", "activating", "bb", "'failed'"},
                                         Job{"canceled", "inactive", "bb", "'canceled'"},
                                         Job{"dependency", "inactive", "aa", "'dependency'"},
                                         Job{"", "activating", "bb", "too long"}));

TEST(Verify, ExpectationsComeFromTheEffectiveConfig) {
  const auto engine = test::make_engine("1.7.27");
  const auto files = test::incident();
  const auto effective = engine->effective(files, false);
  ASSERT_EQ(test::error_of(effective), "");
  const Expected out_of_it = make_expected(*effective, engine->handlers(*effective));
  EXPECT_EQ(out_of_it.default_handler, "runc");
  EXPECT_THAT(out_of_it.sandbox_image, HasSubstr("pause"));
  EXPECT_EQ(out_of_it.cni_config_folder, "/etc/cni/net.d");
  EXPECT_THAT(out_of_it.cni_binary_folders, ElementsAre("/opt/cni/bin"));
}

}  // namespace
}  // namespace ctkit::installer
