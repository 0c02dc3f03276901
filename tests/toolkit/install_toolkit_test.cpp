#include "toolkit/install_toolkit.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "toolkit/toolkit_fixture.h"

namespace ctkit::toolkit {
namespace {

using test::MemoryTree;
using test::ToolkitNode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr auto kToolkitFolder = "/usr/local/nvidia/toolkit";
constexpr auto kConfig = "/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml";
constexpr auto kNote = "/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/written-config.toml";
constexpr auto kVersionsFolder = "/usr/local/nvidia/.toolkit";

struct Killed : std::runtime_error {
  Killed() : std::runtime_error("killed") {}
};

std::string path_of(const std::string& name) {
  return std::string(kToolkitFolder) + "/" + name;
}

/// The release of the files that a container started now would run with: a runtime, its program, the hooks, a library
/// and the config, all there and of one release. "" if one isn't.
std::string runnable_release(const MemoryTree& tree) {
  const auto release_of = [&](const std::string& name) {
    const auto text = tree.text_of(path_of(name));
    return text && text->starts_with(name.substr(0, name.find('.'))) ? text->substr(text->rfind(' ') + 1)
                                                                     : std::string();
  };
  const auto wrapper = tree.text_of(path_of("nvidia-container-runtime"));
  const auto status = tree.follow(path_of("nvidia-container-runtime"));
  if (!wrapper || !wrapper->starts_with("#!/bin/sh\n") || (status->mode & 0111U) == 0) return "";
  const std::string release = release_of("nvidia-container-runtime.real");
  for (const std::string name : {"nvidia-ctk.real", "nvidia-cdi-hook"}) {
    if (release_of(name) != release) return "";
  }
  return tree.text_of(kConfig) ? release : "";
}

Installed install(ToolkitNode& node) {
  auto installed = install_toolkit(node.request, node.host);
  EXPECT_TRUE(installed) << installed.error().message << " " << installed.error().where;
  return installed ? *installed : Installed{};
}

TEST(InstallToolkit, PutsEveryFileOfTheStockLayoutInPlace) {
  ToolkitNode node;
  const Installed installed = install(node);
  EXPECT_EQ(installed.folder, kToolkitFolder);
  EXPECT_EQ(installed.version, "1.20.0-1");
  EXPECT_TRUE(installed.switched);
  EXPECT_THAT(installed.warnings, IsEmpty());
  EXPECT_EQ(node.tree.target_of(kToolkitFolder), ".toolkit/1.20.0-1");
  EXPECT_THAT(*node.tree.names_in(kToolkitFolder),
              UnorderedElementsAre(".config",
                                   "libnvidia-container.so.1",
                                   "libnvidia-container.so.1.20.0",
                                   "libnvidia-container-go.so.1",
                                   "libnvidia-container-go.so.1.20.0",
                                   "nvidia-cdi-hook",
                                   "nvidia-container-cli",
                                   "nvidia-container-cli.real",
                                   "nvidia-container-runtime",
                                   "nvidia-container-runtime.real",
                                   "nvidia-container-runtime.cdi",
                                   "nvidia-container-runtime.cdi.real",
                                   "nvidia-container-runtime.legacy",
                                   "nvidia-container-runtime.legacy.real",
                                   "nvidia-container-runtime-hook",
                                   "nvidia-container-runtime-hook.real",
                                   "nvidia-container-toolkit",
                                   "nvidia-ctk",
                                   "nvidia-ctk.real"));
  EXPECT_EQ(node.tree.target_of(path_of("libnvidia-container.so.1")), "libnvidia-container.so.1.20.0");
  EXPECT_EQ(node.tree.target_of(path_of("nvidia-container-toolkit")), "nvidia-container-runtime-hook");
  EXPECT_EQ(node.tree.text_of(path_of("nvidia-cdi-hook")), "nvidia-cdi-hook 1.20.0");
  EXPECT_EQ(runnable_release(node.tree), "1.20.0");
}

TEST(InstallToolkit, ASecondTimeWritesNothing) {
  ToolkitNode node;
  install(node);
  node.writer.log.clear();
  const Installed again = install(node);
  EXPECT_FALSE(again.switched);
  EXPECT_FALSE(again.config_written);
  EXPECT_EQ(again.version, "1.20.0-1");
  EXPECT_THAT(node.writer.log, IsEmpty());
}

TEST(InstallToolkit, MendsAVersionThatWasDamaged) {
  for (const std::string damaged : {"nvidia-ctk", "nvidia-ctk.real", "libnvidia-container.so.1", "nvidia-cdi-hook"}) {
    ToolkitNode node;
    install(node);
    const std::string place = *node.tree.resolve(path_of(damaged), false);
    node.tree.add_file(place, "somebody's");
    EXPECT_TRUE(install(node).switched) << damaged;
    EXPECT_NE(node.tree.text_of(path_of(damaged)), "somebody's");
    node.tree.nodes().erase(*node.tree.resolve(path_of(damaged), false));
    EXPECT_TRUE(install(node).switched) << damaged;
    EXPECT_EQ(runnable_release(node.tree), "1.20.0");
  }
}

TEST(InstallToolkit, AModeThatIsNotAsWantedIsMended) {
  ToolkitNode node;
  install(node);
  node.tree.nodes().at(*node.tree.resolve(path_of("nvidia-container-runtime"), true)).status.mode = 0644;
  EXPECT_TRUE(install(node).switched);
  EXPECT_EQ(node.tree.follow(path_of("nvidia-container-runtime"))->mode, 0755U);
}

TEST(InstallToolkit, KeepsTheReplacedVersionUntilTheNextStart) {
  ToolkitNode node;
  install(node);
  node.update("1.20.1");
  install(node);
  EXPECT_EQ(runnable_release(node.tree), "1.20.1");
  EXPECT_THAT(*node.tree.names_in(kVersionsFolder), ElementsAre("1.20.0-1", "1.20.1-1"));
  install(node);
  EXPECT_THAT(*node.tree.names_in(kVersionsFolder), ElementsAre("1.20.1-1"));
}

TEST(InstallToolkit, KeepsAVersionThatAProcessRunsFrom) {
  ToolkitNode node;
  install(node);
  node.update("1.20.1");
  install(node);
  node.programs.running = {"/usr/local/nvidia/.toolkit/1.20.0-1/nvidia-container-runtime.real"};
  EXPECT_THAT(*remove_old_versions(node.request.install_folder, node.host), IsEmpty());
  EXPECT_TRUE(node.tree.follow("/usr/local/nvidia/.toolkit/1.20.0-1"));
  node.programs.running = {"/usr/local/nvidia/.toolkit/1.20.0-10/nvidia-container-runtime.real"};
  EXPECT_THAT(*remove_old_versions(node.request.install_folder, node.host), ElementsAre("1.20.0-1"));
}

TEST(InstallToolkit, ConvertsTheFolderOfAStockInstaller) {
  ToolkitNode node;
  node.lay_stock_toolkit();
  EXPECT_TRUE(install(node).switched);
  EXPECT_EQ(node.tree.target_of(kToolkitFolder), ".toolkit/1.20.0-1");
  EXPECT_EQ(runnable_release(node.tree), "1.20.0");
  // What the stock installer wrote as its config is replaced, but what it doesn't know of stays nobody's.
  const std::string config = *node.tree.text_of(kConfig);
  EXPECT_THAT(config, HasSubstr("disable-require = false"));
  EXPECT_THAT(config, HasSubstr("root = \"/run/nvidia/driver\""));
  EXPECT_THAT(config, testing::Not(HasSubstr("theirs")));
}

TEST(InstallToolkit, KeepsAStockInstallersFolderWhileAProcessRunsFromIt) {
  ToolkitNode node;
  node.lay_stock_toolkit();
  install(node);
  EXPECT_THAT(*node.tree.names_in(kVersionsFolder), ElementsAre("1.20.0-1", "stock-1"));
  node.programs.running = {"/usr/local/nvidia/.toolkit/stock-1/nvidia-container-runtime.real"};
  node.update("1.20.1");
  install(node);
  // And a second one, of which a kill left the name that the link had.
  node.tree.nodes().erase(kToolkitFolder);
  node.lay_stock_toolkit();
  node.writer.before_step = [&] {
    const auto next = node.tree.look("/usr/local/nvidia/.toolkit/next");
    if (next && next->kind == cdi::FileKind::folder) throw Killed();
  };
  EXPECT_THROW(install(node), Killed);
  node.writer.before_step = [] {};
  node.programs.running.push_back("/usr/local/nvidia/.toolkit/next/nvidia-container-runtime.real");
  node.update("1.20.2");
  install(node);
  EXPECT_THAT(*node.tree.names_in(kVersionsFolder), testing::IsSupersetOf({"1.20.2-1", "stock-1", "stock-2"}));
  node.programs.running.clear();
  install(node);
  EXPECT_THAT(*node.tree.names_in(kVersionsFolder), ElementsAre("1.20.2-1"));
}

TEST(InstallToolkit, ComesBackAfterAStockInstallerRemovedTheLink) {
  ToolkitNode node;
  install(node);
  node.tree.nodes().erase(kToolkitFolder);
  node.lay_stock_toolkit();
  EXPECT_TRUE(install(node).switched);
  EXPECT_EQ(runnable_release(node.tree), "1.20.0");
}

TEST(InstallToolkit, SaysWhereAForeignLinkLed) {
  ToolkitNode node;
  node.tree.add_link(kToolkitFolder, "/opt/nvidia/toolkit");
  EXPECT_THAT(install(node).warnings, ElementsAre(HasSubstr("/opt/nvidia/toolkit")));
  EXPECT_EQ(runnable_release(node.tree), "1.20.0");
}

TEST(InstallToolkit, MissingArtifactsAreAllNamedAndNothingIsTouched) {
  ToolkitNode node;
  node.lay_stock_toolkit();
  const auto before = node.tree.nodes();
  node.source.nodes().erase("/artifacts/deb/usr/bin/nvidia-ctk");
  node.source.nodes().erase("/artifacts/deb/usr/lib/x86_64-linux-gnu/libnvidia-container.so.1");
  const auto installed = install_toolkit(node.request, node.host);
  ASSERT_FALSE(installed);
  EXPECT_EQ(installed.error().code, engine::ErrorCode::not_found);
  EXPECT_THAT(installed.error().message, HasSubstr("libnvidia-container.so.1, nvidia-ctk"));
  EXPECT_EQ(node.tree.nodes(), before);
}

TEST(InstallToolkit, RefusesAFileSystemWithoutPrograms) {
  ToolkitNode node;
  node.programs.noexec = true;
  const auto before = node.tree.nodes();
  const auto installed = install_toolkit(node.request, node.host);
  ASSERT_FALSE(installed);
  EXPECT_EQ(installed.error().code, engine::ErrorCode::needs_decision);
  EXPECT_THAT(installed.error().message, HasSubstr("noexec"));
  EXPECT_EQ(node.tree.nodes(), before);
}

TEST(InstallToolkit, RefusesAFileInPlaceOfTheFolder) {
  ToolkitNode node;
  node.tree.add_file(kToolkitFolder, "?");
  const auto installed = install_toolkit(node.request, node.host);
  ASSERT_FALSE(installed);
  EXPECT_EQ(installed.error().code, engine::ErrorCode::needs_decision);
}

TEST(InstallToolkit, OwnProgramIsInstalledAndServesAsHooksWhereThereAreNone) {
  ToolkitNode node;
  node.source.add_file("/usr/bin/ctkit", "ours", 0700);
  node.request.own_program = "/usr/bin/ctkit";
  install(node);
  EXPECT_EQ(node.tree.text_of(path_of("ctkit")), "ours");
  EXPECT_EQ(node.tree.follow(path_of("ctkit"))->mode, 0755U);
  EXPECT_EQ(node.tree.text_of(path_of("nvidia-cdi-hook")), "nvidia-cdi-hook 1.20.0");
  node.source.nodes().erase("/artifacts/deb/usr/bin/nvidia-cdi-hook");
  install(node);
  EXPECT_EQ(node.tree.text_of(path_of("nvidia-cdi-hook")), "ours");
}

TEST(InstallToolkit, WithoutHooksFromAnybodyNothingIsTouched) {
  ToolkitNode node;
  node.source.nodes().erase("/artifacts/deb/usr/bin/nvidia-cdi-hook");
  const auto before = node.tree.nodes();
  const auto installed = install_toolkit(node.request, node.host);
  ASSERT_FALSE(installed);
  EXPECT_THAT(installed.error().message, HasSubstr("nvidia-cdi-hook"));
  EXPECT_EQ(node.tree.nodes(), before);
}

TEST(InstallToolkit, UninstallTakesEverythingOfOursAndNothingElse) {
  ToolkitNode node;
  node.tree.add_file("/usr/local/nvidia/theirs", "x");
  const auto before = node.tree.nodes();
  install(node);
  ASSERT_TRUE(uninstall_toolkit(node.request.install_folder, node.tree, node.writer));
  EXPECT_EQ(node.tree.nodes(), before);
  node.lay_stock_toolkit();
  const auto stock = node.tree.nodes();
  ASSERT_TRUE(uninstall_toolkit(node.request.install_folder, node.tree, node.writer));
  EXPECT_EQ(node.tree.nodes(), stock);
}

TEST(InstallToolkit, KeepsWhatAnAdministratorSetInTheConfig) {
  ToolkitNode node;
  install(node);
  std::string text = *node.tree.text_of(kConfig);
  const std::string theirs = "log-level = \"debug\"  # until Friday";
  const std::string ours = "log-level = \"info\"";
  text.replace(text.find(ours), ours.size(), theirs);
  node.tree.add_file(*node.tree.resolve(kConfig, true), text);

  const Installed kept = install(node);
  EXPECT_FALSE(kept.config_written);
  EXPECT_THAT(kept.kept_keys, ElementsAre("nvidia-container-runtime.log-level"));

  // Over a change of ours, which replaces one key, and over a new release.
  node.request.config.driver_root = "/";
  const Installed changed = install(node);
  EXPECT_TRUE(changed.config_written);
  EXPECT_TRUE(changed.switched) << "the config and the note of it change together";
  node.update("1.21.0");
  EXPECT_TRUE(install(node).switched);
  const std::string after = *node.tree.text_of(kConfig);
  EXPECT_THAT(after, HasSubstr(theirs));
  EXPECT_THAT(after, HasSubstr("root = \"/\""));
}

TEST(InstallToolkit, AChangeOfSettingsThatWasKilledLeavesNothingForAnAdministrators) {
  int step = 0;
  for (bool killed = true; killed;) {
    ++step;
    ASSERT_LT(step, 500);
    ToolkitNode node;
    node.request.config.driver_root = "/first";
    install(node);
    node.request.config.driver_root = "/second";
    node.writer.before_step = [&, left = step]() mutable {
      if (--left == 0) throw Killed();
    };
    killed = false;
    try {
      install(node);
    } catch (const Killed&) {
      killed = true;
    }
    node.writer.before_step = [] {};
    node.request.config.driver_root = "/third";
    EXPECT_THAT(install(node).kept_keys, IsEmpty()) << "killed before step " << step;
    EXPECT_THAT(*node.tree.text_of(kConfig), HasSubstr("root = \"/third\"")) << "killed before step " << step;
  }
  EXPECT_GT(step, 3);
}

TEST(InstallToolkit, WithoutANoteTheConfigIsAnInstallers) {
  ToolkitNode node;
  node.request.config.driver_root = "/first";
  install(node);
  node.tree.nodes().erase(*node.tree.resolve(kNote, true));
  node.request.config.driver_root = "/second";
  EXPECT_THAT(install(node).kept_keys, IsEmpty());
  EXPECT_THAT(*node.tree.text_of(kConfig), HasSubstr("root = \"/second\""));
}

/// What was on the node when the installation began.
struct Scene {
  const char* name;
  void (*lay)(ToolkitNode&);
  const char* release_before;
};

void PrintTo(const Scene& scene, std::ostream* out) {
  *out << scene.name;
}

class Interrupted : public testing::TestWithParam<Scene> {
 protected:
  /// A node with the scene, whose artifacts are of release 2.0.0 by now.
  std::unique_ptr<ToolkitNode> lay() {
    auto node = std::make_unique<ToolkitNode>("1.20.0");
    GetParam().lay(*node);
    node->update("2.0.0");
    node->writer.steps = 0;
    node->writer.log.clear();
    return node;
  }

