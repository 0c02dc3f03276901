#include "support/memory_files.h"

#include <gtest/gtest.h>

// What it shares with the real class is tested in host/file_system_contract_test.cpp.

namespace ctkit::test {
namespace {

using engine::Error;
using engine::ErrorCode;

const Error kDiskFull{.message = "no space left on device"};

TEST(MemoryFiles, RecordsWhatTookEffectInOrder) {
  MemoryFiles files{{"/etc/x", "old"}};
  EXPECT_TRUE(files.replace("/etc/x", "new", {}));
  EXPECT_TRUE(files.make_folders("/etc/a/b"));
  EXPECT_TRUE(files.make_folders("/etc/a"));
  EXPECT_TRUE(files.remove("/etc/x"));
  EXPECT_FALSE(files.remove("/etc/x"));
  EXPECT_EQ(files.remove_folder("/etc/a"), false);
  EXPECT_EQ(files.remove_folder("/etc/a/b"), true);
  EXPECT_EQ(
      files.log(),
      (std::vector<std::string>{"replace /etc/x", "make_folders /etc/a/b", "remove /etc/x", "remove_folder /etc/a/b"}));
}

TEST(MemoryFiles, ReadingIsNotRecorded) {
  const MemoryFiles files{{"/etc/x", "text"}};
  EXPECT_EQ(files.read("/etc/x"), "text");
  EXPECT_TRUE(files.list("/etc"));
  EXPECT_EQ(files.log(), std::vector<std::string>{});
}

TEST(MemoryFiles, FailsTheNthMutationOnceAndChangesNothingThen) {
  MemoryFiles files{{"/etc/x", "old"}};
  files.fail_mutation(2, kDiskFull);
  ASSERT_TRUE(files.replace("/etc/x", "first", {}));
  const auto before = files.tree();

  const auto second = files.replace("/etc/x", "second", {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error(), kDiskFull);
  EXPECT_EQ(files.tree(), before);
  EXPECT_EQ(files.log(), std::vector<std::string>{"replace /etc/x"});

  EXPECT_TRUE(files.replace("/etc/x", "third", {}));
  EXPECT_EQ(files.read("/etc/x"), "third");
}

TEST(MemoryFiles, CountsMutationsToFailFromNow) {
  MemoryFiles files{{"/etc/x", "old"}};
  ASSERT_TRUE(files.replace("/etc/x", "first", {}));
  files.fail_mutation(1, kDiskFull);
  EXPECT_FALSE(files.remove("/etc/x"));
  EXPECT_TRUE(files.exists("/etc/x"));
}

TEST(MemoryFiles, FailsReadsByTheirPathAlsoThroughLinks) {
  MemoryFiles files{{"/etc/x", "text"}, {"/etc/y", "text"}};
  files.add_link("/etc/link", "x");
  files.mark_unreadable("/etc/x");
  files.fail_reads_of("/etc/y", kDiskFull);
  files.mark_unreadable("/etc");

  EXPECT_EQ(files.read("/etc/x").error().code, ErrorCode::permission);
  EXPECT_EQ(files.read("/etc/link").error().code, ErrorCode::permission);
  EXPECT_EQ(files.read("/etc/y").error(), kDiskFull);
  EXPECT_EQ(files.list("/etc").error().code, ErrorCode::permission);
  EXPECT_TRUE(files.exists("/etc/x"));
}

TEST(MemoryFiles, EqualTreesCompareEqual) {
  MemoryFiles files{{"/etc/x", "text"}};
  const auto before = files.tree();
  ASSERT_TRUE(files.make_folders("/etc/a"));
  EXPECT_NE(files.tree(), before);
  ASSERT_TRUE(files.remove_folder("/etc/a"));
  EXPECT_EQ(files.tree(), before);
}

}  // namespace
}  // namespace ctkit::test
