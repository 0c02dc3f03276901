#include "cdi/spec_faults.h"

#include <cstddef>
#include <memory>
#include <string>
#include <sys/stat.h>

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

TEST(SpecFaults, TwoSpecsForManagementAreOneTooMany) {
  SpecFolders folders;
  const auto add = [&](const std::string& file, std::size_t priority, const std::string& kind) {
    folders.specs.push_back({.file = file, .priority = priority, .spec = {.kind = kind}});
  };
  add("/etc/cdi/a.yaml", 0, "management.nvidia.com/gpu");
  add("/etc/cdi/b.yaml", 0, "nvidia.com/gpu");
  add("/var/run/cdi/a.yaml", 1, "management.nvidia.com/gpu");
  add("/var/run/cdi/b.yaml", 1, "nvidia.com/gpu");
  const auto faults = find_shadowed_specs(folders);
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(faults[0].file, "/etc/cdi/a.yaml");
  EXPECT_NE(faults[0].message.find("/var/run/cdi/a.yaml"), std::string::npos);
}

TEST(SpecFaults, HooksNeedTheirProgram) {
  const test::TempFolder root;
  root.write("bin/there", "");
  root.write("bin/text", "");
  ASSERT_EQ(::chmod(root.path_of("bin/there").c_str(), 0755), 0);
  root.link("bin/link", "/bin/there");
  root.link("bin/loop", "loop");
  const auto tree = installer::host::PosixTree::open(root.path());
  SpecFolders folders;
  LoadedSpec spec{.file = "/etc/cdi/a.yaml"};
  for (const std::string path : {"/bin/there", "/bin/link", "/bin/text", "/bin/gone", "/bin/gone"})
    spec.spec.edits.hooks.push_back({.path = path});
  Device device{.name = "all"};
  device.edits.hooks = {{.path = "/bin/other", .line = 7}};
  spec.spec.devices = {device};
  folders.specs = {spec};
  std::string told;
  for (const SpecFault& fault : find_missing_hooks(folders, **tree)) {
    EXPECT_EQ(fault.kind, FaultKind::missing_hook);
    told += fault.message.substr(0, fault.message.find(':')) + "@" + std::to_string(fault.line) + ";";
  }
  EXPECT_EQ(told,
            "its hook '/bin/text' cannot be executed@0;its hook '/bin/gone' is not there@0;"
            "its hook '/bin/other' is not there@7;");
}

}  // namespace
}  // namespace ctkit::cdi
