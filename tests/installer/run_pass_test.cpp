#include "installer/run_pass.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemonset/resolve_settings.h"
#include "engine/crio/crio_node.h"
#include "installer/live_node.h"
#include "support/memory_tree.h"

namespace ctkit::installer {
namespace {

using daemonset::PassMode;
using daemonset::PassReport;
using daemonset::WatchItem;
using engine::Error;
using engine::ErrorCode;
using test::MemoryFiles;
using test::TestNode;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kSpec = "/var/run/cdi/management.nvidia.com-gpu.yaml";
const std::string kReadyFile = "/run/nvidia/validations/driver-ready";
const std::string kLibrary = "/driver-root/usr/lib64/libcuda.so.580.95.05";

/// The operator's container on a node whose files and daemon are fakes.
class RunPass : public testing::Test {
 protected:
  RunPass() : RunPass(nullptr) {}

  /// No engine: the containerd of the incident.
  explicit RunPass(std::unique_ptr<engine::Engine> engine)
      : node(engine ? TestNode(files, std::move(engine), nullptr) : TestNode(files)) {
    for (const std::string name :
         {"nvidia-container-runtime", "nvidia-container-runtime.cdi", "nvidia-container-runtime.legacy"})
      files.add_file("/usr/local/nvidia/toolkit/" + name, "", 0755);
    here.add_file(kReadyFile,
                  "IS_HOST_DRIVER=false\nNVIDIA_DRIVER_ROOT=/run/nvidia/driver\nDRIVER_ROOT_CTR_PATH=/driver-root\n"
                  "NVIDIA_DEV_ROOT=/run/nvidia/driver\nDEV_ROOT_CTR_PATH=/driver-root\n");
    here.add_folder("/var/run");
    add_driver();
  }

  void add_driver() {
    tree.add_file(kLibrary, "");
    tree.add_device("/driver-root/dev/nvidiactl", 195, 255);
    tree.add_device("/driver-root/dev/nvidia-uvm", 240, 0);
    tree.add_device("/driver-root/dev/nvidia0", 195, 0);
  }

  /// Its root stays, empty, as when a driver container is replaced.
  void remove_driver() {
    std::erase_if(tree.nodes(), [](const auto& item) { return item.first.starts_with("/driver-root/"); });
  }

  PassReport run(PassMode mode = PassMode::install, std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"--runtime=containerd", "--cdi-enabled", "--set-as-default=false"});
    const auto resolved = daemonset::resolve_settings(daemonset::Dialect::nvidia, words, {});
    EXPECT_EQ(test::error_of(resolved), "");
    said.clear();
    const PassHost host{.here = here,
                        .here_tree = tree,
                        .clock = node.clock,
                        .say = [this](const std::string& text) { said.push_back(text); },
                        .install_toolkit =
                            [this](const daemonset::Settings& settings, const std::vector<std::string>& low_level) {
                              installed.push_back(settings.install_folder);
                              runtimes = low_level;
                              return toolkit;
                            },
                        .make_device_nodes =
                            [this](const std::string& root) {
                              nodes_below.push_back(root);
                              return made_nodes;
                            },
                        .find_node = [this](const Request& request) -> engine::Result<NodeAtHand> {
                          asked.push_back(request);
                          return node.find();
                        }};
    const auto report =
        run_pass({.resolved = *resolved, .mode = mode, .folders = {}, .driver_ready = known_driver}, host);
    known_driver = report.driver_ready_text;
    node.clock.advance(std::chrono::seconds(10));
    return report;
  }

  MemoryFiles files = test::incident();
  TestNode node;
  MemoryFiles here;
  test::MemoryTree tree;
  engine::Result<ToolkitFiles> toolkit = ToolkitFiles{};
  engine::Result<std::vector<std::string>> made_nodes = std::vector<std::string>{};
  std::string known_driver = {};
  std::vector<std::string> said;
  std::vector<std::string> installed;
  std::vector<std::string> runtimes;
  std::vector<std::string> nodes_below;
  std::vector<Request> asked;
};

