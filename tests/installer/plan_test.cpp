#include "installer/plan.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/node.h"

namespace ctkit::installer {
namespace {

using engine::ErrorCode;
using test::kDropIn;
using test::kRoot;
using test::make_desired;
using test::make_engine;
using test::MemoryFiles;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

engine::Result<Plan> plan_on(const MemoryFiles& files,
                             const engine::Desired& desired = make_desired(),
                             std::string_view release = "1.7.27") {
  return make_plan(*make_engine(release), files, std::nullopt, desired);
}

std::vector<std::string> paths_of(const Plan& plan) {
  std::vector<std::string> paths;
  for (const engine::FileChange& file : plan.files)
    paths.push_back(file.path);
  return paths;
}

std::vector<std::string> handlers_of(const Plan& plan) {
  std::vector<std::string> names;
  for (const engine::Handler& handler : plan.handlers)
    names.push_back(handler.name);
  return names;
}

TEST(Plan, RestoresWhatAnotherFileErasedAndNamesItsAuthor) {
  const auto files = test::incident();
  const auto plan = plan_on(files);
  ASSERT_TRUE(plan) << test::error_of(plan);
  EXPECT_THAT(paths_of(*plan), ElementsAre(test::kLastDropIn));
  EXPECT_THAT(handlers_of(*plan), ElementsAre("nvidia", "nvidia-cdi", "nvidia-legacy", "runc"));
  std::vector<std::string> restored;
  for (const EffectiveChange& change : plan->changes) {
    if (change.restored) restored.push_back(change.key.to_string() + " " + change.author.to_string());
  }
  EXPECT_THAT(restored,
              ElementsAre("plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.runc.options."
                          "SystemdCgroup /etc/containerd/conf.d/10-runc.toml:5"));
  EXPECT_TRUE(plan->restart_due());
  EXPECT_THAT(*plan->files.front().after, HasSubstr("config_path = \"/etc/containerd/certs.d\""));
}

TEST(Plan, TouchesNothing) {
  const auto files = test::incident();
  const auto before = files.tree();
  ASSERT_TRUE(plan_on(files));
  EXPECT_THAT(files.log(), IsEmpty());
  EXPECT_EQ(files.tree(), before);
}

TEST(Plan, KeepLeavesLost) {
  auto desired = make_desired();
  desired.on_conflict = engine::OnConflict::keep;
  const auto files = test::incident();
  const auto plan = plan_on(files, desired);
  ASSERT_TRUE(plan) << test::error_of(plan);
  EXPECT_TRUE(std::ranges::none_of(plan->changes, &EffectiveChange::restored));
}

TEST(Plan, RefuseNeedsADecisionAndNamesTheAuthor) {
  auto desired = make_desired();
  desired.on_conflict = engine::OnConflict::refuse;
  const auto files = test::incident();
  const auto plan = plan_on(files, desired);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::needs_decision);
  EXPECT_EQ(plan.error().where, "/etc/containerd/conf.d/10-runc.toml:5");
  EXPECT_THAT(plan.error().hint, HasSubstr("--on-conflict"));
}

TEST(Plan, WritesTheDropInBeforeTheRootThatImportsIt) {
  const MemoryFiles files{{kRoot, "version = 2\n# mine\n[grpc]\naddress = \"/run/c.sock\"\n"}};
  const auto plan = plan_on(files);
  ASSERT_TRUE(plan) << test::error_of(plan);
  EXPECT_THAT(paths_of(*plan), ElementsAre(kDropIn, kRoot));
  EXPECT_EQ(*plan->files.back().after,
            "version = 2\nimports = [\"/etc/containerd/conf.d/99-nvidia.tom*l\"]\n# mine\n[grpc]\n"
            "address = \"/run/c.sock\"\n");
}

TEST(Plan, MakesARootWithVersionAndImportOnlyWhereThereIsNone) {
  const MemoryFiles files;
  const auto plan = plan_on(files, make_desired(), "2.1.0");
  ASSERT_TRUE(plan) << test::error_of(plan);
  EXPECT_THAT(paths_of(*plan), ElementsAre(kDropIn, kRoot));
  EXPECT_FALSE(plan->files.back().before);
  EXPECT_THAT(*plan->files.back().after, HasSubstr("version = 3\n"));
}

TEST(Plan, HoldsOnlyHandlersOn2) {
  const MemoryFiles files{{kRoot, "version = 3\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"},
                          {"/etc/containerd/conf.d/10-registry.toml",
                           "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry]\n"
                           "config_path = '/etc/containerd/certs.d'\n"}};
  const auto plan = plan_on(files, make_desired(), "2.1.0");
  ASSERT_TRUE(plan) << test::error_of(plan);
  EXPECT_THAT(paths_of(*plan), ElementsAre(kDropIn));
  EXPECT_THAT(*plan->files.front().after, Not(HasSubstr("config_path")));
  EXPECT_THAT(*plan->files.front().after, Not(HasSubstr("io.containerd.grpc.v1.cri")));
}

TEST(Plan, SetsTheDefaultRuntimeOnRequestOnly) {
  const auto files = test::incident();
  auto desired = make_desired();
  const auto is_default = [](const engine::Handler& handler) { return handler.is_default; };
  const auto without = plan_on(files, desired);
  ASSERT_TRUE(without) << test::error_of(without);
  EXPECT_EQ(std::ranges::find_if(without->handlers, is_default)->name, "runc");
  desired.default_handler = "nvidia";
  const auto with = plan_on(files, desired);
  ASSERT_TRUE(with) << test::error_of(with);
  EXPECT_EQ(std::ranges::find_if(with->handlers, is_default)->name, "nvidia");
}

TEST(Plan, SaysWhatAnUpgradeWillMeanForIt) {
  const auto files = test::incident();
  const auto plan = plan_on(files);
  ASSERT_TRUE(plan) << test::error_of(plan);
  ASSERT_FALSE(plan->outlook.empty());
  EXPECT_THAT(plan->outlook.front().engine, HasSubstr("containerd 2.0"));
  for (const Outlook& outlook : plan->outlook)
    EXPECT_EQ(outlook.holds, outlook.reason.empty());
}

// A refusal: the daemon's, or ours because somebody has to choose.

struct Refused {
  std::string name;
  std::vector<std::pair<std::string, std::string>> files;
  ErrorCode code;
  std::string where;
  std::string release = "1.7.27";
};
void PrintTo(const Refused& refused, std::ostream* out) {
  *out << refused.name;
}

class PlanRefusal : public testing::TestWithParam<Refused> {};

TEST_P(PlanRefusal, SaysWhereAndWhatToDo) {
  MemoryFiles files;
  for (const auto& [path, text] : GetParam().files)
    files.add_file(path, text);
  const auto plan = plan_on(files, make_desired(), GetParam().release);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, GetParam().code) << plan.error().message;
  EXPECT_THAT(plan.error().where, testing::StartsWith(GetParam().where)) << plan.error().message;
  EXPECT_NE(plan.error().message, "");
}

