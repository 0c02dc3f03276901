#include "installer/redact.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::installer {
namespace {

using testing::HasSubstr;
using testing::Not;

engine::KeyPath key(std::string_view text) {
  return engine::KeyPath::parse(text).value();
}

TEST(IsSecret, CredentialsAndHeadersOnly) {
  for (const auto* const text : {"registry.configs.x.auth.password",
                                 "registry.configs.x.auth.auth",
                                 "registry.configs.x.auth.identitytoken",
                                 "host.x.headers.Authorization",
                                 "headers.X-Meta-Token",
                                 "a.Password"}) {
    EXPECT_TRUE(is_secret(key(text))) << text;
  }
  for (const auto* const text : {"root",
                                 "registry.configs.x.auth.username",
                                 "registry.configs",
                                 "headers",
                                 "registry.configs.x.tls.key_file",
                                 "debug.level"}) {
    EXPECT_FALSE(is_secret(key(text))) << text;
  }
}

TEST(Shown, ReplacesCredentialsAtAnyDepth) {
  const engine::Value value{.data =
                                engine::Table{{"auth",
                                               {.data = engine::Table{{"password", {.data = std::string("hunter2")}},
                                                                      {"username", {.data = std::string("me")}}}}}}};
  const std::string text = shown(key("registry.configs.x"), value);
  EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  EXPECT_THAT(text, HasSubstr("<redacted>"));
  EXPECT_THAT(text, HasSubstr("me"));
}

TEST(Shown, LooksIntoArraysOfTables) {
  const engine::Value item{.data = engine::Table{{"token", {.data = std::string("hunter2")}}}};
  EXPECT_THAT(shown(key("plugins.x.list"), {.data = engine::Array{item}}), Not(HasSubstr("hunter2")));
}

TEST(RedactLines, LeavesOtherTextAlone) {
  const std::string text = "version = 2\n\n# a remark\n[plugins.x]\nroot = \"/a\"\nlist = [\n  1,\n]";
  EXPECT_EQ(redact_lines(text), text);
  EXPECT_EQ(redact_lines(""), "");
}

struct Secret {
  std::string name;
  std::string text;
};
void PrintTo(const Secret& secret, std::ostream* out) {
  *out << secret.name;
}

class RedactLines : public testing::TestWithParam<Secret> {};

TEST_P(RedactLines, HidesTheSecret) {
  EXPECT_THAT(redact_lines(GetParam().text), Not(HasSubstr("hunter2")));
}

INSTANTIATE_TEST_SUITE_P(
    Texts,
    RedactLines,
    testing::Values(Secret{"Plain", "password = \"hunter2\"\n"},
                    Secret{"NoSpaces", "password=\"hunter2\""},
                    Secret{"LiteralString", "  auth = 'hunter2'\n"},
                    Secret{"QuotedKey", "\"password\" = \"hunter2\"\n"},
                    Secret{"Capitals", "Password = \"hunter2\"\n"},
                    Secret{"DottedKey", "configs.\"r.io\".auth.password = \"hunter2\"\n"},
                    Secret{"InlineTable", "auth = { username = \"me\", password = \"hunter2\" }\n"},
                    Secret{"InlineTableOfAnotherName", "\"r.io\" = { auth = { identitytoken = \"hunter2\" } }\n"},
                    Secret{"InlineTableWithSecretKey", "x = { secret = \"hunter2\" }\n"},
                    Secret{"InlineTableWithPasswd", "x = { passwd = \"hunter2\" }\n"},
                    Secret{"Header", "[host.x.headers]\nX-Meta = [\"hunter2\"]\n"},
                    Secret{"HeaderOnManyLines", "[host.x.headers]\nX-Meta = [\n  \"hunter2\",\n]\n"},
                    Secret{"HeaderByDottedKey", "headers.X-Meta = [\"hunter2\"]\n"},
                    Secret{"HeaderInline", "headers = { X-Meta = [\"hunter2\"] }\n"},
                    Secret{"MultiLineString", "password = \"\"\"\nhunter2\"\"\"\n"},
                    Secret{"MultiLineLiteral", "password = '''\nx\nhunter2\n'''\n"},
                    Secret{"ArrayOnManyLines", "token = [\n  \"hunter2\",\n]\n"},
                    Secret{"RemarkInHeaders", "[host.x.headers]\n# X-Meta = [\"hunter2\"]\n"},
                    Secret{"StringWithBrackets", "password = \"]hunter2\"\n"},
                    Secret{"InlineOnManyLines", "x = [\n  { token = \"hunter2\" },\n]\n"},
                    Secret{"AfterABracketInAString", "a = [ \"[\" ]\npassword = \"hunter2\"\n"},
                    Secret{"AfterAQuoteInAComment", "a = 1 # it's \"\"\"\npassword = \"hunter2\"\n"},
                    Secret{"InComment", "# password = \"hunter2\"\n"}),
    [](const auto& item) { return item.param.name; });

TEST(RedactLines, GoesOnAfterASecretOfManyLines) {
  EXPECT_THAT(redact_lines("password = \"\"\"\nhunter2\"\"\"\nroot = \"/a\"\n"), HasSubstr("\nroot = \"/a\"\n"));
  EXPECT_THAT(redact_lines("token = [\n  \"hunter2\",\n]\nroot = \"/a\"\n"), HasSubstr("\nroot = \"/a\"\n"));
}

TEST(RedactLines, KeepsTheLineEnds) {
  EXPECT_EQ(redact_lines("password = \"a\"\nroot = \"/\"\n"), "password = \"<redacted>\"\nroot = \"/\"\n");
  EXPECT_EQ(redact_lines("password = \"a\""), "password = \"<redacted>\"");
}

}  // namespace
}  // namespace ctkit::installer
