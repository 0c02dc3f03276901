#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cdi/cuda_compat.h"
#include "cdi/elf.h"
#include "cdi/hook_request.h"
#include "cdi/inventory.h"
#include "cdi/ld_conf.h"
#include "cdi/oci_state.h"
#include "cdi/real_paths.h"
#include "installer/host/posix_tree.h"
#include "support/temp_folder.h"

namespace ctkit::cdi {
namespace {

HookRequest parsed(const std::vector<std::string>& words) {
  const auto request = parse_hook_command(words);
  EXPECT_TRUE(request);
  return request.value_or(HookRequest{});
}

TEST(HookRequest, WhatIsNotKnownIsNoHook) {
  EXPECT_EQ(parsed({}).hook, ContainerHook::none);
  EXPECT_EQ(parsed({"--nope", "create-symlinks"}).hook, ContainerHook::none);
  EXPECT_EQ(parsed({"frobnicate", "--x"}).hook, ContainerHook::unsupported);
  EXPECT_EQ(parsed({"--debug", "--quiet", "noop", "--whatever"}).hook, ContainerHook::noop);
}

TEST(HookRequest, TakesFlagsInEverySpelling) {
  const HookRequest request = parsed({"update-ldcache", "--folder", "/a", "-folder=/b", "extra", "--ldconfig-path=/x"});
  EXPECT_EQ(request.folders, (std::vector<std::string>{"/a", "/b"}));
  EXPECT_EQ(request.ldconfig, "/x");
}

TEST(HookRequest, AWrongFlagOfAKnownHookIsAMistake) {
  EXPECT_FALSE(parse_hook_command(std::vector<std::string>{"create-symlinks", "--nope", "x"}));
  EXPECT_FALSE(parse_hook_command(std::vector<std::string>{"create-symlinks", "--link"}));
  EXPECT_FALSE(parse_hook_command(std::vector<std::string>{"chmod", "--mode", "77777", "--path", "/x"}));
  EXPECT_FALSE(parse_hook_command(std::vector<std::string>{"chmod", "--mode", "7x", "--path", "/x"}));
  EXPECT_EQ(parsed({"chmod", "--mode", "7755"}).mode, 07755U);
}

TEST(HookRequest, ALinkIsTwoParts) {
  const auto link = parse_link("libcuda.so.1::/usr/lib/libcuda.so");
  ASSERT_TRUE(link);
  EXPECT_EQ(link->target, "libcuda.so.1");
  EXPECT_EQ(link->link, "/usr/lib/libcuda.so");
  EXPECT_FALSE(parse_link("bad"));
  EXPECT_FALSE(parse_link("a::b::c"));
}

TEST(OciState, TheFirstValueCounts) {
  const auto state = parse_container_state(R"({"bundle":"/b","foo":[1]} trailing)");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->bundle, "/b");
  EXPECT_FALSE(parse_container_state("hello"));
  EXPECT_FALSE(parse_container_state(""));
  EXPECT_FALSE(parse_root_path("{"));
}

TEST(OciState, TheHostIsNoContainersRoot) {
  EXPECT_EQ(container_root({.bundle = "/b"}, "rootfs").value_or(""), "/b/rootfs");
  EXPECT_EQ(container_root({.bundle = "/b"}, "/x").value_or(""), "/x");
  for (const char* path : {"", "/", "//", "/..", "/a/.."})
    EXPECT_FALSE(container_root({.bundle = "/b"}, path)) << path;
  EXPECT_FALSE(container_root({.bundle = "/b"}, ".."));
}

std::string note(const std::string& name, const std::string& text) {
  const auto number = [](std::size_t value) {
    std::string bytes;
    for (unsigned i = 0; i < 4; ++i)
      bytes += static_cast<char>((value >> (8 * i)) & 0xFFU);
    return bytes;
  };
  std::string padded = name;
  padded.resize((name.size() + 3) / 4 * 4);
  return number(name.size()) + number(text.size()) + number(1) + padded + text;
}

TEST(CompatNote, IsReadOnlyIfItIsWhole) {
  const std::string nvidia("NVIDIA Corporation\0", 19);
  CompatNote read;
  EXPECT_TRUE(parse_compat_note(note(nvidia, R"({"CUDA Version": "13.0", "Driver": [535, 550]})"), read));
  EXPECT_EQ(read.cuda_version, "13.0");
  EXPECT_EQ(read.drivers, (std::vector<int>{535, 550}));
  const std::string whole = note(nvidia, R"({"Driver": [1]})");
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_FALSE(parse_compat_note(whole.substr(0, size), read)) << size;
  EXPECT_FALSE(parse_compat_note(note("GNU", "{}"), read));
  EXPECT_FALSE(parse_compat_note(std::string("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01\0\0\0", 12), read));
}

class TreeTest : public testing::Test {
 protected:
  void SetUp() override {
    auto tree = installer::host::PosixTree::open(root_.path());
    ASSERT_TRUE(tree);
    tree_ = *std::move(tree);
  }

