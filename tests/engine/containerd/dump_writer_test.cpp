#include "engine/containerd/dump_writer.h"

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/containerd_fixture.h"

// The layout of `config dump`: reference section 9.
namespace ctkit::engine::containerd {
namespace {

using test::daemon_of;
using test::loaded;
using test::parse;

std::string dump(std::string_view release, std::string_view toml) {
  return render_dump(parse(toml), daemon_of(release).known);
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(DumpWriter, PrintsTheDefaultsOfEveryReleaseByteForByte) {
  for (const std::string_view each : recorded_releases()) {
    const Schema& schema = recorded_schema(each);
    const std::string release(schema.release);
    const std::string recorded = read_file(TESTDATA "/containerd/defaults/" + release + ".toml");
    ASSERT_FALSE(recorded.empty()) << release;
    EXPECT_EQ(render_dump(loaded(release, {}).config, daemon_of(release).known), recorded) << release;
  }
}

TEST(DumpWriter1, SortsPlainKeysThenTablesWithAnEmptyLineBeforeEachHeader) {
  EXPECT_EQ(dump("1.7.27", "b = 1\na = []\n[t]\n[s]\nx = true\n[s.'a.b']\ny = 'z'"), R"(a = []
b = 1

[s]
  x = true

  [s."a.b"]
    y = "z"

[t]
)");
}

TEST(DumpWriter1, EscapesInDoubleQuotes) {  // f23, f31
  EXPECT_EQ(dump("1.7.27", R"(a = "\b\t\n\f\r\"\\ it's \u0001 \u001f é")"),
            "a = \"\\b\\t\\n\\f\\r\\\"\\\\ it's \\u0001 \x1f é\"\n");
}

TEST(DumpWriter1, KeepsThePointOfAFloat) {  // f24
  EXPECT_EQ(dump("1.7.27", "a = 0.0\nb = 1.0\nc = 0.02\nd = 0.1"), "a = 0.0\nb = 1.0\nc = 0.02\nd = 0.1\n");
}

TEST(DumpWriter1, PrintsArraysOfTablesUnderDoubleBrackets) {
  EXPECT_EQ(dump("1.7.27", "[[a]]\nn = 1\n[[a]]\nn = 2"), "\n[[a]]\n  n = 1\n\n[[a]]\n  n = 2\n");
}

TEST(DumpWriter2, PrintsStructMembersInDeclarationOrder) {
  EXPECT_EQ(dump("2.1.9", "state = '/s'\nroot = '/r'\nversion = 3\n[grpc]\nuid = 1\naddress = '/g'"),
            R"(version = 3
root = '/r'
state = '/s'

[grpc]
  address = '/g'
  uid = 1
)");
}

struct Text {
  std::string_view toml;
  std::string_view two;
  std::string_view two_four;
};

TEST(DumpWriter2, QuotesAsItsLibraryDoes) {  // f23, f31
  constexpr Text kTexts[] = {
      {"root = '/plain'", "root = '/plain'\n", "root = '/plain'\n"},
      {R"(root = "/it's")", "root = \"/it's\"\n", "root = \"/it's\"\n"},
      {R"(root = "/a\\b")", "root = '/a\\b'\n", "root = '/a\\b'\n"},
      {R"(root = "/a\nb")", "root = \"/a\\nb\"\n", "root = \"/a\\nb\"\n"},
      {R"(root = "q\"q")", "root = 'q\"q'\n", "root = 'q\"q'\n"},
      {R"(root = "é\u0001")", "root = \"é\\u0001\"\n", "root = \"é\\u0001\"\n"},
      {R"(root = "/a\tb")", "root = '/a\tb'\n", "root = \"/a\\tb\"\n"},
  };
  for (const auto& [toml, two, two_four] : kTexts) {
    EXPECT_EQ(dump("2.1.9", toml), two);
    EXPECT_EQ(dump("2.4.0-beta.0", toml), two_four);
    EXPECT_EQ(dump("2.1.9~ds1", toml), two_four);
  }
}

TEST(DumpWriter2, PrintsFloatsWithoutAnExponent) {  // f24
  constexpr std::string_view kFloats =
      "[plugins.'io.containerd.example.v1.none']\na = 1.0\nb = 1e30\nc = 0.00000001\nd = inf\ne = "
      "nan\nf = 123456789.25";
  const auto with = [](std::string_view b) {
    return "[plugins]\n  [plugins.'io.containerd.example.v1.none']\n    a = 1.0\n    b = " + std::string(b) +
           "\n    c = 0.00000001\n    d = inf\n    e = nan\n    f = 123456789.25\n";
  };
  EXPECT_EQ(dump("2.1.9", kFloats), with("1000000000000000019884624838656.0"));
  EXPECT_EQ(dump("2.4.0-beta.0", kFloats), with("1000000000000000000000000000000.0"));
}

TEST(DumpWriter2, SetsEmptyLinesAsItsLibraryDoes) {
  constexpr std::string_view kTree =
      "version = 3\n[plugins.a]\nx = 1\n[plugins.a.s]\ny = 2\n[plugins.b]\n[plugins.b.t]\nz = "
      "3\n[plugins.c]";
  EXPECT_EQ(dump("2.1.9", kTree), R"(version = 3

[plugins]
  [plugins.a]
    x = 1

    [plugins.a.s]
      y = 2

  [plugins.b]
    [plugins.b.t]
      z = 3

  [plugins.c]
)");
  EXPECT_EQ(dump("2.4.0-beta.0", kTree), R"(version = 3

[plugins]
  [plugins.a]
    x = 1

    [plugins.a.s]
      y = 2

  [plugins.b]
    [plugins.b.t]
      z = 3

  [plugins.c]
)");
}

TEST(DumpWriter2, PrintsArraysOfTablesUnderDoubleBracketsAndMixedOnesInline) {
  EXPECT_EQ(dump("2.1.9", "[[plugins.a.items]]\nn = 1\n[[plugins.a.items]]\nn = 2\n[plugins.b]\nm = [1, {x = 2}]"),
            R"([plugins]
  [plugins.a]
    [[plugins.a.items]]
      n = 1

    [[plugins.a.items]]
      n = 2

  [plugins.b]
    m = [1, {x = 2}]
)");
}

}  // namespace
}  // namespace ctkit::engine::containerd
