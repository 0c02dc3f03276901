#include "engine/key_path.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::engine {
namespace {

using testing::ElementsAre;

std::vector<std::string> parts_of(std::string_view text) {
  const auto path = KeyPath::parse(text);
  return path ? path->parts : std::vector<std::string>{"error: " + path.error().message};
}

TEST(KeyPath, ParsesBareAndQuotedParts) {
  EXPECT_THAT(parts_of("a"), ElementsAre("a"));
  EXPECT_THAT(parts_of("plugins.\"io.containerd.grpc.v1.cri\".containerd"),
              ElementsAre("plugins", "io.containerd.grpc.v1.cri", "containerd"));
  EXPECT_THAT(parts_of("'a.b' . \"\" .c-1_D"), ElementsAre("a.b", "", "c-1_D"));
}

TEST(KeyPath, UnescapesDoubleQuotedPartsOnly) {
  EXPECT_THAT(parts_of(R"("a\"\\\t\u00e9\U0001F600".'\n')"), ElementsAre("a\"\\\t\xc3\xa9\xf0\x9f\x98\x80", "\\n"));
}

TEST(KeyPath, RefusesWhatIsNoDottedKey) {
  for (const std::string_view text : {"",
                                      ".",
                                      "a.",
                                      ".a",
                                      "a..b",
                                      "a b",
                                      "a=",
                                      "\"a",
                                      "'a",
                                      "\"a\"b",
                                      "\"\\q\"",
                                      "\"\\u12\"",
                                      "\"\\ud800\"",
                                      "a\xc3\xa9"}) {
    const auto path = KeyPath::parse(text);
    ASSERT_FALSE(path) << text;
    EXPECT_EQ(path.error().code, ErrorCode::usage);
  }
}

TEST(KeyPath, SaysWhereTheProblemIs) {
  EXPECT_THAT(parts_of("ab.c d"), ElementsAre("error: 'ab.c d' is no dotted key: unexpected character at 6"));
  EXPECT_THAT(parts_of("a."), ElementsAre("error: 'a.' is no dotted key: unexpected end"));
}

TEST(KeyPath, ComesBackFromItsText) {
  for (const KeyPath& path : {KeyPath{{"a"}},
                              KeyPath{{"plugins", "io.containerd.grpc.v1.cri", "x"}},
                              KeyPath{{"", "a b", "it's", "q\"q", "b\\b", "\t\n\x01\x7f", "\xc3\xa9"}}}) {
    EXPECT_EQ(parts_of(path.to_string()), path.parts) << path.to_string();
  }
}

TEST(KeyPath, QuotesOnlyWhatItMust) {
  EXPECT_EQ(quote_key("a-1_B"), "a-1_B");
  EXPECT_EQ(quote_key(""), "\"\"");
  EXPECT_EQ(quote_key("a.b"), "\"a.b\"");
  EXPECT_EQ(quote_key("a\"\\\n\x01\x7f"), R"("a\"\\\n\u0001\u007f")");
  EXPECT_EQ((KeyPath{{"a", "b.c"}}).to_string(), "a.\"b.c\"");
  EXPECT_EQ(KeyPath{}.to_string(), "");
}

TEST(KeyPath, KnowsItsPrefixes) {
  const KeyPath path{{"a", "b"}};
  EXPECT_TRUE(path.starts_with({}));
  EXPECT_TRUE(path.starts_with(path));
  EXPECT_TRUE(path.child("c").starts_with(path));
  EXPECT_FALSE(path.starts_with(path.child("c")));
  EXPECT_FALSE((KeyPath{{"a", "bc"}}).starts_with(path));
}

}  // namespace
}  // namespace ctkit::engine