TEST_F(RunPass, SetsTheNodeUpWithOneRestartAndIsReadyByTheDaemonsWord) {
  const PassReport report = run();
  EXPECT_EQ(report.end, PassReport::End::settled) << report.message;
  EXPECT_TRUE(report.ready) << report.not_ready;
  EXPECT_EQ(report.handlers_wanted, 3);
  EXPECT_EQ(report.handlers_ready, 3);
  EXPECT_EQ(report.restarts, 1);
  EXPECT_TRUE(report.driver_ready && report.spec_current && report.repaired());
  EXPECT_GE(report.apply_microseconds, 1'000'000);
  EXPECT_THAT(report.drift, IsEmpty());
  EXPECT_EQ(node.starts(), 2);
  EXPECT_TRUE(node.serves("nvidia-cdi"));
  EXPECT_THAT(*here.read(kSpec), HasSubstr("/run/nvidia/driver/usr/lib64/libcuda.so.580.95.05"));
  EXPECT_THAT(said, Contains(HasSubstr("restarted 'containerd.service': the effective config changes")));
  EXPECT_THAT(nodes_below, ElementsAre("/driver-root"));
  EXPECT_THAT(installed, ElementsAre("/usr/local/nvidia"));
}

TEST_F(RunPass, WithCdiTheDaemonInjectsWhatACriRequestNames) {
  ASSERT_TRUE(run().ready);
  EXPECT_THAT(*files.read(test::kLastDropIn), HasSubstr("enable_cdi = true"));
}

TEST_F(RunPass, ASecondStartChangesNothing) {
  ASSERT_TRUE(run().ready);
  const auto tree_before = files.tree();
  const auto spec = here.read(kSpec);
  here.before_mutation = [] { ADD_FAILURE() << "something is written"; };
  files.before_mutation = [] { ADD_FAILURE() << "something is written"; };
  for (const PassMode mode : {PassMode::install, PassMode::repair, PassMode::look}) {
    const std::size_t asked_before = node.status.deadlines().size();
    const PassReport report = run(mode);
    EXPECT_TRUE(report.ready) << report.not_ready;
    EXPECT_FALSE(report.changed);
    // Whether a restart is due, and what it serves.
    EXPECT_EQ(node.status.deadlines().size(), asked_before + 2);
    EXPECT_THAT(report.drift, IsEmpty());
    EXPECT_THAT(said, IsEmpty());
  }
  EXPECT_EQ(node.starts(), 2);
  EXPECT_EQ(files.tree(), tree_before);
}

TEST_F(RunPass, ADropInThatErasesTheHandlersIsDriftAndPutRight) {
  ASSERT_TRUE(run().ready);
  files.add_file("/etc/containerd/conf.d/zzz.toml",
                 "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"/x\"\n");
  const PassReport looked = run(PassMode::look);
  EXPECT_FALSE(looked.ready);
  EXPECT_FALSE(looked.changed);
  EXPECT_THAT(looked.drift, Contains(HasSubstr("is not there")));
  EXPECT_EQ(node.starts(), 2);

  const PassReport repaired = run(PassMode::repair);
  EXPECT_TRUE(repaired.ready) << repaired.not_ready;
  EXPECT_TRUE(repaired.repaired());
  EXPECT_THAT(repaired.drift, Contains(HasSubstr("is not there")));
  // The daemon had never loaded the file that erased them.
  EXPECT_EQ(node.starts(), 2);
  EXPECT_TRUE(node.serves("nvidia"));
}

TEST_F(RunPass, ADaemonThatSomebodyRestartedWithoutOurHandlersIsNotReady) {
  ASSERT_TRUE(run().ready);
  const auto text = files.read(test::kLastDropIn);
  ASSERT_TRUE(files.remove(test::kLastDropIn));
  static_cast<void>(node.services.restart(test::kUnit, {}));
  ASSERT_FALSE(node.serves("nvidia"));
  files.add_file(test::kLastDropIn, *text);
  const PassReport report = run(PassMode::look);
  EXPECT_FALSE(report.ready);
  EXPECT_EQ(report.handlers_ready, 0);
  EXPECT_THAT(report.drift, Contains(HasSubstr("hasn't loaded these handlers")));
  EXPECT_TRUE(run(PassMode::repair).ready);
}