INSTANTIATE_TEST_SUITE_P(
    Plan,
    PlanRefusal,
    testing::Values(Refused{"BrokenToml", {{kRoot, "version = 2\nx = = 1\n"}}, ErrorCode::daemon_refuses, kRoot + ":2"},
                    Refused{
                        "WrongType", {{kRoot, "version = 2\nimports = 7\n"}}, ErrorCode::daemon_refuses, kRoot + ":2"},
                    Refused{"MissingLiteralImport",
                            {{kRoot, "version = 2\n\nimports = [\"/etc/containerd/gone.toml\"]\n"}},
                            ErrorCode::daemon_refuses,
                            kRoot + ":3"},
                    Refused{"FolderInAPattern",
                            {{kRoot, "version = 2\nimports = [\"/etc/containerd/conf.d/*\"]\n"},
                             {"/etc/containerd/conf.d/old/x.toml", "version = 2\n"}},
                            ErrorCode::daemon_refuses,
                            kRoot + ":2"},
                    Refused{"DropInFolderIsAFile",
                            {{kRoot, "version = 2\n"}, {"/etc/containerd/conf.d", "text"}},
                            ErrorCode::needs_decision,
                            "/etc/containerd/conf.d"},
                    Refused{"AnotherFileLoadsAfterOurs",
                            {{kRoot,
                              "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\", "
                              "\"/etc/containerd/last.toml\"]\n"},
                             {"/etc/containerd/last.toml",
                              "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"x\"\n"}},
                            ErrorCode::needs_decision,
                            "/etc/containerd/last.toml"}),
    [](const auto& item) { return item.param.name; });

