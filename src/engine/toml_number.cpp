#include "engine/toml_number.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <limits>
#include <string>
#include <system_error>

#include "engine/toml_text.h"

namespace ctkit::engine {

namespace {

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

/// Whether a number that from_chars finds out of range is out at the large end: it is then not
/// below 1.
bool is_large(std::string_view text) {
  const std::size_t exponent_mark = text.find_first_of("eE");
  long long exponent = 0;
  if (exponent_mark != std::string_view::npos) {
    std::string_view digits = text.substr(exponent_mark + 1);
    const bool negative = digits.starts_with('-');
    if (digits.starts_with('+')) digits.remove_prefix(1);
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
    if (result.ec != std::errc{}) return !negative;
  }
  const std::string_view mantissa = text.substr(0, exponent_mark);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const auto place = static_cast<long long>(point) - static_cast<long long>(first);
  return place + exponent > 0;
}

/// TOML 1.0's spelling of numbers, read from left to right.
class NumberReader {
 public:
  NumberReader(std::string_view text, std::string_view& problem) : text_(text), problem_(problem) {}

  std::optional<TomlNumber> read() {
    problem_ = "no value";
    const bool has_sign = skip_any("+-");
    if (text_.substr(at_) == "inf") {
      const double infinity = std::numeric_limits<double>::infinity();
      return text_.starts_with('-') ? -infinity : infinity;
    }
    if (text_.substr(at_) == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (!has_sign && text_.size() > 2 && text_[0] == '0') {
      if (text_[1] == 'x') return prefixed(16);
      if (text_[1] == 'o') return prefixed(8);
      if (text_[1] == 'b') return prefixed(2);
    }
    return decimal();
  }

 private:
  std::optional<TomlNumber> prefixed(int base) {
    at_ = 2;
    if (!digits(base) || at_ != text_.size()) return std::nullopt;
    return fitting(parse_integer(without_underscores(text_.substr(2)), base));
  }

  std::optional<TomlNumber> decimal() {
    const std::size_t begin = at_;
    if (!digits(10)) return std::nullopt;
    if (text_[begin] == '0' && at_ > begin + 1) {
      problem_ = "a number can't begin with 0";
      return std::nullopt;
    }
    if (at_ == text_.size()) return fitting(parse_integer(without_underscores(text_), 10));
    if (skip_any(".") && !digits(10)) return std::nullopt;
    if (skip_any("eE")) {
      skip_any("+-");
      if (!digits(10)) return std::nullopt;
    }
    if (at_ != text_.size()) return std::nullopt;
    return fitting(parse_float(without_underscores(text_)));
  }

  /// Its spelling is right; so it is too large if there is none.
  template <typename Number>
  std::optional<TomlNumber> fitting(std::optional<Number> number) {
    if (number) return *number;
    problem_ = kNumberTooLarge;
    return std::nullopt;
  }

  /// Underscores stand between digits only.
  bool digits(int base) {
    bool after_digit = false;
    for (; at_ < text_.size(); ++at_) {
      if (is_digit_of(text_[at_], base)) {
        after_digit = true;
      } else if (text_[at_] == '_' && after_digit) {
        after_digit = false;
      } else {
        break;
      }
    }
    return after_digit;
  }

  static bool is_digit_of(char c, int base) {
    if (base == 16) return is_hex_digit(c);
    return c >= '0' && c < static_cast<char>('0' + base);
  }

  bool skip_any(std::string_view characters) {
    if (at_ == text_.size() || !characters.contains(text_[at_])) return false;
    ++at_;
    return true;
  }

  std::string_view text_;
  std::string_view& problem_;
  std::size_t at_ = 0;
};

/// 16, 8, 2 or 10; 0 if the library knows no base for it.
int base_of(std::string_view digits) {
  if (digits.size() < 3 || digits[0] != '0') return 10;
  switch (digits[1]) {
    case 'x':
      return 16;
    case 'o':
      return 8;
    case 'b':
      return 2;
    default:
      return 0;
  }
}

Go1NumberExtent measure_prefixed(std::string_view text) {
  const char mark = text[1];
  const auto belongs = [mark](char c) {
    if (c == '_') return true;
    if (mark == 'x') return is_hex_digit(c);
    return c >= '0' && c <= (mark == 'o' ? '7' : '1');
  };
  const auto end = std::ranges::find_if_not(text.substr(2), belongs);
  const auto length = static_cast<std::size_t>(end - text.begin());
  if (length == 2) return {.problem = "a number needs a digit"};
  return {.length = length};
}

/// Go-toml 1.9 looks only at what is before an underscore, and wants something behind it.
bool has_misplaced_underscore(std::string_view number, bool hexadecimal) {
  bool after_digit = false;
  for (std::size_t at = 0; at < number.size(); ++at) {
    const char c = number[at];
    if (c == '_' && (!after_digit || at + 1 == number.size())) return true;
    after_digit = hexadecimal ? is_hex_digit(c) : is_digit(c);
  }
  return false;
}

/// Go-toml 1.8 looks at both sides, with a pattern that knows only lower case hexadecimal digits.
bool has_misplaced_underscore_by_pattern(std::string_view number, bool hexadecimal) {
  const auto is_separable = [hexadecimal](char c) { return is_digit(c) || (hexadecimal && c >= 'a' && c <= 'f'); };
  for (std::size_t at = 0; at < number.size(); ++at) {
    if (number[at] != '_') continue;
    if (at == 0 || at + 1 == number.size()) return true;
    if (!is_separable(number[at - 1]) || !is_separable(number[at + 1])) return true;
  }
  return false;
}

std::optional<std::uint64_t> parse_unsigned(std::string_view digits, int base) {
  std::uint64_t number = 0;
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view digits, int base) {
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return std::nullopt;
  }
  std::int64_t number = 0;
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, number, base);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<double> parse_float(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  double number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (stop != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    if (is_large(text)) return std::nullopt;
    return text.starts_with('-') ? -0.0 : 0.0;
  }
  return number;
}

std::optional<TomlNumber> parse_toml_1_0_number(std::string_view text, std::string_view& problem) {
  return NumberReader(text, problem).read();
}

Go1NumberExtent measure_go1_number(std::string_view text) {
  const auto at = [text](std::size_t place) { return place < text.size() ? text[place] : '\0'; };
  if (at(0) == '0') {
    if (at(1) == 'x' || at(1) == 'o' || at(1) == 'b') return measure_prefixed(text);
    if (is_letter(at(1))) return {.problem = "a number can't go on with a letter"};
  }
  Go1NumberExtent extent;
  std::size_t& end = extent.length;
  bool has_point = false;
  bool has_digit = false;
  if (at(0) == '+' || at(0) == '-') ++end;
  for (;; ++end) {
    const char c = at(end);
    if (c == '.') {
      if (has_point) return {.problem = "a float can't have two dots"};
      if (!has_digit) return {.problem = "a float can't begin with a dot"};
      if (!is_digit(at(end + 1))) return {.problem = "a float can't end with a dot"};
      has_point = true;
      extent.is_float = true;
    } else if (c == 'e' || c == 'E') {
      extent.is_float = true;
      if (at(end + 1) == '+' || at(end + 1) == '-') ++end;
    } else if (is_digit(c)) {
      has_digit = true;
    } else if (c != '_') {
      break;
    }
  }
  if (!has_digit) return {.problem = kNoGo1Value};
  return extent;
}

std::optional<TomlNumber> parse_go1_number(std::string_view written,
                                           bool is_float,
                                           const TomlDialect& dialect,
                                           std::string_view& problem) {
  std::string digits(written);
  std::erase(digits, '_');
  const int base = is_float ? 10 : base_of(digits);
  const auto misplaced =
      dialect.underscores_by_pattern ? has_misplaced_underscore_by_pattern : has_misplaced_underscore;
  if (misplaced(written, base == 16)) {
    problem = "an underscore that is not between digits";
    return std::nullopt;
  }
  if (is_float) {
    const auto number = parse_float(digits);
    if (number) return *number;
    problem = "no value, or too large";
    return std::nullopt;
  }
  if (base == 0) {
    problem = "a number can't begin with 0";
    return std::nullopt;
  }
  if (base != 10) digits.erase(0, 2);
  if (const auto number = parse_integer(digits, base)) return *number;
  if (dialect.large_unsigned_integers) {
    if (const auto number = parse_unsigned(digits, base)) return *number;
  }
  problem = kNumberTooLarge;
  return std::nullopt;
}

}  // namespace ctkit::engine
