#include "engine/containerd/string_literal.h"

#include <string>

#include <gtest/gtest.h>

namespace ctkit::engine::containerd {
namespace {

using namespace std::literals;

TEST(MakeLiteral, TakesTheWishedQuotesIfTheTextAllows) {
  EXPECT_EQ(make_literal("/etc/a.toml", '"'), R"("/etc/a.toml")");
  EXPECT_EQ(make_literal("/etc/a.toml", '\''), "'/etc/a.toml'");
  EXPECT_EQ(make_literal(R"(a\b"c)", '\''), R"('a\b"c')");
  EXPECT_EQ(make_literal("it's", '\''), R"("it's")");
  EXPECT_EQ(make_literal("a\nb", '\''), R"("a\u000Ab")");
  EXPECT_EQ(make_literal("x", '4'), R"("x")");
}

TEST(ParseLiteral, ReadsEscapes) {
  EXPECT_EQ(parse_literal(R"("a\tb\"\\\u00e9\U0001F600\x41")"), "a\tb\"\\é😀A");
  EXPECT_EQ(parse_literal(R"('a\t')"), R"(a\t)");
  EXPECT_EQ(parse_literal(R"("")"), "");
}

TEST(ParseLiteral, RefusesWhatIsNoStringOfOneLine) {
  for (const std::string_view text : {""sv,
                                      "\""sv,
                                      "12"sv,
                                      "\"a'"sv,
                                      R"("""a""")"sv,
                                      "'''a'''"sv,
                                      R"("\")"sv,
                                      R"("\q")"sv,
                                      R"("\u12")"sv,
                                      R"("\u-123")"sv,
                                      "[\"a\"]"sv,
                                      "\"a\nb\""sv}) {
    EXPECT_EQ(parse_literal(text), std::nullopt) << text;
  }
}

TEST(Literal, IsReadBackAsWritten) {
  for (const char quote : {'"', '\''}) {
    for (const std::string& text : {"/etc/é*.toml"s, "a\"b\\c'd"s, "\x01\x7F\r\n"s, std::string(1, '\0'), ""s}) {
      EXPECT_EQ(parse_literal(make_literal(text, quote)), text);
    }
  }
}

}  // namespace
}  // namespace ctkit::engine::containerd
