#include "engine/snapshot.h"

#include <gtest/gtest.h>

#include "support/memory_files.h"

namespace ctkit::engine {
namespace {

TEST(Snapshot, AnswersAsTheFirstTime) {
  test::MemoryFiles files;
  files.add_file("/etc/a", "first");
  const Snapshot seen(files);
  EXPECT_EQ(seen.read("/etc/a"), "first");
  EXPECT_EQ(seen.list("/etc"), std::vector<std::string>{"a"});
  EXPECT_FALSE(seen.exists("/etc/b"));
  EXPECT_EQ(seen.read("/etc/c").error().code, ErrorCode::not_found);
  files.add_file("/etc/a", "second");
  files.add_file("/etc/b", "new");
  files.add_file("/etc/c", "new");
  EXPECT_EQ(seen.read("/etc/a"), "first");
  EXPECT_EQ(seen.list("/etc"), std::vector<std::string>{"a"});
  EXPECT_FALSE(seen.exists("/etc/b"));
  EXPECT_EQ(seen.read("/etc/c").error().code, ErrorCode::not_found);
  EXPECT_EQ(seen.read("/etc/b"), "new") << "asked for the first time";
}

}  // namespace
}  // namespace ctkit::engine
