#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ctkit::engine {

// Dates and times by their spelling, one reader a form. What comes back is the text as the daemons
// print it.

/// What libraries of TOML 1.0 differ in.
struct DateRules {
  bool seconds_optional = false;  ///< `07:32`
  bool leap_seconds = false;      ///< `07:32:60`
};

/// Whether a value that begins with a digit is a date or a time, not a number: `dd:` or `dddd-`.
bool begins_like_date(std::string_view text);

/// A date, a time or both as go-toml 2 reads and prints them; nothing if it is none.
std::optional<std::string> parse_toml_1_0_date(std::string_view text, DateRules rules);

/// What go-toml 1.8's pattern for dates and times finds at the front of a text; a length of 0 if
/// nothing.
struct DatePatternMatch {
  std::size_t length = 0;
  bool zoned = false;  ///< with an offset
};
DatePatternMatch match_date_pattern(std::string_view text);

/// `YYYY-MM-DD` of a day that exists.
std::optional<std::string> parse_go_date(std::string_view text);
/// `HH:MM:SS` with a fraction, printed with none or nine digits of it; more than nine only if `long_fractions`.
std::optional<std::string> parse_go_time(std::string_view text, bool long_fractions);
/// The same with an offset: `Z`, `+HH:MM`; printed without the fraction.
std::optional<std::string> parse_go_offset_date_time(std::string_view date,
                                                     std::string_view time,
                                                     std::string_view offset,
                                                     bool long_fractions);

}  // namespace ctkit::engine
