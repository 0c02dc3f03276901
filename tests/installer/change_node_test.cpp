#include "installer/change_node.h"

#include <chrono>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/live_node.h"
#include "installer/report_node.h"

namespace ctkit::installer {
namespace {

using engine::Error;
using engine::ErrorCode;
using test::kJournal;
using test::kLastDropIn;
using test::kRoot;
using test::MemoryFiles;
using test::TestNode;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;
using Verdict = NodeChange::Verdict;

constexpr auto kState = "/usr/local/nvidia/.ctkit";

/// What is there, without the times.
std::map<std::string, std::string> texts(const MemoryFiles& files) {
  std::map<std::string, std::string> all;
  for (const auto& [path, node] : files.tree()) {
    const auto* file = std::get_if<MemoryFiles::File>(&node);
    all[path] = file ? file->text : "";
  }
  return all;
}

class LiveNodeTest : public testing::Test {
 protected:
  MemoryFiles files = test::incident();
  TestNode node{files};
  std::map<std::string, std::string> before = texts(files);

  void expect_as_before() {
    EXPECT_EQ(texts(files), before);
    EXPECT_FALSE(node.serves("nvidia"));
    EXPECT_TRUE(node.serves("runc"));
  }
};

TEST_F(LiveNodeTest, ApplyRestartsOnceAndTheHandlersAreLoaded) {
  const int starts = node.starts();
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  ASSERT_TRUE(outcome->node);
  EXPECT_EQ(outcome->node->verdict, Verdict::verified) << testing::PrintToString(outcome->node->problems);
  EXPECT_EQ(outcome->node->unit, test::kUnit);
  EXPECT_EQ(node.starts(), starts + 1);
  EXPECT_TRUE(node.serves("nvidia"));
  const auto journal = read_journal(files, kState);
  ASSERT_TRUE(journal && *journal);
  EXPECT_TRUE((*journal)->finished);
  EXPECT_TRUE((*journal)->last->confirmed);
  EXPECT_EQ((*journal)->restarts, 1);
  EXPECT_EQ((*journal)->last->unit, test::kUnit);
}

TEST_F(LiveNodeTest, ASecondApplyWritesNothingRestartsNothingRunsNothing) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  const int starts = node.starts();
  const auto writes = files.log().size();
  const auto programs = node.runner.log().size();
  const auto questions = node.services.log().size();
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::untouched);
  EXPECT_THAT(outcome->node->reasons, IsEmpty());
  EXPECT_EQ(node.starts(), starts);
  EXPECT_EQ(files.log().size(), writes);
  EXPECT_EQ(node.runner.log().size(), programs);
  EXPECT_EQ(node.services.log().size(), questions);
}

TEST_F(LiveNodeTest, ADaemonOlderThanItsFilesIsRestartedThoughTheyStay) {
  Request request = test::make_request(Verb::apply);
  request.restart = RestartMode::none;
  const auto written = node.run(request);
  ASSERT_EQ(test::error_of(written), "");
  EXPECT_THAT(written->node->reasons, SizeIs(1));
  EXPECT_FALSE(node.serves("nvidia"));
  const int starts = node.starts();
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_THAT(outcome->plan->files, IsEmpty());
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  EXPECT_EQ(node.starts(), starts + 1);
  EXPECT_TRUE(node.serves("nvidia"));
  EXPECT_EQ(node.run(Verb::apply)->node->verdict, Verdict::untouched);
}

TEST_F(LiveNodeTest, FilesWithoutEffectNeitherRestartNowNorLater) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  // Somebody adds a comment to ours; putting ours back changes nothing for the daemon.
  files.add_file(kLastDropIn, *files.read(kLastDropIn) + "# mine\n");
  const int starts = node.starts();
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->plan->files.size(), 1U);
  EXPECT_EQ(outcome->node->verdict, Verdict::untouched);
  EXPECT_EQ(node.run(Verb::apply)->node->verdict, Verdict::untouched);
  EXPECT_EQ(node.starts(), starts);
}

/// As the DaemonSet's life cycle asks for it.
Request unless_served() {
  Request request = test::make_request(Verb::apply);
  request.restart = RestartMode::unserved;
  return request;
}

TEST_F(LiveNodeTest, HandlersThatAreServedAreReasonEnoughNotToRestart) {
  ASSERT_EQ(test::error_of(node.run(unless_served())), "");
  const int starts = node.starts();
  const std::string ours = *files.read(kLastDropIn);
  // Somebody takes our file away. The daemon still serves what it has read.
  ASSERT_TRUE(files.remove(kLastDropIn));
  const auto outcome = node.run(unless_served());
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(*files.read(kLastDropIn), ours);
  EXPECT_THAT(outcome->node->reasons, Contains(HasSubstr("effective config")));
  EXPECT_EQ(outcome->node->verdict, Verdict::untouched);
  EXPECT_EQ(node.starts(), starts);
}

