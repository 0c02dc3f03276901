#include "engine/containerd/imports_edit.h"

#include <array>
#include <cstddef>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::engine::containerd {
namespace {

constexpr std::string_view kFile = "/etc/containerd/config.toml";
constexpr std::string_view kOurs = "/p";

Result<std::string> add(std::string_view text) {
  return add_import(text, kFile, kOurs, kGoToml19);
}

Result<std::string> remove(std::string_view text, bool line_was_ours = false) {
  return remove_import(text, kFile, kOurs, kGoToml19, line_was_ours);
}

struct EditCase {
  std::string name = {};
  std::string without = {};
  std::string with = {};
};

void PrintTo(const EditCase& value, std::ostream* stream) {
  *stream << value.name;
}

std::string name_of(const testing::TestParamInfo<EditCase>& test) {
  return test.param.name;
}

/// The cases have an `imports` before.
class Element : public testing::TestWithParam<EditCase> {};

TEST_P(Element, IsAddedInTheStyleOfTheFileAndRemovedAgain) {
  EXPECT_EQ(add(GetParam().without).value_or("error"), GetParam().with);
  EXPECT_EQ(remove(GetParam().with).value_or("error"), GetParam().without);
}

INSTANTIATE_TEST_SUITE_P(
    OneLine,
    Element,
    testing::Values(
        EditCase{"Empty", "imports = []\n", "imports = [\"/p\"]\n"},
        EditCase{"EmptyWithSpace", "imports = [ ]\n", "imports = [ \"/p\" ]\n"},
        EditCase{"EmptyWithTab", "imports = [\t]\n", "imports = [\t\"/p\"\t]\n"},
        EditCase{"EmptyWithSpaces", "imports = [   ]\n", "imports = [ \"/p\"   ]\n"},
        EditCase{"One", "imports = [\"a\"]\n", "imports = [\"a\", \"/p\"]\n"},
        EditCase{"Spaces", "imports = [ \"a\" ]\n", "imports = [ \"a\", \"/p\" ]\n"},
        EditCase{"Tight", "imports=[\"a\",\"b\"]\n", "imports=[\"a\",\"b\",\"/p\"]\n"},
        EditCase{"Wide", "imports = [\"a\",  \"b\"]\n", "imports = [\"a\",  \"b\",  \"/p\"]\n"},
        EditCase{"TrailingComma", "imports = [\"a\",]\n", "imports = [\"a\", \"/p\",]\n"},
        EditCase{"TrailingCommaSpace", "imports = [\"a\", \"b\" , ]\n", "imports = [\"a\", \"b\" , \"/p\", ]\n"},
        EditCase{"NoFinalNewline", "imports = [\"a\"]", "imports = [\"a\", \"/p\"]"},
        EditCase{"CommentBehind", "imports = [\"a\"] # x, ] \"\n", "imports = [\"a\", \"/p\"] # x, ] \"\n"},
        EditCase{
            "CarriageReturns", "version = 2\r\nimports = [\"a\"]\r\n", "version = 2\r\nimports = [\"a\", \"/p\"]\r\n"},
        EditCase{"ByteOrderMark", "\xEF\xBB\xBFimports = [\"a\"]\n", "\xEF\xBB\xBFimports = [\"a\", \"/p\"]\n"},
        EditCase{"QuotedKey", "\"imports\" = ['a']\n", "\"imports\" = ['a', '/p']\n"},
        EditCase{"LiteralKey", "  'imports'=['a']\n", "  'imports'=['a', '/p']\n"},
        EditCase{"QuotesOfTheNeighbour", "imports = [\"a\", 'b']\n", "imports = [\"a\", 'b', '/p']\n"},
        EditCase{"BracketsInStrings",
                 "imports = [\"a]\", \"b,\\\"]\", '#[,']\n",
                 "imports = [\"a]\", \"b,\\\"]\", '#[,', '/p']\n"},
        EditCase{"LongStrings", "imports = [\"\"\"a\n  ],\"\"\"]\n", "imports = [\"\"\"a\n  ],\"\"\", \"/p\"]\n"},
        EditCase{"NotOnlyStrings", "imports = [[\"a\"], 4]\n", "imports = [[\"a\"], 4, \"/p\"]\n"},
        EditCase{"OursAlready", "imports = [\"/p\"]\n", "imports = [\"/p\", \"/p\"]\n"},
        EditCase{"OursAlreadyAndFirst", "imports = [\"/p\", \"a\"]\n", "imports = [\"/p\", \"a\", \"/p\"]\n"},
        EditCase{"AfterOtherKeys",
                 "root = \"/x\"\noom_score = 0\nimports = [\"a\"]\n[grpc]\n  uid = 0\n",
                 "root = \"/x\"\noom_score = 0\nimports = [\"a\", \"/p\"]\n[grpc]\n  uid = 0\n"},
        EditCase{"BesidesTheSameKeyInTables",
                 "imports = [\"a\"]\n[grpc]\nimports = [\"b\"]\n[x.imports]\ny = 1\n",
                 "imports = [\"a\", \"/p\"]\n[grpc]\nimports = [\"b\"]\n[x.imports]\ny = 1\n"}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    ManyLines,
    Element,
    testing::Values(
        EditCase{"Empty", "imports = [\n]\n", "imports = [\n  \"/p\"\n]\n"},
        EditCase{"EmptyIndented", "imports = [\n  ]\n", "imports = [\n    \"/p\"\n  ]\n"},
        EditCase{"EmptyWithComment",
                 "imports = [ # none\r\n\t# yet, ]\r\n]\r\n",
                 "imports = [ # none\r\n\t# yet, ]\r\n  \"/p\"\r\n]\r\n"},
        EditCase{
            "TrailingComma", "imports = [\n  \"a\",\n  \"b\",\n]\n", "imports = [\n  \"a\",\n  \"b\",\n  \"/p\",\n]\n"},
        EditCase{
            "NoTrailingComma", "imports = [\n\t\"a\",\n\t\"b\"\n]\n", "imports = [\n\t\"a\",\n\t\"b\",\n\t\"/p\"\n]\n"},
        EditCase{"CarriageReturns", "imports = [\r\n  'a'\r\n]\r\n", "imports = [\r\n  'a',\r\n  '/p'\r\n]\r\n"},
        EditCase{"CommentsBehindAndBetween",
                 "imports = [\n  # first, of \"two\"\n  \"a\", # a, x\n  # second\n  \"b\" # b ]\n "
                 " # \"old\",\n]\n",
                 "imports = [\n  # first, of \"two\"\n  \"a\", # a, x\n  # second\n  \"b\", # b "
                 "]\n  \"/p\"\n  # \"old\",\n]\n"},
        EditCase{"CommentsAndTrailingComma",
                 "imports = [\n  \"a\", # a\n\n  # last\n]\n",
                 "imports = [\n  \"a\", # a\n  \"/p\",\n\n  # last\n]\n"},
        EditCase{"CommaOnTheNextLine",
                 "imports = [\n  \"a\" # a\n  , # comma\n]\n",
                 "imports = [\n  \"a\" # a\n  , # comma\n  \"/p\",\n]\n"},
        EditCase{
            "CommaFirst", "imports = [\n    \"a\"\n  , \"b\"\n]\n", "imports = [\n    \"a\"\n  , \"b\", \"/p\"\n]\n"},
        EditCase{"BracketBehindTheLast",
                 "imports = [\"a\",\n           \"b\"]\n",
                 "imports = [\"a\",\n           \"b\",\n           \"/p\"]\n"},
        EditCase{"BracketBehindTheLastComma",
                 "imports = [\"a\",\r\n  \"b\", ]\r\n",
                 "imports = [\"a\",\r\n  \"b\",\r\n  \"/p\", ]\r\n"},
        EditCase{
            "BracketBehindALateComma", "imports = [\n  \"a\" # a\n, ]\n", "imports = [\n  \"a\" # a\n,\n  \"/p\", ]\n"},
        EditCase{"FirstBehindTheBracket", "imports = [\"a\", # a\n]\n", "imports = [\"a\", \"/p\", # a\n]\n"},
        EditCase{"SeveralALine",
                 "imports = [\n  \"a\", \"b\",\n  \"c\", \"d\"\n]\n",
                 "imports = [\n  \"a\", \"b\",\n  \"c\", \"d\", \"/p\"\n]\n"},
        EditCase{"NoIndentation", "imports = [\n\"a\"\n]", "imports = [\n\"a\",\n\"/p\"\n]"}),
    name_of);

/// The cases have no `imports` before.
class Line : public testing::TestWithParam<EditCase> {};

TEST_P(Line, IsAddedAndRemovedAgain) {
  EXPECT_EQ(add(GetParam().without).value_or("error"), GetParam().with);
  EXPECT_EQ(remove(GetParam().with, true).value_or("error"), GetParam().without);
}

INSTANTIATE_TEST_SUITE_P(
    Imports,
    Line,
    testing::Values(EditCase{"EmptyFile", "", "imports = [\"/p\"]\n"},
                    EditCase{"OnlyAByteOrderMark", "\xEF\xBB\xBF", "\xEF\xBB\xBFimports = [\"/p\"]\n"},
                    EditCase{"OnlyComments", "# a\n\n# b\n", "# a\n\n# b\nimports = [\"/p\"]\n"},
                    EditCase{"OnlyAnUnfinishedComment", "# a\n# b", "# a\n# b\nimports = [\"/p\"]"},
                    EditCase{"OnlyBlanks", "  ", "  \nimports = [\"/p\"]"},
                    EditCase{"AfterVersion",
                             "# c\nversion = 2 # two\n\n[grpc]\n",
                             "# c\nversion = 2 # two\nimports = [\"/p\"]\n\n[grpc]\n"},
                    EditCase{"AfterAnUnfinishedVersion", "version = 2", "version = 2\nimports = [\"/p\"]"},
                    EditCase{"AfterALateVersion",
                             "root = \"/x\"\r\nversion = 3\r\n[grpc]\r\n",
                             "root = \"/x\"\r\nversion = 3\r\nimports = [\"/p\"]\r\n[grpc]\r\n"},
                    EditCase{"AfterAnUnfinishedVersionWithCarriageReturns",
                             "root = \"/x\"\r\nversion = 3",
                             "root = \"/x\"\r\nversion = 3\r\nimports = [\"/p\"]"},
                    EditCase{"BehindAByteOrderMark",
                             "\xEF\xBB\xBFroot = \"/x\"\n",
                             "\xEF\xBB\xBFimports = [\"/p\"]\nroot = \"/x\"\n"},
                    EditCase{"BeforeTheFirstKey",
                             "# licence\n\n  root = \"/x\"\n",
                             "# licence\n\nimports = [\"/p\"]\n  root = \"/x\"\n"},
                    EditCase{"BeforeTheFirstTable",
                             "# licence\n[plugins]\nversion = 1\n  [plugins.x]\n  imports = [\"/p\"]\n",
                             "# licence\nimports = [\"/p\"]\n[plugins]\nversion = 1\n  [plugins.x]\n  imports "
                             "= [\"/p\"]\n"},
                    EditCase{"BeforeAnArrayOfTables", "[[x]]\n", "imports = [\"/p\"]\n[[x]]\n"},
                    EditCase{"BeforeAKeyWithoutNewline", "x = 1", "imports = [\"/p\"]\nx = 1"},
                    EditCase{"NotAfterADottedVersion", "version.x = 1\n", "imports = [\"/p\"]\nversion.x = 1\n"}),
    name_of);

struct RemoveCase {
  std::string name = {};
  std::string before = {};
  std::string after = {};
  bool line_was_ours = false;
};

void PrintTo(const RemoveCase& value, std::ostream* stream) {
  *stream << value.name;
}

/// Somebody was at the file in between.
class Removing : public testing::TestWithParam<RemoveCase> {};

TEST_P(Removing, TakesOurElementOnly) {
  EXPECT_EQ(remove(GetParam().before, GetParam().line_was_ours).value_or("error"), GetParam().after);
}

INSTANTIATE_TEST_SUITE_P(
    Imports,
    Removing,
    testing::Values(
        RemoveCase{"First", "imports = [\"/p\", \"a\"]\n", "imports = [\"a\"]\n", true},
        RemoveCase{"Middle", "imports = [\"a\", \"/p\", \"b\"]\n", "imports = [\"a\", \"b\"]\n"},
        RemoveCase{"FirstTight", "imports=[\"/p\",\"a\"]\n", "imports=[\"a\"]\n"},
        RemoveCase{
            "MiddleOfLines", "imports = [\n  \"a\",\n  \"/p\",\n  \"b\"\n]\n", "imports = [\n  \"a\",\n  \"b\"\n]\n"},
        RemoveCase{"FirstOfLines", "imports = [\n  \"/p\",\n  \"b\"\n]\n", "imports = [\n  \"b\"\n]\n"},
        RemoveCase{"EndOfALine", "imports = [\n  \"a\", \"/p\",\n  \"b\"\n]\n", "imports = [\n  \"a\",\n  \"b\"\n]\n"},
        RemoveCase{"StartOfALine", "imports = [\n  \"/p\", \"b\"\n]\n", "imports = [\n  \"b\"\n]\n"},
        RemoveCase{"CommaFirst",
                   "imports = [\n  \"a\"\n  , \"/p\"\n  , \"b\"\n]\n",
                   "imports = [\n  \"a\"\n  , \n   \"b\"\n]\n"},
        RemoveCase{
            "WithAComment", "imports = [\n  \"a\",\n  \"/p\", # gpu\n]\n", "imports = [\n  \"a\",\n  # gpu\n]\n"},
        RemoveCase{"WithACommentAndNoComma",
                   "imports = [\n  \"a\",\n  \"/p\" # gpu\n]\n",
                   "imports = [\n  \"a\"\n  # gpu\n]\n"},
        RemoveCase{"BehindACommentAndBeforeTheBracket",
                   "imports = [\n  \"a\", # it\n  \"/p\"]\n",
                   "imports = [\n  \"a\" # it\n  ]\n"},
        RemoveCase{"BehindACommentAndBeforeTheBracketWithComma",
                   "imports = [\n  \"a\", # it\n  \"/p\",]\n",
                   "imports = [\n  \"a\", # it\n  ]\n"},
        RemoveCase{"CommaBehindAComment",
                   "imports = [\n  \"/p\" # ours\n  ,\n  \"a\"\n]\n",
                   "imports = [\n   # ours\n  \n  \"a\"\n]\n"},
        RemoveCase{"OfTwoTheLast", "imports = [\"/p\", \"/p\", \"a\"]\n", "imports = [\"/p\", \"a\"]\n"},
        RemoveCase{"InOtherQuotes", "imports = [\"a\", '/p']\n", "imports = [\"a\"]\n"},
        RemoveCase{"InOtherSpelling", "imports = [\"a\", \"\\u002Fp\"]\n", "imports = [\"a\"]\n"},
        RemoveCase{"NotOurLine", "imports = [\"/p\"]\n", "imports = []\n"},
        RemoveCase{"NotOurLineWithComma", "imports = [\"/p\",]\n", "imports = []\n"},
        RemoveCase{"OurLineReformatted", "version = 2\nimports = [\n  '/p',\n]\n", "version = 2\n", true},
        RemoveCase{"OurLineWithAComment", "imports = [\"/p\"] # gpu\n", "imports = [] # gpu\n", true},
        RemoveCase{"OurLineWithACommentInside", "imports = [ # gpu\n  \"/p\"\n]\n", "imports = [ # gpu\n]\n", true},
        RemoveCase{"OurLineWithANewlineSince", "# a\nimports = [\"/p\"]\n", "# a\n", true},
        RemoveCase{"OurLineMoved", "a = 1\nimports = [\"/p\"]\n\nb = 2\n", "a = 1\n\nb = 2\n", true},
        RemoveCase{"OurLineIndented", "a = 1\n  imports = [ \"/p\" ]  \nb = 2\n", "a = 1\nb = 2\n", true}),
    [](const auto& test) { return test.param.name; });

TEST(RemoveImport, SaysWhenTheElementIsNotThere) {
  for (const char* text : {"", "imports = []\n", "imports = [\"/q\"]\n", "[x]\nimports = [\"/p\"]\n"}) {
    const auto result = remove(text, true);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.error().code, ErrorCode::not_found);
    EXPECT_EQ(result.error().where, kFile);
  }
}

TEST(AddImport, EscapesThePattern) {
  const std::string pattern = "/a\\b\"c'";
  const auto with = add_import("imports = ['x']\n", kFile, pattern, kGoToml22);
  EXPECT_EQ(with.value_or("error"), "imports = ['x', \"/a\\\\b\\\"c'\"]\n");
  EXPECT_EQ(remove_import(*with, kFile, pattern, kGoToml22, false).value_or("error"), "imports = ['x']\n");
}

struct RefusedCase {
  std::string text = {};
  std::string where = {};
};

TEST(AddImport, LeavesOtherShapesToAPerson) {
  const std::vector<RefusedCase> cases = {{"version = 2\nimports = \"a\"\n", "/etc/containerd/config.toml:2"},
                                          {"imports = {}\n", "/etc/containerd/config.toml:1"},
                                          {"\n\nimports.x = [\"a\"]\n", "/etc/containerd/config.toml:3"},
                                          {"version = 2\n[imports]\nx = 1\n", "/etc/containerd/config.toml:2"},
                                          {"[a]\n[[imports]]\n", "/etc/containerd/config.toml:2"},
                                          {"[imports.x]\n", "/etc/containerd/config.toml:1"}};
  for (const RefusedCase& refused : cases) {
    for (const auto& result : {add(refused.text), remove(refused.text)}) {
      ASSERT_FALSE(result) << refused.text;
      EXPECT_EQ(result.error().code, ErrorCode::needs_decision) << refused.text;
      EXPECT_EQ(result.error().where, refused.where);
    }
  }
}

TEST(AddImport, RefusesTemplatesWithTheirOwnPlace) {
  const auto result = add_import("version = 2\n{{ template \"base\" . }}\n",
                                 "/var/lib/rancher/k3s/agent/etc/containerd/config.toml.tmpl",
                                 kOurs,
                                 kGoToml19);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(result.error().hint, testing::HasSubstr("/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d"));
}

TEST(AddImport, RefusesANameThatIsNoUtf8) {
  const auto result = add_import("version = 2\n", kFile, "/etc/\xff/*.toml", kGoToml19);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(result.error().message, testing::HasSubstr("is not UTF-8"));
}

TEST(AddImport, FailsWhereTheFileCannotBeRead) {
  const auto result = add("imports = [\"a\"\n[x]\n");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::daemon_refuses);
}

