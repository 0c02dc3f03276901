#include <array>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/toml_reader.h"
#include "engine/toml_scanner.h"
#include "engine/toml_writer.h"

// What BurntSushi/toml takes and makes of it. Those for 1.1 were checked against the library itself
// on 200,000 texts, all against CRI-O (tests/crio_parity.py).

namespace ctkit::engine {
namespace {

constexpr std::string_view kRefused = "refused";

/// The table on one line, or `refused`.
std::string read_by(const TomlDialect& dialect, std::string_view text) {
  const auto table = read_toml(text, "t", dialect);
  return table ? render_value({.data = *table}) : std::string(kRefused);
}

/// What 1.1, 1.3 and 1.6 make of a text.
struct Rule {
  std::string_view name = {};
  std::string_view text = {};
  std::array<std::string_view, 3> expected = {};
};

void PrintTo(const Rule& rule, std::ostream* out) {
  *out << rule.name;
}

constexpr std::array<std::string_view, 3> all(std::string_view answer) {
  return {answer, answer, answer};
}

class BurntSushi : public testing::TestWithParam<Rule> {};

TEST_P(BurntSushi, ReadsAsTheLibrary) {
  const std::array dialects = {&kBurntSushi11, &kBurntSushi13, &kBurntSushi16};
  for (std::size_t i = 0; i < dialects.size(); ++i)
    EXPECT_EQ(read_by(*dialects.at(i), GetParam().text), GetParam().expected.at(i)) << i;
}

constexpr std::string_view kEscaped = R"({ a = "\u001BA" })";

INSTANTIATE_TEST_SUITE_P(
    Tables,
    BurntSushi,
    testing::Values(
        Rule{"dotted, then header", "a.b = 1\n[a]\nc = 2\n", all("{ a = { b = 1, c = 2 } }")},
        Rule{"header, then dotted into it", "[a.b]\nc = 1\n[a]\nb.d = 2\n", all("{ a = { b = { c = 1, d = 2 } } }")},
        Rule{"two dotted keys make it explicit", "a.b = 1\na.c = 2\n[a]\nd = 3\n", all(kRefused)},
        Rule{"header twice", "[a]\nb = 1\n[a]\nc = 2\n", all(kRefused)},
        Rule{"header of a value", "[a]\nb = 1\n[a.b]\nc = 2\n", all(kRefused)},
        Rule{"header into an inline table", "a = { b = 1 }\n[a.c]\nd = 2\n", all("{ a = { b = 1, c = { d = 2 } } }")},
        Rule{"dotted key into an inline table", "a = { b = 1 }\na.c = 2\n", all("{ a = { b = 1, c = 2 } }")},
        Rule{"header of an inline table", "a = { b = 1 }\n[a]\nc = 2\n", all(kRefused)},
        Rule{"key twice", "a = 1\n\"a\" = 2\n", all(kRefused)},
        Rule{"key twice, the second an array", "a = 1\na = [2]\n", all("{ a = [2] }")},
        Rule{"table where an array was", "a = [1]\n[a]\nb = 2\n", all("{ a = { b = 2 } }")},
        Rule{"array of tables where an array was", "a = []\n[[a]]\n", all(kRefused)},
        Rule{"implicit in one element is so in the next",
             "[[x]]\n[x.y.z]\n[[x]]\n[x.y]\n[x.y]\n",
             all("{ x = [{ y = { z = {} } }, { y = {} }] }")},
        Rule{"two elements with the same header",
             "[[x]]\n[x.y]\na = 1\n[[x]]\n[x.y]\na = 2\n",
             all("{ x = [{ y = { a = 1 } }, { y = { a = 2 } }] }")}),
    [](const auto& item) { return std::to_string(item.index); });

INSTANTIATE_TEST_SUITE_P(
    Values,
    BurntSushi,
    testing::Values(
        Rule{"escapes of TOML 1.1", "a = \"\\e\\x41\"\n", {kRefused, kRefused, kEscaped}},
        Rule{"inline table over lines", "a = { b = 1,\n # c\n }\n", {kRefused, kRefused, "{ a = { b = 1 } }"}},
        Rule{"times without seconds", "a = 03:04\n", {kRefused, kRefused, "{ a = 03:04 }"}},
        Rule{"an hour of one digit", "a = 3:04:05\n", all("{ a = 3:04:05 }")},
        Rule{"a day that isn't", "a = 2020-02-30\n", all(kRefused)},
        Rule{"a byte order mark",
             "\xef\xbb\xbf"
             "a = 1\n",
             {kRefused, "{ a = 1 }", "{ a = 1 }"}},
        Rule{"a mark of UTF-16 only",
             "\xff\xfe"
             "a = 1\n",
             all("{ a = 1 }")},
        Rule{"U+FFFD", "# \xef\xbf\xbd\n", all(kRefused)},
        Rule{"newlines with carriage returns",
             "a = \"\"\"x\r\ny\"\"\"\r\n",
             {R"({ a = "x\ny" })", R"({ a = "x\r\ny" })", R"({ a = "x\r\ny" })"}},
        Rule{"lines after an escaped newline",
             "a = \"\"\"x\\\n y\nz\"\"\"\n",
             {R"({ a = "xyz" })", R"({ a = "xy\nz" })", R"({ a = "xy\nz" })"}},
        Rule{"five quotes at the end", "a = \"\"\"x\"\"\"\"\"\n", all(R"({ a = "x\"\"" })")},
        Rule{"six quotes at the end", "a = \"\"\"x\"\"\"\"\"\"\n", all(kRefused)},
        Rule{"six quotes behind a backslash", "a = \"\"\"\\\\\"\"\"\"\"\"\n", all(R"({ a = "\\\"\"\"" })")},
        Rule{"a key of a Unicode letter", "caf\xc3\xa9 = 1\n", all(kRefused)},
        Rule{"leading zero", "a = 010\n", all(kRefused)},
        Rule{"capital prefix", "a = 0XFF\n", all(kRefused)},
        Rule{"underscores in hexadecimal", "a = 0xf_f\n", all("{ a = 255 }")},
        Rule{"a bare word", "a = info\n", all(kRefused)},
        Rule{"too large", "a = 9223372036854775808\n", all(kRefused)}),
    [](const auto& item) { return std::to_string(item.index); });

TEST(BurntSushiPlaces, ARefusalNamesLineAndColumn) {
  const auto table = read_toml("[a]\nb = 1\nb = 2\n", "/f", kBurntSushi13);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::daemon_refuses);
  EXPECT_EQ(table.error().where, "/f:3:5");
}

TEST(BurntSushiPlaces, TheFirstBadCharacterIsNamedWhereTheTextBreaksOff) {
  const auto table = read_toml("a = 1\n# x\x01\n", "/f", kBurntSushi13);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().where, "/f:2:4");
}

