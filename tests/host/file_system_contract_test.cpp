#include <memory>
#include <string>
#include <sys/stat.h>
#include <vector>

#include <gtest/gtest.h>

#include "installer/file_system.h"
#include "installer/host/posix_file_system.h"
#include "support/memory_files.h"
#include "support/temp_folder.h"

// What the seam promises, asked of the real class and of the fake alike.

namespace ctkit::installer {
namespace {

using engine::ErrorCode;
using test::MemoryFiles;
using test::TempFolder;
using Names = std::vector<std::string>;

class Posix {
 public:
  Posix() : files_(*host::PosixFileSystem::open(folder_.path())) {}
  FileSystem& files() { return *files_; }
  void add_file(const std::string& path, const std::string& text, unsigned mode = 0644) {
    folder_.write(path, text);
    EXPECT_EQ(::chmod(folder_.path_of(path).c_str(), mode), 0);
  }
  void add_folder(const std::string& path) { folder_.make_folder(path); }
  void add_link(const std::string& path, const std::string& target) { folder_.link(path, target); }

 private:
  TempFolder folder_;
  std::unique_ptr<host::PosixFileSystem> files_;
};

class Memory {
 public:
  FileSystem& files() { return files_; }
  void add_file(const std::string& path, const std::string& text, unsigned mode = 0644) {
    files_.add_file(path, text, mode);
  }
  void add_folder(const std::string& path) { files_.add_folder(path); }
  void add_link(const std::string& path, const std::string& target) { files_.add_link(path, target); }

 private:
  MemoryFiles files_;
};

template <typename Host>
class FileSystemContract : public testing::Test {
 protected:
  Host host = {};
  FileSystem& files = host.files();
};

template <typename T>
ErrorCode code_of(const engine::Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorCode::usage : result.error().code;
}

using Hosts = testing::Types<Posix, Memory>;
TYPED_TEST_SUITE(FileSystemContract, Hosts, );

TYPED_TEST(FileSystemContract, ReadsTheBytes) {
  const std::string text("a\0b\r\n\xff", 6);
  this->host.add_file("/etc/x", text);
  this->host.add_file("/etc/empty", "");
  EXPECT_EQ(this->files.read("/etc/x"), text);
  EXPECT_EQ(this->files.read("/etc/empty"), "");
  EXPECT_EQ(this->files.read("//etc/./../etc//x"), text);
}

TYPED_TEST(FileSystemContract, SaysWhyItCannotRead) {
  this->host.add_file("/etc/x", "text");
  this->host.add_link("/etc/dangling", "nowhere");
  this->host.add_link("/etc/loop", "loop");
  EXPECT_EQ(code_of(this->files.read("/etc/missing")), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.read("/missing/x")), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.read("/etc/x/y")), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.read("/etc/x/")), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.read("/etc/dangling")), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.read("/etc/loop")), ErrorCode::unreadable);
  EXPECT_EQ(code_of(this->files.read("/etc")), ErrorCode::is_directory);
  EXPECT_EQ(code_of(this->files.read("/")), ErrorCode::is_directory);
  EXPECT_EQ(this->files.read("/etc/missing").error().where, "/etc/missing");
}

TYPED_TEST(FileSystemContract, FollowsLinksInsideTheRoot) {
  this->host.add_file("/etc/real/x", "text");
  this->host.add_link("/etc/absolute", "/etc/real/x");
  this->host.add_link("/etc/relative", "real/x");
  this->host.add_link("/etc/climbing", "../../../../../etc/real/x");
  this->host.add_link("/folder", "/etc/real");
  this->host.add_link("/chain", "/etc/absolute");
  for (const char* path : {"/etc/absolute",
                           "/etc/relative",
                           "/etc/climbing",
                           "/folder/x",
                           "/folder/../real/x",
                           "/../etc/real/x",
                           "/chain"}) {
    EXPECT_EQ(this->files.read(path), "text") << path;
  }
}

TYPED_TEST(FileSystemContract, ListsNamesSortedByBytes) {
  this->host.add_file("/d/b", "");
  this->host.add_file("/d/B", "");
  this->host.add_file("/d/\xc3\xa4", "");
  this->host.add_file("/d/.hidden", "");
  this->host.add_file("/d/b-c", "");
  this->host.add_file("/d/folder/x", "");
  this->host.add_link("/d/dangling", "nowhere");
  this->host.add_link("/link", "d");
  const Names names = {".hidden", "B", "b", "b-c", "dangling", "folder", "\xc3\xa4"};
  EXPECT_EQ(this->files.list("/d"), names);
  EXPECT_EQ(this->files.list("/link/"), names);
  EXPECT_EQ(this->files.list("/"), (Names{"d", "link"}));
}

