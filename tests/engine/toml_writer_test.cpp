#include "engine/toml_writer.h"

#include <cmath>
#include <limits>
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "engine/toml_reader.h"

namespace ctkit::engine {
namespace {

Table read(std::string_view toml, const TomlDialect& dialect = kGoToml22) {
  auto table = read_toml(toml, "test.toml", dialect);
  if (table) return *std::move(table);
  ADD_FAILURE() << table.error().where << ": " << table.error().message << "\n" << toml;
  return {};
}

TEST(QuoteString, EscapesWhatABasicStringMustNotHold) {
  EXPECT_EQ(quote_string(""), R"("")");
  EXPECT_EQ(quote_string("it's \"x\" \\"), R"("it's \"x\" \\")");
  EXPECT_EQ(quote_string("a\nb\rc\td"), R"("a\nb\rc\td")");
  EXPECT_EQ(quote_string(std::string_view("\0\x1f\x7f", 3)), R"("\u0000\u001F\u007F")");
  EXPECT_EQ(quote_string("é €"), "\"é €\"");
}

TEST(RenderValue, WritesScalarsOnOneLine) {
  EXPECT_EQ(render_value({.data = true}), "true");
  EXPECT_EQ(render_value({.data = std::numeric_limits<std::int64_t>::min()}), "-9223372036854775808");
  EXPECT_EQ(render_value({.data = std::numeric_limits<std::uint64_t>::max()}), "18446744073709551615");
  EXPECT_EQ(render_value({.data = DateTime{"2024-02-03T04:05:06Z"}}), "2024-02-03T04:05:06Z");
}

TEST(RenderValue, KeepsAFloatAFloat) {
  EXPECT_EQ(render_value({.data = 1.0}), "1.0");
  EXPECT_EQ(render_value({.data = 0.02}), "0.02");
  EXPECT_EQ(render_value({.data = std::nan("")}), "nan");
  EXPECT_EQ(render_value({.data = std::numeric_limits<double>::infinity()}), "inf");
  EXPECT_EQ(render_value({.data = -std::numeric_limits<double>::infinity()}), "-inf");
}

TEST(RenderValue, NestsArraysAndInlineTables) {
  EXPECT_EQ(render_value({.data = Array{}}), "[]");
  EXPECT_EQ(render_value({.data = Table{}}), "{}");
  const Table table = read("v = {b = [1, [\"x\"]], \"a.b\" = {c = true}}");
  EXPECT_EQ(render_value(table.at("v")), R"({ "a.b" = { c = true }, b = [1, ["x"]] })");
}

TEST(RenderToml, PutsPlainKeysBeforeTablesAndSkipsHeadersOfTablesOfTables) {
  EXPECT_EQ(render_toml(read(R"(
    z = 1
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
    runtime_type = "t"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
    BinaryName = "/b"
  )")),
            R"(z = 1

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]
runtime_type = "t"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]
BinaryName = "/b"
)");
}

TEST(RenderToml, KeepsTheHeaderOfAnEmptyTable) {
  EXPECT_EQ(render_toml(read("[a.b]")), "[a.b]\n");
}

struct Text {
  std::string name = {};
  std::string toml = {};
};

void PrintTo(const Text& text, std::ostream* stream) {
  *stream << text.name;
}

class RoundTrip : public testing::TestWithParam<Text> {};

TEST_P(RoundTrip, ReadsBackToTheSameTableInEveryDaemon) {
  const Table table = read(GetParam().toml);
  const std::string text = render_toml(table);
  for (const TomlDialect* dialect : {&kGoToml18, &kGoToml19, &kGoToml22, &kGoToml23, &kGoToml24})
    EXPECT_EQ(read(text, *dialect), table) << text;
  EXPECT_EQ(render_toml(read(text)), text);
}

INSTANTIATE_TEST_SUITE_P(
    Tables,
    RoundTrip,
    testing::Values(Text{"Empty", ""},
                    Text{"Scalars", "a = 1\nb = 2.5\nc = true\nd = \"x\"\ne = 1e300\nf = -0.0"},
                    Text{"DateTimes", "a = 2024-02-03T04:05:06Z\nb = 2024-02-03T04:05:06+01:00"},
                    Text{"OddHeaders", R"(["\u0000"]
a = 1
["tab\t".c]
d = 3)"},
                    Text{"OddKeys", "\"a.b\" = 1\n\"it's\" = 2\n\"sp ace\" = 3\n1234 = 4"},
                    Text{"Strings", R"(a = "tab\t, quote \", backslash \\, é, \u0001, \u007F, line\nend")"},
                    Text{"EmptyTables", "[a]\n[b.c]\n[b.d.e]\n"},
                    Text{"PlainKeysAboveAndBelow", "x = 1\n[a]\ny = 2\n[a.b]\nz = 3\n[a.b.c.d]\nw = 4"},
                    Text{"ArrayOfTables", "[[a]]\nn = 1\n[[a]]\nn = 2\n[[a.b]]\nm = 3\n[a.c]\nk = 4"},
                    Text{"ArrayOfArrays", "a = [[1, 2], [\"x\"]]\nb = []"},
                    Text{"InlineTablesInArrays", "a = [{b = 1, c = {d = 2}}, {b = 3}]"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ctkit::engine
