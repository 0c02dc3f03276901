#include <array>
#include <chrono>
#include <csignal>
#include <memory>
#include <poll.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/host/mapped_file_system.h"
#include "installer/host/pass_process.h"
#include "installer/host/readiness_file.h"
#include "support/temp_folder.h"

namespace ctkit::installer::host {
namespace {

using namespace std::literals;
using daemonset::PassReport;
using engine::ErrorCode;
using testing::HasSubstr;

constexpr auto kLimit = 20s;

TEST(PassProcess, BringsItsReportAndNothingElse) {
  int here = 1;
  auto pass = PassProcess::start([&] {
    here = 2;
    return PassReport{.end = PassReport::End::settled, .exit_code = 0, .message = "well", .handlers_ready = 3};
  });
  ASSERT_TRUE(pass);
  const auto report = pass->end(kLimit);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, PassReport::End::settled);
  EXPECT_EQ(report->message, "well");
  EXPECT_EQ(report->handlers_ready, 3);
  EXPECT_EQ(here, 1);
}

TEST(PassProcess, OneThatDiesHasFailed) {
  auto pass = PassProcess::start([]() -> PassReport { ::_exit(0); });
  ASSERT_TRUE(pass);
  const auto report = pass->end(kLimit);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->end, PassReport::End::failed);
  EXPECT_THAT(report->message, HasSubstr("without a report"));
}

TEST(PassProcess, IsReadableAtItsEndAndNotBefore) {
  std::array<int, 2> gate{};
  ASSERT_EQ(::pipe(gate.data()), 0);
  UniqueFd reader(gate[0]);
  UniqueFd writer(gate[1]);
  auto pass = PassProcess::start([&] {
    writer = UniqueFd();
    char byte = 0;
    static_cast<void>(::read(reader.get(), &byte, 1));
    return PassReport{.end = PassReport::End::settled};
  });
  ASSERT_TRUE(pass);
  pollfd polled{.fd = pass->fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0);
  EXPECT_FALSE(pass->read());
  writer = UniqueFd();
  EXPECT_TRUE(pass->end(kLimit));
}

TEST(PassProcess, OneThatDoesNotEndIsEnded) {
  auto pass = PassProcess::start([]() -> PassReport {
    while (true)
      ::pause();
  });
  ASSERT_TRUE(pass);
  EXPECT_FALSE(pass->end(1ms));
  EXPECT_FALSE(pass->end(1ms));
}

// The locks of who holds the node are the pass's as well.
TEST(PassProcess, EndsWithWhoStartedItHoweverThatEnds) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t holder = ::fork();
  ASSERT_GE(holder, 0);
  if (holder == 0) {
    auto pass = PassProcess::start([&]() -> PassReport {
      static_cast<void>(::write(writer.get(), "x", 1));
      while (true)
        ::pause();
    });
    while (pass)
      ::pause();
    ::_exit(1);
  }
  writer = UniqueFd();
  const auto readable = [&] {
    pollfd polled{.fd = reader.get(), .events = POLLIN, .revents = 0};
    return ::poll(&polled, 1, static_cast<int>(std::chrono::milliseconds(kLimit).count())) == 1;
  };
  char byte = 0;
  ASSERT_TRUE(readable());
  ASSERT_EQ(::read(reader.get(), &byte, 1), 1);
  ASSERT_EQ(::kill(holder, SIGKILL), 0);
  ASSERT_EQ(::waitpid(holder, nullptr, 0), holder);
  ASSERT_TRUE(readable()) << "the pass is still there";
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0);
}

/// A host root whose folder `etc` is seen twice.
class MappedFiles : public testing::Test {
 protected:
  MappedFiles() {
    root.make_folder("etc/conf.d");
    root.make_folder("usr");
    root.write("etc/config.toml", "old");
  }

  std::unique_ptr<MappedFileSystem> open(const std::vector<daemonset::MappedFolder>& folders) {
    auto files = MappedFileSystem::open(root.path(), folders);
    EXPECT_TRUE(files);
    return *std::move(files);
  }

  test::TempFolder root;
};

