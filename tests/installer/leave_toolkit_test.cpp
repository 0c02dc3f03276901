#include "installer/leave_toolkit.h"

#include <functional>
#include <ostream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/crio/crio_node.h"
#include "installer/handlers_option.h"
#include "installer/live_node.h"
#include "support/memory_tree.h"

namespace ctkit::installer {
namespace {

using engine::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Optional;

const std::string kToolkit = "/usr/local/nvidia/toolkit";
const std::string kVersions = "/usr/local/nvidia/.toolkit";
const std::string kManagementSpec = "/var/run/cdi/management.nvidia.com-gpu.json";
const std::string kBundles = "/run/containerd/io.containerd.runtime.v2.task/k8s.io/";

std::string spec_of(const std::string& kind, const std::string& hook) {
  return R"({"cdiVersion": "0.5.0", "kind": ")" + kind +
         R"(", "devices": [{"name": "all", "containerEdits": {"hooks": [{"hookName": "createContainer", "path": ")" +
         hook + R"("}]}}]})";
}

/// A node with handlers and a toolkit of ours.
struct LeftNode {
  test::MemoryFiles files = test::incident();
  test::TestNode node{files};
  test::MemoryTree tree = {};
  test::MemoryWriter writer{tree, tree};
  Request request{.verb = Verb::uninstall, .toolkit_folder = kToolkit, .with_toolkit = true};

  LeftNode() {
    for (const engine::DesiredHandler& handler : usual_handlers(kToolkit))
      files.add_file(handler.binary, "", 0755);
    tree.add_file(kVersions + "/1.20.0-1/nvidia-container-runtime", "x", 0755);
    tree.add_link(kToolkit, ".toolkit/1.20.0-1");
    tree.add_file(kManagementSpec, spec_of("management.nvidia.com/gpu", kToolkit + "/nvidia-cdi-hook"));
    Request applying{.verb = Verb::apply};
    applying.desired.handlers = usual_handlers(kToolkit);
    EXPECT_EQ(test::error_of(node.run(applying)), "");
  }

  engine::Result<Outcome> leave() {
    const NodeAtHand found = node.find();
    found.host->tree = &tree;
    found.host->writer = &writer;
    return run(request, *found.engine, *found.host);
  }
};

TEST(LeaveToolkit, TakesTheFilesAndTheSpecAfterTheHandlers) {
  LeftNode left;
  left.tree.add_file("/etc/cdi/vendor.json", spec_of("vendor.com/nic", "/opt/nic-hook"));
  const auto outcome = left.leave();
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, NodeChange::Verdict::verified);
  EXPECT_FALSE(left.node.serves("nvidia"));
  EXPECT_THAT(outcome->toolkit_gone, Optional(ElementsAre(kManagementSpec, kToolkit, kVersions)));
  EXPECT_FALSE(left.tree.look(kToolkit));
  EXPECT_FALSE(left.tree.look(kVersions));
  EXPECT_FALSE(left.tree.look(kManagementSpec));
  EXPECT_TRUE(left.tree.look("/etc/cdi/vendor.json"));
  const auto again = left.leave();
  ASSERT_EQ(test::error_of(again), "");
  EXPECT_THAT(again->toolkit_gone, Optional(IsEmpty()));
}

TEST(LeaveToolkit, TheFilesStayIfNobodyAsks) {
  LeftNode left;
  left.request.with_toolkit = false;
  const auto outcome = left.leave();
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_FALSE(outcome->toolkit_gone);
  EXPECT_TRUE(left.tree.look(kToolkit));
  EXPECT_TRUE(left.tree.look(kManagementSpec));
}

TEST(LeaveToolkit, TheFilesStayWithHandlersThatCameBack) {
  LeftNode left;
  left.node.job_of = [first = left.node.starts()](int start) {
    return start == first ? std::optional<std::string>("failed") : std::nullopt;
  };
  const auto outcome = left.leave();
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_EQ(outcome->node->verdict, NodeChange::Verdict::rolled_back);
  EXPECT_FALSE(outcome->toolkit_gone);
  EXPECT_TRUE(left.tree.look(kToolkit));
}