TEST_F(LiveNodeTest, HandlersThatAreNotServedAreReasonEnoughToRestart) {
  const int starts = node.starts();
  const auto outcome = node.run(unless_served());
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  EXPECT_EQ(node.starts(), starts + 1);
  EXPECT_TRUE(node.serves("nvidia"));
}

TEST_F(LiveNodeTest, AnotherDefaultOfOursIsReasonEnoughToRestart) {
  ASSERT_EQ(test::error_of(node.run(unless_served())), "");
  for (const std::string wanted : {"nvidia", ""}) {
    const int starts = node.starts();
    Request request = unless_served();
    request.desired.default_handler = wanted;
    const auto outcome = node.run(request);
    ASSERT_EQ(test::error_of(outcome), "");
    EXPECT_EQ(node.starts(), starts + 1) << wanted;
    EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  }
}

TEST_F(LiveNodeTest, AFailedRestartIsRolledBackWithOneMore) {
  node.job_of = [first = node.starts()](int start) {
    return start == first ? std::optional<std::string>("failed") : std::nullopt;
  };
  const int starts = node.starts();
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::rolled_back);
  EXPECT_THAT(outcome->node->problems.front(), HasSubstr("exit-code"));
  EXPECT_EQ(node.starts(), starts + 2);
  expect_as_before();
}

/// After the write somebody's script changes the tree.
struct Spoiler {
  const char* name;
  const char* text;
  const char* problem;
};
void PrintTo(const Spoiler& spoiler, std::ostream* out) {
  *out << spoiler.name;
}

class SpoiledRestart : public LiveNodeTest, public testing::WithParamInterface<Spoiler> {};

TEST_P(SpoiledRestart, IsRolledBack) {
  const std::string path = "/etc/containerd/conf.d/zzzz.toml";
  node.before_start = [&] {
    if (files.exists(kLastDropIn)) {
      files.add_file(path, GetParam().text);
    } else if (files.exists(path)) {
      static_cast<void>(files.remove(path));
    }
  };
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::rolled_back) << testing::PrintToString(outcome->node->rollback_problems);
  EXPECT_THAT(outcome->node->problems, Contains(HasSubstr(GetParam().problem)));
  expect_as_before();
}

INSTANTIATE_TEST_SUITE_P(
    All,
    SpoiledRestart,
    testing::Values(
        Spoiler{"no_runc",
                "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.kata]\nruntime_type = "
                "\"io.containerd.kata.v2\"\n",
                ""},
        Spoiler{"refused", "version = 9\n", "failed"},
        Spoiler{"no_handlers",
                "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = "
                "\"io.containerd.runc.v2\"\n",
                "no handler 'nvidia'"}),
    [](const auto& item) { return item.param.name; });

TEST_F(LiveNodeTest, RestartsOfAChangeThatIsTakenBackCountAsOurs) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  Request request = test::make_request(Verb::apply);
  request.desired.default_handler = "nvidia";
  node.job_of = [first = node.starts()](int start) {
    return start == first ? std::optional<std::string>("failed") : std::nullopt;
  };
  const auto outcome = node.run(request);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::rolled_back);
  EXPECT_EQ(node.run(Verb::status)->state->journal->restarts, 3);
}

TEST_F(LiveNodeTest, ARollbackThatFailsSaysSo) {
  node.job_of = [](int) { return std::optional<std::string>("failed"); };
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::rollback_failed);
  EXPECT_THAT(outcome->node->rollback_problems, testing::Not(IsEmpty()));
  EXPECT_EQ(texts(files), before);
}

TEST_F(LiveNodeTest, AMaskedUnitIsFoundBeforeAnythingIsWritten) {
  node.services.units[test::kUnit].load_state = "masked";
  const auto outcome = node.run(Verb::apply);
  ASSERT_FALSE(outcome);
  EXPECT_THAT(outcome.error().message, HasSubstr("masked"));
  EXPECT_EQ(texts(files), before);
}

TEST_F(LiveNodeTest, ARestartThatSystemdRefusesPutsTheFilesBackAndRestartsNothing) {
  node.services.on_restart = [](const std::string&, Moment) -> engine::Result<RestartOutcome> {
    return std::unexpected(Error{.message = "a job that systemd has at hand forbids it"});
  };
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::rolled_back);
  EXPECT_FALSE(outcome->node->restarted);
  expect_as_before();
}

