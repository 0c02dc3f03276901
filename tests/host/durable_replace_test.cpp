#include "installer/host/durable_replace.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "installer/host/posix_file_system.h"
#include "support/child_process.h"
#include "support/temp_folder.h"

namespace ctkit::installer::host {
namespace {

using namespace std::literals;
using test::run_in_child;
using test::TempFolder;
using Names = std::vector<std::string>;

constexpr auto kLeftover = ".ctkit-0123456789abcdef";

class DurableReplace : public testing::Test {
 protected:
  DurableReplace() { folder.write("x", "old"); }

  TempFolder folder = {};
  std::unique_ptr<PosixFileSystem> files = *PosixFileSystem::open(folder.path());

  // What became of it, for the way back from a child.
  std::string replace(std::string_view path, std::string_view text) {
    const auto replaced = files->replace(path, text, {.mode = 0640});
    return replaced ? "done" : replaced.error().message;
  }

  [[nodiscard]] struct stat status_of(const std::string& name) const {
    struct stat status{};
    EXPECT_EQ(::lstat(folder.path_of(name).c_str(), &status), 0);
    return status;
  }
};

TEST_F(DurableReplace, ModeOfANewFileIgnoresTheUmask) {
  const auto outcome = run_in_child([&] {
    ::umask(0077);
    return replace("/new", "text");
  });
  EXPECT_EQ(outcome, "done");
  EXPECT_EQ(files->mode_of("/new"), 0640U);
}

TEST_F(DurableReplace, KeepsOwnerAndAllModeBits) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(::chown(folder.path_of("x").c_str(), 1234, 4321), 0);
  ASSERT_EQ(::chmod(folder.path_of("x").c_str(), 06710), 0);
  ASSERT_EQ(replace("/x", "new"), "done");
  const auto status = status_of("x");
  EXPECT_EQ(status.st_uid, 1234U);
  EXPECT_EQ(status.st_gid, 4321U);
  EXPECT_EQ(status.st_mode & 07777U, 06710U);
  EXPECT_EQ(folder.read("x"), "new");
}

TEST_F(DurableReplace, NeedsNoRightToReadTheFile) {
  const auto outcome = run_in_child([&] {
    if (::chmod(folder.path().c_str(), 0777) != 0) return std::string("chmod");
    test::drop_rights();
    return replace("/own", "old") + (::chmod(folder.path_of("own").c_str(), 0) == 0 ? ", " : "chmod") +
           replace("/own", "new");
  });
  EXPECT_EQ(outcome, "done, done");
  EXPECT_EQ(files->mode_of("/own"), 0U);
}

TEST_F(DurableReplace, KeepsTheLabel) {
  constexpr auto kLabel = "system_u:object_r:container_config_t:s0\0"sv;  // SELinux has the NUL
  const std::string path = folder.path_of("x");
  if (::setxattr(path.c_str(), "security.selinux", kLabel.data(), kLabel.size(), 0) != 0) {
    GTEST_SKIP() << "may not label a file here";
  }
  ASSERT_EQ(replace("/x", "new"), "done");
  std::array<char, 100> label{};
  const auto length = ::getxattr(path.c_str(), "security.selinux", label.data(), label.size());
  ASSERT_GT(length, 0);
  EXPECT_EQ(std::string_view(label.data(), static_cast<std::size_t>(length)), kLabel);
}

TEST_F(DurableReplace, KeepsTheAcl) {
  // rw for the owner, r for user 1234, nothing for the group, mask r: the mode then reads 0640.
  constexpr auto kAcl =
      "\x02\0\0\0"
      "\x01\0\x06\0\xff\xff\xff\xff"
      "\x02\0\x04\0\xd2\x04\0\0"
      "\x04\0\0\0\xff\xff\xff\xff"
      "\x10\0\x04\0\xff\xff\xff\xff"
      "\x20\0\0\0\xff\xff\xff\xff"sv;
  const std::string path = folder.path_of("x");
  if (::setxattr(path.c_str(), "system.posix_acl_access", kAcl.data(), kAcl.size(), 0) != 0) {
    GTEST_SKIP() << "no ACLs on this file system";
  }
  ASSERT_EQ(replace("/x", "new"), "done");
  std::array<char, 100> acl{};
  const auto length = ::getxattr(path.c_str(), "system.posix_acl_access", acl.data(), acl.size());
  ASSERT_GT(length, 0);
  EXPECT_EQ(std::string_view(acl.data(), static_cast<std::size_t>(length)), kAcl);
  EXPECT_EQ(files->mode_of("/x"), 0640U);
}

TEST_F(DurableReplace, OtherHardLinksKeepTheOldBytes) {
  ASSERT_EQ(::link(folder.path_of("x").c_str(), folder.path_of("y").c_str()), 0);
  ASSERT_EQ(replace("/x", "new"), "done");
  EXPECT_EQ(folder.read("y"), "old");
}

TEST_F(DurableReplace, WorksWithoutUnnamedFiles) {
  const auto outcome = run_in_child([&] {
    test::deny_unnamed_files();
    return replace("/x", "new") + ", " + replace("/y", "new");
  });
  EXPECT_EQ(outcome, "done, done");
  EXPECT_EQ(folder.read("x"), "new");
  EXPECT_EQ(files->mode_of("/y"), 0640U);
  EXPECT_EQ(files->list("/"), (Names{"x", "y"}));
}

TEST_F(DurableReplace, RemovesLeftoversOfAKilledRunAndNothingElse) {
  const Names others = {".ctkit", ".ctkit-notes", ".ctkit-0123456789ABCDEF", "ctkit-0123456789abcdef", "x"};
  for (const auto& name : others)
    folder.write(name, "");
  folder.write(kLeftover, "");
  folder.make_folder(".ctkit-00000000000000ff");
  ASSERT_EQ(replace("/x", "new"), "done");
  EXPECT_EQ(files->list("/"),
            (Names{".ctkit",
                   ".ctkit-00000000000000ff",
                   ".ctkit-0123456789ABCDEF",
                   ".ctkit-notes",
                   "ctkit-0123456789abcdef",
                   "x"}));
}

TEST_F(DurableReplace, ReadersSeeOnlyWholeContent) {
  const std::array texts = {std::string(100'000, 'a'), std::string(99'000, 'b')};
  folder.write("x", texts[0]);
  std::vector<std::string> strange;
  int seen = 0;
  {
    const std::jthread reader([&](const std::stop_token& stop) {
      const auto own = PosixFileSystem::open(folder.path());
      while (!stop.stop_requested() || seen == 0) {
        const auto text = (*own)->read("/x");
        if (!text || (*text != texts[0] && *text != texts[1])) {
          strange.push_back(text ? text->substr(0, 100) : text.error().message);
        }
        ++seen;
      }
    });
    for (unsigned i = 1; i <= 1000; ++i) {
      ASSERT_EQ(replace("/x", texts[i % 2]), "done");
    }
  }
  EXPECT_EQ(strange, Names{});
  EXPECT_EQ(files->list("/"), Names{"x"});
}

TEST_F(DurableReplace, NeverReplacesWhatTheCallerHasNotSeen) {
  int lost = 0;
  int refused = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string theirs = std::to_string(i);
    folder.write("theirs", theirs);
    const std::optional<std::string> seen = *files->read("/x");
    {
      const std::jthread writer([&] { std::rename(folder.path_of("theirs").c_str(), folder.path_of("x").c_str()); });
      for (int spin = 0; spin < (i % 50) * 500; ++spin)
        std::atomic_signal_fence(std::memory_order_seq_cst);
      const auto replaced = files->replace("/x", *seen + " and ours", {.instead_of = &seen});
      refused += replaced ? 0 : 1;
    }
    lost += files->read("/x") == theirs ? 0 : 1;
    folder.write("x", "old");
  }
  EXPECT_EQ(lost, 0) << "of 500, " << refused << " refused";
  EXPECT_EQ(files->list("/"), Names{"x"});
}