  test::TempFolder root_;
  std::unique_ptr<installer::host::PosixTree> tree_;
};

using LdConf = TreeTest;
using Elf = TreeTest;
using RealPathsTest = TreeTest;
using ModuleVersion = TreeTest;

TEST_F(LdConf, FollowsIncludesOnceEach) {
  root_.write("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n# x\n  /opt/a  \n");
  root_.write("etc/ld.so.conf.d/b.conf", "/opt/b\ninclude /etc/ld.so.conf\n");
  root_.write("etc/ld.so.conf.d/ignored", "/opt/c\n");
  EXPECT_EQ(configured_library_folders(*tree_), (std::vector<std::string>{"/opt/a", "/opt/b"}));
  EXPECT_EQ(new_library_folders({"/x", "/opt/a", "/lib", "/x"}, {"/opt/a"}, {"/lib"}),
            (std::vector<std::string>{"/x"}));
}

TEST_F(Elf, GarbageIsAnErrorAndNothingElse) {
  root_.write("empty", "");
  root_.write("text", "no ELF\n");
  std::string bytes =
      "\x7F"
      "ELF\x02\x01";
  bytes.resize(64);
  for (std::size_t at = 40; at < 64; ++at)
    bytes[at] = '\xFF';
  root_.write("wild", bytes);
  root_.write("short", bytes.substr(0, 20));
  for (const char* name : {"/empty", "/text", "/wild", "/short", "/missing"})
    EXPECT_FALSE(read_soname(*tree_, name)) << name;
}

TEST_F(RealPathsTest, LinksStayInsideAndTellIfTheyWereAbsolute) {
  root_.write("usr/lib/x", "");
  root_.link("lib", "usr/lib");
  root_.link("abs", "/usr/lib");
  root_.link("up", "../../../usr/lib/x");
  root_.link("loop", "loop");
  RealPaths paths(*tree_);
  EXPECT_EQ(paths.resolve("/lib/x")->path, "/usr/lib/x");
  EXPECT_FALSE(paths.resolve("/lib/x")->through_absolute_link);
  EXPECT_EQ(paths.resolve("/abs/x")->path, "/usr/lib/x");
  EXPECT_TRUE(paths.resolve("/abs/x")->through_absolute_link);
  EXPECT_EQ(paths.resolve("/up")->path, "/usr/lib/x");
  EXPECT_FALSE(paths.resolve("/loop"));
  EXPECT_FALSE(paths.resolve("/none"));
}

TEST(Matches, StarsAndNothingElse) {
  EXPECT_TRUE(matches("libcuda.so.580.95", "libcuda.so.*.*"));
  EXPECT_FALSE(matches("libcuda.so.1", "libcuda.so.*.*"));
  EXPECT_TRUE(matches("gsp_a.bin", "gsp*.bin"));
  EXPECT_FALSE(matches("gsp.bi", "gsp*.bin"));
  EXPECT_TRUE(matches("x[1]", "x[1]*"));
  EXPECT_FALSE(matches("aXb", "a*Xb*Xb"));
}

TEST(ParseModuleVersion, TakesBothModules) {
  EXPECT_EQ(parse_module_version("NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue "
                                 "Sep 23 10:11:16 UTC 2025\nGCC version:  gcc 13.2.0\n"),
            "580.95.05");
  EXPECT_EQ(parse_module_version("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.86  Release Build\n"),
            "570.86");
  EXPECT_EQ(parse_module_version("GCC version:  gcc 13.2.0\n"), "");
  EXPECT_EQ(parse_module_version(""), "");
}

}  // namespace
}  // namespace ctkit::cdi
