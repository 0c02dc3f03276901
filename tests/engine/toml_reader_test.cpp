#include "engine/toml_reader.h"

#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/key_path.h"

// What each library takes is in toml_dialect_test.cpp.

namespace ctkit::engine {
namespace {

using namespace std::literals;

constexpr std::string_view kFile = "/etc/containerd/conf.d/10-x.toml";

const TomlDialect& go_toml(int version) {
  switch (version) {
    case 18:
      return kGoToml18;
    case 19:
      return kGoToml19;
    case 22:
      return kGoToml22;
    default:
      return kGoToml24;
  }
}

/// "line:column" of what a path of keys and indices leads to.
std::string place_of(const Table& document, std::string_view path) {
  const Table* table = &document;
  const Value* value = nullptr;
  for (const std::string& part : KeyPath::parse(path).value_or(KeyPath{}).parts) {
    if (table) {
      value = find(*table, part);
    } else if (value && value->array()) {
      value = &value->array()->at(std::stoul(part));
    }
    if (!value) return "nothing at " + part;
    table = value->table();
  }
  const Origin& origin = value->origin;
  EXPECT_EQ(origin.file ? *origin.file : "", kFile);
  return std::to_string(origin.line) + ":" + std::to_string(origin.column);
}

class Reader : public testing::TestWithParam<int> {
 protected:
  static Result<Table> read(std::string_view text) { return read_toml(text, kFile, go_toml(GetParam())); }
  static Error refusal(std::string_view text) {
    const auto table = read(text);
    return table ? Error{.message = "taken"} : table.error();
  }
};

INSTANTIATE_TEST_SUITE_P(GoToml, Reader, testing::Values(18, 19, 22, 24));

TEST_P(Reader, PutsEveryValueAtItsPlace) {
  const auto table = read(R"(version = 2
imports = [
  "/etc/a",
  "/etc/b"]

[plugins."io.containerd.grpc.v1.cri"]
  sandbox.image = 'pause'  # comment
  nested = { a = [ { b = 1 } ] }
  [plugins."io.containerd.grpc.v1.cri".containerd]
    x = true
[[many]]
[[many]]
  y = 1
)");
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(place_of(*table, "version"), "1:11");
  EXPECT_EQ(place_of(*table, "imports"), "2:11");
  EXPECT_EQ(place_of(*table, "imports.0"), "3:3");
  EXPECT_EQ(place_of(*table, "imports.1"), "4:3");
  const std::string cri = R"(plugins."io.containerd.grpc.v1.cri")";
  EXPECT_EQ(place_of(*table, "plugins"), "6:2");
  EXPECT_EQ(place_of(*table, cri), "6:2");
  EXPECT_EQ(place_of(*table, cri + ".sandbox"), "7:3");
  EXPECT_EQ(place_of(*table, cri + ".sandbox.image"), "7:19");
  EXPECT_EQ(place_of(*table, cri + ".nested"), "8:12");
  EXPECT_EQ(place_of(*table, cri + ".nested.a"), "8:18");
  EXPECT_EQ(place_of(*table, cri + ".nested.a.0"), "8:20");
  EXPECT_EQ(place_of(*table, cri + ".nested.a.0.b"), "8:26");
  EXPECT_EQ(place_of(*table, cri + ".containerd"), "9:4");
  EXPECT_EQ(place_of(*table, cri + ".containerd.x"), "10:9");
  EXPECT_EQ(place_of(*table, "many"), "11:3");
  EXPECT_EQ(place_of(*table, "many.0"), "11:3");
  EXPECT_EQ(place_of(*table, "many.1"), "12:3");
  EXPECT_EQ(place_of(*table, "many.1.y"), "13:7");
}

TEST_P(Reader, KeepsWhereATableWasFirstNamed) {
  const auto table = read("[a.b]\n[a]\nx = 1\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(place_of(*table, "a"), "1:2");
  EXPECT_EQ(place_of(*table, "a.x"), "3:5");
}

TEST_P(Reader, CountsBytesAndCrlf) {
  const auto table = read("a = \"\xc3\xa9\"\r\n\"\xc3\xa9\".b = 1\r\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(place_of(*table, "\"\xc3\xa9\""), "2:1");
  EXPECT_EQ(place_of(*table, "\"\xc3\xa9\".b"), "2:10");
}

TEST_P(Reader, SharesOneFileName) {
  const auto table = read("a = 1\n[b]\nc = 2\n");
  ASSERT_TRUE(table);
  const Value* b = find(*table, "b");
  EXPECT_EQ(find(*table, "a")->origin.file, b->origin.file);
  EXPECT_EQ(find(*b->table(), "c")->origin.file, b->origin.file);
}

TEST_P(Reader, SaysWhereItIsRefusedAndWhatToDo) {
  const Error error = refusal("version = 2\n[grpc]\n  uid = yes\n");
  EXPECT_EQ(error.code, ErrorCode::daemon_refuses);
  EXPECT_EQ(error.where, std::string(kFile) + ":3:9");
  EXPECT_EQ(error.hint, "a string needs quotes");
}

TEST_P(Reader, NamesTheLineOfTheFirstOfTwo) {
  EXPECT_EQ(refusal("[a]\nb = 1\nc = 2\nb = 3\n").message, "key 'b' is there already, in line 2");
  EXPECT_EQ(refusal("[a]\nb = 1\nc = 2\nb = 3\n").where, std::string(kFile) + ":4:1");
  EXPECT_EQ(refusal("x = 1\n[a.b]\n[a.b]\n").message, "table 'a.b' is there already, in line 2");
  EXPECT_EQ(refusal("x = 1\n[a.b]\n[a.b]\n").where, std::string(kFile) + ":3:2");
}

TEST_P(Reader, ReportsTheFirstProblem) {
  EXPECT_EQ(refusal("a = 1\na = 2\nb = [\n").where, std::string(kFile) + ":2:1");
}

TEST_P(Reader, TakesAsManyLevelsAsAllowed) {
  const std::string open(kDeepest - 1, '[');
  const std::string close(kDeepest - 1, ']');
  EXPECT_TRUE(read("a = " + open + close + "\n"));
  std::string header = "[a";
  for (int level = 1; level < kDeepest; ++level)
    header += ".a";
  EXPECT_TRUE(read(header + "]\n"));
}

TEST_P(Reader, GivesUpBelowTheDeepestLevel) {
  std::string dots = "a";
  std::string braces;
  for (int level = 0; level < 10'000; ++level) {
    dots += ".a";
    braces += "{a=";
  }
  for (const std::string& text : {"a = " + std::string(1'000'000, '['),
                                  "a = " + std::string(10'000, '[') + std::string(10'000, ']'),
                                  "a = " + braces + "1" + std::string(10'000, '}'),
                                  dots + " = 1",
                                  "[" + dots + "]",
                                  "[[" + dots + "]]"}) {
    const Error error = refusal(text);
    EXPECT_EQ(error.code, ErrorCode::failed) << text.substr(0, 20);
    EXPECT_EQ(error.message, "nested deeper than 500");
    EXPECT_TRUE(error.where.starts_with(std::string(kFile) + ":1:")) << error.where;
  }
}

TEST_P(Reader, TakesLargeTexts) {
  std::string keys;
  std::string tables;
  std::string array = "x = [";
  for (int index = 0; index < 20'000; ++index) {
    keys += "key" + std::to_string(index) + " = 'value'\n";
    tables += "[[a]]\nx = 1\n[a.b]\n[t" + std::to_string(index) + "]\n";
    array += "{ a = 1 },\n";
  }
  const auto with_keys = read(keys);
  ASSERT_TRUE(with_keys);
  EXPECT_EQ(with_keys->size(), 20'000U);
  const auto with_tables = read(tables);
  ASSERT_TRUE(with_tables);
  EXPECT_EQ(find(*with_tables, "a")->array()->size(), 20'000U);
  const auto with_array = read(array + "]");
  ASSERT_TRUE(with_array);
  EXPECT_EQ(find(*with_array, "x")->array()->size(), 20'000U);
}

TEST_P(Reader, ReadsFloatsToTheLastBit) {
  const auto table = read("x = [0.1, 1.7976931348623157e308, 4.9e-324, -0.0]");
  ASSERT_TRUE(table);
  const Array& floats = *find(*table, "x")->array();
  EXPECT_EQ(std::get<double>(floats[0].data), 0.1);
  EXPECT_EQ(std::get<double>(floats[1].data), 1.7976931348623157e308);
  EXPECT_EQ(std::get<double>(floats[2].data), 4.9e-324);
  EXPECT_TRUE(std::signbit(std::get<double>(floats[3].data)));
}

/// The daemon knows `version` and whatever is below `plugins`.
bool has_place(std::span<const std::string> path) {
  return path[0] == "plugins" || (path[0] == "version" && path.size() == 1);
}

bool takes(std::string_view text, const TomlDialect& dialect) {
  return read_toml(text, kFile, dialect, has_place).has_value();
}

TEST(Unplaced, ValuesAreNotConvertedByGoToml2) {
  for (const TomlDialect* dialect : {&kGoToml22, &kGoToml23, &kGoToml24}) {
    const auto table = read_toml("x = 99999999999999999999\n", kFile, *dialect, has_place);
    ASSERT_TRUE(table);
    EXPECT_EQ(*find(*table, "x")->string(), "99999999999999999999");
    EXPECT_TRUE(takes("[a]\nb.c = [1979-02-30, {d = 0xffffffffffffffff}]\n", *dialect));
    EXPECT_FALSE(takes("version = 99999999999999999999\n", *dialect));
    EXPECT_FALSE(takes("[plugins.x]\na = 1979-02-30\n", *dialect));
    EXPECT_FALSE(takes("x = 5s\n", *dialect));
  }
  EXPECT_FALSE(takes("x = 99999999999999999999\n", kGoToml19));
}

// What containerd 2.1.9 of Debian (go-toml 2.4) said of each line.
TEST(Unplaced, DatesEndWhereNothingOfADateStands) {
  for (const std::string_view text :
       {"v=1979-", "v=1979-T", "v=1979-+.:Zz", "v=12:", "v=12:30 4 5", "v=1979-05-27 07 08"})
    EXPECT_TRUE(takes(text, kGoToml24)) << text;
  for (const std::string_view text :
       {"v=1979-x", "v=1979-_", "v=1979-05-27x", "v=12:3a", "v=12:e5", "v=1979-05-27 0x7"})
    EXPECT_FALSE(takes(text, kGoToml24)) << text;
}

TEST(Unplaced, BehindABlankAndADigitADateHasAnyCharacterBefore24) {
  for (const TomlDialect* dialect : {&kGoToml22, &kGoToml23}) {
    EXPECT_TRUE(takes("v=1979-05-27 0x", *dialect));
    EXPECT_FALSE(takes("v=1979-05-27 0xy", *dialect));
    EXPECT_FALSE(takes("v=1979-05-27 07 08", *dialect));
    EXPECT_FALSE(takes("v=1979-x", *dialect));
  }
}

TEST(Unplaced, TablesMayRepeatKeysBefore24) {
  constexpr std::string_view kRepeated = "[a]\nb = 1\nb = 2\nc.d = 1\n[a.c]\n";
  EXPECT_TRUE(takes(kRepeated, kGoToml22));
  EXPECT_FALSE(takes(kRepeated, kGoToml24));
  EXPECT_FALSE(takes(kRepeated, kGoToml19));
}

TEST(Unplaced, KeysAndHeadersMayNotRepeat) {
  for (const TomlDialect* dialect : {&kGoToml22, &kGoToml24}) {
    EXPECT_FALSE(takes("a = 1\na = 2\n", *dialect));
    EXPECT_FALSE(takes("[a]\n[a]\n", *dialect));
    EXPECT_FALSE(takes("[plugins.x]\na = 1\na = 2\n", *dialect));
  }
}

TEST(GoToml2, SaysThatAByteOrderMarkIsTheProblem) {
  const auto table = read_toml("\xef\xbb\xbfx = 1", kFile, kGoToml22);
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message, "a byte order mark");
  EXPECT_EQ(table.error().where, std::string(kFile) + ":1:1");
}

}  // namespace
}  // namespace ctkit::engine
