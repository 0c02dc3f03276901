#include "engine/containerd/undo.h"

#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "engine/containerd/imports_edit.h"

namespace ctkit::engine::containerd {
namespace {

constexpr const char* kOurs = R"(# Written by ctkit.

version = 2

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/n"
)";

/// What is left of our own drop-in after somebody edited it; "gone" if nothing is.
std::string left_of(const std::string& edited, const std::string& ours = kOurs) {
  const auto left = undo({.path = "/etc/containerd/conf.d/99-nvidia.toml", .after = ours}, edited, kGoToml19);
  if (!left) return "fails at " + left.error().where;
  return left->value_or("gone");
}

TEST(UndoOurFile, LeavesNothingOfAFileThatIsAllOurs) {
  EXPECT_EQ(left_of(kOurs), "gone");
  EXPECT_EQ(left_of(std::string(kOurs) + "\n# a comment\n"), "gone");
  EXPECT_EQ(left_of(""), "gone");
}

TEST(UndoOurFile, LeavesNothingOfAFileThatSomebodyShortened) {
  EXPECT_EQ(left_of("version = "
                    "2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.nvidia]"
                    "\nruntime_type = \"io.containerd.runc.v2\"\n"),
            "gone");
}

TEST(UndoOurFile, KeepsWhatSomebodyAddedWithTheHeaderAboveIt) {
  const std::string left = left_of(R"(version = 2

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
privileged_without_host_devices = true  # mine

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/n"
)");
  EXPECT_EQ(left, R"(version = 2

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
privileged_without_host_devices = true  # mine

)");
}

TEST(UndoOurFile, KeepsAValueThatSomebodyChanged) {
  const std::string left = left_of(R"(version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/mine"
)");
  EXPECT_EQ(left, R"(version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/mine"
)");
}

TEST(UndoOurFile, KeepsSectionsOfOthersAndTheirComments) {
  const std::string theirs =
      "# about the registry\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = "
      "\"/c\"  # why\n";
  EXPECT_EQ(
      left_of(std::string(kOurs) + "\n" + theirs).substr(left_of(std::string(kOurs) + "\n" + theirs).find("# about")),
      theirs);
}

/// The names below it mean nothing in 1.x without it.
TEST(UndoOurFile, KeepsTheVersionAsLongAsAnythingElseIsLeft) {
  const std::string ours = "version = 2\nimports = [\"/etc/containerd/conf.d/99-nvidia.tom*l\"]\n";
  EXPECT_EQ(left_of(ours + "[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_selinux = true\n", ours),
            "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nenable_selinux = true\n");
  EXPECT_EQ(left_of(ours, ours), "gone");
}

TEST(UndoOurFile, FailsOnATextThatIsNoToml) {
  EXPECT_TRUE(left_of("version = 2\n[plugins\n").starts_with("fails at /etc/containerd/conf.d/99-nvidia.toml:"));
}

TEST(UndoOurFile, LeavesAFileThatWeTookAwayAlone) {
  const auto left = undo({.path = "/f", .before = "a = 1\n"}, "b = 2\n", kGoToml19);
  EXPECT_EQ(left.value().value(), "b = 2\n");
}

struct RootCase {
  std::string name = {};
  std::string before = {};
  std::string edited = {};  ///< what somebody made of our version, `@` for our import
  std::string left = {};
};

void PrintTo(const RootCase& value, std::ostream* stream) {
  *stream << value.name;
}

class UndoRoot : public testing::TestWithParam<RootCase> {};

constexpr const char* kPattern = "/etc/containerd/conf.d/99-nvidia.tom*l";

TEST_P(UndoRoot, TakesOutOurImportAndNothingElse) {
  const std::string after = add_import(GetParam().before, "/etc/containerd/config.toml", kPattern, kGoToml19).value();
  std::string edited = GetParam().edited;
  if (const std::size_t at = edited.find('@'); at != std::string::npos) edited.replace(at, 1, kPattern);
  const FileChange ours{.path = "/etc/containerd/config.toml", .before = GetParam().before, .after = after};
  EXPECT_EQ(undo(ours, edited, kGoToml19).value().value(), GetParam().left);
}

INSTANTIATE_TEST_SUITE_P(Edited,
                         UndoRoot,
                         testing::Values(RootCase{"NewKey",
                                                  "version = 2\n",
                                                  "version = 2\nimports = [\"@\"]\noom_score = 1\n",
                                                  "version = 2\noom_score = 1\n"},
                                         RootCase{"MoreImportsInOurLine",
                                                  "version = 2\n",
                                                  "version = 2\nimports = [\"@\", \"/mine/*.toml\"]\n",
                                                  "version = 2\nimports = [\"/mine/*.toml\"]\n"},
                                         RootCase{"ImportsOfOthers",
                                                  "version = 2\nimports = [\"/a/*.toml\"]\n",
                                                  "version = 3\nimports = [\"/a/*.toml\", \"@\"]\n",
                                                  "version = 3\nimports = [\"/a/*.toml\"]\n"},
                                         RootCase{"OthersTheirImportsTakenAway",
                                                  "version = 2\nimports = [\"/a/*.toml\"]\n",
                                                  "version = 2\nimports = [\"@\"]\n",
                                                  "version = 2\nimports = []\n"},
                                         RootCase{"EmptyImportsBefore",
                                                  "version = 2\nimports = []\n",
                                                  "version = 2\nimports = [\"@\"]\n# x\n",
                                                  "version = 2\nimports = []\n# x\n"},
                                         RootCase{"OursAlreadyGone",
                                                  "version = 2\n",
                                                  "version = 2\noom_score = 1\n",
                                                  "version = 2\noom_score = 1\n"},
                                         RootCase{"TheWordInAComment",
                                                  "# imports: see the wiki\nversion = 2\n",
                                                  "# imports: see the wiki\nversion = 2\nimports = [\"@\"]\n# x\n",
                                                  "# imports: see the wiki\nversion = 2\n# x\n"}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ctkit::engine::containerd