TEST_F(MappedFiles, WritesWhereverTheFolderIs) {
  for (const bool mapped : {false, true}) {
    std::vector<daemonset::MappedFolder> folders;
    if (mapped) folders = {{"/etc", root.path_of("etc")}, {"/etc/conf.d", root.path_of("etc/conf.d")}};
    const auto files = open(folders);
    EXPECT_TRUE(files->replace("/etc/config.toml", "new", {}));
    EXPECT_EQ(root.read("etc/config.toml"), "new");
    EXPECT_TRUE(files->replace("/etc/conf.d/x.toml", "x", {}));
    EXPECT_EQ(*files->read("/etc/conf.d/x.toml"), "x");
    EXPECT_EQ(files->make_folders("/etc/a/b/c").value(), "/etc/a");
    EXPECT_EQ(files->make_folders("/etc/a/b/c/").value(), "");
    EXPECT_EQ(files->make_folders("/opt/x").value(), "/opt");
    EXPECT_TRUE(files->remove("/etc/conf.d/x.toml"));
    for (const std::string folder : {"/etc/a/b/c", "/etc/a/b", "/etc/a", "/opt/x", "/opt"})
      EXPECT_TRUE(files->remove_folder(folder).value()) << folder;
    EXPECT_FALSE(files->remove_folder("/etc").value());
    ASSERT_TRUE(files->lock_file("/etc/lock/toolkit.pid"));
    EXPECT_TRUE(files->remove("/etc/lock/toolkit.pid"));
    EXPECT_TRUE(files->remove_folder("/etc/lock").value());
    EXPECT_TRUE(files->lock_file("/toolkit.pid"));
    EXPECT_EQ(files->make_folders("/").value(), "");
    EXPECT_FALSE(files->make_folders("no/folder"));
  }
}

TEST_F(MappedFiles, ALinksTargetIsWrittenThroughTheMountThatHasIt) {
  root.write("usr/real.toml", "old");
  root.link("etc/link.toml", "/usr/real.toml");
  const auto files = open({{"/etc", root.path_of("etc")}, {"/usr", root.path_of("usr")}});
  EXPECT_TRUE(files->replace("/etc/link.toml", "new", {}));
  EXPECT_EQ(root.read("usr/real.toml"), "new");
  EXPECT_TRUE(files->link_target("/etc/link.toml"));
}

TEST_F(MappedFiles, AFolderThatShowsSomethingElseIsNotWrittenTo) {
  const test::TempFolder other;
  other.write("config.toml", "theirs");
  const auto files = open({{"/etc", other.path()}});
  EXPECT_TRUE(files->replace("/etc/config.toml", "new", {}));
  EXPECT_EQ(other.read("config.toml"), "theirs");
  EXPECT_EQ(root.read("etc/config.toml"), "new");
}

TEST_F(MappedFiles, ErrorsNameTheHostsPath) {
  const auto files = open({{"/etc", root.path_of("etc")}});
  const auto removed = files->remove("/etc/conf.d/missing");
  ASSERT_FALSE(removed);
  EXPECT_EQ(removed.error().code, ErrorCode::not_found);
  EXPECT_EQ(removed.error().where, "/etc/conf.d/missing");
  const auto replaced = files->replace("/etc/no/folder", "", {});
  ASSERT_FALSE(replaced);
  EXPECT_EQ(replaced.error().code, ErrorCode::not_found);
}

class Readiness : public testing::Test {
 protected:
  std::string why() { return why_not_ready(RootFolder::open(root.path()).value(), "/run/x/ready"); }

  test::TempFolder root;
  std::unique_ptr<PosixFileSystem> files = PosixFileSystem::open(root.path()).value();
};

TEST_F(Readiness, IsThereWhileSomebodyStandsForIt) {
  EXPECT_THAT(why(), HasSubstr("is not there"));
  {
    ReadinessFile file(*files, "/run/x/ready");
    ASSERT_TRUE(file.publish("ready\n"));
    EXPECT_EQ(why(), "");
    EXPECT_EQ(why(), "");
    EXPECT_EQ(root.read("run/x/ready"), "ready\n");
    ASSERT_TRUE(file.publish("ready\n"));
    EXPECT_EQ(why(), "");
    ASSERT_TRUE(file.withdraw());
    EXPECT_THAT(why(), HasSubstr("is not there"));
    ASSERT_TRUE(file.withdraw());
    ASSERT_TRUE(file.publish("ready\n"));
  }
  // Whoever was killed has left it.
  EXPECT_THAT(why(), HasSubstr("nobody stands for"));
}

}  // namespace
}  // namespace ctkit::installer::host
