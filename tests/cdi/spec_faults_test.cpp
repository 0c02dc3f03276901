#include "cdi/spec_faults.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "installer/host/posix_tree.h"
#include "support/temp_folder.h"

namespace ctkit::cdi {
namespace {

LoadedSpec loaded(const std::string& file, const std::string& kind, const std::string& library) {
  LoadedSpec spec{.file = file, .spec = {.kind = kind}};
  spec.spec.edits.mounts = {{.host_path = library, .container_path = library}};
  return spec;
}

class Stale : public testing::Test {
 protected:
  Staleness judged(const LoadedSpec& spec, std::string_view module) {
    const auto tree = installer::host::PosixTree::open(root_.path());
    return judge(spec, **tree, "580.1", module);
  }

  test::TempFolder root_;
};

constexpr const char* kLibrary = "/usr/lib64/libcuda.so.580.1";

TEST_F(Stale, IsASpecWhoseFilesAreGone) {
  const Staleness row = judged(loaded("/var/run/cdi/a.yaml", "ex.com/gpu", kLibrary), "580.1");
  EXPECT_EQ(row.state, SpecState::missing);
  EXPECT_EQ(row.missing, std::vector<std::string>{kLibrary});
}

TEST_F(Stale, IsASpecOfAnotherDriverThanTheLoadedOne) {
  root_.write("usr/lib64/libcuda.so.580.1", "");
  const LoadedSpec spec = loaded("/var/run/cdi/a.yaml", "ex.com/gpu", kLibrary);
  EXPECT_EQ(judged(spec, "590.1").state, SpecState::old_version);
  EXPECT_EQ(judged(spec, "580.1").state, SpecState::current);
  EXPECT_EQ(judged(spec, "").state, SpecState::current);
}

TEST_F(Stale, IsNothingToSayOfASpecWithoutDriverLibraries) {
  EXPECT_EQ(judged(loaded("/etc/cdi/a.yaml", "ex.com/nic", "/opt/x"), "580.1").state, SpecState::no_driver);
}

TEST_F(Stale, IsMendedByWhoWroteTheSpec) {
  const Staleness plugin =
      judged(loaded("/var/run/cdi/k8s.device-plugin.nvidia.com-gpu.json", "k8s.device-plugin.nvidia.com/gpu", kLibrary),
             "580.1");
  const auto faults = find_spec_faults({}, std::vector{plugin});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].kind, FaultKind::stale);
  EXPECT_NE(faults[0].hint.find("device plugin"), std::string::npos);
}

TEST(SpecFaults, OfADeadlyFileNothingElseIsKnown) {
  SpecFolders folders{.crash = Crash::hang, .crash_file = "/etc/cdi/p.json"};
  folders.problems["/etc/cdi/a.json"] = {{.problem = ProblemClass::syntax}};
  const auto faults = find_spec_faults(folders, {});
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].kind, FaultKind::deadly);
  EXPECT_EQ(faults[0].file, "/etc/cdi/p.json");
}

TEST(SpecFaults, TellsClashesFromRefusedFiles) {
  SpecFolders folders;
  folders.problems["/a"] = {{.problem = ProblemClass::conflict, .line = 3}};
  folders.problems["/b"] = {{.problem = ProblemClass::version, .line = 1}};
  const auto faults = find_spec_faults(folders, {});
  ASSERT_EQ(faults.size(), 2U);
  EXPECT_EQ(faults[0].kind, FaultKind::clash);
  EXPECT_EQ(faults[0].line, 3);
  EXPECT_EQ(faults[1].kind, FaultKind::invalid);
}

}  // namespace
}  // namespace ctkit::cdi