// CRI-O reads every file in its folder, whatever the name.
TEST_F(DurableReplace, StagedAboveTheFolderNeverShowsTwoFiles) {
  folder.write("d/x", "old");
  const std::optional<std::string> old = "old";
  for (const bool unnamed : {true, false}) {
    for (const long call : {SYS_renameat, SYS_renameat2}) {
      const bool exchanged = call == SYS_renameat2;
      const auto outcome = run_in_child([&] {
        if (!unnamed) test::deny_unnamed_files();
        test::die_at_call(call);
        const auto replaced =
            files->replace("/d/x", "new", {.instead_of = exchanged ? &old : nullptr, .stage_above = true});
        return replaced ? "done" : replaced.error().message;
      });
      EXPECT_EQ(outcome, std::nullopt);
      EXPECT_EQ(files->list("/d"), Names{"x"});
      EXPECT_EQ(files->list("/").value_or(Names{}).size(), 3U) << "the whole content waits above";
      ASSERT_TRUE(files->replace("/d/x", "old", {.instead_of = &old, .stage_above = true}));
      EXPECT_EQ(files->list("/"), (Names{"d", "x"}));
      EXPECT_EQ(files->read("/d/x"), "old");
    }
  }
}

TEST_F(DurableReplace, WhatStandsAboveIsOutOfSightOfWhoReadsTheFolder) {
  const std::array texts = {std::string(10'000, 'a'), std::string(9'000, 'b')};
  folder.write("d/x", texts[0]);
  std::size_t most = 0;
  {
    const std::jthread reader([&](const std::stop_token& stop) {
      const auto own = PosixFileSystem::open(folder.path());
      while (!stop.stop_requested() || most == 0)
        most = std::max(most, (*own)->list("/d").value_or(Names{}).size());
    });
    for (unsigned i = 1; i <= 500; ++i) {
      const std::optional<std::string> seen = texts[(i + 1) % 2];
      ASSERT_TRUE(files->replace("/d/x", texts[i % 2], {.instead_of = &seen, .stage_above = true}));
    }
  }
  EXPECT_EQ(most, 1U);
}