// Whether a container needs them is not known then.
TEST(LeaveToolkit, TheFilesStayWhereNobodyCanTellWhoNeedsThem) {
  for (const std::string& unseen : {kBundles.substr(0, kBundles.size() - 1), kBundles + "abc/runtime"}) {
    LeftNode left;
    left.files.add_file(kBundles + "abc/runtime", "/usr/bin/runc");
    left.files.mark_unreadable(unseen);
    const auto outcome = left.leave();
    ASSERT_FALSE(outcome) << unseen;
    EXPECT_EQ(outcome.error().code, ErrorCode::permission);
    EXPECT_THAT(outcome.error().message, HasSubstr("looking for containers that need them"));
    EXPECT_TRUE(left.tree.look(kToolkit));
    EXPECT_TRUE(left.node.serves("nvidia"));
  }
}

// NVIDIA's image has run since: its folder is in use, our versions are not.
TEST(LeaveToolkit, AFolderOfAnotherInstallerStaysAndIsNotAskedAbout) {
  LeftNode left;
  left.tree.nodes().erase(kToolkit);
  left.tree.add_file(kToolkit + "/nvidia-container-runtime", "theirs", 0755);
  left.files.add_file(kBundles + "abc/runtime", kToolkit + "/nvidia-container-runtime");
  const auto outcome = left.leave();
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_THAT(outcome->toolkit_gone, Optional(ElementsAre(kVersions)));
  EXPECT_TRUE(left.tree.look(kToolkit + "/nvidia-container-runtime"));
  EXPECT_TRUE(left.tree.look(kManagementSpec));
}

TEST(LeaveToolkit, WhatOthersAddMeanwhileKeepsTheFiles) {
  LeftNode left;
  left.node.before_start = [&] {
    left.files.add_file(kBundles + "abc/runtime", kToolkit + "/nvidia-container-runtime");
  };
  const auto outcome = left.leave();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::failed);
  EXPECT_THAT(outcome.error().message, HasSubstr("are without ctkit's by now: the toolkit's files are in use"));
  EXPECT_TRUE(left.tree.look(kToolkit));
}

TEST(LeaveToolkit, TheFolderHasToBeOneThatHoldsAToolkit) {
  for (const std::string folder : {"/usr/local/nvidia", "/toolkit", "toolkit", "/", ""}) {
    LeftNode left;
    left.request.toolkit_folder = folder;
    const auto before = left.files.tree();
    const auto outcome = left.leave();
    ASSERT_FALSE(outcome) << folder;
    EXPECT_EQ(outcome.error().code, ErrorCode::usage) << folder;
    EXPECT_EQ(left.files.tree(), before) << folder;
  }
}

/// Somebody who needs the toolkit's files after our handlers are gone.
struct StillUsed {
  const char* name;
  std::function<void(LeftNode&)> arrange;
  std::string said;
};

void PrintTo(const StillUsed& user, std::ostream* out) {
  *out << user.name;
}

class UsedToolkit : public testing::TestWithParam<StillUsed> {};

TEST_P(UsedToolkit, IsADecisionAndNothingIsWritten) {
  LeftNode left;
  GetParam().arrange(left);
  const auto files = left.files.tree();
  const auto tree = left.tree.nodes();
  const int starts = left.node.starts();
  const auto outcome = left.leave();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(outcome.error().message, HasSubstr(GetParam().said));
  EXPECT_THAT(outcome.error().hint, HasSubstr("without --toolkit they stay"));
  EXPECT_EQ(left.files.tree(), files);
  EXPECT_EQ(left.tree.nodes(), tree);
  EXPECT_EQ(left.node.starts(), starts);
}

