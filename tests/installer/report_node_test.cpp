#include "installer/report_node.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace ctkit::installer {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using Verdict = NodeChange::Verdict;

const NodeChange kFailed{.verdict = Verdict::rollback_failed,
                         .unit = "containerd.service",
                         .restarted = true,
                         .reasons = {"the effective config changes"},
                         .problems = {"restarting failed"},
                         .rollback_problems = {"it failed again"},
                         .notes = {"left '/x'"}};

TEST(ReportNode, TheLogHasEachProblemAndTheUnit) {
  EXPECT_EQ(report_verdict(kFailed),
            "ctkit: restarting failed\n"
            "ctkit: after taking it back: it failed again\n"
            "ctkit: the node is not as before: look at 'containerd.service'\n"
            "ctkit: left '/x'\n");
  NodeChange taken_back = kFailed;
  taken_back.verdict = Verdict::rolled_back;
  EXPECT_THAT(report_verdict(taken_back), AllOf(HasSubstr("restarting failed"), HasSubstr("as before")));
  EXPECT_EQ(report_verdict({.verdict = Verdict::verified}), "");
}

TEST(ReportNode, TheResultSaysWhatTheDaemonGot) {
  EXPECT_EQ(report_change_text({}), "");
  EXPECT_THAT(report_change_text({.reasons = {"because"}}), HasSubstr("is due:\n  because"));
  EXPECT_THAT(report_change_text({.verdict = Verdict::verified, .unit = "k3s.service"}),
              HasSubstr("restarted k3s.service"));
  EXPECT_THAT(report_change_text(kFailed), HasSubstr("NOT as before"));
}

TEST(ReportNode, JsonHasTheChangeOrNull) {
  EXPECT_EQ(change_json_text(std::nullopt), "null");
  const json change = json::parse(change_json_text(kFailed));
  EXPECT_EQ(change["verdict"], "rollback_failed");
  EXPECT_EQ(change["unit"], "containerd.service");
  EXPECT_EQ(change["restarted"], true);
  EXPECT_EQ(change["problems"][0], "restarting failed");
}

NodeState state() {
  return {.engine = "containerd 1.7.27",
          .socket = "/run/containerd/containerd.sock",
          .pid = 812,
          .started = 1'700'000'000'000'000,
          .unit = "containerd.service",
          .unit_state = "active (running)",
          .journal = Journal{.files = {{.change = {.path = "/etc/a"}}},
                             .finished = true,
                             .last = LastApply{.confirmed = true, .time = 1'700'000'001'000'000},
                             .restarts = 3}};
}

TEST(ReportNode, StatusIsOnePage) {
  EXPECT_EQ(report_status_text(state()),
            "containerd 1.7.27\n"
            "socket   /run/containerd/containerd.sock\n"
            "process  812, since 2023-11-14 22:13:20 UTC\n"
            "unit     containerd.service, active (running)\n"
            "files of ours:\n"
            "  /etc/a\n"
            "last apply 2023-11-14 22:13:21 UTC\n"
            "restarts caused: 3\n");
  EXPECT_EQ(report_status_text({.engine = "containerd 1.7.27"}),
            "containerd 1.7.27\nno daemon runs on these files\nnothing of ours is installed\n");
}

TEST(ReportNode, VerifyTellsEachDifferenceWithBothSides) {
  NodeState other = state();
  EXPECT_EQ(report_verify_text(other), "the running daemon serves what the files say\n");
  other.differences = {{.what = "handler 'nvidia'", .files = "/opt/nvidia"}};
  other.drifted = {"/etc/a"};
  other.newer_files = {"/etc/b"};
  EXPECT_EQ(report_verify_text(other),
            "handler 'nvidia': the files say /opt/nvidia, the daemon has loaded nothing\n"
            "'/etc/a' is not as we wrote it\n"
            "the daemon started before these files changed:\n  /etc/b\n");
}

TEST(ReportNode, ACredentialInADumpIsNotShown) {
  NodeState other = state();
  const engine::KeyPath key{{"plugins", "io.containerd.grpc.v1.cri", "registry", "configs", "x", "auth", "password"}};
  other.dump_differences = {{{.key = key, .predicted = engine::Value{.data = std::string("geheim")}}}};
  EXPECT_THAT(report_verify_text(other), Not(HasSubstr("geheim")));
  EXPECT_THAT(report_state_json(other, true), Not(HasSubstr("geheim")));
}

TEST(ReportNode, JsonOfAState) {
  const json document = json::parse(report_state_json(state(), false));
  EXPECT_EQ(document["schema"], "ctkit/v1/status");
  EXPECT_EQ(document["differs"], false);
  EXPECT_EQ(document["journal"]["restarts"], 3);
  EXPECT_EQ(document["journal"]["last_apply"]["confirmed"], true);
  EXPECT_TRUE(document["unreachable"].is_null());
  EXPECT_EQ(json::parse(report_state_json(state(), true))["schema"], "ctkit/v1/verify");
  EXPECT_TRUE(document["dump_differences"].is_null()) << "nothing was compared";
  NodeState compared = state();
  compared.dump_differences.emplace();
  EXPECT_EQ(json::parse(report_state_json(compared, true))["dump_differences"], json::array());
}

TEST(ReportNode, RollbackSaysWhatCameBack) {
  Outcome outcome;
  EXPECT_EQ(report_rollback_text(outcome), "nothing to take back\n");
  outcome.rolled_back = RolledBack{.put_back = {"/etc/a"}, .left = {"/etc/b"}};
  EXPECT_EQ(report_rollback_text(outcome), "put back /etc/a\nleft /etc/b, which was edited since\n");
  const json document = json::parse(report_rollback_json(outcome));
  EXPECT_EQ(document["schema"], "ctkit/v1/rollback");
  EXPECT_EQ(document["files"].size(), 2U);
  EXPECT_TRUE(document["node"].is_null());
}

}  // namespace
}  // namespace ctkit::installer