  void expect_whole(const ToolkitNode& node) {
    const std::string release = runnable_release(node.tree);
    if (release == "2.0.0") return;
    if (*GetParam().release_before == '\0') {
      EXPECT_FALSE(node.tree.look(kToolkitFolder)) << "half an installation";
    } else if (release != GetParam().release_before) {
      EXPECT_EQ(node.tree.text_of(path_of("nvidia-container-runtime.real")),
                std::string("nvidia-container-runtime ") + GetParam().release_before);
      EXPECT_EQ(node.tree.text_of(path_of("nvidia-cdi-hook.real")).has_value(),
                std::string(GetParam().release_before) == "stock");
    }
  }
};

TEST_P(Interrupted, AKillAtAnyStepLeavesAWholeVersionAndTheNextRunFinishes) {
  int step = 0;
  for (bool killed = true; killed;) {
    ++step;
    ASSERT_LT(step, 500);
    auto node = lay();
    node->writer.before_step = [&, left = step]() mutable {
      expect_whole(*node);
      if (--left == 0) throw Killed();
    };
    killed = false;
    try {
      install(*node);
    } catch (const Killed&) {
      killed = true;
    }
    expect_whole(*node);
    node->writer.before_step = [] {};
    install(*node);
    EXPECT_EQ(runnable_release(node->tree), "2.0.0") << "killed before step " << step;
    const Installed settled = install(*node);
    EXPECT_FALSE(settled.switched || settled.config_written);
    const auto names = *node->tree.names_in(kVersionsFolder);
    EXPECT_EQ(names.size(), 1U) << "killed before step " << step;
  }
  EXPECT_GT(step, 30);
}

TEST_P(Interrupted, AFullDiskLeavesWhatWasThere) {
  for (int step = 1;; ++step) {
    ASSERT_LT(step, 500);
    auto node = lay();
    node->writer.failing_step = step;
    node->writer.failure = {.message = "no space left on device"};
    const auto installed = install_toolkit(node->request, node->host);
    expect_whole(*node);
    if (installed && node->writer.steps < step) break;
    if (!installed) {
      EXPECT_THAT(installed.error().message, HasSubstr("no space left"));
    }
    EXPECT_EQ(node->tree.look("/usr/local/nvidia/.toolkit/staged").has_value(), false) << step;
    install(*node);
    EXPECT_EQ(runnable_release(node->tree), "2.0.0") << "failed at step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Scenes,
    Interrupted,
    testing::Values(Scene{"nothing", [](ToolkitNode&) {}, ""},
                    Scene{"an older version of ours", [](ToolkitNode& node) { install(node); }, "1.20.0"},
                    Scene{"a stock installer's folder", [](ToolkitNode& node) { node.lay_stock_toolkit(); }, "stock"},
                    Scene{"two versions of ours",
                          [](ToolkitNode& node) {
                            install(node);
                            node.update("1.20.1");
                            install(node);
                          },
                          "1.20.1"}));

}  // namespace
}  // namespace ctkit::toolkit
