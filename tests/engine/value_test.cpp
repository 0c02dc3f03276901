#include "engine/value.h"

#include <limits>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "engine/diagnostic.h"

namespace ctkit::engine {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Value value(Data data) {
  return {.data = std::move(data)};
}

Origin origin(std::string file, std::uint32_t line) {
  return {.file = std::make_shared<const std::string>(std::move(file)), .line = line, .column = 1};
}

TEST(Value, EqualsByDataNotByOrigin) {
  EXPECT_EQ(value(std::int64_t{1}), (Value{.data = std::int64_t{1}, .origin = origin("/a", 3)}));
  EXPECT_NE(value(std::int64_t{1}), value(std::int64_t{2}));
}

TEST(Value, EqualsOnlyWithinAType) {
  EXPECT_NE(value(std::int64_t{1}), value(1.0));
  EXPECT_NE(value(std::int64_t{1}), value(std::uint64_t{1}));
  EXPECT_NE(value(std::string("1979-05-27")), value(DateTime{"1979-05-27"}));
  EXPECT_NE(value(Array{}), value(Table{}));
}

TEST(Value, NanEqualsNan) {
  EXPECT_EQ(value(kNan), value(kNan));
  EXPECT_NE(value(kNan), value(0.0));
  EXPECT_EQ(value(Array{value(kNan)}), value(Array{value(kNan)}));
  EXPECT_EQ(value(Table{{"a", value(kNan)}}), value(Table{{"a", value(kNan)}}));
}

TEST(Value, ZerosOfBothSignsAreEqual) {
  EXPECT_EQ(value(0.0), value(-0.0));
}

TEST(Find, GivesTheValueOrNull) {
  Table table{{"a", value(true)}};
  ASSERT_NE(find(table, "a"), nullptr);
  find(table, "a")->data = false;
  EXPECT_EQ(*find(std::as_const(table), "a")->boolean(), false);
  EXPECT_EQ(find(table, "b"), nullptr);
  EXPECT_EQ(find(std::as_const(table), "b"), nullptr);
}

TEST(TypeName, IsWhatPeopleSay) {
  EXPECT_EQ(type_name(value(true)), "boolean");
  EXPECT_EQ(type_name(value(std::int64_t{1})), "integer");
  EXPECT_EQ(type_name(value(std::uint64_t{1})), "integer");
  EXPECT_EQ(type_name(value(1.0)), "float");
  EXPECT_EQ(type_name(value(std::string())), "string");
  EXPECT_EQ(type_name(value(DateTime{})), "date-time");
  EXPECT_EQ(type_name(value(Array{})), "array");
  EXPECT_EQ(type_name(value(Table{})), "table");
}

TEST(Diagnostic, IsOneLineAndAHint) {
  Diagnostic diagnostic{.message = "key 'x' is unknown", .origin = origin("/etc/a.toml", 7)};
  EXPECT_EQ(render(diagnostic), "warning: /etc/a.toml:7: key 'x' is unknown\n");
  diagnostic.severity = Severity::note;
  diagnostic.hint = "remove it";
  EXPECT_EQ(render(diagnostic), "note: /etc/a.toml:7: key 'x' is unknown\n  hint: remove it\n");
}

TEST(Diagnostic, WithoutAPlaceNamesNone) {
  EXPECT_EQ(render({.severity = Severity::error, .message = "no"}), "error: no\n");
}

}  // namespace
}  // namespace ctkit::engine