TEST_F(RunPass, AChangeThatTheDaemonDoesNotTakeIsTakenBackAndSaysSo) {
  node.job_of = [](int start) { return start == 1 ? std::optional<std::string>("failed") : std::nullopt; };
  const PassReport report = run();
  EXPECT_EQ(report.end, PassReport::End::failed);
  EXPECT_EQ(report.exit_code, 4);
  EXPECT_TRUE(report.took_back);
  EXPECT_FALSE(report.ready);
  EXPECT_THAT(report.message, StartsWith("the change was taken back: "));
  EXPECT_FALSE(files.exists(test::kLastDropIn));
  EXPECT_TRUE(report.changed);
  EXPECT_FALSE(report.repaired());
  EXPECT_THAT(said, Not(Contains(StartsWith("wrote "))));
}

TEST_F(RunPass, NorIsItPutRightAfterwards) {
  ASSERT_TRUE(run().ready);
  const std::string registry = "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\nconfig_path = \"/x\"\n";
  files.add_file("/etc/containerd/conf.d/zzz.toml", registry);
  // It makes itself effective, and the handlers are gone.
  static_cast<void>(node.services.restart(test::kUnit, {}));
  ASSERT_FALSE(node.serves("nvidia"));
  const int starts = node.starts();
  node.job_of = [&](int start) { return start == starts ? std::optional<std::string>("failed") : std::nullopt; };
  const PassReport back = run(PassMode::repair);
  EXPECT_EQ(back.exit_code, 4) << back.message;
  EXPECT_FALSE(back.repaired());
  EXPECT_THAT(back.drift, Contains(HasSubstr("is not there")));
  EXPECT_EQ(node.starts(), starts + 2);
  // The same again: known, and still drift. The daemon is younger than its files by now.
  const PassReport known = run(PassMode::repair);
  EXPECT_EQ(known.exit_code, 3) << known.message;
  EXPECT_FALSE(known.changed);
  EXPECT_THAT(known.drift, Contains(HasSubstr("is not there")));
  EXPECT_EQ(node.starts(), starts + 2);
  // Another word of somebody's, though our file would say the same.
  files.add_file("/etc/containerd/conf.d/zzz.toml", registry + "# mended\n");
  EXPECT_TRUE(run(PassMode::repair).ready);
}

TEST_F(RunPass, AStartAfterThatDoesNotTryTheSameAgain) {
  node.job_of = [](int start) { return start == 1 ? std::optional<std::string>("failed") : std::nullopt; };
  ASSERT_TRUE(run().took_back);
  const int starts = node.starts();
  const PassReport again = run();
  EXPECT_EQ(again.end, PassReport::End::failed);
  EXPECT_EQ(again.exit_code, 3);
  EXPECT_TRUE(again.took_back);
  EXPECT_THAT(again.message, AllOf(HasSubstr("not tried again"), HasSubstr("taken back: ")));
  EXPECT_EQ(node.starts(), starts);
  // Something else is another change, and an hour is long.
  ASSERT_TRUE(files.remove("/etc/containerd/conf.d/registry.toml"));
  EXPECT_TRUE(run().ready);
  EXPECT_FALSE(files.exists("/run/nvidia/toolkit/ctkit-refused"));
}

TEST_F(RunPass, AnHourLaterItTriesAgain) {
  node.job_of = [](int start) { return start == 1 ? std::optional<std::string>("failed") : std::nullopt; };
  ASSERT_TRUE(run().took_back);
  node.clock.advance(std::chrono::minutes(59));
  EXPECT_EQ(run().exit_code, 3);
  node.clock.advance(std::chrono::minutes(1));
  EXPECT_TRUE(run().ready);
}

