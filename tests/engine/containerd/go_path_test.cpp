#include "engine/containerd/go_path.h"

#include <optional>
#include <ostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_files.h"

namespace ctkit::engine::containerd {
namespace {

using test::MemoryFiles;
using testing::ElementsAre;
using testing::IsEmpty;

struct PathCase {
  std::string path = {};
  std::string cleaned = {};
  std::string dir = {};
  std::string base = {};
};

void PrintTo(const PathCase& value, std::ostream* stream) {
  *stream << '"' << value.path << '"';
}

class Paths : public testing::TestWithParam<PathCase> {};

TEST_P(Paths, AreCutAsGoDoes) {
  EXPECT_EQ(clean(GetParam().path), GetParam().cleaned);
  EXPECT_EQ(dir(GetParam().path), GetParam().dir);
  EXPECT_EQ(base(GetParam().path), GetParam().base);
}

INSTANTIATE_TEST_SUITE_P(GoPath,
                         Paths,
                         testing::Values(PathCase{"", ".", ".", "."},
                                         PathCase{".", ".", ".", "."},
                                         PathCase{"..", "..", ".", ".."},
                                         PathCase{"/", "/", "/", "/"},
                                         PathCase{"//", "/", "/", "/"},
                                         PathCase{"///a", "/a", "/", "a"},
                                         PathCase{"a", "a", ".", "a"},
                                         PathCase{"a/", "a", "a", "a"},
                                         PathCase{"a/b/", "a/b", "a/b", "b"},
                                         PathCase{"a//b", "a/b", "a", "b"},
                                         PathCase{"./a/.", "a", "a", "."},
                                         PathCase{"a/..", ".", "a", ".."},
                                         PathCase{"a/../..", "..", ".", ".."},
                                         PathCase{"../../a", "../../a", "../..", "a"},
                                         PathCase{"../a/../b", "../b", "..", "b"},
                                         PathCase{"/..", "/", "/", ".."},
                                         PathCase{"/../a", "/a", "/", "a"},
                                         PathCase{"/a/b/../../..", "/", "/", ".."},
                                         PathCase{"x/*/../y.toml", "x/y.toml", "x", "y.toml"},
                                         PathCase{"/etc/./c//d/../e.toml", "/etc/c/e.toml", "/etc/c", "e.toml"},
                                         PathCase{"...", "...", ".", "..."}));

TEST(Join, LeavesOutEmptyPartsAndCleans) {
  EXPECT_EQ(join("/etc/containerd", "conf.d/*.toml"), "/etc/containerd/conf.d/*.toml");
  EXPECT_EQ(join("/etc/containerd/", "../a"), "/etc/a");
  EXPECT_EQ(join(".", "a"), "a");
  EXPECT_EQ(join("/", "a"), "/a");
  EXPECT_EQ(join("", "a/../b"), "b");
  EXPECT_EQ(join("a/", ""), "a");
  EXPECT_EQ(join("", ""), "");
  EXPECT_EQ(join("", "/a"), "/a");
  EXPECT_EQ(join("a", "/b"), "a/b");
}

TEST(IsAbsolute, LooksAtTheFirstByte) {
  EXPECT_TRUE(is_absolute("/a"));
  EXPECT_FALSE(is_absolute("a/b"));
  EXPECT_FALSE(is_absolute(""));
}

/// No value: the pattern is malformed.
struct MatchCase {
  std::string pattern = {};
  std::string name = {};
  std::optional<bool> matches = {};
};

void PrintTo(const MatchCase& value, std::ostream* stream) {
  *stream << value.pattern << " on " << value.name;
}

class Match : public testing::TestWithParam<MatchCase> {};

TEST_P(Match, AnswersAsGoDoes) {
  const auto result = match(GetParam().pattern, GetParam().name);
  ASSERT_EQ(result.has_value(), GetParam().matches.has_value());
  if (result) {
    EXPECT_EQ(*result, *GetParam().matches);
  } else {
    EXPECT_EQ(result.error().code, ErrorCode::daemon_refuses);
    EXPECT_EQ(result.error().message, "syntax error in pattern '" + GetParam().pattern + "'");
  }
}

INSTANTIATE_TEST_SUITE_P(Stars,
                         Match,
                         testing::Values(MatchCase{"", "", true},
                                         MatchCase{"", "a", false},
                                         MatchCase{"*", "", true},
                                         MatchCase{"*", ".hidden", true},
                                         MatchCase{"*", "a/b", false},
                                         MatchCase{"**", "abc", true},
                                         MatchCase{"**", "a/b", false},
                                         MatchCase{"*.toml", "a.toml", true},
                                         MatchCase{"*.toml", ".toml", true},
                                         MatchCase{"*.toml", "a.toml~", false},
                                         MatchCase{"*.toml", "d/a.toml", false},
                                         MatchCase{"a*/b", "abc/b", true},
                                         MatchCase{"a*/b", "a/c/b", false},
                                         MatchCase{"*x", "xxx", true},
                                         MatchCase{"a*b*c*x", "abxbbxdbxebxczzx", true},
                                         MatchCase{"a*b?c*x", "abxbbxdbxebxczzy", false},
                                         MatchCase{"*a*a*b", "aaaaab", true},
                                         MatchCase{"[99]9-nvidia.toml", "99-nvidia.toml", true},
                                         MatchCase{"{a,b}", "a", false}));

INSTANTIATE_TEST_SUITE_P(ClassesAndRunes,
                         Match,
                         testing::Values(MatchCase{"ab[b-d]", "abc", true},
                                         MatchCase{"ab[^b-d]", "abc", false},
                                         MatchCase{"ab[^e-g]", "abc", true},
                                         MatchCase{"[b-a]", "a", false},
                                         MatchCase{"[!a]", "!", true},
                                         MatchCase{"a?b", "a☺b", true},
                                         MatchCase{"a[^a]b", "a☺b", true},
                                         MatchCase{"a???b", "a☺b", false},
                                         MatchCase{"[a-ζ]*", "α", true},
                                         MatchCase{"*[a-ζ]", "A", false},
                                         MatchCase{"a?b", "a/b", false},
                                         // A class takes a slash, `?` does not.
                                         MatchCase{"a[^x]b", "a/b", true},
                                         MatchCase{"[a*b]", "*", true},
                                         MatchCase{"?", "\xFF", true},
                                         MatchCase{"[\xEF\xBF\xBD]", "\xFF", true},
                                         MatchCase{"??", "\xC3\x28", true},
                                         MatchCase{"\xFF", "\xFF", true}));

INSTANTIATE_TEST_SUITE_P(Escapes,
                         Match,
                         testing::Values(MatchCase{R"(a\*b)", "a*b", true},
                                         MatchCase{R"(a\*b)", "ab", false},
                                         MatchCase{R"(\a)", "a", true},
                                         MatchCase{R"(\☺)", "☺", true},
                                         MatchCase{R"([\]a])", "]", true},
                                         MatchCase{R"([x\-])", "-", true},
                                         MatchCase{R"([\-x])", "a", false},
                                         MatchCase{R"([\\])", "\\", true},
                                         MatchCase{"]", "]", true},
                                         MatchCase{"a-b", "a-b", true}));

INSTANTIATE_TEST_SUITE_P(MalformedWhereTheMatchingDoesNotGet,
                         Match,
                         testing::Values(MatchCase{"a*[", "b", false},
                                         MatchCase{"a*b*\\", "ac", false},
                                         MatchCase{"?*[]", "", false}));

INSTANTIATE_TEST_SUITE_P(Malformed,
                         Match,
                         testing::Values(MatchCase{"[]a]", "]"},
                                         MatchCase{"[]", "a"},
                                         MatchCase{"[^]", "a"},
                                         MatchCase{"[-]", "-"},
                                         MatchCase{"[x-]", "z"},
                                         MatchCase{"[-x]", "a"},
                                         MatchCase{"\\", "a"},
                                         MatchCase{"a\\", "b"},
                                         MatchCase{"[a-b-c]", "a"},
                                         MatchCase{"[", "a"},
                                         MatchCase{"[^", "a"},
                                         MatchCase{"[^bc", "a"},
                                         MatchCase{"[\\", "a"},
                                         MatchCase{"a[", "x"},
                                         MatchCase{"*[", ""},
                                         MatchCase{"a*[", "ab"},
                                         MatchCase{"[\xFF]", "\xFF"}));

TEST(Glob, SortsByFolderAndThenByName) {
  // Not the order of the paths: "d-b/1" sorts before "d/2".
  const MemoryFiles files{{"/c/d/2.toml", ""}, {"/c/d/10.toml", ""}, {"/c/d-b/1.toml", ""}};
  EXPECT_THAT(*glob("/c/*/*.toml", files), ElementsAre("/c/d/10.toml", "/c/d/2.toml", "/c/d-b/1.toml"));
}

TEST(Glob, WithoutMetaTakesWhatIsThere) {
  MemoryFiles files{{"/c/a.toml", ""}};
  files.add_link("/c/dangling", "/nowhere");
  EXPECT_THAT(*glob("/c/a.toml", files), ElementsAre("/c/a.toml"));
  EXPECT_THAT(*glob("/c//../c/a.toml", files), ElementsAre("/c//../c/a.toml"));
  EXPECT_THAT(*glob("/c/dangling", files), ElementsAre("/c/dangling"));
  EXPECT_THAT(*glob("/c/b.toml", files), IsEmpty());
  EXPECT_THAT(*glob("", files), IsEmpty());
}

TEST(Glob, FindsDotFilesFoldersAndDanglingLinks) {
  MemoryFiles files{{"/c/.a.toml", ""}, {"/c/d.toml/x", ""}};
  files.add_link("/c/l.toml", "/nowhere");
  EXPECT_THAT(*glob("/c/*.toml", files), ElementsAre("/c/.a.toml", "/c/d.toml", "/c/l.toml"));
}

TEST(Glob, FollowsLinksToFoldersAndKeepsTheirNames) {
  MemoryFiles files{{"/real/a.toml", ""}};
  files.add_link("/c", "/real");
  EXPECT_THAT(*glob("/c/*", files), ElementsAre("/c/a.toml"));
  EXPECT_THAT(*glob("/[c]/*", files), ElementsAre("/c/a.toml"));
}

TEST(Glob, CleansResultsButNotTheFolderItReads) {
  MemoryFiles files{{"/a/x.toml", ""}, {"/far/away/y", ""}, {"/far/x.toml", ""}, {"/x.toml", ""}};
  files.add_link("/link", "/far/away");
  EXPECT_THAT(*glob("//a/./*.toml", files), ElementsAre("/a/x.toml"));
  // The kernel goes up from /far/away, the result's text goes up from /link.
  EXPECT_THAT(*glob("/link/../*.toml", files), ElementsAre("/x.toml"));
  EXPECT_THAT(*glob("/*.toml", files), ElementsAre("/x.toml"));
}

TEST(Glob, LooksUpRelativePatternsFromTheWorkingFolder) {
  const MemoryFiles files{{"/w/c/a.toml", ""}, {"/w/b.toml", ""}, {"/c/z.toml", ""}};
  EXPECT_THAT(*glob("*/*.toml", files, "/w"), ElementsAre("c/a.toml"));
  EXPECT_THAT(*glob("c/*.toml", files, "/w"), ElementsAre("c/a.toml"));
  EXPECT_THAT(*glob("*.toml", files, "/w"), ElementsAre("b.toml"));
  EXPECT_THAT(*glob("b.toml", files, "/w"), ElementsAre("b.toml"));
  EXPECT_THAT(*glob("../c/*", files, "/w"), ElementsAre("../c/z.toml"));
  EXPECT_THAT(*glob("*/*.toml", files), ElementsAre("c/z.toml", "w/b.toml"));
}

TEST(Glob, TakesABackslashForAPattern) {
  const MemoryFiles files{{"/c/a*.toml", ""}, {"/c/ab.toml", ""}};
  EXPECT_THAT(*glob(R"(/c/a\*.toml)", files), ElementsAre("/c/a*.toml"));
  EXPECT_THAT(*glob(R"(/c/\ab.toml)", files), ElementsAre("/c/ab.toml"));
}

TEST(Glob, CountsWhatIsNoFolderOrCannotBeReadAsEmpty) {
  MemoryFiles files{{"/c/file", ""}, {"/c/good/a", ""}, {"/c/bad/a", ""}};
  files.fail_reads_of("/c/bad", {.code = ErrorCode::failed, .message = "input/output error"});
  EXPECT_THAT(*glob("/c/*/*", files), ElementsAre("/c/good/a"));
  EXPECT_THAT(*glob("/missing/*", files), IsEmpty());
  EXPECT_THAT(*glob("/c/file/*", files), IsEmpty());
}

TEST(Glob, FailsOnAFolderThatOnlyWeCannotRead) {
  MemoryFiles files{{"/c/a.toml", ""}};
  files.mark_unreadable("/c");
  const auto found = glob("/c/*", files);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::permission);
}

TEST(Glob, RefusesAMalformedStartEvenWhereNothingMatches) {
  const MemoryFiles files;
  for (const char* pattern : {"[]", "/nowhere/[]", "/nowhere/[/a.toml", "/nowhere/\\"}) {
    const auto found = glob(pattern, files);
    ASSERT_FALSE(found) << pattern;
    EXPECT_EQ(found.error().code, ErrorCode::daemon_refuses);
    EXPECT_EQ(found.error().message, "syntax error in pattern '" + std::string(pattern) + "'");
  }
}

TEST(Glob, NoticesAMalformedRestOnlyWhereANameGetsToIt) {
  MemoryFiles files{{"/full/ab", ""}};
  files.add_folder("/empty");
  EXPECT_FALSE(glob("/full/a*[", files));
  EXPECT_FALSE(glob("/f*/[", files));
  EXPECT_THAT(*glob("/full/b*[", files), IsEmpty());
  EXPECT_THAT(*glob("/empty/*[", files), IsEmpty());
  EXPECT_THAT(*glob("/e*/[", files), IsEmpty());
}

TEST(Glob, CutsAtSlashesBeforeItLooksAtClasses) {
  const MemoryFiles files{{"/a", ""}};
  EXPECT_TRUE(match("/[a/b]", "/a").value_or(false));
  EXPECT_FALSE(glob("/[a/b]", files));
}

TEST(Glob, GivesUpOnTooManyParts) {
  const MemoryFiles files;
  const auto found = glob("/*" + std::string(10'001, '/'), files);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, ErrorCode::daemon_refuses);
}

}  // namespace
}  // namespace ctkit::engine::containerd