TYPED_TEST(FileSystemContract, ListsOnlyFolders) {
  this->host.add_file("/x", "");
  EXPECT_EQ(code_of(this->files.list("/x")), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.list("/missing")), ErrorCode::not_found);
}

TYPED_TEST(FileSystemContract, TellsWhereALinkPointsAsItIsWritten) {
  this->host.add_file("/etc/x", "");
  this->host.add_link("/etc/link", "../nowhere");
  EXPECT_EQ(this->files.link_target("/etc/link"), "../nowhere");
  EXPECT_EQ(this->files.link_target("/etc/x"), std::nullopt);
  EXPECT_EQ(this->files.link_target("/etc"), std::nullopt);
  EXPECT_EQ(this->files.link_target("/etc/nowhere"), std::nullopt);
}

TYPED_TEST(FileSystemContract, ExistsDoesNotFollowTheLastLink) {
  this->host.add_file("/etc/x", "");
  this->host.add_link("/etc/dangling", "nowhere");
  EXPECT_TRUE(this->files.exists("/etc/x"));
  EXPECT_TRUE(this->files.exists("/etc"));
  EXPECT_TRUE(this->files.exists("/"));
  EXPECT_TRUE(this->files.exists("/etc/dangling"));
  EXPECT_FALSE(this->files.exists("/etc/dangling/x"));
  EXPECT_FALSE(this->files.exists("/etc/nowhere"));
  EXPECT_FALSE(this->files.exists("/etc/x/y"));
}

TYPED_TEST(FileSystemContract, ReplaceCreatesWithTheModeAskedFor) {
  this->host.add_folder("/etc");
  ASSERT_TRUE(this->files.replace("/etc/x", "text", {.mode = 0640}));
  EXPECT_EQ(this->files.read("/etc/x"), "text");
  EXPECT_EQ(this->files.mode_of("/etc/x"), 0640U);
  EXPECT_EQ(this->files.list("/etc"), Names{"x"});
}

TYPED_TEST(FileSystemContract, ReplaceKeepsTheModeOfTheFile) {
  this->host.add_file("/etc/x", "old", 0600);
  ASSERT_TRUE(this->files.replace("/etc/x", "new", {.mode = 0644}));
  EXPECT_EQ(this->files.read("/etc/x"), "new");
  EXPECT_EQ(this->files.mode_of("/etc/x"), 0600U);
  EXPECT_EQ(this->files.list("/etc"), Names{"x"});
}

TYPED_TEST(FileSystemContract, ReplacesOnlyWhatTheCallerHasSeen) {
  const std::optional<std::string> seen = "old";
  const std::optional<std::string> no_file;
  this->host.add_file("/etc/x", "old", 0600);
  this->host.add_file("/etc/longer", "older");
  ASSERT_TRUE(this->files.replace("/etc/x", "new", {.instead_of = &seen}));
  EXPECT_EQ(this->files.read("/etc/x"), "new");
  EXPECT_EQ(this->files.mode_of("/etc/x"), 0600U);
  ASSERT_TRUE(this->files.replace("/etc/y", "new", {.instead_of = &no_file}));
  for (const char* path : {"/etc/x", "/etc/longer", "/etc/absent"}) {
    EXPECT_EQ(code_of(this->files.replace(path, "newer", {.instead_of = &seen})), ErrorCode::failed) << path;
  }
  EXPECT_EQ(code_of(this->files.replace("/etc/y", "newer", {.instead_of = &no_file})), ErrorCode::failed);
  EXPECT_EQ(this->files.read("/etc/x"), "new");
  EXPECT_EQ(this->files.read("/etc/y"), "new");
  EXPECT_EQ(this->files.read("/etc/longer"), "older");
  EXPECT_EQ(this->files.list("/etc"), (Names{"longer", "x", "y"}));
}

TYPED_TEST(FileSystemContract, ReplaceKeepsTheLinkAndReplacesItsTarget) {
  this->host.add_file("/data/deep/x", "old", 0600);
  this->host.add_link("/data/y", "../../../data/deep/x");
  this->host.add_link("/etc/link", "/data/y");
  ASSERT_TRUE(this->files.replace("/etc/link", "new", {}));
  EXPECT_EQ(this->files.read("/data/deep/x"), "new");
  EXPECT_EQ(this->files.mode_of("/etc/link"), 0600U);
  EXPECT_EQ(this->files.list("/data"), (Names{"deep", "y"}));
  ASSERT_TRUE(this->files.remove("/data/deep/x"));
  EXPECT_TRUE(this->files.exists("/etc/link"));
  EXPECT_EQ(code_of(this->files.read("/etc/link")), ErrorCode::not_found);
}

