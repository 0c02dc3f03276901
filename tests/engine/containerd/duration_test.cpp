#include <limits>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/go_duration.h"

// Go's time.ParseDuration and Duration.String; the expectations are those of Go's own time_test.go.
namespace ctkit::engine::containerd {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::min();

struct Parsed {
  std::string_view text;
  std::int64_t nanoseconds;
};

TEST(ParseDuration, TakesWhatGoTakes) {
  constexpr Parsed kCases[] = {
      {"0", 0},
      {"-0", 0},
      {"+0", 0},
      {"0s", 0},
      {"5s", 5 * kSecond},
      {"+5s", 5 * kSecond},
      {"-5s", -5 * kSecond},
      {"1478s", 1478 * kSecond},
      {"5.0s", 5 * kSecond},
      {"5.6s", 5'600'000'000},
      {"5.s", 5 * kSecond},
      {".5s", 500'000'000},
      {"-.5s", -500'000'000},
      {"1.004s", 1'004'000'000},
      {"100.00100s", 100'001'000'000},
      {"10ns", 10},
      {"11us", 11'000},
      {"12\u00b5s", 12'000},
      {"12\u03bcs", 12'000},
      {"13ms", 13'000'000},
      {"15m", 900 * kSecond},
      {"16h", 57'600 * kSecond},
      {"3h30m", 12'600 * kSecond},
      {"10.5s4m", 250'500'000'000},
      {"-2m3.4s", -123'400'000'000},
      {"1h2m3s4ms5us6ns", 3'723'004'005'006},
      {"39h9m14.425s", 140'954'425'000'000},
      {"52763797000ns", 52'763'797'000},
      {"0.3333333333333333333h", 1200 * kSecond},
      {"9007199254740993ns", 9'007'199'254'740'993},
      {"9223372036854775807ns", kLongest},
      {"9223372036854775.807us", kLongest},
      {"-9223372036854775808ns", kMost},
      {"-9223372036s854ms775us808ns", kMost},
      {"0.100000000000000000000h", 360 * kSecond},
      {"0.830103483285477580700h", 2'988'372'539'827},
  };
  for (const auto& [text, nanoseconds] : kCases)
    EXPECT_EQ(parse_duration(text), nanoseconds) << text;
}

TEST(ParseDuration, RefusesWhatGoRefuses) {
  for (const std::string_view text : {"",
                                      "3",
                                      "-",
                                      "s",
                                      ".",
                                      "-.",
                                      ".s",
                                      "+.s",
                                      "1d",
                                      "soon",
                                      " 1s",
                                      "1s ",
                                      "1 s",
                                      "1e3s",
                                      "--1s",
                                      "1S",
                                      "9223372036854775808ns",
                                      "9223372036854775.808us",
                                      "-9223372036854775809ns",
                                      "3000000h",
                                      "1s2"})
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
}

TEST(RenderDuration, PrintsAsGoDoes) {
  constexpr Parsed kCases[] = {
      {"0s", 0},
      {"1ns", 1},
      {"1.1\u00b5s", 1'100},
      {"2.2ms", 2'200'000},
      {"100ms", 100'000'000},
      {"3.3s", 3'300'000'000},
      {"1m30s", 90 * kSecond},
      {"4m5s", 245 * kSecond},
      {"4m5.001s", 245'001'000'000},
      {"4h0m0s", 14'400 * kSecond},
      {"5h6m7.001s", 18'367'001'000'000},
      {"-1.5s", -1'500'000'000},
      {"8m0.000000001s", 480'000'000'001},
      {"2562047h47m16.854775807s", kLongest},
      {"-2562047h47m16.854775808s", kMost},
  };
  for (const auto& [text, nanoseconds] : kCases) {
    EXPECT_EQ(render_duration(nanoseconds), text);
    EXPECT_EQ(parse_duration(text), nanoseconds) << text;
  }
}

}  // namespace
}  // namespace ctkit::engine::containerd
