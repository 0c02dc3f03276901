#include "installer/loaded_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/crio/crio_node.h"
#include "installer/cri_message.h"
#include "installer/verify.h"

namespace ctkit::installer {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::string kConfig =
    "[crio]\n  root = \"/var/lib/containers/storage\"\n  [crio.image]\n    pause_image = \"pause:3.10\"\n"
    "  [crio.network]\n    network_dir = \"/etc/cni/net.d/\"\n    plugin_dirs = [\"/opt/cni/bin/\"]\n"
    "  [crio.runtime]\n    default_runtime = \"crun\"\n    cdi_spec_dirs = [\"/etc/cdi\"]\n"
    "    [crio.runtime.runtimes]\n      [crio.runtime.runtimes.crun]\n        runtime_path = "
    "\"/usr/libexec/crio/crun\"\n"
    "        runtime_type = \"oci\"\n      [crio.runtime.runtimes.nvidia]\n        runtime_path = \"/t/nvidia\"\n";

TEST(LoadedConfig, IsAskedForWhereStatusNamesNoHandlers) {
  const auto crio = make_loaded_state({.info = {{"config", R"({"sandboxImage":"pause:3.10"})"}}});
  ASSERT_TRUE(crio);
  EXPECT_TRUE(lacks_handlers(*crio));
  EXPECT_FALSE(lacks_handlers(LoadedState{}));
  EXPECT_FALSE(lacks_handlers(LoadedState{.handlers = {{.name = "runc"}}, .json = "{}"}));
}

TEST(LoadedConfig, TellsHandlersAndSettings) {
  const auto state = with_whole_config({}, kConfig);
  ASSERT_TRUE(state);
  ASSERT_TRUE(state->find_handler("nvidia"));
  EXPECT_EQ(state->find_handler("nvidia")->binary_name, "/t/nvidia");
  EXPECT_EQ(state->default_handler, "crun");
  EXPECT_EQ(state->sandbox_image, "pause:3.10");
  EXPECT_EQ(state->cni_config_folder, "/etc/cni/net.d/");
  EXPECT_THAT(state->cni_binary_folders, ElementsAre("/opt/cni/bin/"));
  EXPECT_EQ(state->json, kConfig);
  EXPECT_FALSE(with_whole_config({}, "<html>"));
}

TEST(LoadedConfig, IsComparedWithTheFiles) {
  const test::CrioHost host({{"50",
                              "[crio.image]\npause_image = \"pause:3.10\"\n[crio.runtime.runtimes.nvidia]\n"
                              "runtime_path = \"/t/nvidia\"\n"}});
  const auto engine = test::crio_engine("1.34.11");
  const auto config = engine.effective(host, false).value();
  const Expected expected = make_expected(config, engine.handlers(config));
  EXPECT_EQ(expected.sandbox_image, "pause:3.10");
  EXPECT_EQ(expected.cni_config_folder, "/etc/cni/net.d/");
  auto state = with_whole_config({}, kConfig).value();
  EXPECT_THAT(compare_loaded(expected, state), IsEmpty()) << "crun was looked up in PATH";
  state.handlers.pop_back();
  EXPECT_THAT(compare_loaded(expected, state),
              ElementsAre(Difference{.what = "handler 'nvidia'", .files = "/t/nvidia", .loaded = ""}));
}

TEST(LoadedConfig, WhatTheDaemonLeavesOutIsNotExpected) {
  const test::CrioHost host({{"50", "[crio.runtime.runtimes.gone]\nruntime_path = \"/gone\"\n"},
                             {"/usr/bin/true", ""},
                             {"/usr/bin/crun", ""},
                             {"/usr/bin/conmon", ""}});
  const auto engine = test::crio_engine("1.34.11");
  const auto config = engine.effective(host, false).value();
  EXPECT_THAT(config.left_out, ElementsAre("gone"));
  const Expected expected = make_expected(config, engine.handlers(config));
  EXPECT_THAT(expected.handlers, ElementsAre(testing::Field(&engine::Handler::name, "crun")));
}

}  // namespace
}  // namespace ctkit::installer