TYPED_TEST(FileSystemContract, ReplaceCreatesTheTargetOfADanglingLink) {
  this->host.add_folder("/data");
  this->host.add_link("/etc/link", "../data/x");
  ASSERT_TRUE(this->files.replace("/etc/link", "text", {}));
  EXPECT_EQ(this->files.read("/data/x"), "text");
}

TYPED_TEST(FileSystemContract, ReplaceSaysWhyItCannot) {
  this->host.add_file("/etc/x", "text");
  this->host.add_link("/etc/loop", "loop");
  this->host.add_link("/etc/dangling", "/missing/x");
  EXPECT_EQ(code_of(this->files.replace("/missing/x", "", {})), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.replace("/etc/dangling", "", {})), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.replace("/etc/x/y", "", {})), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.replace("/etc/loop", "", {})), ErrorCode::failed);
  EXPECT_EQ(code_of(this->files.replace("/etc", "", {})), ErrorCode::is_directory);
  EXPECT_EQ(code_of(this->files.replace("/etc/", "", {})), ErrorCode::is_directory);
  EXPECT_EQ(code_of(this->files.replace("/", "", {})), ErrorCode::is_directory);
  EXPECT_EQ(this->files.read("/etc/x"), "text");
}

TYPED_TEST(FileSystemContract, RemovesTheFileOrTheLinkItself) {
  this->host.add_file("/etc/x", "text");
  this->host.add_link("/etc/link", "x");
  ASSERT_TRUE(this->files.remove("/etc/link"));
  EXPECT_EQ(this->files.read("/etc/x"), "text");
  ASSERT_TRUE(this->files.remove("/etc/x"));
  EXPECT_EQ(this->files.list("/etc"), Names{});
  EXPECT_EQ(code_of(this->files.remove("/etc/x")), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.remove("/missing/x")), ErrorCode::not_found);
  EXPECT_EQ(code_of(this->files.remove("/etc")), ErrorCode::is_directory);
}

TYPED_TEST(FileSystemContract, MakesFoldersAndNamesTheTopmostNewOne) {
  this->host.add_folder("/etc");
  EXPECT_EQ(this->files.make_folders("/etc/a/b/c/"), "/etc/a");
  EXPECT_EQ(this->files.make_folders("/etc/a/b/d"), "/etc/a/b/d");
  EXPECT_EQ(this->files.make_folders("/etc/a/b/d"), "");
  EXPECT_EQ(this->files.make_folders("/"), "");
  EXPECT_EQ(this->files.list("/etc/a/b"), (Names{"c", "d"}));
  EXPECT_EQ(this->files.mode_of("/etc/a/b"), 0755U);
}

TYPED_TEST(FileSystemContract, MakesFoldersThroughLinksInsideTheRoot) {
  this->host.add_folder("/data");
  this->host.add_link("/etc/link", "/data");
  EXPECT_EQ(this->files.make_folders("/etc/link/a"), "/etc/link/a");
  EXPECT_EQ(this->files.list("/data"), Names{"a"});
}

TYPED_TEST(FileSystemContract, LeavesNoFolderWhenTheNextCannotBeMade) {
  this->host.add_file("/etc/x", "");
  this->host.add_link("/etc/dangling", "/missing/a");
  EXPECT_EQ(code_of(this->files.make_folders("/etc/x/a")), ErrorCode::failed);
  EXPECT_EQ(code_of(this->files.make_folders("/etc/dangling/a")), ErrorCode::failed);
  EXPECT_EQ(code_of(this->files.make_folders("/etc/a/../x/b")), ErrorCode::failed);
  EXPECT_EQ(this->files.list("/etc"), (Names{"dangling", "x"}));
}

TYPED_TEST(FileSystemContract, RemovesOnlyEmptyFolders) {
  this->host.add_file("/etc/a/x", "");
  this->host.add_link("/etc/link", "a");
  EXPECT_EQ(this->files.remove_folder("/etc/a"), false);
  ASSERT_TRUE(this->files.remove("/etc/a/x"));
  EXPECT_EQ(code_of(this->files.remove_folder("/etc/link")), ErrorCode::not_found);
  EXPECT_EQ(this->files.remove_folder("/etc/a/"), true);
  EXPECT_FALSE(this->files.exists("/etc/a"));
  EXPECT_EQ(code_of(this->files.remove_folder("/etc/a")), ErrorCode::not_found);
}

TYPED_TEST(FileSystemContract, ModeOfFollowsLinks) {
  this->host.add_file("/etc/x", "", 0604);
  this->host.add_link("/etc/link", "x");
  EXPECT_EQ(this->files.mode_of("/etc/link"), 0604U);
  EXPECT_EQ(code_of(this->files.mode_of("/etc/missing")), ErrorCode::not_found);
}

}  // namespace
}  // namespace ctkit::installer
