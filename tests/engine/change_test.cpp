#include "engine/change.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Value number(std::int64_t value) {
  return {.data = value};
}

Value table(Table entries) {
  return {.data = std::move(entries)};
}

/// "a.b 1->2", "-" for none, "{}" for an empty table, "{…}" for another.
std::vector<std::string> described(const std::vector<Change>& changes) {
  const auto text = [](const Value* value) -> std::string {
    if (value == nullptr) return "-";
    if (const Table* entries = value->table()) return entries->empty() ? "{}" : "{…}";
    if (const std::int64_t* integer = value->integer()) return std::to_string(*integer);
    return std::string(type_name(*value));
  };
  std::vector<std::string> result;
  for (const Change& change : changes) {
    result.push_back(change.key.to_string() + " " + text(change.before) + "->" + text(change.after));
  }
  return result;
}

TEST(Differences, OfEqualTablesAreNone) {
  const Table both = {{"a", number(1)}, {"b", table({{"c", table({})}})}};
  EXPECT_THAT(differences(both, both), IsEmpty());
  EXPECT_THAT(differences({}, {}), IsEmpty());
}

TEST(Differences, AreLeavesInKeyOrder) {
  const Table before = {{"a", number(1)}, {"b", table({{"x", number(1)}, {"y", number(2)}})}, {"d", number(4)}};
  const Table after = {{"b", table({{"x", number(9)}, {"z", number(3)}})}, {"c", number(5)}, {"d", number(4)}};
  EXPECT_THAT(described(differences(before, after)),
              ElementsAre("a 1->-", "b.x 1->9", "b.y 2->-", "b.z -->3", "c -->5"));
}

TEST(Differences, DescendIntoTablesThatOneSideLacks) {
  const Table full = {{"a", table({{"b", table({{"c.d", number(1)}})}, {"e", table({})}})}};
  EXPECT_THAT(described(differences({}, full)), ElementsAre("a.b.\"c.d\" -->1", "a.e -->{}"));
  EXPECT_THAT(described(differences(full, {})), ElementsAre("a.b.\"c.d\" 1->-", "a.e {}->-"));
}

TEST(Differences, ShowAnEmptyTableWhereThereIsNone) {
  EXPECT_THAT(described(differences({{"a", table({})}}, {})), ElementsAre("a {}->-"));
  EXPECT_THAT(described(differences({{"a", table({})}}, {{"a", table({{"b", number(1)}})}})), ElementsAre("a.b -->1"));
}

TEST(Differences, TakeATableForAValueWhereTheOtherSideHasAnother) {
  EXPECT_THAT(described(differences({{"a", number(1)}}, {{"a", table({{"b", number(1)}})}})), ElementsAre("a 1->{…}"));
  EXPECT_THAT(described(differences({{"a", table({})}}, {{"a", number(1)}})), ElementsAre("a {}->1"));
}

TEST(Differences, CompareArraysWhole) {
  const Table before = {{"a", {.data = Array{table({{"x", number(1)}}), number(2)}}}};
  const Table after = {{"a", {.data = Array{table({{"x", number(1)}}), number(3)}}}};
  EXPECT_THAT(described(differences(before, after)), ElementsAre("a array->array"));
}

TEST(Differences, PointAtTheValues) {
  const Table before = {{"a", number(1)}};
  const Table after = {{"a", number(2)}};
  const auto changes = differences(before, after);
  ASSERT_EQ(changes.size(), 1);
  EXPECT_EQ(changes[0].before, find(before, "a"));
  EXPECT_EQ(changes[0].after, find(after, "a"));
}

}  // namespace
}  // namespace ctkit::engine
