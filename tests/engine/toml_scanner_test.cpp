#include "engine/toml_scanner.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kFile = "/etc/containerd/config.toml";
constexpr std::string_view kBom = "\xef\xbb\xbf";

std::string_view at(std::string_view text, Span span) {
  return text.substr(span.begin, span.end - span.begin);
}

/// `line:column key|key -> value`, `[key]`, `[[key]]` with keys and values as written.
std::vector<std::string> described(std::string_view text, const TomlDialect& dialect) {
  const auto statements = scan_statements(text, kFile, dialect);
  if (!statements) return {statements.error().where + ": " + statements.error().message};
  std::vector<std::string> lines;
  for (const Statement& statement : *statements) {
    std::string line = std::to_string(statement.line) + ":" + std::to_string(statement.column) + " ";
    const std::string key(at(text, statement.key_span));
    switch (statement.kind) {
      case Statement::Kind::table:
        line += "[" + key + "]";
        break;
      case Statement::Kind::array_table:
        line += "[[" + key + "]]";
        break;
      case Statement::Kind::key_value:
        line += key + " -> " + std::string(at(text, statement.value));
        break;
    }
    lines.push_back(line);
  }
  return lines;
}

class Scanner : public testing::TestWithParam<const TomlDialect*> {
 protected:
  static const TomlDialect& dialect() { return *GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(GoToml, Scanner, testing::Values(&kGoToml18, &kGoToml19, &kGoToml22, &kGoToml24));

TEST_P(Scanner, FindsStatementsInFileOrder) {
  EXPECT_THAT(described("# c\n"
                        "version = 2 # c\n"
                        "\n"
                        "  [ a . \"b c\" ] # c\n"
                        "  x.y   =   \"s # t\"\t# c\n"
                        "[[ d ]]\n"
                        "z = 1979-05-27T07:32:00Z",
                        dialect()),
              ElementsAre("2:1 version -> 2",
                          "4:5 [a . \"b c\"]",
                          "5:3 x.y -> \"s # t\"",
                          "6:4 [[d]]",
                          "7:1 z -> 1979-05-27T07:32:00Z"));
}

TEST_P(Scanner, SpansValuesOverManyLines) {
  EXPECT_THAT(
      described("imports = [ # first\r\n"
                "  'a', # ]\r\n"
                "  'b' ]\r\n"
                "s = '''\r\n"
                "]''' # c\r\n"
                "t = { a = [\r\n1] }\r\n",
                dialect()),
      ElementsAre(
          "1:1 imports -> [ # first\r\n  'a', # ]\r\n  'b' ]", "4:1 s -> '''\r\n]'''", "6:1 t -> { a = [\r\n1] }"));
}

TEST_P(Scanner, UnquotesKeys) {
  const auto statements = scan_statements("'a.b'.\"c\\u0064\" . e = 1\n[\"x\".'y']\n", kFile, dialect());
  ASSERT_TRUE(statements);
  ASSERT_EQ(statements->size(), 2U);
  EXPECT_THAT((*statements)[0].key, ElementsAre("a.b", "cd", "e"));
  EXPECT_EQ((*statements)[0].key_span, (Span{0, 19}));
  EXPECT_THAT((*statements)[1].key, ElementsAre("x", "y"));
}

TEST_P(Scanner, DoesNotJudgeValuesOrRepetitions) {
  EXPECT_THAT(described("x = 99999999999999999999\ny = 1979-02-30T00:00:00Z\n[a]\n[a]\nz = 0b1\nz = 1__0", dialect()),
              ElementsAre("1:1 x -> 99999999999999999999",
                          "2:1 y -> 1979-02-30T00:00:00Z",
                          "3:2 [a]",
                          "4:2 [a]",
                          "5:1 z -> 0b1",
                          "6:1 z -> 1__0"));
}

TEST_P(Scanner, FindsNothingInAnEmptyText) {
  EXPECT_THAT(described("", dialect()), IsEmpty());
  EXPECT_THAT(described("\r\n# c", dialect()), IsEmpty());
}

TEST_P(Scanner, SaysWhereAStatementHasNoEnd) {
  EXPECT_THAT(described("a = 1\nb = [1,\n", dialect()),
              ElementsAre("/etc/containerd/config.toml:2:5: the array has no end"));
}

TEST_P(Scanner, RefusesKeysAsTheDialectDoes) {
  EXPECT_THAT(described("a = 1\n  b! = 1\n", dialect()).size(), 1U);
  EXPECT_FALSE(scan_statements("a..b = 1", kFile, dialect()));
}

TEST(ScanStatements, CountsTheByteOrderMarkOfGoToml1) {
  const std::string text = std::string(kBom) + "a = 1\nb = 2\n";
  EXPECT_THAT(described(text, kGoToml19), ElementsAre("1:4 a -> 1", "2:1 b -> 2"));
  EXPECT_THAT(described(text, kGoToml22), ElementsAre("/etc/containerd/config.toml:1:1: a byte order mark"));
}

TEST(ScanStatements, OfGoToml1FindsTwoInALine) {
  EXPECT_THAT(described("[a] b = 1 # c\n", kGoToml19), ElementsAre("1:2 [a]", "1:5 b -> 1"));
}

TEST(ScanStatements, OfGoToml1SpansADateWithItsTime) {
  EXPECT_THAT(described("a = 1979-05-27 07:32:00+01:00 # c\n", kGoToml19),
              ElementsAre("1:1 a -> 1979-05-27 07:32:00+01:00"));
}

/// The elements as written, then "trailing comma" if there is one, then what is from the closing
/// bracket on.
std::vector<std::string> layout_of(std::string_view text, const TomlDialect& dialect) {
  const auto statements = scan_statements(text, kFile, dialect);
  if (!statements) return {"refused"};
  const auto layout = scan_array(text, statements->front().value, dialect);
  if (!layout) return {layout.error().where + ": " + layout.error().message};
  std::vector<std::string> parts;
  for (const Span element : layout->elements)
    parts.emplace_back(at(text, element));
  if (layout->trailing_comma) parts.emplace_back("trailing comma");
  parts.emplace_back(text.substr(layout->closing_bracket));
  return parts;
}

TEST_P(Scanner, LaysOutArrays) {
  EXPECT_THAT(layout_of("a = []", dialect()), ElementsAre("]"));
  EXPECT_THAT(layout_of("a = [ ]\n", dialect()), ElementsAre("]\n"));
  EXPECT_THAT(layout_of("a = ['x']", dialect()), ElementsAre("'x'", "]"));
  EXPECT_THAT(layout_of("a = [ 'x' , \"y\", ]", dialect()), ElementsAre("'x'", "\"y\"", "trailing comma", "]"));
  EXPECT_THAT(layout_of("a = [[1, 2], {b = [3]}, '],', 4]# c", dialect()),
              ElementsAre("[1, 2]", "{b = [3]}", "'],'", "4", "]# c"));
}

TEST_P(Scanner, LaysOutArraysWithCommentsAndCrlf) {
  EXPECT_THAT(layout_of("a = [ # ] c\r\n  'x', # , c\r\n  'y' # d\r\n  , # e\r\n]\r\nb = 1\r\n", dialect()),
              ElementsAre("'x'", "'y'", "trailing comma", "]\r\nb = 1\r\n"));
}

TEST_P(Scanner, LaysOutNothingWhereThereIsNoArray) {
  constexpr std::string_view kText = "a = 'x'\n";
  const auto layout = scan_array(kText, {.begin = 4, .end = 7}, dialect());
  ASSERT_TRUE(layout);
  EXPECT_THAT(layout->elements, IsEmpty());
  EXPECT_EQ(layout->closing_bracket, 0U);
}

}  // namespace
}  // namespace ctkit::engine