TEST(AddImport, KeepsPlaceholdersOfMicrok8s) {
  const std::string text = "version = 2\nroot = \"${SNAP_COMMON}/var/lib/containerd\"\n";
  EXPECT_EQ(add(text).value_or("error"),
            "version = 2\nimports = [\"/p\"]\nroot = \"${SNAP_COMMON}/var/lib/containerd\"\n");
}

TEST(NewRoot, HasTheVersionAndTheImport) {
  EXPECT_EQ(new_root(3, "/etc/containerd/conf.d/99-nvidia.toml"),
            "version = 3\nimports = [\"/etc/containerd/conf.d/99-nvidia.toml\"]\n");
  EXPECT_EQ(remove(new_root(2, kOurs), true).value_or("error"), "version = 2\n");
}

/// Texts with an `imports` of any layout: a few pieces in each place.
class AnyLayout {
 public:
  std::string next() {
    std::string text = pick(kBefore);
    text += "imports" + pick(kBlanks) + "=" + pick(kBlanks) + "[" + pick(kGaps);
    const std::size_t count = random_() % 4;
    for (std::size_t index = 0; index < count; ++index) {
      if (index > 0) text += "," + pick(kGaps);
      text += pick(kElements) + pick(kGaps);
    }
    if (count > 0 && random_() % 2 == 0) text += "," + pick(kGaps);
    return text + "]" + pick(kBehind);
  }

