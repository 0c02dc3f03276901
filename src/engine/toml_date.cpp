#include "engine/toml_date.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "engine/toml_text.h"

namespace ctkit::engine {

namespace {

/// A number of two or four digits at a place of the text; nothing where they are not.
std::optional<int> number_at(std::string_view text, std::size_t at, std::size_t length) {
  if (text.size() < at + length) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(at, length)) {
    if (!is_digit(c)) return std::nullopt;
    number = (number * 10) + (c - '0');
  }
  return number;
}

bool has_number_up_to(std::string_view text, std::size_t at, int most) {
  const auto number = number_at(text, at, 2);
  return number && *number <= most;
}

bool has(std::string_view text, std::size_t at, char c) {
  return at < text.size() && text[at] == c;
}

int days_in(int month, int year) {
  constexpr auto kDays = std::to_array({31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31});
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return month == 2 && leap ? 29 : kDays[static_cast<std::size_t>(month - 1)];
}

bool is_date(std::string_view text) {
  const auto year = number_at(text, 0, 4);
  const auto month = number_at(text, 5, 2);
  const auto day = number_at(text, 8, 2);
  return text.size() == 10 && text[4] == '-' && text[7] == '-' && year && month && day && *month >= 1 && *month <= 12 &&
         *day >= 1 && *day <= days_in(*month, *year);
}

/// A time at the front of a text.
struct Clock {
  std::string text = {};      ///< HH:MM:SS
  std::string fraction = {};  ///< at most nine digits, without the point
  std::size_t length = 0;     ///< of what was read
};

std::optional<Clock> read_clock(std::string_view text, DateRules rules) {
  if (!has_number_up_to(text, 0, 23) || !has(text, 2, ':') || !has_number_up_to(text, 3, 59)) {
    return std::nullopt;
  }
  if (rules.seconds_optional && !has(text, 5, ':')) {
    return Clock{.text = std::string(text.substr(0, 5)) + ":00", .length = 5};
  }
  if (!has(text, 5, ':') || !has_number_up_to(text, 6, rules.leap_seconds ? 60 : 59)) {
    return std::nullopt;
  }
  Clock clock{.text = std::string(text.substr(0, 8)), .length = 8};
  if (!has(text, 8, '.')) return clock;
  const std::size_t count = digits_at(text, 9);
  if (count == 0) return std::nullopt;
  clock.fraction = text.substr(9, std::min<std::size_t>(count, 9));
  clock.length += 1 + count;
  return clock;
}

bool is_offset(std::string_view text, int most_hours, int most_minutes) {
  if (text == "Z" || text == "z") return true;
  return text.size() == 6 && (text[0] == '+' || text[0] == '-') && text[3] == ':' &&
         has_number_up_to(text, 1, most_hours) && has_number_up_to(text, 4, most_minutes);
}

/// Two digits that are known to be there.
int two_digits_at(std::string_view text, std::size_t at) {
  return ((text[at] - '0') * 10) + (text[at + 1] - '0');
}

std::string two_digits(int number) {
  return {static_cast<char>('0' + (number / 10)), static_cast<char>('0' + (number % 10))};
}

/// As Go prints it: zero is Z, sixty minutes are an hour.
std::string canonical_offset(std::string_view text) {
  if (text.size() == 1) return "Z";
  const int minutes = (two_digits_at(text, 1) * 60) + two_digits_at(text, 4);
  if (minutes == 0) return "Z";
  return text[0] + two_digits(minutes / 60) + ':' + two_digits(minutes % 60);
}

/// Go counts a leap second as the first of the next minute.
std::string without_leap_second(std::string_view local) {
  if (!local.ends_with(":60")) return std::string(local);
  const int minute = two_digits_at(local, 14) + 1;
  const int hour = two_digits_at(local, 11) + (minute / 60);
  int day = two_digits_at(local, 8) + (hour / 24);
  int month = two_digits_at(local, 5);
  int year = (two_digits_at(local, 0) * 100) + two_digits_at(local, 2);
  if (day > days_in(month, year)) {
    day = 1;
    ++month;
  }
  if (month > 12) {
    month = 1;
    ++year;
  }
  return std::to_string(10000 + year).substr(1) + '-' + two_digits(month) + '-' + two_digits(day) + 'T' +
         two_digits(hour % 24) + ':' + two_digits(minute % 60) + ":00";
}

std::string without_trailing_zeros(std::string fraction) {
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return fraction;
}

std::string with_point(const std::string& fraction) {
  return fraction.empty() ? fraction : '.' + fraction;
}

}  // namespace

