#include "installer/host/file_watch.h"

#include <filesystem>
#include <fstream>
#include <poll.h>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace ctkit::installer::host {
namespace {

using daemonset::WatchItem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class FileWatchTest : public testing::Test {
 protected:
  FileWatchTest() { root.make_folder("etc/conf.d"); }

  FileWatch::Set watch(const std::vector<WatchItem>& items) { return watched.set(items); }
  void move(const std::string& from, const std::string& to) {
    std::filesystem::rename(root.path_of(from), root.path_of(to));
  }

  test::TempFolder root;
  FileWatch watched = FileWatch::open(root.path()).value();
};

TEST_F(FileWatchTest, TellsOfEveryKindOfChangeOnce) {
  EXPECT_TRUE(watch({{.folder = "/etc/conf.d"}}).grew);
  EXPECT_THAT(watched.read(), IsEmpty());
  root.write("etc/conf.d/a.toml", "one");
  root.write("etc/conf.d/a.toml", "two");
  EXPECT_THAT(watched.read(), ElementsAre("/etc/conf.d/a.toml"));
  move("etc/conf.d/a.toml", "etc/conf.d/b.toml");
  EXPECT_THAT(watched.read(), UnorderedElementsAre("/etc/conf.d/a.toml", "/etc/conf.d/b.toml"));
  std::filesystem::permissions(root.path_of("etc/conf.d/b.toml"), std::filesystem::perms::owner_read);
  EXPECT_THAT(watched.read(), ElementsAre("/etc/conf.d/b.toml"));
  std::filesystem::remove(root.path_of("etc/conf.d/b.toml"));
  EXPECT_THAT(watched.read(), ElementsAre("/etc/conf.d/b.toml"));
}

TEST_F(FileWatchTest, WhatHasNoFolderIsAFailureAndNoEndlessSearch) {
  for (const std::string folder : {"", "driver-ready", "no/such/folder"})
    EXPECT_FALSE(watch({{.folder = folder, .prefix = "driver-ready"}}).failed.empty()) << folder;
}

TEST_F(FileWatchTest, ReadingIsNoChange) {
  root.write("etc/conf.d/a.toml", "one");
  watch({{.folder = "/etc/conf.d"}});
  EXPECT_EQ(root.read("etc/conf.d/a.toml"), "one");
  EXPECT_THAT(watched.read(), IsEmpty());
}

TEST_F(FileWatchTest, OfAFolderOnlyTheNamesThatCount) {
  watch({{.folder = "/etc", .prefix = "config.toml"}, {.folder = "/etc", .prefix = "other"}});
  root.write("etc/certificate", "");
  root.write("etc/conf.d/below.toml", "");
  EXPECT_THAT(watched.read(), IsEmpty());
  root.write("etc/config.toml", "");
  root.write("etc/other", "");
  EXPECT_THAT(watched.read(), ElementsAre("/etc/config.toml", "/etc/other"));
}

TEST_F(FileWatchTest, NotOfWhatAReplaceOfOursHasInHand) {
  watch({{.folder = "/etc/conf.d"}});
  root.write("etc/conf.d/.ctkit-0123456789abcdef", "");
  EXPECT_THAT(watched.read(), IsEmpty());
}

TEST_F(FileWatchTest, AFolderThatIsNotThereIsWaitedFor) {
  watch({{.folder = "/opt/toolkit/bin", .prefix = "runc"}});
  root.make_folder("opt");
  EXPECT_THAT(watched.read(), ElementsAre("/opt"));
  // Whoever is told looks again, and watches what is there by then.
  watch({{.folder = "/opt/toolkit/bin", .prefix = "runc"}});
  root.make_folder("opt/toolkit-of-others");
  EXPECT_THAT(watched.read(), IsEmpty());
  root.make_folder("opt/toolkit/bin");
  EXPECT_THAT(watched.read(), ElementsAre("/opt/toolkit"));
  watch({{.folder = "/opt/toolkit/bin", .prefix = "runc"}});
  root.write("opt/toolkit/bin/runc", "");
  EXPECT_THAT(watched.read(), ElementsAre("/opt/toolkit/bin/runc"));
}

TEST_F(FileWatchTest, AFolderThatGoesIsTold) {
  watch({{.folder = "/etc/conf.d"}});
  move("etc/conf.d", "etc/elsewhere");
  EXPECT_THAT(watched.read(), Contains("/etc/conf.d"));
  std::filesystem::remove_all(root.path_of("etc/elsewhere"));
  EXPECT_THAT(watched.read(), Contains("/etc/conf.d"));
}

TEST_F(FileWatchTest, LinksStayBelowTheHostRoot) {
  root.make_folder("real");
  root.link("etc/link", "/real");
  watch({{.folder = "/etc/link"}});
  root.write("real/a", "");
  EXPECT_THAT(watched.read(), ElementsAre("/etc/link/a"));
}

TEST_F(FileWatchTest, FoldersOfOurOwnAreNotBelowIt) {
  const test::TempFolder ours;
  watch({{.on_host = false, .folder = ours.path(), .prefix = "driver"}});
  ours.write("driver-ready", "");
  EXPECT_THAT(watched.read(), ElementsAre(ours.path_of("driver-ready")));
}

TEST_F(FileWatchTest, WhatIsNotWatchedAnyMoreIsNotTold) {
  watch({{.folder = "/etc/conf.d"}});
  EXPECT_TRUE(watch({{.folder = "/etc"}}).grew);
  EXPECT_FALSE(watch({{.folder = "/etc"}}).grew);
  root.write("etc/conf.d/a.toml", "");
  EXPECT_THAT(watched.read(), IsEmpty());
}

TEST_F(FileWatchTest, WhatCanNotBeWatchedDoesNotKeepTheRestFromIt) {
  root.link("etc/loop", "loop");
  const auto set = watch({{.folder = "/etc/loop"}, {.folder = "/etc/conf.d"}});
  EXPECT_THAT(set.failed, HasSubstr("/etc/loop"));
  root.write("etc/conf.d/a.toml", "");
  EXPECT_THAT(watched.read(), ElementsAre("/etc/conf.d/a.toml"));
}

TEST_F(FileWatchTest, IsReadableWhenThereIsSomething) {
  watch({{.folder = "/etc/conf.d"}});
  pollfd polled{.fd = watched.fd(), .events = POLLIN, .revents = 0};
  EXPECT_EQ(::poll(&polled, 1, 0), 0);
  root.write("etc/conf.d/a.toml", "");
  EXPECT_EQ(::poll(&polled, 1, 0), 1);
}

TEST_F(FileWatchTest, DescribesWhoChangedItLast) {
  root.write("etc/a", "12345");
  std::filesystem::permissions(root.path_of("etc/a"), std::filesystem::perms(0640));
  EXPECT_THAT(
      watched.describe("/etc/a"),
      AllOf(HasSubstr("'/etc/a' changed: modified 20"), HasSubstr("Z, owner "), HasSubstr(", mode 0640, 5 bytes")));
  EXPECT_EQ(watched.describe("/etc/b"), "'/etc/b' is gone");
}

}  // namespace
}  // namespace ctkit::installer::host