TEST_F(RunPass, AConfigThatTheDaemonWouldRefuseIsAFailureWithItsPlace) {
  files.add_file("/etc/containerd/conf.d/20-broken.toml", "[x\n");
  const PassReport report = run();
  EXPECT_EQ(report.end, PassReport::End::failed);
  EXPECT_EQ(report.exit_code, 6);
  EXPECT_THAT(report.message, HasSubstr("20-broken.toml:2"));
  EXPECT_THAT(report.watch, Contains(WatchItem{.folder = "/etc/containerd/conf.d"}));
}

TEST_F(RunPass, WaitsForAFileThatIsNotThereOrNotWhole) {
  ASSERT_TRUE(here.remove(kReadyFile));
  const PassReport absent = run();
  EXPECT_EQ(absent.end, PassReport::End::waiting);
  EXPECT_THAT(absent.message, AllOf(HasSubstr(kReadyFile), HasSubstr("is not there")));
  here.add_file(kReadyFile, "IS_HOST_DRIVER=false\nNVIDIA_DRIVER_ROOT=/run/nvi");
  const PassReport half = run();
  EXPECT_EQ(half.end, PassReport::End::waiting);
  EXPECT_THAT(half.message, HasSubstr("NVIDIA_DRIVER_ROOT DRIVER_ROOT_CTR_PATH NVIDIA_DEV_ROOT DEV_ROOT_CTR_PATH"));
  for (const PassReport& report : {absent, half}) {
    EXPECT_THAT(
        report.watch,
        ElementsAre(WatchItem{.on_host = false, .folder = "/run/nvidia/validations", .prefix = "driver-ready"}));
  }
  EXPECT_THAT(asked, IsEmpty());
  EXPECT_THAT(installed, IsEmpty());
}

TEST_F(RunPass, AnEmptyDriverRootIsWaitedForBeforeAnythingIsTouched) {
  remove_driver();
  const PassReport report = run();
  EXPECT_EQ(report.end, PassReport::End::waiting);
  EXPECT_THAT(report.message, StartsWith("the driver: "));
  EXPECT_THAT(report.watch, Contains(WatchItem{.on_host = false, .folder = "/driver-root/dev", .prefix = "nvidia"}));
  EXPECT_FALSE(here.exists(kSpec));
  EXPECT_THAT(installed, IsEmpty());
  EXPECT_EQ(node.starts(), 1);
}

TEST_F(RunPass, ADriverThatGoesLaterLeavesHandlersAndSpecButIsNotReady) {
  ASSERT_TRUE(run().ready);
  const auto spec = here.read(kSpec);
  remove_driver();
  const PassReport report = run(PassMode::repair);
  EXPECT_EQ(report.end, PassReport::End::waiting);
  EXPECT_FALSE(report.ready || report.driver_ready || report.spec_current);
  EXPECT_EQ(report.handlers_ready, 3);
  EXPECT_EQ(here.read(kSpec), spec);
  EXPECT_EQ(node.starts(), 2);
}

TEST_F(RunPass, TheFilesPlaceIsRememberedWhenTheValidatorRemovesIt) {
  ASSERT_TRUE(run().ready);
  ASSERT_TRUE(here.remove(kReadyFile));
  EXPECT_TRUE(run(PassMode::repair).ready);
}

TEST_F(RunPass, AModuleThatIsNotOfTheLibrariesIsWaitedFor) {
  here.add_file("/proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  590.44.01  Tue\n");
  const PassReport report = run();
  EXPECT_EQ(report.end, PassReport::End::waiting);
  EXPECT_EQ(report.driver_version, "590.44.01");
  EXPECT_THAT(report.message, AllOf(HasSubstr("590.44.01"), HasSubstr("580.95.05")));
  EXPECT_FALSE(here.exists(kSpec));
}

