#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <spawn.h>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/host/posix_node_maker.h"
#include "installer/host/posix_tree_writer.h"
#include "installer/host/toolkit_seams.h"
#include "support/child_process.h"
#include "support/temp_folder.h"
#include "toolkit/install_toolkit.h"

// Installations of the toolkit on real files, with programs that run.
namespace ctkit::installer::host {
namespace {

using test::run_in_child;
using test::TempFolder;
using testing::HasSubstr;

constexpr std::array<const char*, 6> kPrograms = {"nvidia-ctk",
                                                  "nvidia-container-runtime",
                                                  "nvidia-container-runtime.cdi",
                                                  "nvidia-container-runtime.legacy",
                                                  "nvidia-container-cli",
                                                  "nvidia-container-runtime-hook"};

/// Calls a function before each step. Nothing is brought to disk: who is killed loses nothing that he has written.
class SteppingWriter : public toolkit::TreeWriter {
 public:
  SteppingWriter(toolkit::TreeWriter& real, std::function<void()> before) : real_(real), before_(std::move(before)) {}

  using Done = engine::Result<void>;
  [[nodiscard]] Done make_folder(const std::string& path) override { return before_(), real_.make_folder(path); }
  [[nodiscard]] Done add_file(const std::string& path, std::string_view text, unsigned mode) override {
    return before_(), real_.add_file(path, text, mode);
  }
  [[nodiscard]] Done copy_file(const std::string& source, const std::string& path, unsigned mode) override {
    return before_(), real_.copy_file(source, path, mode);
  }
  [[nodiscard]] Done replace_file(const std::string& path, std::string_view text, unsigned mode) override {
    return before_(), real_.replace_file(path, text, mode);
  }
  [[nodiscard]] Done add_link(const std::string& path, const std::string& target) override {
    return before_(), real_.add_link(path, target);
  }
  [[nodiscard]] Done settle(const std::string&) override { return before_(), Done(); }
  [[nodiscard]] Done rename(const std::string& from, const std::string& to) override {
    return before_(), real_.rename(from, to);
  }
  [[nodiscard]] Done take_place(const std::string& from, const std::string& to) override {
    return before_(), real_.take_place(from, to);
  }
  [[nodiscard]] Done remove_all(const std::string& path) override { return before_(), real_.remove_all(path); }

