#include "installer/host/posix_file_system.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/child_process.h"
#include "support/temp_folder.h"

// What the seam promises is in file_system_contract_test.cpp; how a file is replaced, in
// durable_replace_test.cpp. Here: what only a real tree has.

namespace ctkit::installer::host {
namespace {

using engine::ErrorCode;
using test::TempFolder;

class PosixFiles : public testing::Test {
 protected:
  // The tree is a part of the folder, so that there is an outside.
  PosixFiles() {
    folder.write("outside/secret", "secret");
    folder.write("root/etc/x", "text");
  }

  TempFolder folder = {};
  std::string root = folder.path_of("root");
  std::unique_ptr<PosixFileSystem> files = open_root();

  [[nodiscard]] std::unique_ptr<PosixFileSystem> open_root() const {
    folder.make_folder("root");
    auto opened = PosixFileSystem::open(root);
    EXPECT_TRUE(opened) << opened.error().message;
    return std::move(*opened);
  }
};

std::string code_name(ErrorCode code) {
  if (code == ErrorCode::permission) return "permission";
  if (code == ErrorCode::unreadable) return "unreadable";
  return code == ErrorCode::failed ? "failed" : "another";
}

template <typename T>
std::string outcome_of(const engine::Result<T>& result) {
  return result ? "done" : code_name(result.error().code) + ": " + result.error().message;
}

TEST_F(PosixFiles, NoPathLeadsOutOfTheRoot) {
  const std::string outside = folder.path_of("outside");
  folder.link("root/up", "../outside/secret");
  folder.link("root/etc/up", "../../../../../../../../../../.." + outside + "/secret");
  folder.link("root/absolute", outside);
  for (const std::string& path : {std::string("/../outside/secret"),
                                  std::string("../outside/secret"),
                                  std::string("/etc/../../outside/secret"),
                                  std::string("/up"),
                                  std::string("/etc/up"),
                                  std::string("/absolute/secret"),
                                  outside + "/secret"}) {
    EXPECT_EQ(outcome_of(files->read(path)), "another: cannot open: no such file or directory") << path;
    EXPECT_FALSE(files->replace(path, "replaced", {})) << path;
    EXPECT_EQ(folder.read("outside/secret"), "secret") << path;
  }
  EXPECT_FALSE(files->make_folders("/absolute/a"));
  EXPECT_FALSE(std::filesystem::exists(outside + "/a"));
}

TEST_F(PosixFiles, AbsoluteLinkThatExistsOutsideToo) {
  folder.write("root" + folder.path_of("outside/secret"), "inside");
  folder.link("root/link", folder.path_of("outside/secret"));
  EXPECT_EQ(files->read("/link"), "inside");
  ASSERT_TRUE(files->replace("/link", "new", {}));
  EXPECT_EQ(files->read("/link"), "new");
  EXPECT_EQ(folder.read("outside/secret"), "secret");
}

TEST_F(PosixFiles, KeepsItsRootWhenTheFolderIsMoved) {
  ASSERT_EQ(::rename(root.c_str(), folder.path_of("moved").c_str()), 0);
  EXPECT_EQ(files->read("/etc/x"), "text");
}

TEST_F(PosixFiles, RefusesPathsWithNul) {
  const std::string_view path("/etc/x\0y", 8);
  EXPECT_FALSE(files->read(path));
  EXPECT_FALSE(files->exists(path));
  EXPECT_FALSE(files->replace(path, "", {}));
  EXPECT_FALSE(files->make_folders(std::string_view("/etc/a\0b", 8)));
  EXPECT_EQ(files->read("/etc/x"), "text");
}

TEST_F(PosixFiles, NeverWaitsForAFifo) {
  ASSERT_EQ(::mkfifo(folder.path_of("root/etc/fifo").c_str(), 0644), 0);
  EXPECT_EQ(outcome_of(files->read("/etc/fifo")), "failed: cannot read the file: it is not a regular file");
  EXPECT_EQ(outcome_of(files->replace("/etc/fifo", "", {})),
            "failed: cannot replace the file: it is not a regular file");
  EXPECT_EQ(files->list("/etc"), (std::vector<std::string>{"fifo", "x"}));
}

TEST_F(PosixFiles, ReadsNoSocket) {
  const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = folder.path_of("root/s");
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(static_cast<char*>(address.sun_path), path.size());
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-reinterpret-cast): the sockets' own way of
  // inheritance
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(outcome_of(files->read("/s")), "unreadable: cannot open: it is a socket, or a device without a driver");
}

TEST(PosixFilesOfTheSystem, ReadsNoDeviceButFilesOfUnknownSize) {
  const auto files = PosixFileSystem::open("/");
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(outcome_of((*files)->read("/dev/null")), "failed: cannot read the file: it is not a regular file");
  const auto status = (*files)->read("/proc/self/status");
  ASSERT_TRUE(status) << status.error().message;
  EXPECT_TRUE(status->starts_with("Name:"));
  EXPECT_TRUE(status->ends_with("\n"));
}

TEST(PosixFilesOfTheSystem, RefusesMagicLinks) {
  const auto files = PosixFileSystem::open("/");
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_FALSE((*files)->list("/proc/self/cwd"));
  EXPECT_FALSE((*files)->list("/proc/self/root"));
}

TEST_F(PosixFiles, ReadsUpTo64MiB) {
  const auto sparse = [&](const char* name, off_t size) {
    folder.write(name, "");
    return ::truncate(folder.path_of(name).c_str(), size);
  };
  ASSERT_EQ(sparse("root/most", off_t{64} << 20U), 0);
  ASSERT_EQ(sparse("root/more", (off_t{64} << 20U) + 1), 0);
  const auto most = files->read("/most");
  ASSERT_TRUE(most) << most.error().message;
  EXPECT_EQ(most->size(), std::size_t{64} << 20U);
  EXPECT_EQ(outcome_of(files->read("/more")), "failed: cannot read the file: larger than 64 MiB");
}

TEST_F(PosixFiles, WhatOnlyWeMayNotTouchIsPermission) {
  folder.make_folder("root/closed");
  folder.write("root/sealed/x", "text");
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_EQ(::chmod(folder.path_of("root/etc/x").c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder.path_of("root/closed").c_str(), 0), 0);
  ASSERT_EQ(::chmod(folder.path_of("root/sealed").c_str(), 0555), 0);
  const auto outcome = test::run_in_child([&] {
    test::drop_rights();
    return outcome_of(files->read("/etc/x")) + "\n" + outcome_of(files->list("/closed")) + "\n" +
           outcome_of(files->replace("/sealed/x", "new", {})) + "\n" +
           outcome_of(files->replace("/sealed/new", "new", {})) + "\n" + outcome_of(files->remove("/sealed/x")) + "\n" +
           outcome_of(files->make_folders("/sealed/a/b"));
  });
  EXPECT_EQ(outcome,
            "permission: cannot open: permission denied\n"
            "permission: cannot open: permission denied\n"
            "permission: cannot create a file in the folder: permission denied\n"
            "permission: cannot create a file in the folder: permission denied\n"
            "permission: cannot remove the file: permission denied\n"
            "permission: cannot make the folder: permission denied");
  // So that they can be removed.
  EXPECT_EQ(::chmod(folder.path_of("root/closed").c_str(), 0755), 0);
  EXPECT_EQ(::chmod(folder.path_of("root/sealed").c_str(), 0755), 0);
  EXPECT_EQ(folder.read("root/sealed/x"), "text");
}

TEST_F(PosixFiles, FoldersGetTheirModeWhateverTheUmask) {
  const auto outcome = test::run_in_child([&] {
    ::umask(0077);
    return outcome_of(files->make_folders("/etc/a/b"));
  });
  EXPECT_EQ(outcome, "done");
  EXPECT_EQ(files->mode_of("/etc/a"), 0755U);
  EXPECT_EQ(files->mode_of("/etc/a/b"), 0755U);
}

TEST_F(PosixFiles, TakesBackFoldersItCouldNotFinish) {
  for (const long call : {SYS_fchmod, SYS_fsync}) {
    const auto outcome = test::run_in_child([&] {
      test::deny_call(call, EIO);
      return outcome_of(files->make_folders("/etc/a/b"));
    });
    EXPECT_THAT(outcome, testing::Optional(testing::StartsWith("failed: cannot ")));
    EXPECT_EQ(files->list("/etc"), std::vector<std::string>{"x"});
  }
}

TEST_F(PosixFiles, SaysSoWhenTheKernelHasNoOpenat2) {
  for (const int error_number : {ENOSYS, EPERM}) {
    const auto outcome = test::run_in_child([&] {
      test::deny_call(SYS_openat2, error_number);
      return outcome_of(PosixFileSystem::open(root));
    });
    EXPECT_EQ(outcome, "failed: this kernel has no openat2(2), or a seccomp profile denies it");
  }
}

TEST_F(PosixFiles, RootMustBeAFolder) {
  EXPECT_EQ(PosixFileSystem::open(folder.path_of("missing")).error().code, ErrorCode::not_found);
  EXPECT_EQ(PosixFileSystem::open(root + "/etc/x").error().code, ErrorCode::not_found);
}

TEST_F(PosixFiles, LeaksNoDescriptor) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  folder.link("root/link", "etc/x");
  const auto before = count();
  EXPECT_TRUE(files->read("/link"));
  EXPECT_TRUE(files->list("/etc"));
  EXPECT_TRUE(files->replace("/link", "new", {}));
  EXPECT_FALSE(files->replace("/etc", "new", {}));
  EXPECT_TRUE(files->make_folders("/a/b"));
  EXPECT_TRUE(files->remove_folder("/a/b"));
  EXPECT_TRUE(files->remove("/etc/x"));
  EXPECT_EQ(count(), before);
}

TEST_F(PosixFiles, ALockFileIsMadeAndItsContentLeftAlone) {
  {
    const auto held = files->lock_file("/run/toolkit/toolkit.pid");
    ASSERT_TRUE(held) << held.error().message;
    const auto second = open_root()->lock_file("/run/toolkit/toolkit.pid");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, ErrorCode::locked);
  }
  folder.write("root/run/toolkit/toolkit.pid", "4711\n");
  EXPECT_TRUE(files->lock_file("/run/toolkit/toolkit.pid"));
  EXPECT_EQ(*files->read("/run/toolkit/toolkit.pid"), "4711\n");
}

TEST_F(PosixFiles, TellsWhenAFileWasChanged) {
  const timespec times[] = {{.tv_sec = 5, .tv_nsec = 0}, {.tv_sec = 1'700'000'000, .tv_nsec = 123'456'789}};
  ASSERT_EQ(::utimensat(AT_FDCWD, folder.path_of("root/etc/x").c_str(), times, 0), 0);
  EXPECT_EQ(files->modified("/etc/x").value(), 1'700'000'000'123'456);
  EXPECT_EQ(files->modified("/etc/none").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ctkit::installer::host
