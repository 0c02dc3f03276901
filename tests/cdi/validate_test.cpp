#include "cdi/validate.h"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cdi/spec_folders.h"
#include "cdi/spec_io.h"
#include "installer/host/posix_tree.h"
#include "support/temp_folder.h"

namespace ctkit::cdi {
namespace {

using enum Level;

std::string spec(const std::string& version, const std::string& kind, const std::string& edits) {
  return "{\"cdiVersion\": \"" + version + "\", \"kind\": \"" + kind +
         "\", \"devices\": [{\"name\": \"dev0\", \"containerEdits\": {" + edits + "}}]}";
}

std::string verdict(const std::string& text, Level level) {
  const Verdict verdict = validate_text(text, level);
  if (verdict.crash == Crash::panic) return "panic";
  return verdict.problem ? std::string(name_of(verdict.problem->problem)) : "ok";
}

constexpr const char* kEnv = R"("env": ["A=b"])";

TEST(Validate, TakesNoVersionNewerThanTheLibrary) {
  EXPECT_EQ(verdict(spec("0.6.0", "ex/gpu", kEnv), v0_5_4), "version");
  EXPECT_EQ(verdict(spec("0.6.0", "ex/gpu", kEnv), v0_6_1), "ok");
  EXPECT_EQ(verdict(spec("v0.5.0", "ex/gpu", kEnv), v0_5_4), "ok");
  EXPECT_EQ(verdict(spec("0.5", "ex/gpu", kEnv), v1_1_0), "version");
}

TEST(Validate, ALibraryHasNoRequirementsOfLaterVersions) {
  // 0.5.4 does not know that a dot in a class needs 0.6.0: there it is no valid class.
  EXPECT_EQ(verdict(spec("0.5.0", "ex/gpu.x", kEnv), v0_5_4), "class");
  EXPECT_EQ(verdict(spec("0.5.0", "ex/gpu.x", kEnv), v0_6_1), "minimum-version");
}

TEST(Validate, DiesOfOneLetterUntilItWasMended) {
  EXPECT_EQ(verdict(spec("0.5.0", "e/gpu", kEnv), v1_1_0), "panic");
  EXPECT_EQ(verdict(spec("0.5.0", "ex/g", kEnv), v0_5_4), "panic");
  EXPECT_EQ(verdict(spec("0.5.0", "e/gpu", kEnv), v1_1_1_pre), "ok");
  // What is wrong before the name is looked at keeps it alive.
  EXPECT_EQ(verdict(spec("9.0.0", "e/gpu", kEnv), v1_1_0), "version");
}

TEST(Validate, DiesOfNullsWhenItComesToThem) {
  EXPECT_EQ(verdict(spec("0.5.0", "ex/gpu", R"("deviceNodes": [null])"), v1_1_1_pre), "panic");
  EXPECT_EQ(verdict(spec("0.5.0", "ex/gpu", R"("hooks": [null])"), v0_5_4), "panic");
  // Nodes are looked at for the minimum version, hooks only after the kind.
  EXPECT_EQ(verdict(spec("0.5.0", "-/gpu", R"("deviceNodes": [null])"), v1_0_0), "panic");
  EXPECT_EQ(verdict(spec("0.5.0", "-/gpu", R"("hooks": [null])"), v1_0_0), "vendor");
}

TEST(Validate, TheFirstProblemInSortedKeysCounts) {
  EXPECT_EQ(verdict(R"({"zzz": 1, "cdiVersion": []})", v1_0_0), "type");
  EXPECT_EQ(verdict(R"({"aaa": 1, "cdiVersion": []})", v1_0_0), "unknown-key");
  EXPECT_EQ(verdict("a: 1\na: 2\nb: *c\n", v1_0_0), "syntax");
}

TEST(Validate, RootOfResctrlIsAClosOfTheLatestOnly) {
  const std::string text = spec("0.7.0", "ex/gpu", R"("intelRdt": {"closID": "/"})");
  EXPECT_EQ(verdict(text, v1_0_1), "intel-rdt");
  EXPECT_EQ(verdict(text, v1_1_0), "ok");
}

TEST(Validate, TellsTheLineOfTheProblem) {
  const Verdict verdict = validate_text(
      "cdiVersion: 0.5.0\nkind: ex/gpu\ndevices:\n- name: a\n  containerEdits:\n    mounts:\n"
      "    - hostPath: /a\n",
      v1_0_0);
  ASSERT_TRUE(verdict.problem);
  EXPECT_EQ(verdict.problem->line, 7);
}

TEST(Validate, FindsTheSmallestVersion) {
  Spec plain{.kind = "ex/gpu", .devices = {{.name = "a"}}};
  EXPECT_EQ(minimum_version(plain), "0.3.0");
  plain.devices[0].name = "0";
  EXPECT_EQ(minimum_version(plain), "0.5.0");
  plain.devices[0].edits.additional_gids = {5};
  EXPECT_EQ(minimum_version(plain), "0.7.0");
}

TEST(Level, IsThatOfTheContainerdRelease) {
  EXPECT_EQ(level_of_containerd(1, 6, 39), std::nullopt);
  EXPECT_EQ(level_of_containerd(1, 7, 0), v0_5_4);
  EXPECT_EQ(level_of_containerd(1, 7, 15), v0_6_1);
  EXPECT_EQ(level_of_containerd(1, 7, 27), v0_8_1);
  EXPECT_EQ(level_of_containerd(2, 0, 4), v0_8_1);
  EXPECT_EQ(level_of_containerd(2, 0, 11), v1_0_0);
  EXPECT_EQ(level_of_containerd(2, 2, 0), v1_0_1);
  EXPECT_EQ(level_of_containerd(2, 2, 1), v1_1_0);
  EXPECT_EQ(level_of_containerd(2, 4, 0), v1_1_1_pre);
  EXPECT_EQ(level_of_containerd(2, 5, 0), std::nullopt);
}

class SpecFoldersTest : public testing::Test {
 protected:
  SpecFolders read(const std::vector<std::string>& folders, Level level) {
    const auto tree = installer::host::PosixTree::open(root_.path());
    EXPECT_TRUE(tree);
    return read_spec_folders(**tree, folders, level);
  }

