#include "engine/toml_dialect.h"

#include <array>
#include <cmath>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "engine/toml_reader.h"

// What each library takes and makes of it. The expectations were checked against the libraries
// themselves.

namespace ctkit::engine {
namespace {

constexpr std::string_view kRefused = "refused";

/// What go-toml 1.8, 1.9, 2.2 and 2.4 make of a text.
struct Answers {
  std::string_view v18 = {};
  std::string_view v19 = {};
  std::string_view v22 = {};
  std::string_view v24 = {};
};

constexpr Answers all(std::string_view answer) {
  return {answer, answer, answer, answer};
}

constexpr Answers split(std::string_view one, std::string_view two) {
  return {one, one, two, two};
}

struct Rule {
  std::string_view name = {};
  std::string_view text = {};
  Answers answers = {};
};

void PrintTo(const Rule& rule, std::ostream* out) {
  *out << testing::PrintToString(rule.text);
}

std::string described(const Table& table);

struct Describe {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(std::uint64_t value) const { return std::to_string(value) + "u"; }
  std::string operator()(double value) const { return std::isnan(value) ? "nan" : std::to_string(value); }
  std::string operator()(const std::string& value) const { return "'" + value + "'"; }
  std::string operator()(const DateTime& value) const { return "@" + value.text; }
  std::string operator()(const Array& array) const {
    std::string text;
    for (const Value& value : array)
      text += (text.empty() ? "" : ", ") + std::visit(*this, value.data);
    return "[" + text + "]";
  }
  std::string operator()(const Table& table) const { return described(table); }
};

std::string described(const Table& table) {
  std::string text;
  for (const auto& [key, value] : table)
    text += (text.empty() ? "" : ", ") + key + ": " + std::visit(Describe{}, value.data);
  return "{" + text + "}";
}

std::string answer(std::string_view text, const TomlDialect& dialect) {
  const auto table = read_toml(text, "f", dialect);
  if (table) return described(*table);
  return table.error().code == ErrorCode::daemon_refuses ? std::string(kRefused) : table.error().message;
}

std::string name_of(const testing::TestParamInfo<Rule>& info) {
  return std::string(info.param.name);
}

class Dialects : public testing::TestWithParam<Rule> {};

TEST_P(Dialects, AnswerAsTheirLibrary) {
  const Rule& rule = GetParam();
  EXPECT_EQ(answer(rule.text, kGoToml18), rule.answers.v18) << "go-toml 1.8";
  EXPECT_EQ(answer(rule.text, kGoToml19), rule.answers.v19) << "go-toml 1.9";
  EXPECT_EQ(answer(rule.text, kGoToml22), rule.answers.v22) << "go-toml 2.2";
  EXPECT_EQ(answer(rule.text, kGoToml24), rule.answers.v24) << "go-toml 2.4";
}

TEST(GoToml23, IsGoToml22WithoutLeapSeconds) {
  EXPECT_EQ(answer("x = 23:59:60", kGoToml23), kRefused);
  for (const std::string_view text : {"x = 23:59:59", "[a.b.c]\n[a]\nb.d = 1", R"(x = "\x41")"})
    EXPECT_EQ(answer(text, kGoToml23), answer(text, kGoToml22)) << text;
}

INSTANTIATE_TEST_SUITE_P(
    Strings,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"TakeTheSevenEscapes", R"(x = "\b\t\n\f\r\"\\")", all("{x: '\x08\t\n\x0c\r\"\\'}")},
        {"OfGoToml1KnowAnEscapedSlash", R"(x = "\/")", split("{x: '/'}", kRefused)},
        {"KnowEscapeEFromTwoOn", R"(x = "\e")", split(kRefused, "{x: '\x1b'}")},
        {"KnowHexEscapesFrom24On", R"(x = "\x41\xe9")", {kRefused, kRefused, kRefused, "{x: 'A\xc3\xa9'}"}},
        {"RefuseUnknownEscapes", R"(x = "\q")", all(kRefused)},
        {"TakeUnicodeEscapes", R"(x = "\u00e9\U0001F600")", all("{x: '\xc3\xa9\xf0\x9f\x98\x80'}")},
        {"RefuseShortUnicodeEscapes", R"(x = "\u00e")", all(kRefused)},
        {"RefuseLongUnicodeEscapesCutOff", R"(x = "\U0001F60")", all(kRefused)},
        {"OfGoToml1ReadSurrogatesAsReplacementCharacters", R"(x = "\ud800")", split("{x: '\xef\xbf\xbd'}", kRefused)},
        {"OfGoToml1ReadWhatIsAboveUnicodeAsReplacementCharacters",
         R"(x = "\U00110000")",
         split("{x: '\xef\xbf\xbd'}", kRefused)},
        {"OfGoToml1SkipBlanksAfterABackslash", R"(x = "a\  b")", split("{x: 'ab'}", kRefused)},
        {"OfGoToml1SkipNewlinesAfterABackslash", "x = \"a\\\n  b\"", split("{x: 'ab'}", kRefused)},
        {"OfManyLinesSkipAnEscapedNewline", "x = \"\"\"a\\\n   b\"\"\"", all("{x: 'ab'}")},
        {"OfManyLinesSkipBlanksBeforeAnEscapedNewline", "x = \"\"\"a\\  \r\n \t\n b\"\"\"", all("{x: 'ab'}")},
        {"OfManyLinesNeedANewlineAfterABackslashWithBlanks", R"(x = """a\ b""")", split("{x: 'ab'}", kRefused)},
        {"OfManyLinesDropTheFirstNewline", "x = \"\"\"\r\na\nb\r\n\"\"\"", all("{x: 'a\nb\r\n'}")},
        {"OfManyLinesDropTheFirstNewlineInSingleQuotesToo", "x = '''\na'''", all("{x: 'a'}")},
        {"OfManyLinesMayEndInTwoMoreQuotes", R"(x = """a""""")", split(kRefused, R"({x: 'a""'})")},
        {"OfManyLinesMayEndInTwoMoreSingleQuotes", "x = '''a'''''", split(kRefused, "{x: 'a'''}")},
        {"OfManyLinesRefuseSixQuotesAtTheEnd", R"(x = """a"""""")", all(kRefused)},
        {"OfManyLinesMayHoldTwoQuotes", R"(x = """a""b""")", all(R"({x: 'a""b'})")},
        {"OfManyLinesOfGoToml1TakeABareCarriageReturn", "x = \"\"\"a\rb\"\"\"", split("{x: 'a\rb'}", kRefused)},
        {"InSingleQuotesKeepBackslashes", R"(x = '\n')", all(R"({x: '\n'})")},
        {"InSingleQuotesOfGoToml1MaySpanLines", "x = 'a\nb'", split("{x: 'a\nb'}", kRefused)},
        {"RefuseANewline", "x = \"a\nb\"", all(kRefused)},
        {"RefuseControlCharacters", "x = \"x\x01y\"", all(kRefused)},
        {"InSingleQuotesOfGoToml1TakeControlCharacters", "x = 'x\x01y'", split("{x: 'x\x01y'}", kRefused)},
        {"OfGoToml1TakeDelete", "x = \"x\x7fy\"", split("{x: 'x\x7fy'}", kRefused)},
        {"TakeTabs", "x = \"a\tb\"", all("{x: 'a\tb'}")},
        {"OfGoToml1ReplaceInvalidUtf8", "x = \"x\xffy\xc3\"", split("{x: 'x\xef\xbf\xbdy\xef\xbf\xbd'}", kRefused)},
        {"OfGoToml1ReplaceInvalidUtf8InSingleQuotes",
         "x = '\xe2\x82'",
         split("{x: '\xef\xbf\xbd\xef\xbf\xbd'}", kRefused)},
        {"RefuseToStayOpen", R"(x = "a)", all(kRefused)},
        {"RefuseToStayOpenOnABackslash", R"(x = "a\)", all(kRefused)},
        {"RefuseToStayOpenInTripleQuotes", "x = '''a''", all(kRefused)},
        {"MayBeEmpty", R"(x = ["", '', """""", ''''''])", all("{x: ['', '', '', '']}")},
    })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Integers,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"TakeSignsAndZero", "x = [0, -1, +5, -0, +0]", all("{x: [0, -1, 5, 0, 0]}")},
        {"TakePrefixes", "x = [0xBEef, 0o17, 0b101]", all("{x: [48879, 15, 5]}")},
        {"RefuseCapitalPrefixes", "x = 0XFF", all(kRefused)},
        {"RefuseSignedPrefixes", "x = +0x1", all(kRefused)},
        {"RefuseAPrefixAlone", "x = 0x", all(kRefused)},
        {"RefuseDigitsOfAnotherBase", "x = 0o8", all(kRefused)},
        {"TakeUnderscores", "x = [1_000, 0xdead_beef, 0b1_0]", all("{x: [1000, 3735928559, 2]}")},
        {"RefuseTwoUnderscores", "x = 1__0", all(kRefused)},
        {"RefuseUnderscoresAtTheEnd", "x = 1_", all(kRefused)},
        {"RefuseUnderscoresAtTheBeginning", "x = _1", all(kRefused)},
        {"RefuseUnderscoresAfterAPrefix", "x = 0x_1", all(kRefused)},
        {"Of18NeedLowerCaseAroundUnderscores", "x = 0xA_B", {kRefused, "{x: 171}", "{x: 171}", "{x: 171}"}},
        {"OfGoToml1TakeOneLeadingZero", "x = [01, 00]", split("{x: [1, 0]}", kRefused)},
        {"OfGoToml1TakeSignedLeadingZeros", "x = [-01, +0012]", split("{x: [-1, 12]}", kRefused)},
        {"RefuseALeadingZeroBeforeTwoDigits", "x = 012", all(kRefused)},
        {"TakeTheWholeSignedRange",
         "x = [9223372036854775807, -9223372036854775808]",
         all("{x: [9223372036854775807, -9223372036854775808]}")},
        {"Of19TakeTheUnsignedRange",
         "x = [9223372036854775808, 0xffffffffffffffff]",
         {kRefused, "{x: [9223372036854775808u, 18446744073709551615u]}", kRefused, kRefused}},
        {"Of19RefuseAPlusBeforeLargeOnes", "x = +9223372036854775808", all(kRefused)},
        {"RefuseWhatIsTooSmall", "x = -9223372036854775809", all(kRefused)},
        {"RefuseWhatIsTooLarge", "x = 18446744073709551616", all(kRefused)},
        {"RefuseLettersBehindThem", "x = 5s", all(kRefused)},
    })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Floats,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"TakeFractionsAndExponents",
         "x = [1.5, -0.25, 1e3, 1E+2, 2.5e-1]",
         all("{x: [1.500000, -0.250000, 1000.000000, 100.000000, 0.250000]}")},
        {"TakeInfinityAndNan", "x = [inf, +inf, -inf, nan, -nan]", all("{x: [inf, inf, -inf, nan, nan]}")},
        {"RefuseLongerWords", "x = infinity", all(kRefused)},
        {"RefuseToBeginWithADot", "x = .5", all(kRefused)},
        {"RefuseToEndWithADot", "x = 5.", all(kRefused)},
        {"RefuseAnEmptyExponent", "x = 1e", all(kRefused)},
        {"RefuseTwoDots", "x = 1.2.3", all(kRefused)},
        {"RefuseAFractionOfAnExponent", "x = 1e2.5", all(kRefused)},
        {"OfGoToml1TakeLeadingZeros", "x = 00.5", split("{x: 0.500000}", kRefused)},
        {"OfGoToml1RefuseZeroWithAnExponent", "x = 0e5", split(kRefused, "{x: 0.000000}")},
        {"Of19TakeUnderscoresBeforeADotOrAnExponent",
         "x = [1_.5, 1_e2]",
         {kRefused, "{x: [1.500000, 100.000000]}", kRefused, kRefused}},
        {"RefuseUnderscoresAfterADot", "x = 1._5", all(kRefused)},
        {"TakeUnderscoresBetweenDigits", "x = 1_0.2_5e1_0", all("{x: 102500000000.000000}")},
        {"RefuseWhatIsTooLarge", "x = 1e400", all(kRefused)},
        {"TakeWhatIsTooSmallAsZero", "x = [1e-400, -1e-99999999999999999999]", all("{x: [0.000000, -0.000000]}")},
    })),
    name_of);

INSTANTIATE_TEST_SUITE_P(Words,
                         Dialects,
                         testing::ValuesIn(std::to_array<Rule>({
                             {"AreTrueAndFalse", "x = [true, false]", all("{x: [true, false]}")},
                             {"RefuseCapitals", "x = True", all(kRefused)},
                             {"RefuseMoreLetters", "x = trueish", all(kRefused)},
                             {"RefuseFewerLetters", "x = tru", all(kRefused)},
                         })),
                         name_of);

INSTANTIATE_TEST_SUITE_P(
    Dates,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"WithOffsetsLoseTheFractionInGoToml1",
         "x = 1979-05-27T00:32:00.250-07:00",
         split("{x: @1979-05-27T00:32:00-07:00}", "{x: @1979-05-27T00:32:00.25-07:00}")},
        {"InUtcArePrintedWithZ", "x = 1979-05-27T00:32:00+00:00", all("{x: @1979-05-27T00:32:00Z}")},
        {"MayHaveABlankForT", "x = 1979-05-27 07:32:00Z", all("{x: @1979-05-27T07:32:00Z}")},
        {"OfTwoOnMayHaveLowerCaseLetters", "x = 1979-05-27t07:32:00z", split(kRefused, "{x: @1979-05-27T07:32:00Z}")},
        {"WithoutOffsetHaveNineDigitsInGoToml1",
         "x = 1979-05-27T07:32:00.5",
         split("{x: @1979-05-27T07:32:00.500000000}", "{x: @1979-05-27T07:32:00.5}")},
        {"OfTwoOnKeepTheirDigits",
         "x = 1979-05-27T07:32:00.500",
         split("{x: @1979-05-27T07:32:00.500000000}", "{x: @1979-05-27T07:32:00.500}")},
        {"From19OnCutTheFractionAtNineDigits",
         "x = 1979-05-27T07:32:00.1234567891",
         {kRefused,
          "{x: @1979-05-27T07:32:00.123456789}",
          "{x: @1979-05-27T07:32:00.123456789}",
          "{x: @1979-05-27T07:32:00.123456789}"}},
        {"WithOffsetsMayHaveTenDigitsFrom19On",
         "x = 1979-05-27T07:32:00.1234567891Z",
         {kRefused,
          "{x: @1979-05-27T07:32:00Z}",
          "{x: @1979-05-27T07:32:00.123456789Z}",
          "{x: @1979-05-27T07:32:00.123456789Z}"}},
        {"Of19NeedABlankBehindThem",
         "x = 1979-05-27\n",
         {"{x: @1979-05-27}", kRefused, "{x: @1979-05-27}", "{x: @1979-05-27}"}},
        {"MayEndTheText", "x = 1979-05-27", all("{x: @1979-05-27}")},
        {"MayHaveABlankBehindThem", "x = 1979-05-27 # c", all("{x: @1979-05-27}")},
        {"Of19RefuseACommaBehindThem",
         "x = [1979-05-27, 1979-05-28 ]",
         {"{x: [@1979-05-27, @1979-05-28]}",
          kRefused,
          "{x: [@1979-05-27, @1979-05-28]}",
          "{x: [@1979-05-27, @1979-05-28]}"}},
        {"MayBeTimesAlone",
         "x = [07:32:00, 07:32:00.25]",
         split("{x: [@07:32:00, @07:32:00.250000000]}", "{x: [@07:32:00, @07:32:00.25]}")},
        {"Of24NeedNoSeconds",
         "x = [07:32, 1979-05-27T07:32, 1979-05-27 07:32Z]",
         {kRefused, kRefused, kRefused, "{x: [@07:32:00, @1979-05-27T07:32:00, @1979-05-27T07:32:00Z]}"}},
        {"Of22CarryALeapSecond",
         "x = 1999-12-31T23:59:60Z",
         {kRefused, kRefused, "{x: @2000-01-01T00:00:00Z}", kRefused}},
        {"Of22KeepALeapSecondWithoutOffset", "x = 23:59:60", {kRefused, kRefused, "{x: @23:59:60}", kRefused}},
        {"RefuseDaysThatDoNotExist", "x = 1979-02-29", all(kRefused)},
        {"TakeLeapDays", "x = 2000-02-29", all("{x: @2000-02-29}")},
        {"RefuseMonthsThatDoNotExist", "x = 1979-13-01", all(kRefused)},
        {"RefuseHoursThatDoNotExist", "x = 24:00:00", all(kRefused)},
        {"RefuseYearsOfTwoDigits", "x = 79-05-27", all(kRefused)},
        {"RefuseOffsetsOfTwentyFiveHours", "x = 1979-05-27T07:32:00+25:00", all(kRefused)},
        {"OfGoToml1TakeOffsetsOfSixtyMinutes",
         "x = 1979-05-27T07:32:00+12:60",
         split("{x: @1979-05-27T07:32:00+13:00}", kRefused)},
        {"RefuseTimesWithAnOffset", "x = 07:32:00Z", all(kRefused)},
        {"RefuseADateAndHalfATime", "x = 1979-05-27T07", all(kRefused)},
    })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Arrays,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"MayMixTypes", R"(x = [1, "a", true, [1.5], {a = 1}])", all("{x: [1, 'a', true, [1.500000], {a: 1}]}")},
        {"MayHaveATrailingComma", "x = [1, 2,]", all("{x: [1, 2]}")},
        {"MaySpanLinesAndHaveComments", "x = [ # c\n 1 # d\n , # e\r\n 2\n]", all("{x: [1, 2]}")},
        {"RefuseALeadingComma", "x = [,1]", all(kRefused)},
        {"RefuseTwoCommas", "x = [1,,2]", all(kRefused)},
        {"RefuseAMissingComma", "x = [1 2]", all(kRefused)},
        {"RefuseToStayOpen", "x = [1,", all(kRefused)},
        {"RefuseTheWrongBracket", "x = [1}", all(kRefused)},
        {"RefuseABracketTooMuch", "x = [1]]", all(kRefused)},
        {"OfGoToml1TakeABareCarriageReturnAsNewline", "x = [1,\r2]", split("{x: [1, 2]}", kRefused)},
    })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    InlineTables,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"HoldKeys", R"(x = {a = 1, "b c" = {d = []}})", all("{x: {a: 1, b c: {d: []}}}")},
        {"HoldDottedKeys", "x = {a.b = 1, a.c = 2}", all("{x: {a: {b: 1, c: 2}}}")},
        {"HaveATrailingCommaFrom24On", "x = {a = 1,}", {kRefused, kRefused, kRefused, "{x: {a: 1}}"}},
        {"Of24MaySpanLines", "x = { # c\n a = 1 # d\n , b = 2\n}", {kRefused, kRefused, kRefused, "{x: {a: 1, b: 2}}"}},
        {"Of22MayNotBreakBeforeTheEnd", "x = {a = 1\n}", {"{x: {a: 1}}", "{x: {a: 1}}", kRefused, "{x: {a: 1}}"}},
        {"Of22MayNotBreakAfterAComma",
         "x = {a = 1, # c\n b = 2}",
         {"{x: {a: 1, b: 2}}", "{x: {a: 1, b: 2}}", kRefused, "{x: {a: 1, b: 2}}"}},
        {"RefuseALeadingComma", "x = {, a = 1}", all(kRefused)},
        {"RefuseTwoCommas", "x = {a = 1,, b = 2}", all(kRefused)},
        {"RefuseAMissingComma", "x = {a = 1 b = 2}", all(kRefused)},
        {"RefuseToStayOpen", "x = {a = 1", all(kRefused)},
        {"OfGoToml1LetTheLastOfTwoKeysWin", "x = {a = 1, a = 2}", split("{x: {a: 2}}", kRefused)},
        {"OfGoToml1PassOverAPartThatIsNoTable", "x = {a = 1, a.b = 2}", split("{x: {a: 1, b: 2}}", kRefused)},
        {"OfGoToml1FillTheLastTableOfAnArray",
         "x = {a = [{b = 1}], a.c = 2}",
         split("{x: {a: [{b: 1, c: 2}]}}", kRefused)},
        {"OfGoToml1ReplaceATableByAValue", "x = {a = {b = 1}, a = 2}", split("{x: {a: 2}}", kRefused)},
        {"RefuseToBeFilledFromOutside", "x = {a = {b = 1}, c = 1}\nx.a.d = 1", all(kRefused)},
        {"TakeNumbersForKeys", "x = {1 = 2}", all("{x: {1: 2}}")},
        {"RefuseAKeyWithoutValue", "x = {a}", all(kRefused)},
        {"MayBeEmpty", "x = {}\ny = { }", all("{x: {}, y: {}}")},
    })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Keys,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"MayBeBareQuotedAndDotted",
         "a-1_B = 1\n\"q k\" = 2\n'l'.m = 3\n1.2 = 4",
         all("{1: {2: 4}, a-1_B: 1, l: {m: 3}, q k: 2}")},
        {"MayHaveBlanksAroundDots", "a \t. b = 1", all("{a: {b: 1}}")},
        {"OfGoToml1MayBeginWithADot", ".a = 1", split("{a: 1}", kRefused)},
        {"RefuseToEndWithADot", "a. = 1", all(kRefused)},
        {"RefuseTwoDots", "a..b = 1", all(kRefused)},
        {"MayBeEmptyInQuotes", R"("" = 1)", all("{: 1}")},
        {"RefuseToBeEmpty", " = 1", all(kRefused)},
        {"RefuseBlanksWithin", "a b = 1", all(kRefused)},
        {"OfTwoOnMayHoldEscapedQuotes", R"("q\"q" = 1)", split(kRefused, R"({q"q: 1})")},
        {"MayHoldDoubleQuotesInSingleOnes", R"('q"q' = 1)", all(R"({q"q: 1})")},
        {"MayHoldSingleQuotesInDoubleOnes", R"("it's" = 1)", all("{it's: 1}")},
        {"AreUnescaped", R"("\u0061\tb" = 1)", all("{a\tb: 1}")},
        {"OfGoToml1MaySpanLinesInQuotes", "\"a\nb\" = 1", split("{a\nb: 1}", kRefused)},
        {"OfGoToml1JoinQuotedPartsWithoutADot", R"("a""b" = 1)", split("{a: {b: 1}}", kRefused)},
        {"RefuseLettersOutsideAscii", "\xc3\xa9 = 1", all(kRefused)},
        {"MayBeAnythingInQuotes", "\"\xc3\xa9\" = 1", all("{\xc3\xa9: 1}")},
        {"OfGoToml1MayHaveTheirEqualsSignOnTheNextLineAfterABlank", "a \n = 1", split("{a: 1}", kRefused)},
        {"RefuseToHaveTheirEqualsSignOnTheNextLine", "a\n= 1", all(kRefused)},
        {"RefuseTwoEqualsSigns", "a == 1", all(kRefused)},
        {"RefuseToBeGivenTwice", "a = 1\na = 2", all(kRefused)},
        {"RefuseToBeGivenTwiceInQuotes", "a = 1\n\"a\" = 2", all(kRefused)},
        {"RefuseToExtendAValue", "a = 1\na.b = 2", all(kRefused)},
        {"MayExtendWhatDottedKeysMade", "a.b = 1\na.c.d = 2\na.c.e = 3", all("{a: {b: 1, c: {d: 2, e: 3}}}")},
        {"Before24ExtendTablesThatHeadersImplied",
         "[a.b.c]\n[a]\nb.d = 1",
         {"{a: {b: {c: {}, d: 1}}}", "{a: {b: {c: {}, d: 1}}}", "{a: {b: {c: {}, d: 1}}}", kRefused}},
        {"OfGoToml1ExtendTablesThatHadTheirHeader", "[a.b]\n[a]\nb.c = 1", split("{a: {b: {c: 1}}}", kRefused)},
        {"RefuseToExtendInlineTables", "a = {}\na.b = 1", all(kRefused)},
        {"OfGoToml1ExtendTablesThatInlineTablesDotted",
         "a = {b.c = 1}\na.b.d = 2",
         split("{a: {b: {c: 1, d: 2}}}", kRefused)},
        {"AreFreeAgainInEachTableOfAnArray", "[[a]]\nb.c = 1\n[[a]]\nb.c = 2", all("{a: [{b: {c: 1}}, {b: {c: 2}}]}")},
        {"RefuseToStandAlone", "a", all(kRefused)},
        {"RefuseAMissingValue", "a =", all(kRefused)},
        {"RefuseAMissingValueBeforeAnotherKey", "a =\nb = 1", all(kRefused)},
    })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    Headers,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"MakeTables", "[a]\nx = 1\n[a.b]\n[\"c.d\".'e']", all("{a: {b: {}, x: 1}, c.d: {e: {}}}")},
        {"MayHaveBlanksWithin", "[ a . b ]\nx = 1", all("{a: {b: {x: 1}}}")},
        {"RefuseBlanksBetweenBrackets", "[ [a] ]", all(kRefused)},
        {"RefuseBlanksBetweenClosingBrackets", "[[a] ]", all(kRefused)},
        {"MayComeAfterTheirSubTables", "[a.b]\n[a]\nx = 1", all("{a: {b: {}, x: 1}}")},
        {"RefuseToBeRepeated", "[a]\n[a]", all(kRefused)},
        {"OfGoToml1MayBeRepeatedInAnotherSpelling", "[\"a\"]\nx = 1\n[a]\ny = 2", split("{a: {x: 1, y: 2}}", kRefused)},
        {"OfGoToml1MayReopenWhatDottedKeysMade", "a.b = 1\n[a]\nc = 2", split("{a: {b: 1, c: 2}}", kRefused)},
        {"MayGoBelowWhatDottedKeysMade", "a.b = 1\n[a.c]\nx = 1", all("{a: {b: 1, c: {x: 1}}}")},
        {"RefuseToExtendAValue", "a = 1\n[a.b]", all(kRefused)},
        {"RefuseToReplaceAValue", "a = 1\n[a]", all(kRefused)},
        {"RefuseToReopenInlineTables", "a = {}\n[a]", all(kRefused)},
        {"RefuseToGoBelowInlineTables", "a = {}\n[a.b]", all(kRefused)},
        {"OfGoToml1KeepBackslashesInQuotes", R"(["a\tb"])", split(R"({a\tb: {}})", "{a\tb: {}}")},
        {"OfGoToml1EndAtTheFirstBracketQuotedOrNot", R"(["a]b"])", split(kRefused, "{a]b: {}}")},
        {"OfGoToml1RefuseAnOpeningBracketInQuotes", R"(["a[b"])", split(kRefused, "{a[b: {}}")},
        {"OfGoToml1MaySpanLinesInQuotes", "[\"a\nb\"]", split("{a\nb: {}}", kRefused)},
        {"RefuseToBeEmpty", "[]", all(kRefused)},
        {"RefuseToStayOpen", "[a\nx = 1", all(kRefused)},
        {"OfGoToml1NeedNoNewlineBehindThem", "[a] x = 1", split("{a: {x: 1}}", kRefused)},
        {"MayHaveCommentsBehindThem", "[a] # c\nx = 1", all("{a: {x: 1}}")},
        {"OfGoToml1MayBeginWithADot", "[.a]", split("{a: {}}", kRefused)},
    })),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    ArraysOfTables,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"AddATableEachTime", "[[a]]\nx = 1\n[[a]]\ny = 2", all("{a: [{x: 1}, {y: 2}]}")},
        {"TakeSubTablesIntoTheLastOne",
         "[[a]]\n[a.b]\nx = 1\n[[a]]\n[a.b]\ny = 2\n[[a.c]]\n[[a.c]]",
         all("{a: [{b: {x: 1}}, {b: {y: 2}, c: [{}, {}]}]}")},
        {"RefuseTheSameSubTableTwice", "[[a]]\n[a.b]\n[a.b]", all(kRefused)},
        {"RefuseToBeATableToo", "[[a]]\n[a]", all(kRefused)},
        {"RefuseToBeATableBefore", "[a]\n[[a]]", all(kRefused)},
        {"OfGoToml1GoOnWithAnInlineArray", "a = [{x = 1}]\n[[a]]\ny = 2", split("{a: [{x: 1}, {y: 2}]}", kRefused)},
        {"RefuseToGoOnWithAnEmptyArray", "a = []\n[[a]]", all(kRefused)},
        {"RefuseToGoOnWithAMixedArray", "a = [{}, 1]\n[[a]]", all(kRefused)},
        {"RefuseToFillAnInlineTableInAnArray", "a = [{x = 1}]\n[a]\ny = 2", all(kRefused)},
        {"OfGoToml1PassOverAPartThatIsNoTable", "a = 1\n[[a.b]]", split("{a: 1, b: [{}]}", kRefused)},
        {"RefuseToFillWhatIsBehindAPartThatIsNoTable", "a = 1\n[[a.b]]\nx = 1", all(kRefused)},
        {"OfGoToml1TakeDottedKeysFromAbove", "[[a.b]]\n[a]\nb.x = 1", split("{a: {b: [{x: 1}]}}", kRefused)},
        {"OfGoToml1GoBelowInlineTables", "a = {}\n[[a.b.c]]", split("{a: {b: {c: [{}]}}}", kRefused)},
    })),
    name_of);

TEST(Dialects, BuiltByGo119TakeNoMoreThanNineDigitsOfAFraction) {
  EXPECT_EQ(answer("x = [07:32:00.123456789]", kGoToml19OfGo119), "{x: [@07:32:00.123456789]}");
  EXPECT_EQ(answer("x = [07:32:00.1234567890]", kGoToml19OfGo119), kRefused);
  EXPECT_EQ(answer("x = 1979-05-27T07:32:00.1234567891Z", kGoToml19OfGo119), kRefused);
}

INSTANTIATE_TEST_SUITE_P(
    Texts,
    Dialects,
    testing::ValuesIn(std::to_array<Rule>({
        {"MayBeEmpty", "", all("{}")},
        {"MayHaveAByteOrderMarkBeforeTwo", "\xef\xbb\xbfx = 1", split("{x: 1}", kRefused)},
        {"OfGoToml1PassOverAUtf16Mark", "\xfe\xffx = 1", split("{x: 1}", kRefused)},
        {"MayHaveCrlf", "a = 1\r\n[b]\r\nc = \"\"\"x\r\ny\"\"\"\r\n", all("{a: 1, b: {c: 'x\r\ny'}}")},
        {"NeedNoNewlineAtTheEnd", "# c\na = 1 # d", all("{a: 1}")},
        {"OfGoToml1TakeABareCarriageReturnAsNewline", "a = 1\rb = 2", split("{a: 1, b: 2}", kRefused)},
        {"OfGoToml1TakeAnythingInComments", "# \x01\xff\ra = 1\nb = 2", split("{b: 2}", kRefused)},
        {"MayHaveTabsAndUnicodeInComments", "#\t\xc3\xa9\na = 1", all("{a: 1}")},
        {"RefuseTwoKeysInALine", "a = 1 b = 2", all(kRefused)},
        {"OfGoToml1TakeAKeyBehindAHeaderOnly", "[a]b = 1", split("{a: {b: 1}}", kRefused)},
        {"RefuseNul", std::string_view("a = 1\n\x00", 7), all(kRefused)},
    })),
    name_of);
}  // namespace
}  // namespace ctkit::engine
