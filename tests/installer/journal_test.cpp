#include "installer/journal.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_files.h"

namespace ctkit::installer {
namespace {

using test::MemoryFiles;

constexpr auto kFolder = "/var/lib/state";
constexpr auto kList = "/var/lib/state/journal.json";

Journal make_journal() {
  return {.files = {{.change = {.path = "/etc/a%/config.toml", .before = "old\n", .after = "new\n"}, .mode = 0640},
                    {.change = {.path = "/etc/b.toml", .after = "made\n"}}},
          .finished = true};
}

std::vector<std::string> names(const MemoryFiles& files) {
  return files.list(kFolder).value_or(std::vector<std::string>{});
}

TEST(Journal, IsAbsentOnAStrangersNode) {
  const MemoryFiles files;
  const auto journal = read_journal(files, kFolder);
  ASSERT_TRUE(journal);
  EXPECT_FALSE(*journal);
}

TEST(Journal, ReadsWhatItWrote) {
  MemoryFiles files;
  auto written = make_journal();
  ASSERT_TRUE(write_journal(files, kFolder, written));
  const auto read = read_journal(files, kFolder);
  ASSERT_TRUE(read);
  ASSERT_TRUE(*read);
  const Journal& journal = **read;
  ASSERT_EQ(journal.files.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(journal.files[i].change.path, written.files[i].change.path);
    EXPECT_EQ(journal.files[i].change.before, written.files[i].change.before);
    EXPECT_EQ(journal.files[i].change.after, written.files[i].change.after);
    EXPECT_EQ(journal.files[i].mode, written.files[i].mode);
  }
  EXPECT_TRUE(journal.finished);
  EXPECT_EQ(journal.generation, written.generation);
  EXPECT_THAT(journal.folders, testing::ElementsAre("/var", "/var/lib", "/var/lib/state"));
}

TEST(Journal, KeepsContentsAsFilesThatAPersonCanPutBack) {
  MemoryFiles files;
  auto journal = make_journal();
  ASSERT_TRUE(write_journal(files, kFolder, journal));
  EXPECT_EQ(files.read(std::string(kFolder) + "/original-1-%2Fetc%2Fa%25%2Fconfig.toml"), "old\n");
}

TEST(Journal, DropsTheContentsOfTheOneBefore) {
  MemoryFiles files;
  auto journal = make_journal();
  ASSERT_TRUE(write_journal(files, kFolder, journal));
  const auto count = names(files).size();
  ASSERT_TRUE(write_journal(files, kFolder, journal));
  EXPECT_EQ(names(files).size(), count);
}

TEST(Journal, IsTheOldOneOrTheNewOneWhereverWritingStops) {
  for (int n = 1; n < 20; ++n) {
    SCOPED_TRACE(n);
    MemoryFiles files;
    auto old = make_journal();
    ASSERT_TRUE(write_journal(files, kFolder, old));
    Journal next = old;
    next.files[0].change.after = "newer\n";
    next.finished = false;
    files.fail_mutation(n, {.message = "no space left on device"});
    const bool done = write_journal(files, kFolder, next).has_value();
    const auto read = read_journal(files, kFolder);
    ASSERT_TRUE(read && *read);
    const auto& after = (*read)->files[0].change.after;
    EXPECT_EQ(after, (*read)->finished ? "new\n" : "newer\n");
    if (done) return;
  }
  FAIL() << "never succeeded";
}

TEST(Journal, RemovalLeavesNothing) {
  MemoryFiles files;
  const auto before = files.tree();
  auto journal = make_journal();
  ASSERT_TRUE(write_journal(files, kFolder, journal));
  ASSERT_TRUE(remove_journal(files, kFolder, journal));
  EXPECT_EQ(files.tree(), before);
}

TEST(Journal, RemovalLeavesFoldersThatOthersUse) {
  MemoryFiles files;
  auto journal = make_journal();
  ASSERT_TRUE(write_journal(files, kFolder, journal));
  files.add_file("/var/lib/theirs", "text");
  ASSERT_TRUE(remove_journal(files, kFolder, journal));
  EXPECT_FALSE(files.exists(kFolder));
  EXPECT_TRUE(files.exists("/var/lib/theirs"));
}

TEST(Journal, RemovalThatWasCutOffCanBeRepeated) {
  for (int n = 1; n < 20; ++n) {
    SCOPED_TRACE(n);
    MemoryFiles files;
    const auto before = files.tree();
    auto journal = make_journal();
    ASSERT_TRUE(write_journal(files, kFolder, journal));
    files.fail_mutation(n, {.message = "no space left on device"});
    if (remove_journal(files, kFolder, journal)) return;
    const auto again = read_journal(files, kFolder);
    ASSERT_TRUE(again) << "what is left can't be understood";
    if (!*again) continue;  // nothing but empty folders may be left then
    ASSERT_TRUE(remove_journal(files, kFolder, **again));
    EXPECT_EQ(files.tree(), before);
  }
  FAIL() << "never succeeded";
}

struct Broken {
  std::string name;
  std::string text;
};
void PrintTo(const Broken& broken, std::ostream* out) {
  *out << broken.name;
}

class BrokenJournal : public testing::TestWithParam<Broken> {};

TEST_P(BrokenJournal, IsAnErrorThatSaysWhereTheContentsAre) {
  const MemoryFiles files{{kList, GetParam().text}};
  const auto journal = read_journal(files, kFolder);
  ASSERT_FALSE(journal);
  EXPECT_EQ(journal.error().code, engine::ErrorCode::failed);
  EXPECT_EQ(journal.error().where, kList);
  EXPECT_THAT(journal.error().hint, testing::HasSubstr("original-"));
}

INSTANTIATE_TEST_SUITE_P(
    Texts,
    BrokenJournal,
    testing::Values(
        Broken{"Empty", ""},
        Broken{"CutOff", R"({"schema": "ctkit/v1/journal", "files": [)"},
        Broken{"NoObject", "[]"},
        Broken{"OtherSchema", R"({"schema": "ctkit/v2/journal", "files": []})"},
        Broken{"SchemaOfAnotherType", R"({"schema": 7, "files": []})"},
        Broken{"GenerationOfAnotherType", R"({"schema": "ctkit/v1/journal", "generation": "x", "files": []})"},
        Broken{"NoFiles", R"({"schema": "ctkit/v1/journal"})"},
        Broken{"FileIsNoObject", R"({"schema": "ctkit/v1/journal", "files": [1]})"},
        Broken{"FileWithoutPath", R"({"schema": "ctkit/v1/journal", "files": [{}]})"},
        Broken{"ContentIsNoName", R"({"schema": "ctkit/v1/journal", "files": [{"path": "/x", "original": 1}]})"}),
    [](const auto& item) { return item.param.name; });

TEST(Journal, AContentThatIsMissingIsAnError) {
  const MemoryFiles files{
      {kList, R"({"schema": "ctkit/v1/journal", "files": [{"path": "/x", "original": "original-1-x"}]})"}};
  EXPECT_FALSE(read_journal(files, kFolder));
}

TEST(Journal, APathThatIsNoUtf8ComesBackOrIsRefused) {
  MemoryFiles files;
  Journal journal{.files = {{.change = {.path = "/etc/\xff.toml", .after = "x"}}}};
  const auto written = write_journal(files, kFolder, journal);
  if (!written) return;
  const auto read = read_journal(files, kFolder);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->files[0].change.path, "/etc/\xff.toml");
}

}  // namespace
}  // namespace ctkit::installer