 private:
  using Pieces = std::vector<std::string>;

  std::string pick(const Pieces& pieces) { return pieces[random_() % pieces.size()]; }

  std::mt19937 random_{20240611};  // NOLINT(bugprone-random-generator-seed): the same texts each run
  const Pieces kBefore = {"", "\xEF\xBB\xBF", "version = 2\n", "# c\r\nroot = 'x'\r\n", "\n  "};
  const Pieces kBlanks = {"", " ", "\t "};
  const Pieces kGaps = {"", "", "", " ", "\t", "\n", "\n  ", "\r\n\t", " # c, ]\n", "  \n", "\n\n # '\"\n "};
  const Pieces kElements = {"\"a\"", "'b'", "\"/p\"", "'/p'", "\"],#\"", "'''c\n,'''", "[1, 2]"};
  const Pieces kBehind = {"", "\n", " # end\n", "\r\n[x]\r\nimports = ['/p']\r\n", "  \ny = 1"};
};

/// go-toml 2 takes no byte order mark.
const TomlDialect& dialect_for(std::string_view text, int round) {
  return round % 2 == 0 || text.starts_with('\xEF') ? kGoToml19 : kGoToml24;
}

TEST(AnyImports, ComeBackByteForByte) {
  AnyLayout layouts;
  for (int round = 0; round < 3'000; ++round) {
    const std::string text = layouts.next();
    const TomlDialect& dialect = dialect_for(text, round);
    const auto with = add_import(text, kFile, kOurs, dialect);
    ASSERT_TRUE(with) << text << '\n' << with.error().message;
    const auto without = remove_import(*with, kFile, kOurs, dialect, false);
    ASSERT_EQ(without.value_or("error"), text) << *with;
  }
}