TEST_F(DurableReplace, FolderThatIsAMountIsItsOwnStage) {
  folder.make_folder("d");
  const auto outcome = run_in_child([&] {
    if (!test::mount_small_disk(folder.path_of("d"), 64)) return std::string("may not mount");
    files = *PosixFileSystem::open(folder.path());
    for (const std::string text : {"old", "new"}) {
      const auto replaced = files->replace("/d/x", text, {.stage_above = true});
      if (!replaced) return replaced.error().message;
    }
    return files->read("/d/x").value_or("gone") + ", " + std::to_string(files->list("/d").value_or(Names{}).size());
  });
  if (outcome == "may not mount") GTEST_SKIP() << "needs the right to mount";
  EXPECT_EQ(outcome, "new, 1");
}

// A step of replacing, by the system call that takes it.
struct Step {
  const char* name = "";
  long call = 0;
  bool unnamed = true;  // with O_TMPFILE
};

void PrintTo(const Step& step, std::ostream* stream) {
  *stream << step.name;
}

class DurableReplaceStep : public DurableReplace, public testing::WithParamInterface<Step> {
 protected:
  // UBSan probes each kind of object with write(2) at its first virtual call, later there may be
  // none: this meets all of them, the error's category too.
  void SetUp() override { ASSERT_FALSE(files->exists("/missing")); }

  void expect_as_before() {
    EXPECT_EQ(folder.read("x"), "old");
    EXPECT_EQ(files->list("/"), Names{"x"});
  }
};