TEST_F(RunPass, WithoutCdiNoDriverIsWaitedFor) {
  remove_driver();
  const PassReport report = run(PassMode::install, {"--cdi-enabled=false", "--driver-root=/x"});
  EXPECT_TRUE(report.ready) << report.not_ready;
  EXPECT_FALSE(here.exists(kSpec));
  EXPECT_THAT(nodes_below, IsEmpty());
}

TEST_F(RunPass, TheToolkitGetsTheDaemonsOwnRuntimes) {
  files.add_file(
      "/etc/containerd/conf.d/20-crun.toml",
      "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.crun]\n"
      "runtime_type = \"io.containerd.runc.v2\"\n"
      "[plugins.\"io.containerd.grpc.v1.cri\".containerd.runtimes.crun.options]\nBinaryName = \"/opt/crun\"\n");
  ASSERT_TRUE(files.remove("/etc/containerd/conf.d/registry.toml"));
  run();
  EXPECT_THAT(runtimes, ElementsAre("/opt/crun"));
}

TEST_F(RunPass, ToolkitFilesThatCanNotBeInstalledStopItBeforeTheHandlers) {
  toolkit = std::unexpected(Error{.code = ErrorCode::needs_decision, .message = "mounted noexec"});
  const PassReport report = run();
  EXPECT_EQ(report.end, PassReport::End::failed);
  EXPECT_EQ(report.exit_code, 3);
  EXPECT_EQ(node.starts(), 1);
  EXPECT_FALSE(here.exists(kSpec));
}

TEST_F(RunPass, ToolkitFilesThatWereBrokenAreDrift) {
  ASSERT_TRUE(run().ready);
  toolkit = ToolkitFiles{.changed = true, .messages = {"installed"}};
  const PassReport report = run(PassMode::repair);
  EXPECT_TRUE(report.repaired() && report.ready);
  EXPECT_THAT(report.drift, ElementsAre(HasSubstr("toolkit's files")));
  EXPECT_EQ(node.starts(), 2);
  installed.clear();
  run(PassMode::look);
  EXPECT_THAT(installed, IsEmpty());
}

TEST_F(RunPass, WithNriTheHandlersAreNobodysAndItIsNeverReady) {
  const PassReport report = run(PassMode::install, {"--enable-nri-plugin"});
  EXPECT_EQ(report.end, PassReport::End::settled);
  EXPECT_FALSE(report.ready);
  EXPECT_EQ(report.handlers_wanted, 0);
  EXPECT_TRUE(here.exists(kSpec));
  EXPECT_EQ(node.starts(), 1);
}

TEST_F(RunPass, WithoutRuntimeConfigItIsReadyIfSomebodyElseServesTheHandlers) {
  const PassReport nobody = run(PassMode::install, {"--no-runtime-config"});
  EXPECT_EQ(nobody.end, PassReport::End::settled);
  EXPECT_FALSE(nobody.ready);
  EXPECT_EQ(nobody.handlers_ready, 0);
  EXPECT_EQ(node.starts(), 1);
  ASSERT_TRUE(run().ready);
  EXPECT_TRUE(run(PassMode::install, {"--no-runtime-config"}).ready);
}

TEST_F(RunPass, ADaemonThatIsDownIsUnreachable) {
  node.down = true;
  const PassReport report = run();
  EXPECT_EQ(report.end, PassReport::End::failed);
  EXPECT_EQ(report.exit_code, 69);
  EXPECT_FALSE(report.ready);
}

const std::string kProgram = "/usr/local/nvidia/toolkit/nvidia-container-runtime-hook";
const std::string kHookFolder = "/usr/share/containers/oci/hooks.d";
const std::string kHook = kHookFolder + "/oci-nvidia-hook.json";

/// CRI-O with the hook that stands for handlers, as the operator asks for it while CDI is off.
class RunPassWithHook : public RunPass {
 protected:
  RunPassWithHook()
      : RunPass(std::make_unique<engine::crio::CrioEngine>(
            test::crio_of("1.34.11"), engine::crio::LoadRequest{}, engine::crio::Hook{.program = kProgram})) {
    node.hook_programs = {kProgram};
    files.add_file(kProgram, "", 0755);
  }

