#include "engine/crio/crio_node.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/live_node.h"

// A node with CRI-O: the same verbs, the same journal and the same way back.

namespace ctkit::installer {
namespace {

using engine::ErrorCode;
using test::CrioHost;
using test::TestNode;
using testing::HasSubstr;

const std::string kOurs = test::kDropIns + "99-nvidia.conf";
const std::string kHook = "/usr/share/containers/oci/hooks.d/oci-nvidia-hook.json";
const std::string kHookProgram = "/opt/nvidia-container-runtime-hook";

CrioHost packaged() {
  return CrioHost({{"10-crio.conf",
                    "[crio.runtime.runtimes.crun]\nruntime_path = \"/usr/libexec/crio/crun\"\n"
                    "monitor_path = \"/usr/libexec/crio/conmon\"\n"}});
}

std::unique_ptr<engine::Engine> make_crio(std::optional<engine::crio::Hook> hook = std::nullopt) {
  return std::make_unique<engine::crio::CrioEngine>(
      test::crio_of("1.34.11"), engine::crio::LoadRequest{}, std::move(hook));
}

TEST(CrioNode, ApplyRestartsOnceAndUninstallGivesEverythingBack) {
  CrioHost files = packaged();
  TestNode node(files, make_crio(), nullptr);
  const auto before = files.tree();
  const auto applied = node.run(Verb::apply);
  ASSERT_TRUE(applied) << test::error_of(applied);
  EXPECT_EQ(applied->node->verdict, NodeChange::Verdict::verified);
  EXPECT_EQ(node.starts(), 2);
  EXPECT_TRUE(node.serves("nvidia"));
  EXPECT_TRUE(files.exists(kOurs));
  ASSERT_TRUE(node.run(Verb::apply));
  EXPECT_EQ(node.starts(), 2) << "nothing to do";
  ASSERT_TRUE(node.run(Verb::uninstall));
  EXPECT_FALSE(node.serves("nvidia"));
  EXPECT_EQ(files.tree(), before);
}

TEST(CrioNode, WhatCriODoesNotServeIsTakenBack) {
  CrioHost files = packaged();
  TestNode node(files, make_crio(), nullptr);
  const auto before = files.tree();
  int start = 0;
  node.job_of = [&](int) { return start++ == 0 ? std::optional<std::string>("failed") : std::nullopt; };
  const auto applied = node.run(Verb::apply);
  ASSERT_TRUE(applied) << test::error_of(applied);
  EXPECT_EQ(applied->node->verdict, NodeChange::Verdict::rolled_back);
  EXPECT_EQ(files.tree(), before);
  EXPECT_FALSE(node.serves("nvidia"));
}

TEST(CrioNode, AHookNeedsNoRestart) {
  CrioHost files = packaged();
  TestNode node(files, make_crio(engine::crio::Hook{.program = kHookProgram}), nullptr);
  node.hook_programs = {kHookProgram};
  files.add_file(kHookProgram, "", 0755);
  const auto before = files.tree();
  const auto applied = node.run(test::make_request(Verb::apply));
  ASSERT_TRUE(applied) << test::error_of(applied);
  EXPECT_TRUE(files.exists(kHook));
  EXPECT_FALSE(files.exists(kOurs));
  EXPECT_EQ(node.starts(), 1);
  ASSERT_TRUE(node.run(test::make_request(Verb::apply)));
  ASSERT_TRUE(node.run(test::make_request(Verb::uninstall)));
  EXPECT_EQ(node.starts(), 1);
  EXPECT_EQ(files.tree(), before);
}

TEST(CrioNode, AHookWithoutItsProgramIsNotWritten) {
  CrioHost files = packaged();
  TestNode node(files, make_crio(engine::crio::Hook{.program = kHookProgram}), nullptr);
  node.hook_programs = {kHookProgram};
  const auto before = files.tree();
  const auto applied = node.run(test::make_request(Verb::apply));
  ASSERT_FALSE(applied);
  EXPECT_EQ(applied.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(applied.error().message, HasSubstr(kHookProgram));
  EXPECT_EQ(files.tree(), before);
}

}  // namespace
}  // namespace ctkit::installer
