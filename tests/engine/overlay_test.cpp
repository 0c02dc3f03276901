#include "engine/overlay.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_files.h"

namespace ctkit::engine {
namespace {

using test::MemoryFiles;
using testing::ElementsAre;

TEST(Overlay, ShowsTheBaseWhereNothingChanged) {
  const MemoryFiles base{{"/etc/a", "A"}, {"/etc/d/b", "B"}};
  const Overlay overlay(base);
  EXPECT_EQ(overlay.read("/etc/a").value(), "A");
  EXPECT_THAT(overlay.list("/etc").value(), ElementsAre("a", "d"));
  EXPECT_TRUE(overlay.exists("/etc/d"));
  EXPECT_FALSE(overlay.exists("/etc/none"));
  EXPECT_EQ(overlay.read("/etc/none").error().code, ErrorCode::not_found);
  EXPECT_EQ(overlay.read("/etc/d").error().code, ErrorCode::is_directory);
}

TEST(Overlay, ALinkStaysWhereTheTextBehindItChanges) {
  MemoryFiles base;
  base.add_link("/etc/link", "there");
  Overlay overlay(base);
  overlay.put("/etc/link", "new");
  EXPECT_EQ(overlay.link_target("/etc/link"), "there");
  EXPECT_EQ(overlay.read("/etc/link").value(), "new");
  overlay.put("/etc/link", std::nullopt);
  EXPECT_EQ(overlay.link_target("/etc/link"), std::nullopt);
}

TEST(Overlay, ShowsANewFileInItsFolderSortedByBytes) {
  const MemoryFiles base{{"/etc/d/10", ""}, {"/etc/d/a", ""}};
  Overlay overlay(base);
  overlay.put("/etc/d/9", "new");
  overlay.put("/etc/d/Z", "new");
  EXPECT_THAT(overlay.list("/etc/d").value(), ElementsAre("10", "9", "Z", "a"));
  EXPECT_THAT(overlay.list("/etc/d/").value(), ElementsAre("10", "9", "Z", "a"));
  EXPECT_EQ(overlay.read("/etc/d/9").value(), "new");
  EXPECT_TRUE(overlay.exists("/etc/d/9"));
}

TEST(Overlay, ShowsTheFoldersAboveANewFile) {
  const MemoryFiles base;
  Overlay overlay(base);
  overlay.put("/etc/containerd/conf.d/99.toml", "x");
  EXPECT_THAT(overlay.list("/").value(), ElementsAre("etc"));
  EXPECT_THAT(overlay.list("/etc/containerd").value(), ElementsAre("conf.d"));
  EXPECT_TRUE(overlay.exists("/etc/containerd/conf.d"));
  EXPECT_FALSE(overlay.exists("/etc/containerd/conf"));
  EXPECT_EQ(overlay.list("/etc/containerd/conf").error().code, ErrorCode::not_found);
}

TEST(Overlay, HidesWhatWasTakenAway) {
  const MemoryFiles base{{"/etc/a", "A"}, {"/etc/b", "B"}};
  Overlay overlay(base);
  overlay.put("/etc/a", std::nullopt);
  EXPECT_EQ(overlay.read("/etc/a").error().code, ErrorCode::not_found);
  EXPECT_FALSE(overlay.exists("/etc/a"));
  EXPECT_THAT(overlay.list("/etc").value(), ElementsAre("b"));
}

TEST(Overlay, AppliesChangesOneAfterTheOther) {
  const MemoryFiles base{{"/a", "A"}, {"/b", "B"}};
  Overlay overlay(base);
  overlay.apply(
      {{.path = "/a", .before = "A", .after = "A2"}, {.path = "/b", .before = "B"}, {.path = "/c", .after = "C"}});
  EXPECT_EQ(overlay.read("/a").value(), "A2");
  EXPECT_THAT(overlay.list("/").value(), ElementsAre("a", "c"));
  overlay.apply({{.path = "/b", .after = "again"}});
  EXPECT_EQ(overlay.read("/b").value(), "again");
}

TEST(Overlay, PassesOnThatAFileOrFolderCannotBeRead) {
  MemoryFiles base{{"/etc/a", "A"}};
  base.mark_unreadable("/etc/a");
  const Overlay overlay(base);
  EXPECT_EQ(overlay.read("/etc/a").error().code, ErrorCode::permission);
  base.mark_unreadable("/etc");
  EXPECT_EQ(overlay.list("/etc").error().code, ErrorCode::permission);
}

TEST(Overlay, TouchesNothingOfTheBase) {
  const MemoryFiles base{{"/a", "A"}};
  const auto before = base.tree();
  Overlay overlay(base);
  overlay.put("/a", std::nullopt);
  overlay.put("/b", "B");
  EXPECT_EQ(base.tree(), before);
}

}  // namespace
}  // namespace ctkit::engine