TEST_F(LiveNodeTest, ALostAnswerIsReadFromTheUnit) {
  const auto well = node.services.on_restart;
  node.services.on_restart = [&](const std::string& unit, Moment deadline) -> engine::Result<RestartOutcome> {
    static_cast<void>(well(unit, deadline));
    return std::unexpected(Error{.code = ErrorCode::unreachable, .message = "lost the connection"});
  };
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  EXPECT_TRUE(node.serves("nvidia"));
}

TEST_F(LiveNodeTest, AMissingBinaryNeedsADecision) {
  ASSERT_TRUE(files.remove("/opt/nvidia-cdi"));
  const auto outcome = node.run(Verb::apply);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(outcome.error().message, HasSubstr("/opt/nvidia-cdi"));
}

TEST_F(LiveNodeTest, TheNodesOwnProgramIsBelievedWhenItRefuses) {
  node.on_dump = [] { return CommandResult{.exit_code = 1, .errors = "containerd: I won't\n"}; };
  const auto outcome = node.run(Verb::apply);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::daemon_refuses);
  EXPECT_THAT(outcome.error().message, HasSubstr("I won't"));
  EXPECT_EQ(texts(files), before);
}

TEST_F(LiveNodeTest, ADumpThatDiffersFromThePredictionNeedsADecision) {
  node.on_dump = [] { return CommandResult{.exit_code = 0, .output = "version = 2\nroot = \"/elsewhere\"\n"}; };
  const auto refused = node.run(Verb::apply);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(refused.error().hint, HasSubstr("--trust"));
  EXPECT_EQ(texts(files), before);
  Request request = test::make_request(Verb::apply);
  request.trust = Trust::prediction;
  const auto trusted = node.run(request);
  ASSERT_EQ(test::error_of(trusted), "");
  EXPECT_EQ(trusted->node->verdict, Verdict::verified);
}

TEST_F(LiveNodeTest, AHandlerOnlyTheDaemonHasIsNotLostInSilence) {
  auto loaded = *node.loaded();
  loaded.handlers.push_back({.name = "kata"});
  node.status.on_status = [&]() -> engine::Result<LoadedState> { return loaded; };
  const auto outcome = node.run(Verb::apply);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(outcome.error().message, HasSubstr("'kata'"));
}

TEST_F(LiveNodeTest, TheStockInstallersLockIsRespected) {
  files.locked.insert("/run/nvidia/toolkit/toolkit.pid");
  const auto outcome = node.run(Verb::apply);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::locked);
}

TEST_F(LiveNodeTest, UninstallRestartsOnceAndAllIsAsBefore) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  const int starts = node.starts();
  const auto outcome = node.run(Verb::uninstall);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  EXPECT_EQ(node.starts(), starts + 1);
  expect_as_before();
}

TEST_F(LiveNodeTest, UninstallThatKillsTheDaemonPutsOursBack) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  const auto ours = texts(files);
  node.job_of = [first = node.starts()](int start) {
    return start == first ? std::optional<std::string>("failed") : std::nullopt;
  };
  const auto outcome = node.run(Verb::uninstall);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::rolled_back);
  EXPECT_EQ(texts(files), ours);
  EXPECT_TRUE(node.serves("nvidia"));
}

TEST_F(LiveNodeTest, RollbackGivesTheStateBeforeTheLastApply) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  const auto first = texts(files);
  Request request = test::make_request(Verb::apply);
  request.desired.handlers.pop_back();
  ASSERT_EQ(test::error_of(node.run(request)), "");
  EXPECT_FALSE(node.serves("nvidia-legacy"));
  const auto outcome = node.run(Verb::rollback);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  EXPECT_TRUE(node.serves("nvidia-legacy"));
  EXPECT_EQ(texts(files).at(kLastDropIn), first.at(kLastDropIn));
  // The journal knows ours again: uninstall leaves nothing.
  ASSERT_EQ(test::error_of(node.run(Verb::uninstall)), "");
  expect_as_before();
}

TEST_F(LiveNodeTest, RollbackOfTheFirstApplyLeavesNothing) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  ASSERT_EQ(test::error_of(node.run(Verb::rollback)), "");
  expect_as_before();
  const auto again = node.run(Verb::rollback);
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error().message, HasSubstr("no apply"));
}