TEST(Plan, SaysWhyKubernetesFindsNoRuntimeAlready) {
  for (const std::string_view release : {"1.7.27", "2.1.0"}) {
    for (const std::string text : {"disabled_plugins = [\"cri\"]\n",  // docker's packages
                                   "disabled_plugins = [\"io.containerd.grpc.v1.cri\"]\nversion = 2\n"}) {
      const MemoryFiles files{{kRoot, text}};
      const auto plan = plan_on(files, make_desired(), release);
      ASSERT_FALSE(plan) << release << text;
      EXPECT_EQ(plan.error().code, ErrorCode::needs_decision);
      EXPECT_THAT(plan.error().message, HasSubstr("disabled_plugins names")) << release << text;
      EXPECT_THAT(plan.error().message, HasSubstr(kRoot + ":1")) << release << text;
    }
  }
}

TEST(Plan, AFileThatOnlyWeCannotReadIsAPermissionProblem) {
  auto files = test::incident();
  files.mark_unreadable("/etc/containerd/conf.d/registry.toml");
  const auto plan = plan_on(files);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::permission);
  EXPECT_EQ(plan.error().where, "/etc/containerd/conf.d/registry.toml");
}

// After an apply: what we wrote is not taken for somebody's.

TEST(Plan, IgnoresOurOwnEarlierDropIn) {
  auto files = test::incident();
  const auto engine = make_engine("1.7.27");
  ASSERT_TRUE(test::run(Verb::apply, *engine, files));
  auto request = test::make_request(Verb::plan);
  request.desired.handlers = {{.name = "gpu", .binary = "/opt/gpu"}};
  const auto planned = test::run(request, *engine, files);
  ASSERT_TRUE(planned) << test::error_of(planned);
  EXPECT_THAT(handlers_of(*planned->plan), ElementsAre("gpu", "runc"));
}

TEST(Plan, TakesTheOldFileAwayWhenAnotherPlaceIsAsked) {
  auto files = test::incident();
  const auto engine = make_engine("1.7.27");
  ASSERT_TRUE(test::run(Verb::apply, *engine, files));
  auto request = test::make_request(Verb::plan);
  request.desired.drop_in = "/etc/containerd/conf.d/zz-other.toml";
  const auto planned = test::run(request, *engine, files);
  ASSERT_TRUE(planned) << test::error_of(planned);
  EXPECT_THAT(paths_of(*planned->plan),
              testing::UnorderedElementsAre(test::kLastDropIn, "/etc/containerd/conf.d/zz-other.toml"));
}

TEST(Plan, NeedsNoRestartWhenOnlyACommentOfOursWasEdited) {
  auto files = test::incident();
  const auto engine = make_engine("1.7.27");
  ASSERT_TRUE(test::run(Verb::apply, *engine, files));
  const std::string path = test::kLastDropIn;
  files.add_file(path, *files.read(path) + "# edited\n");
  const auto planned = test::run(Verb::plan, *engine, files);
  ASSERT_TRUE(planned) << test::error_of(planned);
  EXPECT_FALSE(planned->plan->restart_due());
}

}  // namespace
}  // namespace ctkit::installer