  PassReport run_hook(PassMode mode, std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"--runtime=crio", "--config-mode=hook", "--set-as-default"});
    return run(mode, words);
  }
};

TEST_F(RunPassWithHook, ItIsReadyWithTheHookAndNeedsNoRestart) {
  const PassReport report = run_hook(PassMode::install);
  EXPECT_TRUE(report.ready) << report.not_ready;
  EXPECT_EQ(report.handlers_wanted, 0);
  EXPECT_EQ(node.starts(), 1);
  ASSERT_TRUE(files.exists(kHook));
  EXPECT_TRUE(asked.front().hook_mode);
  EXPECT_THAT(report.watch, Contains(WatchItem{.folder = kHookFolder, .prefix = "oci-nvidia-hook.json"}));
  const PassReport again = run_hook(PassMode::repair);
  EXPECT_TRUE(again.ready && !again.changed) << again.not_ready;
}

TEST_F(RunPassWithHook, AHookThatSomebodyRemovesComesBack) {
  ASSERT_TRUE(run_hook(PassMode::install).ready);
  ASSERT_TRUE(files.remove(kHook));
  const PassReport looked = run_hook(PassMode::look);
  EXPECT_FALSE(looked.ready);
  EXPECT_THAT(looked.not_ready, HasSubstr(kHook));
  EXPECT_THAT(looked.drift, ElementsAre(HasSubstr(kHook)));
  const PassReport repaired = run_hook(PassMode::repair);
  EXPECT_TRUE(repaired.ready && repaired.repaired()) << repaired.not_ready;
  EXPECT_EQ(node.starts(), 1);
}

TEST_F(RunPassWithHook, WithoutItsProgramItIsNotReady) {
  ASSERT_TRUE(run_hook(PassMode::install).ready);
  ASSERT_TRUE(files.remove(kProgram));
  const PassReport report = run_hook(PassMode::look);
  EXPECT_FALSE(report.ready);
  EXPECT_THAT(report.not_ready, HasSubstr(kProgram));
}

TEST_F(RunPassWithHook, WithoutRuntimeConfigSomebodyElseHasToBringIt) {
  const PassReport nobody = run_hook(PassMode::install, {"--no-runtime-config"});
  EXPECT_FALSE(nobody.ready);
  EXPECT_THAT(nobody.not_ready, HasSubstr(kHook));
  ASSERT_TRUE(run_hook(PassMode::install).ready);
  EXPECT_TRUE(run_hook(PassMode::install, {"--no-runtime-config"}).ready);
}

TEST_F(RunPass, WatchesEverythingThatTookPart) {
  files.add_link("/etc/containerd/conf.d/link.toml", "../linked/real.toml");
  files.add_file("/etc/containerd/linked/real.toml", "version = 2\n");
  const PassReport report = run();
  ASSERT_TRUE(report.ready) << report.not_ready;
  for (const WatchItem& item :
       {WatchItem{.folder = "/etc/containerd", .prefix = "config.toml"},
        WatchItem{.folder = "/etc/containerd/conf.d"},
        WatchItem{.folder = "/etc/containerd/conf.d/../linked", .prefix = "real.toml"},
        WatchItem{.folder = "/usr/local/nvidia", .prefix = "toolkit"},
        WatchItem{.folder = "/usr/local/nvidia/toolkit"},
        WatchItem{.on_host = false, .folder = "/run/nvidia/validations", .prefix = "driver-ready"},
        WatchItem{.on_host = false, .folder = "/driver-root/dev", .prefix = "nvidia"},
        WatchItem{.on_host = false, .folder = "/driver-root/usr/lib64", .prefix = "libcuda.so"},
        WatchItem{.on_host = false, .folder = "/var/run/cdi", .prefix = "management.nvidia.com-gpu.yaml"}}) {
    EXPECT_THAT(report.watch, Contains(item));
  }
}

}  // namespace
}  // namespace ctkit::installer
