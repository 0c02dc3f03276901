#include "installer/report_text.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/node.h"

namespace ctkit::installer {
namespace {

using test::kDropIn;
using test::kLastDropIn;
using test::kRoot;
using test::make_engine;
using test::MemoryFiles;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string report(const Request& request, MemoryFiles& files, std::string_view release = "1.7.27") {
  const auto outcome = test::run(request, *make_engine(release), files);
  return outcome ? report_text(request, *outcome) : report_error(outcome.error());
}

std::string report(Verb verb, MemoryFiles& files, std::string_view release = "1.7.27") {
  return report(test::make_request(verb), files, release);
}

TEST(ReportText, EffectiveIsTheDaemonsDump) {
  auto files = test::incident();
  const std::string text = report(Verb::effective, files);
  EXPECT_THAT(text, StartsWith("disabled_plugins = []\n"));
  EXPECT_THAT(text, HasSubstr("config_path = \"/etc/containerd/certs.d\"\n"));
}

TEST(ReportText, EffectiveWithOriginsHasAFileAndLineForEachValue) {
  auto files = test::incident();
  auto request = test::make_request(Verb::effective);
  request.show_origin = true;
  const std::string text = report(request, files);
  EXPECT_THAT(text,
              testing::ContainsRegex("/etc/containerd/conf.d/registry.toml:3 +plugins.\"io.containerd."
                                     "grpc.v1.cri\".registry.config_path = "));
  EXPECT_THAT(text, testing::ContainsRegex("built-in +root = \"/var/lib/containerd\"\n"));
}

TEST(ReportText, OverviewSaysWhatIsLostAndToWhom) {
  auto files = test::incident();
  const std::string text = report(Verb::explain, files);
  EXPECT_THAT(text, HasSubstr("1 values are lost to /etc/containerd/conf.d/registry.toml:2"));
  EXPECT_THAT(text, HasSubstr("/etc/containerd/conf.d/10-runc.toml:5"));
  EXPECT_THAT(text, HasSubstr("runc (default)"));
}

TEST(ReportText, OverviewOfAnEmptyNode) {
  MemoryFiles files;
  const std::string text = report(Verb::explain, files, "2.1.0");
  EXPECT_THAT(text, HasSubstr("none: built-in defaults"));
  EXPECT_THAT(text, HasSubstr("nothing that a file sets is lost"));
}

TEST(ReportText, ExplainsAKeyAndSaysSoWhereNobodySetsIt) {
  auto files = test::incident();
  auto request = test::make_request(Verb::explain);
  request.keys = {"plugins.io.containerd.grpc.v1.cri.containerd.runtimes.runc.options.SystemdCgroup", "no.such"};
  const std::string text = report(request, files);
  EXPECT_THAT(text, HasSubstr("erased by /etc/containerd/conf.d/registry.toml:2"));
  EXPECT_THAT(text, HasSubstr("no.such: not effective\n  no file sets it"));
}

TEST(ReportText, PlanShowsFilesEffectiveDiffAndRestored) {
  auto files = test::incident();
  const std::string text = report(Verb::plan, files);
  EXPECT_THAT(text, HasSubstr("+++ " + kLastDropIn + "\n"));
  EXPECT_THAT(text, HasSubstr("restored, set by somebody's file and lost today:"));
  EXPECT_THAT(text, HasSubstr("SystemdCgroup = true    (/etc/containerd/conf.d/10-runc.toml:5)"));
  EXPECT_THAT(text, HasSubstr("a restart of the daemon makes it effective"));
}

TEST(ReportText, PlanLeavesOutWhatANewTableHasAnyway) {
  auto files = test::incident();
  EXPECT_THAT(report(Verb::plan, files),
              Not(HasSubstr("+ plugins.\"io.containerd.grpc.v1.cri\".containerd."
                            "runtimes.nvidia.base_runtime_spec")));
}

TEST(ReportText, PlanWithNothingToDoSaysSo) {
  auto files = test::incident();
  ASSERT_THAT(report(Verb::apply, files), HasSubstr("wrote " + kLastDropIn));
  EXPECT_THAT(report(Verb::plan, files), StartsWith("nothing to do: containerd 1.7.27"));
  EXPECT_THAT(report(Verb::apply, files), StartsWith("nothing to do"));
}

TEST(ReportText, UninstallSaysWhatBecameOfEachFile) {
  MemoryFiles files{{kRoot, "version = 2\n"}};
  report(Verb::apply, files);
  files.add_file(kRoot, *files.read(kRoot) + "# theirs\n");
  const std::string text = report(Verb::uninstall, files);
  EXPECT_THAT(text, HasSubstr("took our part out of " + kRoot + ", which was edited since"));
  EXPECT_THAT(text, HasSubstr("removed " + kDropIn));
  EXPECT_EQ(report(Verb::uninstall, files), "nothing of ours is installed\n");
}

TEST(ReportText, UninstallSaysWhatOfTheToolkitIsGone) {
  const Request request{.verb = Verb::uninstall, .with_toolkit = true};
  EXPECT_EQ(report_text(request, {.toolkit_gone = std::vector<std::string>{"/n/toolkit", "/n/.toolkit"}}),
            "removed /n/toolkit\nremoved /n/.toolkit\n");
  const std::vector<std::string> nothing;
  EXPECT_EQ(report_text(request, {.toolkit_gone = nothing}), "nothing of ours is installed\n");
  EXPECT_EQ(report_text(request, {.removed = std::vector<TakenBack>{}, .toolkit_gone = nothing}),
            "no toolkit of ours is installed\n");
}

TEST(ReportText, AnErrorHasItsPlaceOnceAndItsHint) {
  EXPECT_EQ(report_error({.message = "cannot parse '/x:7': no", .where = "/x:7", .hint = "mend it"}),
            "ctkit: cannot parse '/x:7': no\n  hint: mend it\n");
  EXPECT_EQ(report_error({.message = "no", .where = "/x:7"}), "ctkit: no (/x:7)\n");
}

// Credentials.

MemoryFiles node_with_secrets() {
  auto make = [] {
    return MemoryFiles{{kRoot, R"(version = 2
imports = ["/etc/containerd/conf.d/*.toml"]
[plugins."io.containerd.grpc.v1.cri".registry.configs."a.io".auth]
username = "me"
password = "hunter2"
)"},
                       {"/etc/containerd/conf.d/10.toml", R"(version = 2
[plugins."io.containerd.grpc.v1.cri".registry.configs]
"b.io" = { auth = { identitytoken = "hunter2" } }
[plugins."io.containerd.grpc.v1.cri".registry.headers]
X-Meta = [
  "hunter2"
]
)"},
                       {"/etc/containerd/conf.d/99-nvidia.toml", R"(version = 2
[plugins."io.containerd.other.v1.x"]
list = [{ token = "hunter2" }]
)"}};
  };
  return make();
}

class Secrets : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Releases, Secrets, testing::Values("1.7.27", "2.1.0"));

TEST_P(Secrets, AreInTheEffectiveConfigOnly) {
  auto files = node_with_secrets();
  EXPECT_THAT(report(Verb::effective, files, GetParam()), HasSubstr("hunter2"));
  auto explain = test::make_request(Verb::explain);
  EXPECT_THAT(report(explain, files, GetParam()), Not(HasSubstr("hunter2")));
  explain.keys = {"plugins"};
  EXPECT_THAT(report(explain, files, GetParam()), Not(HasSubstr("hunter2")));
  EXPECT_THAT(report(Verb::plan, files, GetParam()), Not(HasSubstr("hunter2")));
  EXPECT_THAT(report(Verb::apply, files, GetParam()), Not(HasSubstr("hunter2")));
  EXPECT_THAT(report(Verb::uninstall, files, GetParam()), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace ctkit::installer