 private:
  toolkit::TreeWriter& real_;
  std::function<void()> before_;
};

/// The program's exit status with these arguments, without its output; -1 if it can't be started.
int run(std::string program, std::vector<std::string> words = {}) {
  std::vector<char*> argv = {program.data()};
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (failed != 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

class ToolkitInstall : public testing::Test {
 protected:
  ToolkitInstall() { write_artifacts(1); }

  TempFolder folder = {};
  std::size_t library_size = 100'000;
  std::string host_root = "/";
  std::string install_folder = folder.path_of("usr/local/nvidia");
  std::string toolkit = install_folder + "/toolkit";

  /// Every program ends with the status `release`.
  void write_artifacts(int release) {
    std::filesystem::remove_all(folder.path_of("artifacts"));
    for (const std::string name : {"libnvidia-container", "libnvidia-container-go"}) {
      const std::string file = "artifacts/usr/lib64/" + name + ".so.1.20." + std::to_string(release);
      folder.write(file, std::string(library_size, static_cast<char>('0' + release)));
      folder.link("artifacts/usr/lib64/" + name + ".so.1", name + ".so.1.20." + std::to_string(release));
    }
    for (const std::string name : kPrograms)
      write_program("artifacts/usr/bin/" + name, release);
    write_program("artifacts/usr/bin/nvidia-cdi-hook", release);
  }

  void write_program(const std::string& name, int status) const {
    folder.write(name, "#!/bin/sh\nexit " + std::to_string(status) + "\n");
    std::filesystem::permissions(folder.path_of(name), std::filesystem::perms{0755});
  }

  [[nodiscard]] toolkit::InstallRequest request() const {
    return {.source_root = folder.path_of("artifacts"), .install_folder = install_folder};
  }

  template <typename Work>
  auto on_host(Work work, const std::function<void()>& before_step = [] {}) const {
    const auto seams = *open_toolkit_seams("/", "/", host_root);
    SteppingWriter writer(*seams.writer, before_step);
    toolkit::InstallHost host{
        .source = *seams.source, .tree = *seams.tree, .writer = writer, .programs = *seams.programs};
    return work(host);
  }

  engine::Result<toolkit::Installed> install(const std::function<void()>& before_step = [] {}) const {
    return on_host([&](toolkit::InstallHost& host) { return toolkit::install_toolkit(request(), host); }, before_step);
  }

  /// The release that containers started now would get; 0 if something they need is not runnable.
  [[nodiscard]] int runnable_release() const {
    const int release = run(toolkit + "/nvidia-ctk");
    if (release <= 0 || run(toolkit + "/nvidia-container-cli") != release) return 0;
    return run(toolkit + "/nvidia-cdi-hook") == release ? release : 0;
  }

  /// What a stock installer leaves, in a folder.
  void write_stock_toolkit(const std::string& name, int release) const {
    for (const std::string program : kPrograms)
      write_program(name + "/" + program, release);
    write_program(name + "/nvidia-cdi-hook", release);
  }
};

TEST_F(ToolkitInstall, ProgramsRunThroughTheirWrappers) {
  const auto installed = install();
  ASSERT_TRUE(installed) << installed.error().message << installed.error().where;
  EXPECT_EQ(runnable_release(), 1);
  struct stat status{};
  ASSERT_EQ(::stat((toolkit + "/libnvidia-container.so.1").c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 100'000);
  EXPECT_FALSE(install()->switched);
}

TEST_F(ToolkitInstall, ModesDoNotDependOnTheUmask) {
  const auto outcome = run_in_child([&] {
    ::umask(0077);
    return install() ? "done" : "failed";
  });
  EXPECT_EQ(outcome, "done");
  struct stat status{};
  for (const auto& [name, mode] : {std::pair{"", 0755U},
                                   std::pair{"/nvidia-ctk", 0755U},
                                   std::pair{"/.config/nvidia-container-runtime", 0755U},
                                   std::pair{"/.config/nvidia-container-runtime/config.toml", 0644U}}) {
    ASSERT_EQ(::stat((toolkit + name).c_str(), &status), 0) << name;
    EXPECT_EQ(status.st_mode & 07777U, mode) << name;
  }
}

TEST_F(ToolkitInstall, ARuntimeFallsThroughWithoutTheModule) {
  if (::access("/sys/module/nvidia", F_OK) == 0) GTEST_SKIP() << "the module is loaded here";
  folder.write("runc", "#!/bin/sh\nexit $(( $# + 40 ))\n");
  std::filesystem::permissions(folder.path_of("runc"), std::filesystem::perms{0755});
  auto wanted = request();
  wanted.config.runtimes = {"not-to-be-found", folder.path_of("runc")};
  ASSERT_TRUE(on_host([&](toolkit::InstallHost& host) { return toolkit::install_toolkit(wanted, host); }));
  EXPECT_EQ(run(toolkit + "/nvidia-container-runtime", {"create", "--bundle", "a b"}), 43);
  EXPECT_EQ(run(toolkit + "/nvidia-container-runtime.cdi"), 40);
  EXPECT_EQ(run(toolkit + "/nvidia-container-runtime.legacy"), 40);
  // With none to be found it is NVIDIA's after all.
  wanted.config.runtimes = {"not-to-be-found"};
  ASSERT_TRUE(on_host([&](toolkit::InstallHost& host) { return toolkit::install_toolkit(wanted, host); }));
  EXPECT_EQ(run(toolkit + "/nvidia-container-runtime"), 1);
}

TEST_F(ToolkitInstall, NoShellStaysBehindAWrapper) {
  folder.write("artifacts/usr/bin/nvidia-ctk", "#!/bin/sh\n[ \"$PPID\" = \"$1\" ] && exit 7\n");
  std::filesystem::permissions(folder.path_of("artifacts/usr/bin/nvidia-ctk"), std::filesystem::perms{0755});
  ASSERT_TRUE(install());
  EXPECT_EQ(run(toolkit + "/nvidia-ctk", {std::to_string(::getpid())}), 7);
}

TEST_F(ToolkitInstall, AnInstallFolderMayHaveAnyName) {
  install_folder = folder.path_of("it's $(x) \"here\" too");
  toolkit = install_folder + "/toolkit";
  ASSERT_TRUE(install());
  EXPECT_EQ(runnable_release(), 1);
}

TEST_F(ToolkitInstall, AKillBeforeAnyStepLeavesProgramsThatRun) {
  const std::array<std::function<void()>, 3> scenes = {
      [] {},
      [&] { ASSERT_TRUE(install()); },
      [&] { write_stock_toolkit("usr/local/nvidia/toolkit", 1); },
  };
  for (std::size_t scene = 0; scene < scenes.size(); ++scene) {
    int step = 0;
    for (bool killed = true; killed;) {
      // Copying is one step like the other; from the switch on each counts.
      step += step < 20 ? 4 : 1;
      ASSERT_LT(step, 200);
      std::filesystem::remove_all(install_folder);
      write_artifacts(1);
      scenes.at(scene)();
      write_artifacts(2);
      killed = !run_in_child([&, left = step]() mutable {
        static_cast<void>(install([&] {
          if (--left == 0) std::raise(SIGKILL);
        }));
        return "";
      });
      const int release = runnable_release();
      // The first installation on a node has nothing to fall back to.
      EXPECT_TRUE(release == 1 || release == 2 || (scene == 0 && !std::filesystem::exists(toolkit)))
          << "scene " << scene << ", killed before step " << step;
      ASSERT_TRUE(install());
      EXPECT_EQ(runnable_release(), 2) << "scene " << scene << ", killed before step " << step;
    }
    EXPECT_GT(step, 26);
  }
}

/// What the process that looks on tells.
struct Watch {
  std::atomic<bool> stop = false;
  std::atomic<long> looks = 0;
  std::atomic<long> runs = 0;
  std::atomic<long> gaps = 0;
};

// A second process opens and runs what handlers and hooks name, without pause, while versions are switched and a stock
// folder is converted.
TEST_F(ToolkitInstall, ThereIsNoMomentWithoutARunnableProgram) {
  ASSERT_TRUE(install());
  void* shared = ::mmap(nullptr, sizeof(Watch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(shared, MAP_FAILED);
  auto* watch = new (shared) Watch{};
  const pid_t watcher = ::fork();
  ASSERT_GE(watcher, 0);
  if (watcher == 0) {
    const std::array<std::string, 4> paths = {toolkit + "/nvidia-container-runtime",
                                              toolkit + "/nvidia-container-runtime.real",
                                              toolkit + "/nvidia-cdi-hook",
                                              toolkit + "/nvidia-ctk"};
    constexpr long kLooksPerRun = 500;
    while (!watch->stop) {
      for (const std::string& path : paths) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) ++watch->gaps;
        ::close(file);
      }
      if (++watch->looks % kLooksPerRun != 0) continue;
      ++watch->runs;
      if (run(toolkit + "/nvidia-ctk") <= 0) ++watch->gaps;
    }
    ::_exit(0);
  }
  // On a busy machine the watcher may not have come to run anything by the thirtieth.
  constexpr int kRounds = 30;
  constexpr int kMostRounds = 1000;
  for (int round = 0; round < kRounds || (watch->runs < 3 && round < kMostRounds); ++round) {
    write_artifacts(2 - (round % 2));
    if (round % 3 == 2) {
      // A stock folder in the link's place, at once too: the gap that a stock installer itself makes isn't ours.
      const std::string stock = folder.path_of("usr/local/nvidia/stock");
      write_stock_toolkit("usr/local/nvidia/stock", 3);
      write_program("usr/local/nvidia/stock/nvidia-container-runtime.real", 3);
      ASSERT_EQ(::renameat2(AT_FDCWD, stock.c_str(), AT_FDCWD, toolkit.c_str(), RENAME_EXCHANGE), 0);
      ASSERT_EQ(::unlink(stock.c_str()), 0);
    }
    const auto installed = install();
    EXPECT_TRUE(installed && installed->switched);
  }
  watch->stop = true;
  int status = 0;
  ::waitpid(watcher, &status, 0);
  EXPECT_EQ(watch->gaps, 0) << watch->looks << " looks, " << watch->runs << " runs";
  EXPECT_GT(watch->looks, kRounds);
  ::munmap(shared, sizeof(Watch));
}

// Switches alone, many and fast: the test above would miss a moment of microseconds.
TEST_F(ToolkitInstall, TakingAPlaceIsAtOnce) {
  constexpr int kRounds = 20'000;
  const auto outcome = run_in_child([&] {
    if (!test::mount_small_disk(folder.path(), 1000)) return std::string("no mount");
    folder.write("a/file", "");
    folder.link("toolkit", "a");
    auto* const watch =
        new (::mmap(nullptr, sizeof(Watch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Watch{};
    const pid_t watcher = ::fork();
    if (watcher == 0) {
      const std::string path = folder.path_of("toolkit/file");
      for (; !watch->stop; ++watch->looks) {
        const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (file < 0) ++watch->gaps;
        ::close(file);
      }
      ::_exit(0);
    }
    const auto writer = *PosixTreeWriter::open("/", folder.path());
    for (int round = 0; round < kRounds; ++round) {
      if (!writer->add_link("/next", "a") || !writer->take_place("/next", "/toolkit")) return std::string("failed");
    }
    watch->stop = true;
    int status = 0;
    ::waitpid(watcher, &status, 0);
    return std::to_string(watch->gaps) + " gaps" + (watch->looks > kRounds / 100 ? "" : ", but hardly a look");
  });
  if (outcome == "no mount") GTEST_SKIP() << "may not mount here";
  EXPECT_EQ(outcome, "0 gaps");
}

TEST_F(ToolkitInstall, AFullDiskLeavesWhatWasThere) {
  const auto outcome = run_in_child([&] {
    folder.make_folder("usr/local/nvidia");
    library_size = 3'000'000;
    write_artifacts(1);
    if (!test::mount_small_disk(install_folder, 10'000)) return std::string("no mount");
    if (!install()) return std::string("the first one failed");
    write_artifacts(2);
    const auto second = install();
    if (second) return std::string("it fitted");
    const bool staged = std::filesystem::exists(install_folder + "/.toolkit/staged");
    return second.error().message + ", release " + std::to_string(runnable_release()) + (staged ? ", leftover" : "");
  });
  if (outcome == "no mount") GTEST_SKIP() << "may not mount here";
  EXPECT_EQ(outcome, "installing the toolkit's files: cannot write the file: no space left on device, release 1");
}

TEST_F(ToolkitInstall, AMountWithoutProgramsIsRefused) {
  const auto outcome = run_in_child([&] {
    folder.make_folder("usr/local");
    if (!test::mount_small_disk(folder.path_of("usr/local"), 10'000) ||
        !test::make_noexec(folder.path_of("usr/local"))) {
      return std::string("no mount");
    }
    const auto installed = install();
    return (installed ? "done" : installed.error().message) +
           (std::filesystem::is_empty(folder.path_of("usr/local")) ? "" : ", but wrote");
  });
  if (outcome == "no mount") GTEST_SKIP() << "may not mount here";
  EXPECT_THAT(outcome.value_or(""), HasSubstr("mounted noexec"));
  EXPECT_THAT(outcome.value_or(""), testing::Not(HasSubstr("but wrote")));
}

TEST_F(ToolkitInstall, TheHostsMountCountsNotTheContainers) {
  const auto outcome = run_in_child([&] {
    // A container runtime may mount the same file system without the host's flags.
    const std::string on_host = "host" + folder.path_of("usr/local");
    folder.make_folder(on_host);
    if (!test::mount_small_disk(folder.path_of(on_host), 10'000) || !test::make_noexec(folder.path_of(on_host))) {
      return std::string("no mount");
    }
    host_root = folder.path_of("host");
    const auto installed = install();
    return installed ? "done" : installed.error().message;
  });
  if (outcome == "no mount") GTEST_SKIP() << "may not mount here";
  EXPECT_THAT(outcome.value_or(""), HasSubstr("mounted noexec"));
}

TEST_F(ToolkitInstall, AMountInPlaceOfTheFolderIsToldApart) {
  const auto outcome = run_in_child([&] {
    folder.make_folder("usr/local/nvidia/toolkit");
    if (!test::mount_small_disk(toolkit, 1000)) return std::string("no mount");
    const auto installed = install();
    return installed ? "done" : installed.error().hint;
  });
  if (outcome == "no mount") GTEST_SKIP() << "may not mount here";
  EXPECT_THAT(outcome.value_or(""), HasSubstr("something is mounted there"));
}

TEST_F(ToolkitInstall, AVersionInUseIsSeen) {
  ASSERT_TRUE(install());
  folder.write("usr/local/nvidia/.toolkit/old-1/wait", "");
  std::filesystem::copy_file(
      "/bin/sleep", install_folder + "/.toolkit/old-1/wait", std::filesystem::copy_options::overwrite_existing);
  std::filesystem::permissions(install_folder + "/.toolkit/old-1/wait", std::filesystem::perms{0755});
  std::string program = install_folder + "/.toolkit/old-1/wait";
  std::string word = "600";
  std::array<char*, 3> argv = {program.data(), word.data(), nullptr};
  pid_t child = 0;
  ASSERT_EQ(::posix_spawn(&child, program.c_str(), nullptr, nullptr, argv.data(), environ), 0);
  const auto clean = [&] {
    return *on_host([&](toolkit::InstallHost& host) { return toolkit::remove_old_versions(install_folder, host); });
  };
  EXPECT_THAT(clean(), testing::IsEmpty());
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_THAT(clean(), testing::ElementsAre("old-1"));
}

TEST_F(ToolkitInstall, UninstallLeavesNothing) {
  folder.make_folder("usr/local/nvidia");
  ASSERT_TRUE(install());
  const auto removed = on_host(
      [&](toolkit::InstallHost& host) { return toolkit::uninstall_toolkit(install_folder, host.tree, host.writer); });
  ASSERT_TRUE(removed);
  EXPECT_THAT(*removed, testing::ElementsAre(toolkit, install_folder + "/.toolkit"));
  EXPECT_TRUE(std::filesystem::is_empty(install_folder));
}

TEST_F(ToolkitInstall, RemovingFollowsNoLinkAndLeavesNoMount) {
  folder.write("theirs/file", "x");
  folder.link("gone/link", folder.path_of("theirs"));
  folder.write("gone/a/b/file", "x");
  const auto writer = *PosixTreeWriter::open("/", folder.path());
  ASSERT_TRUE(writer->remove_all("/gone"));
  EXPECT_FALSE(std::filesystem::exists(folder.path_of("gone")));
  EXPECT_TRUE(std::filesystem::exists(folder.path_of("theirs/file")));
  EXPECT_TRUE(writer->remove_all("/gone/a"));
}

TEST_F(ToolkitInstall, SettlingPassesLinksAndFindsWhatIsMissing) {
  folder.write("a/b/file", "x");
  folder.link("a/link", "/not-there");
  const auto writer = *PosixTreeWriter::open("/", folder.path());
  EXPECT_TRUE(writer->settle("/a"));
  EXPECT_EQ(writer->settle("/none").error().code, engine::ErrorCode::not_found);
}

TEST(PosixNodeMaker, MakesANodeThatEverybodyMayUse) {
  const TempFolder folder;
  folder.write("dev/nvidiactl", "not a node");
  const auto made = run_in_child([&] {
    ::umask(0077);
    const auto done = (*PosixNodeMaker::open(folder.path()))->make_node({"/dev/nvidiactl", 195, 255});
    return done ? std::string("done") : done.error().message;
  });
  if (made->contains("not permitted")) GTEST_SKIP() << "may not make nodes here";
  ASSERT_EQ(made, "done");
  struct stat status{};
  ASSERT_EQ(::lstat(folder.path_of("dev/nvidiactl").c_str(), &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
  EXPECT_EQ(status.st_mode & 07777U, 0666U);
  EXPECT_EQ(status.st_rdev, ::makedev(195, 255));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path_of("dev")), {}), 1);
}

}  // namespace
}  // namespace ctkit::installer::host