TEST_F(LiveNodeTest, TheDeadMansTimerIsSetBeforeTheWriteAndGoneAfterTheVerdict) {
  Request request = test::make_request(Verb::apply);
  request.confirm_timeout = 60;
  bool armed_at_restart = false;
  node.before_start = [&] {
    armed_at_restart = node.services.armed.contains("ctkit-unconfirmed");
    if (!armed_at_restart) return;
    const DeadMan& timer = node.services.armed.at("ctkit-unconfirmed");
    EXPECT_EQ(timer.after, std::chrono::seconds(60));
    EXPECT_THAT(timer.argv,
                testing::IsSupersetOf({std::string("/usr/bin/ctkit"),
                                       std::string("rollback"),
                                       std::string("--if-unconfirmed"),
                                       std::string(test::kUnit)}));
  };
  const auto outcome = node.run(request);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_TRUE(armed_at_restart);
  EXPECT_THAT(node.services.armed, IsEmpty());
  EXPECT_FALSE(files.exists(std::string(kState) + "/ctkit"));
}

TEST_F(LiveNodeTest, AHostThatCannotSeeOurProgramGetsACopyForTheTimer) {
  node.processes.one_root = false;
  Request request = test::make_request(Verb::apply);
  request.confirm_timeout = 60;
  std::string program;
  node.before_start = [&] {
    program = node.services.armed.at("ctkit-unconfirmed").argv.front();
    EXPECT_EQ(*files.read(program), "our program");
    EXPECT_EQ(*files.mode_of(program), 0755U);
  };
  ASSERT_EQ(test::error_of(node.run(request)), "");
  EXPECT_EQ(program, std::string(kState) + "/ctkit");
  node.before_start = [] {};
  ASSERT_EQ(test::error_of(node.run(Verb::uninstall)), "");
  expect_as_before();
}

TEST_F(LiveNodeTest, TheTimersRollbackTouchesOnlyAnUnconfirmedApplyOfItsName) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  const auto journal = read_journal(files, kState);
  Request request = test::make_request(Verb::rollback);
  request.if_unconfirmed = (*journal)->last->token;
  const auto outcome = node.run(request);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_FALSE(outcome->rolled_back);
  EXPECT_TRUE(node.serves("nvidia"));
}

TEST_F(LiveNodeTest, VerifyTellsWhatTheDaemonHasNotLoaded) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  const auto same = node.run(Verb::verify);
  ASSERT_EQ(test::error_of(same), "");
  EXPECT_FALSE(same->state->differs()) << report_verify_text(*same->state);
  files.add_file("/etc/containerd/conf.d/zzzz.toml",
                 "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc]\nruntime_type = "
                 "\"io.containerd.runc.v2\"\n");
  const auto other = node.run(Verb::verify);
  ASSERT_EQ(test::error_of(other), "");
  EXPECT_TRUE(other->state->differs());
  EXPECT_THAT(other->state->differences, Contains(testing::Field(&Difference::what, "handler 'nvidia'")));
}

TEST_F(LiveNodeTest, StatusTellsDriftAndTheRestartsWeCaused) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  files.add_file(kLastDropIn, "version = 2\n");
  const auto outcome = node.run(Verb::status);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_THAT(outcome->state->drifted, ElementsAre(kLastDropIn));
  EXPECT_EQ(outcome->state->journal->restarts, 1);
}

/// Ends the run for good, as SIGKILL does.
struct Killed {};

// A kill at each change of a file: the next apply converges, and uninstall leaves nothing.
TEST(KilledApply, TheNextOneConvergesWhereverTheKillCame) {
  int kills = 0;
  for (bool finished = false; !finished; ++kills) {
    SCOPED_TRACE("killed before change " + std::to_string(kills + 1));
    MemoryFiles files = test::incident();
    TestNode node{files};
    const auto before = texts(files);
    files.before_mutation = [left = kills]() mutable {
      if (left-- == 0) throw Killed{};
    };
    try {
      const auto outcome = node.run(Verb::apply);
      finished = outcome.has_value();
    } catch (const Killed&) {
    }
    files.before_mutation = [] {};
    // Whatever the moment, the files are such that the daemon would come up.
    const auto engine = test::make_engine("1.7.27");
    ASSERT_EQ(test::error_of(engine->effective(files, false)), "");
    const auto log = testing::PrintToString(files.log());
    const auto next = node.run(Verb::apply);
    SCOPED_TRACE(log + " then " + testing::PrintToString(files.log()));
    ASSERT_EQ(test::error_of(next), "");
    EXPECT_TRUE(node.serves("nvidia"));
    EXPECT_EQ(node.run(Verb::apply)->node->verdict, Verdict::untouched);
    ASSERT_EQ(test::error_of(node.run(Verb::uninstall)), "");
    EXPECT_EQ(texts(files), before);
    EXPECT_FALSE(node.serves("nvidia"));
  }
  EXPECT_GT(kills, 10);
}