TEST(BurntSushiPlaces, ValuesAndTablesKnowTheirs) {
  const auto table = read_toml("[a.b]\nc = [1]\n", "/f", kBurntSushi13);
  ASSERT_TRUE(table);
  const Value* a = find(*table, "a");
  const Value* b = find(*a->table(), "b");
  EXPECT_EQ(b->origin.to_string(), "/f:1");
  EXPECT_EQ(find(*b->table(), "c")->origin.column, 5U);
}

TEST(BurntSushiStatements, HaveTheirSpans) {
  const std::string_view text = "[ a . \"b\" ] # x\nc.d = [ 1, 2, ] # y\n";
  const auto statements = scan_statements(text, "/f", kBurntSushi13);
  ASSERT_TRUE(statements);
  ASSERT_EQ(statements->size(), 2U);
  EXPECT_EQ((*statements)[0].key, (std::vector<std::string>{"a", "b"}));
  const Span value = (*statements)[1].value;
  EXPECT_EQ(text.substr(value.begin, value.end - value.begin), "[ 1, 2, ]");
  const auto layout = scan_array(text, value, kBurntSushi13);
  ASSERT_TRUE(layout);
  EXPECT_EQ(layout->elements.size(), 2U);
  EXPECT_TRUE(layout->trailing_comma);
}

TEST(BurntSushiDepth, IsBounded) {
  const std::string deep(kDeepest + 10, '[');
  const auto table = read_toml("a = " + deep, "/f", kBurntSushi13);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().code, ErrorCode::failed);
}

}  // namespace
}  // namespace ctkit::engine