TEST_P(DurableReplaceStep, LeavesTheFileAsBeforeWhenItFails) {
  for (const int error_number : {EIO, ENOSPC, EPERM}) {
    const auto outcome = run_in_child([&] {
      if (!GetParam().unnamed) test::deny_unnamed_files();
      test::deny_call(GetParam().call, error_number);
      const auto replaced = files->replace("/x", "new", {});
      if (replaced) return std::string("done");
      return std::string(replaced.error().code == engine::ErrorCode::permission ? "permission" : "failed") + " " +
             replaced.error().where;
    });
    EXPECT_EQ(outcome, error_number == EPERM ? "permission /x" : "failed /x");
    expect_as_before();
  }
}

TEST_P(DurableReplaceStep, LeavesTheFileAsBeforeWhenKilled) {
  const auto outcome = run_in_child([&] {
    if (!GetParam().unnamed) test::deny_unnamed_files();
    test::die_at_call(GetParam().call);
    return replace("/x", "new");
  });
  EXPECT_EQ(outcome, std::nullopt);
  EXPECT_EQ(folder.read("x"), "old");
  // The next run clears what is left, if anything.
  ASSERT_EQ(replace("/x", "old"), "done");
  expect_as_before();
}

INSTANTIATE_TEST_SUITE_P(,
                         DurableReplaceStep,
                         testing::Values(Step{.name = "write", .call = SYS_write},
                                         Step{.name = "mode", .call = SYS_fchmod},
                                         Step{.name = "sync", .call = SYS_fsync},
                                         Step{.name = "link", .call = SYS_linkat},
                                         Step{.name = "rename", .call = SYS_renameat},
                                         Step{.name = "write_named", .call = SYS_write, .unnamed = false},
                                         Step{.name = "mode_named", .call = SYS_fchmod, .unnamed = false},
                                         Step{.name = "sync_named", .call = SYS_fsync, .unnamed = false},
                                         Step{.name = "rename_named", .call = SYS_renameat, .unnamed = false}),
                         [](const auto& step) { return std::string(step.param.name); });

TEST_F(DurableReplace, FullDiskLeavesTheFileAsBefore) {
  const auto outcome = run_in_child([&] {
    if (!test::mount_small_disk(folder.path(), 64)) return std::string("may not mount");
    files = *PosixFileSystem::open(folder.path());  // the old one is below the mount
    const auto before = replace("/x", "old");
    const auto full = replace("/x", std::string(1U << 20U, 'n'));
    return before + ", " + full + ", " + files->read("/x").value_or("gone") + ", " +
           std::to_string(files->list("/").value_or(Names{}).size());
  });
  if (outcome == "may not mount") GTEST_SKIP() << "needs the right to mount";
  EXPECT_EQ(outcome, "done, cannot write the file: no space left on device, old, 1");
}

TEST_F(DurableReplace, ReadOnlyFileSystemIsSaidSo) {
  const auto outcome = run_in_child([&] {
    if (!test::mount_small_disk(folder.path(), 64)) return std::string("may not mount");
    files = *PosixFileSystem::open(folder.path());
    const auto before = replace("/x", "old");
    if (!test::make_read_only(folder.path())) return std::string("cannot remount");
    const auto replaced = files->replace("/x", "new", {});
    if (replaced) return std::string("done");
    return before + ", " + replaced.error().message + ", " + replaced.error().hint + ", " +
           files->read("/x").value_or("gone");
  });
  if (outcome == "may not mount") GTEST_SKIP() << "needs the right to mount";
  EXPECT_EQ(outcome,
            "done, cannot create a file in the folder: read-only file system, "
            "in a container, the folder may be mounted read-only, old");
}

TEST_F(DurableReplace, FileThatIsAMountPointIsSaidSo) {
  const auto outcome = run_in_child([&] {
    test::deny_call(SYS_renameat, EBUSY);
    const auto replaced = files->replace("/x", "new", {});
    return replaced ? "done" : replaced.error().hint;
  });
  EXPECT_EQ(outcome, "a file that is a mount point can't be replaced; mount its folder");
}

}  // namespace
}  // namespace ctkit::installer::host
