#include "cdi/yaml_value.h"

#include <string>

#include <gtest/gtest.h>

#include "cdi/yaml_resolve.h"

namespace ctkit::cdi {
namespace {

/// The tree as text: type marks and values, for comparing.
std::string show(const YamlTree& tree, std::uint32_t id) {
  const YamlValue& value = tree.at(id);
  switch (value.kind) {
    case YamlKind::null:
      return "null";
    case YamlKind::boolean:
      return value.boolean ? "true" : "false";
    case YamlKind::integer:
      return std::to_string(value.integer);
    case YamlKind::unsigned_integer:
      return std::to_string(value.unsigned_integer) + "u";
    case YamlKind::floating:
      return "float " + format_double(value.floating);
    case YamlKind::text:
      return "'" + value.text + "'";
    case YamlKind::list: {
      std::string text = "[";
      for (const std::uint32_t item : value.items)
        text += (text.size() > 1 ? ", " : "") + show(tree, item);
      return text + "]";
    }
    case YamlKind::map: {
      std::string text = "{";
      for (const auto& [key, item] : value.entries) {
        text += (text.size() > 1 ? ", " : "") + show(tree, key) + ": " + show(tree, item);
      }
      return text + "}";
    }
  }
  return "";
}

std::string read(std::string_view text) {
  const auto tree = read_yaml_value(text);
  if (!tree) return (tree.error().problem == YamlProblem::syntax ? "error: " : "duplicate: ") + tree.error().message;
  return show(*tree, tree->root);
}

struct Reading {
  const char* name = "";
  std::string text = {};
  std::string result = {};
};

void PrintTo(const Reading& reading, std::ostream* out) {
  *out << reading.name;
}

class Yaml : public testing::TestWithParam<Reading> {};

TEST_P(Yaml, IsReadAsGoYamlDoes) {
  EXPECT_EQ(read(GetParam().text), GetParam().result);
}

INSTANTIATE_TEST_SUITE_P(
    Scalars,
    Yaml,
    testing::Values(
        Reading{"words", "[y, No, on, ~, null, '', true]", "[true, false, true, null, null, '', true]"},
        Reading{"integers", "[0x10, 0o17, 0b11, 017, 1_000, +5, -5, -0b11]", "[16, 15, 3, 15, 1000, 5, -5, -3]"},
        Reading{"unsigned", "18446744073709551615", "18446744073709551615u"},
        Reading{"too big", "18446744073709551616", "float 18446744073709551616"},
        Reading{"floats", "[1.50, 1e3, .5, 08]", "[float 1.5, float 1000, float 0.5, float 8]"},
        Reading{"base 60 is text", "[1:30, 2001-01-01]", "['1:30', '2001-01-01']"},
        Reading{
            "tags", "[!!str 5, !!int \"7\", !!float 3, !foo bar, !!binary YWJj]", "['5', 7, float 3, 'bar', 'abc']"},
        Reading{"wrong tag", "!!int x", "error: cannot decode !!str `x` as a !!int"},
        Reading{"escapes", R"("\x41\u00e4\t\\\N")", "'A\xC3\xA4\t\\\xC2\x85'"},
        Reading{"slash is no escape", R"("a\/b")", "error: found unknown escape character"},
        Reading{"folding", "a: b\n  c\n\n  d\ne: \"f\n  g\"", "{'a': 'b c\nd', 'e': 'f g'}"},
        Reading{"literal", "a: |\n  x\n   y\n\nb: >-\n  x\n  y\n", "{'a': 'x\n y\n', 'b': 'x y'}"},
        Reading{"keep", "a: |+\n  x\n\n", "{'a': 'x\n\n'}"}));

INSTANTIATE_TEST_SUITE_P(
    Structure,
    Yaml,
    testing::Values(
        Reading{"pairs in a list", "[a: b, c]", "[{'a': 'b'}, 'c']"},
        Reading{"complex key mark", "? a\n: b\n? c\n", "{'a': 'b', 'c': null}"},
        Reading{"same indentation", "a:\n- b\n- - c\n", "{'a': ['b', ['c']]}"},
        Reading{"merge", "a: &x {b: 1}\nc: {<<: *x, d: 2}", "{'a': {'b': 1}, 'c': {'b': 1, 'd': 2}}"},
        Reading{"merge is strict", "a: &x {b: 1}\nc: {<<: *x, b: 2}", "duplicate: key \"b\" already set in map"},
        Reading{"keys of two types", "{1: a, '1': b}", "{1: 'a', '1': 'b'}"},
        Reading{"list as key", "? [a]\n: b", "error: invalid map key: a list or a map"},
        Reading{"only the first document", "a\n---\n[", "'a'"},
        Reading{"nothing", "", "null"},
        Reading{"only a comment", "# x\n", "null"},
        Reading{"alias in itself", "&a [*a]", "error: anchor 'a' value contains itself"},
        Reading{"unknown alias", "*a", "error: unknown anchor 'a' referenced"},
        Reading{"undefined handle", "!x!y z", "error: found undefined tag handle"},
        Reading{"defined handle", "%TAG !x! tag:yaml.org,2002:\n--- !x!int '5'", "5"},
        Reading{"colon in a plain key", "a: b: c", "error: mapping values are not allowed in this context"}));

TEST(YamlValue, LooksForBadBytesAPieceAtATime) {
  // The library decodes 512 bytes at a time: what is behind the first document is only bad if it is
  // in that piece.
  EXPECT_EQ(read("a\n---\n\x01"), "error: control characters are not allowed");
  EXPECT_EQ(read("a\n---\n" + std::string(600, ' ') + "\x01"), "'a'");
}

TEST(YamlValue, SurvivesDepthThatWouldBreakAStack) {
  for (const std::string& text : {std::string(9999, '[') + std::string(9999, ']'),
                                  std::string(20000, '['),
                                  "a: " + std::string(5000, '{'),
                                  std::string(9000, '-') + " x"}) {
    const auto tree = read_yaml_value(text);
    EXPECT_TRUE(tree || tree.error().problem == YamlProblem::syntax);
  }
  std::string dashes;
  for (int i = 0; i < 9999; ++i)
    dashes += "- ";
  EXPECT_TRUE(read_yaml_value(dashes + "x"));
  EXPECT_FALSE(read_yaml_value("- - " + dashes + "x"));
}

TEST(YamlValue, NumbersBecomeTextAsGoPrintsThem) {
  EXPECT_EQ(format_single(1.5), "1.5");
  EXPECT_EQ(format_single(1000), "1000");
  EXPECT_EQ(format_single(1e6), "1e+06");
  EXPECT_EQ(format_single(0.00001), "1e-05");
  EXPECT_EQ(format_single(0.1), "0.1");
  EXPECT_EQ(format_single(1e300), "+Inf");
}

}  // namespace
}  // namespace ctkit::cdi