bool begins_like_date(std::string_view text) {
  if (number_at(text, 0, 2) && has(text, 2, ':')) return true;
  return number_at(text, 0, 4) && has(text, 4, '-');
}

std::optional<std::string> parse_toml_1_0_date(std::string_view text, DateRules rules) {
  if (has(text, 2, ':')) {
    const auto clock = read_clock(text, rules);
    if (!clock || clock->length != text.size()) return std::nullopt;
    return clock->text + with_point(clock->fraction);
  }
  const std::string_view date = text.substr(0, 10);
  if (!is_date(date)) return std::nullopt;
  if (text.size() == 10) return std::string(date);
  if (!std::string_view("Tt ").contains(text[10])) return std::nullopt;
  const auto clock = read_clock(text.substr(11), rules);
  if (!clock) return std::nullopt;
  const std::string local = std::string(date) + 'T' + clock->text;
  const std::string_view offset = text.substr(11 + clock->length);
  if (offset.empty()) return local + with_point(clock->fraction);
  if (!is_offset(offset, 23, 59)) return std::nullopt;
  return without_leap_second(local) + with_point(without_trailing_zeros(clock->fraction)) + canonical_offset(offset);
}

/// [digits{1,4}-dd-dd] [[T or blank] dd:dd:dd [.digits{1,9}] [Z or +dd:dd]], each part in [ ]
/// optional.
DatePatternMatch match_date_pattern(std::string_view text) {
  DatePatternMatch match;
  const std::size_t year = digits_at(text, 0);
  if (year >= 1 && year <= 4 && has(text, year, '-') && digits_at(text, year + 1) == 2 && has(text, year + 3, '-') &&
      digits_at(text, year + 4) >= 2) {
    match.length = year + 6;
  }
  const bool separated = has(text, match.length, 'T') || has(text, match.length, ' ');
  const std::size_t time = match.length + (separated ? 1 : 0);
  if (digits_at(text, time) != 2 || !has(text, time + 2, ':') || digits_at(text, time + 3) != 2 ||
      !has(text, time + 5, ':') || digits_at(text, time + 6) < 2) {
    return match;
  }
  std::size_t end = time + 8;
  if (has(text, end, '.') && digits_at(text, end + 1) >= 1) {
    end += 1 + std::min<std::size_t>(digits_at(text, end + 1), 9);
  }
  const bool shifted = has(text, end, '+') || has(text, end, '-');
  if (has(text, end, 'Z')) {
    match.zoned = true;
    ++end;
  } else if (shifted && digits_at(text, end + 1) == 2 && has(text, end + 3, ':') && digits_at(text, end + 4) >= 2) {
    match.zoned = true;
    end += 6;
  }
  match.length = end;
  return match;
}

std::optional<std::string> parse_go_date(std::string_view text) {
  if (!is_date(text)) return std::nullopt;
  return std::string(text);
}

std::optional<std::string> parse_go_time(std::string_view text, bool long_fractions) {
  auto clock = read_clock(text, {});
  // To Go's time.Parse of 1.19 what stands behind nine digits was text too much.
  if (!clock || clock->length != text.size() || (text.size() > 18 && !long_fractions)) return std::nullopt;
  std::string fraction = without_trailing_zeros(clock->fraction);
  if (!fraction.empty()) fraction.resize(9, '0');
  return clock->text + with_point(fraction);
}

std::optional<std::string> parse_go_offset_date_time(std::string_view date,
                                                     std::string_view time,
                                                     std::string_view offset,
                                                     bool long_fractions) {
  if (!is_date(date) || !parse_go_time(time, long_fractions) || offset == "z" || !is_offset(offset, 24, 60)) {
    return std::nullopt;
  }
  return std::string(date) + 'T' + std::string(time.substr(0, 8)) + canonical_offset(offset);
}

}  // namespace ctkit::engine