TEST(KilledApply, AtTheRestartTheNextOnePutsTheOldFilesBackFirst) {
  MemoryFiles files = test::incident();
  TestNode node{files};
  const auto before = texts(files);
  const auto well = node.services.on_restart;
  node.services.on_restart = [](const std::string&, Moment) -> engine::Result<RestartOutcome> { throw Killed{}; };
  EXPECT_THROW(static_cast<void>(node.run(Verb::apply)), Killed);
  EXPECT_TRUE(files.exists(kLastDropIn));
  node.services.on_restart = well;

  Request request = test::make_request(Verb::rollback);
  request.if_unconfirmed = (*read_journal(files, kState))->last->token;
  const auto timer = node.run(request);
  ASSERT_EQ(test::error_of(timer), "");
  ASSERT_TRUE(timer->rolled_back);
  EXPECT_EQ(texts(files), before);

  node.services.on_restart = [](const std::string&, Moment) -> engine::Result<RestartOutcome> { throw Killed{}; };
  EXPECT_THROW(static_cast<void>(node.run(Verb::apply)), Killed);
  node.services.on_restart = well;
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  EXPECT_TRUE(node.serves("nvidia"));
  ASSERT_EQ(test::error_of(node.run(Verb::uninstall)), "");
  EXPECT_EQ(texts(files), before);
}

/// An apply that is killed when the daemon is up again, and before it was asked.
void kill_after_restart(TestNode& node) {
  const auto well = node.services.on_restart;
  node.services.on_restart = [&](const std::string& unit, Moment deadline) -> engine::Result<RestartOutcome> {
    static_cast<void>(well(unit, deadline));
    throw Killed{};
  };
  EXPECT_THROW(static_cast<void>(node.run(Verb::apply)), Killed);
  node.services.on_restart = well;
}

TEST(KilledApply, AfterTheRestartTheNextOneTakesTheDaemonsWordForIt) {
  MemoryFiles files = test::incident();
  TestNode node{files};
  const auto before = texts(files);
  kill_after_restart(node);
  const auto written = files.read(kLastDropIn);
  const int starts = node.starts();
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::untouched);
  EXPECT_EQ(node.starts(), starts);
  EXPECT_EQ(files.read(kLastDropIn), written);
  const auto journal = read_journal(files, kState);
  EXPECT_TRUE((*journal)->last->confirmed);
  EXPECT_EQ((*journal)->restarts, 1);
  ASSERT_EQ(test::error_of(node.run(Verb::uninstall)), "");
  EXPECT_EQ(texts(files), before);
}

TEST(KilledApply, AfterTheRestartAFileThatChangedSinceIsNoProof) {
  MemoryFiles files = test::incident();
  TestNode node{files};
  kill_after_restart(node);
  node.clock.advance(std::chrono::seconds(1));
  ASSERT_TRUE(files.replace(kLastDropIn, *files.read(kLastDropIn) + "# edited\n", {}));
  const int starts = node.starts();
  const auto outcome = node.run(Verb::apply);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  EXPECT_GT(node.starts(), starts);
}

TEST(KilledApply, AfterTheRestartUninstallUnloadsOurs) {
  MemoryFiles files = test::incident();
  TestNode node{files};
  const auto before = texts(files);
  const auto well = node.services.on_restart;
  node.services.on_restart = [&](const std::string& unit, Moment deadline) -> engine::Result<RestartOutcome> {
    static_cast<void>(well(unit, deadline));
    throw Killed{};
  };
  EXPECT_THROW(static_cast<void>(node.run(Verb::apply)), Killed);
  EXPECT_TRUE(node.serves("nvidia"));
  node.services.on_restart = well;
  const auto outcome = node.run(Verb::uninstall);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  EXPECT_EQ(texts(files), before);
  EXPECT_FALSE(node.serves("nvidia"));
}

TEST_F(LiveNodeTest, RollbackOfFilesThatNobodyLoadedRestartsNothing) {
  Request request = test::make_request(Verb::apply);
  request.restart = RestartMode::none;
  ASSERT_EQ(test::error_of(node.run(request)), "");
  const int starts = node.starts();
  const auto outcome = node.run(Verb::rollback);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(node.starts(), starts);
  expect_as_before();
}

TEST_F(LiveNodeTest, RollbackRestartsADaemonThatIsDown) {
  ASSERT_EQ(test::error_of(node.run(Verb::apply)), "");
  node.down = true;
  const auto outcome = node.run(Verb::rollback);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->unit, test::kUnit);
  EXPECT_EQ(outcome->node->verdict, Verdict::verified);
  expect_as_before();
}

}  // namespace
}  // namespace ctkit::installer