  test::TempFolder root_;
};

TEST_F(SpecFoldersTest, NoFoldersAreNoneBeforeTheLatest) {
  root_.write("etc/cdi/a.json", spec("0.5.0", "ex/gpu", kEnv));
  EXPECT_TRUE(read({}, v1_1_0).devices.empty());
  EXPECT_EQ(read({}, v1_1_1_pre).devices.size(), 1U);
}

TEST_F(SpecFoldersTest, AClashInALowerFolderTakesTheHigherFoldersDeviceToo) {
  for (const char* name : {"etc/cdi/a.json", "etc/cdi/b.json", "var/run/cdi/c.json"})
    root_.write(name, spec("0.5.0", "ex/gpu", kEnv));
  const SpecFolders found = read(usual_spec_folders(), v1_0_0);
  EXPECT_TRUE(found.devices.empty());
  EXPECT_EQ(found.problems.size(), 2U);
}

TEST_F(SpecFoldersTest, LinksOutOfTheTreeEndInIt) {
  root_.link("etc/cdi/a.json", "/../../../../../../etc/passwd");
  root_.write("etc/passwd", spec("0.5.0", "ex/gpu", kEnv));
  EXPECT_EQ(read(usual_spec_folders(), v1_0_0).devices.size(), 1U);
}

TEST_F(SpecFoldersTest, WhatComesAfterACrashIsNotRead) {
  root_.write("etc/cdi/a.json", spec("0.5.0", "e/gpu", kEnv));
  root_.write("etc/cdi/b.json", "[");
  const SpecFolders found = read(usual_spec_folders(), v1_0_0);
  EXPECT_EQ(found.crash, Crash::panic);
  EXPECT_EQ(found.crash_file, "/etc/cdi/a.json");
  EXPECT_TRUE(found.problems.empty());
}

}  // namespace
}  // namespace ctkit::cdi