INSTANTIATE_TEST_SUITE_P(
    By,
    UsedToolkit,
    testing::Values(StillUsed{"a handler of somebody else's",
                              [](LeftNode& left) {
                                left.files.add_file("/etc/containerd/conf.d/20-gpu.toml", R"(version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.gpu.options]
BinaryName = "/usr/local/nvidia/toolkit/nvidia-container-runtime"
)");
                                left.files.add_file("/etc/containerd/conf.d/registry.toml", "version = 2\n");
                              },
                              "the daemon's files have the handler 'gpu' without ctkit's"},
                    StillUsed{"a daemon that is not restarted",
                              [](LeftNode& left) { left.request.restart = RestartMode::none; },
                              "the running daemon has the handler 'nvidia', and 2 more"},
                    StillUsed{"containers, of which containerd's shims know the runtime",
                              [](LeftNode& left) {
                                left.files.add_file(kBundles + "abc/runtime",
                                                    kToolkit + "/nvidia-container-runtime.cdi");
                                left.files.add_file(kBundles + "def/runtime", "/usr/local/nvidia/toolkit-of-ours/runc");
                                left.files.add_file(kBundles + "ghi/runtime", "");
                              },
                              "containers run with a runtime from there, 'k8s.io/abc'"},
                    StillUsed{"another vendor's spec, or the device plugin's",
                              [](LeftNode& left) {
                                left.tree.add_file(
                                    "/var/run/cdi/k8s.device-plugin.nvidia.com-gpu.json",
                                    spec_of("k8s.device-plugin.nvidia.com/gpu", kToolkit + "/nvidia-cdi-hook"));
                              },
                              "'/var/run/cdi/k8s.device-plugin.nvidia.com-gpu.json' calls hooks there"}));

// What a stock installer leaves with --config-mode=hook; ours is taken back before it is looked for.
TEST(LeaveToolkit, AnOciHookOfSomebodyElsesIsADecision) {
  const std::string hook = "/usr/share/containers/oci/hooks.d/theirs.json";
  test::CrioHost files({{"10-crio.conf", "[crio.runtime.runtimes.crun]\nruntime_path = \"/usr/libexec/crio/crun\"\n"}});
  const engine::crio::CrioEngine engine(test::crio_of("1.34.11"), engine::crio::LoadRequest{}, {});
  test::MemoryTree tree;
  test::MemoryWriter writer(tree, tree);
  tree.add_file(kVersions + "/1.20.0-1/nvidia-container-runtime-hook", "x", 0755);
  tree.add_link(kToolkit, ".toolkit/1.20.0-1");
  Host host{.files = files, .tree = &tree, .writer = &writer};
  const Request request{.verb = Verb::uninstall, .toolkit_folder = kToolkit, .with_toolkit = true};
  files.add_file(
      hook, R"({"version": "1.0.0", "hook": {"path": "/usr/local/nvidia/toolkit/nvidia-container-runtime-hook"}})");
  const auto refused = run(request, engine, host);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(refused.error().message, HasSubstr("the OCI hook '" + hook + "' starts a program there"));
  EXPECT_TRUE(tree.look(kToolkit));
  files.add_file(hook, R"({"version": "1.0.0", "hook": {"path": "/usr/local/nvidia/toolkit-of-theirs/hook"}})");
  const auto outcome = run(request, engine, host);
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_THAT(outcome->toolkit_gone, Optional(ElementsAre(kToolkit, kVersions)));
}

TEST(LeaveToolkit, ADaemonThatWasRestartedByHandNeedsTheFilesNoMore) {
  LeftNode left;
  left.request.with_toolkit = false;
  left.request.restart = RestartMode::none;
  ASSERT_EQ(test::error_of(left.leave()), "");
  left.request.with_toolkit = true;
  const auto refused = left.leave();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("the running daemon has the handler"));
  ASSERT_TRUE(left.node.services.restart(test::kUnit, left.node.clock.now()));
  const auto outcome = left.leave();
  ASSERT_EQ(test::error_of(outcome), "");
  EXPECT_THAT(outcome->toolkit_gone, Optional(testing::Contains(kToolkit)));
}

}  // namespace
}  // namespace ctkit::installer