TEST(AnyImports, LoseTheirElementsOneByOne) {
  // The self-check inside remove_import sees to it that only our element goes.
  AnyLayout layouts;
  for (int round = 0; round < 3'000; ++round) {
    std::string text = layouts.next();
    const TomlDialect& dialect = dialect_for(text, round);
    auto without = remove_import(text, kFile, kOurs, dialect, round % 3 == 0);
    while (without) {
      text = *without;
      without = remove_import(text, kFile, kOurs, dialect, round % 3 == 0);
    }
    ASSERT_EQ(without.error().code, ErrorCode::not_found) << text << '\n' << without.error().message;
  }
}

TEST(AnyImports, AreAddedToAnyFile) {
  const std::array<std::string, 9> pieces = {
      "\n", "\r\n", "# c", " ", "x = 1", "version = 2", "[t]", "[[a]]", "\t# d\n"};
  std::mt19937 random(7);  // NOLINT(bugprone-random-generator-seed): the same texts each run
  int taken = 0;
  for (int round = 0; round < 3'000; ++round) {
    std::string text = random() % 4 == 0 ? "\xEF\xBB\xBF" : "";
    for (auto count = random() % 7; count > 0; --count)
      text += pieces[random() % pieces.size()];
    const auto with = add(text);
    if (!with) continue;  // two statements on a line, a key twice
    ++taken;
    ASSERT_EQ(remove(*with, true).value_or("error"), text) << *with;
  }
  EXPECT_GT(taken, 300);
}

}  // namespace
}  // namespace ctkit::engine::containerd
