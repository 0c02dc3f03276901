#include "engine/toml_burntsushi_values.h"

#include <algorithm>
#include <array>
#include <limits>
#include <ranges>
#include <vector>

#include "engine/toml_date.h"
#include "engine/toml_text.h"

namespace ctkit::engine {

namespace {

using Kind = BurntSushiExtent::Kind;

constexpr std::string_view kMisplacedUnderscore = "an underscore that is not between digits";
constexpr std::string_view kLeadingZero = "a number can't begin with 0";

char at(std::string_view text, std::size_t place) {
  return place < text.size() ? text[place] : '\0';
}

/// How far characters of a set reach from `from` on.
std::size_t run(std::string_view text, std::size_t from, std::string_view set) {
  return std::min(text.find_first_not_of(set, from), text.size());
}

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kDateCharacters = "0123456789-:Tt .Zz+";
constexpr std::string_view kFloatCharacters = "0123456789_.-+eE";

/// From a first digit on, with `_` allowed unless a date is possible.
BurntSushiExtent measure_decimal(std::string_view text, std::size_t from, bool may_be_date) {
  std::size_t end = run(text, from, kDigits);
  if (may_be_date && (at(text, end) == '-' || at(text, end) == ':')) {
    end = run(text, end, kDateCharacters);
    return {.kind = Kind::date, .length = end};
  }
  end = run(text, end, "0123456789_");
  const char next = at(text, end);
  if (next == '.' || next == 'e' || next == 'E')
    return {.kind = Kind::floating, .length = run(text, end, kFloatCharacters)};
  return {.length = end};
}

BurntSushiExtent measure_signed(std::string_view text) {
  const std::string_view rest = text.substr(1);
  if (rest.starts_with("inf") || rest.starts_with("nan")) return {.kind = Kind::floating, .length = 4};
  if (at(rest, 0) == '0' && (at(rest, 1) == 'b' || at(rest, 1) == 'o' || at(rest, 1) == 'x'))
    return {.length = 1, .problem = "a sign before a number that is not decimal"};
  if (!is_digit(at(rest, 0))) return {.length = 1, .problem = "expected a digit after the sign"};
  return measure_decimal(text, 1, false);
}

BurntSushiExtent measure_prefixed(std::string_view text) {
  std::string_view digits = "01";
  if (text[1] == 'o') digits = "01234567";
  if (text[1] == 'x') digits = "0123456789abcdefABCDEF";
  if (!digits.contains(at(text, 2)) || text.size() < 3)
    return {.length = 2, .problem = "a number needs a digit of its base"};
  return {.length = run(text, 2, std::string(digits) + "_")};
}

/// numUnderscoresOK: before each underscore, and at the end, stands what may be a hexadecimal
/// digit.
bool has_right_underscores(std::string_view number) {
  bool after_digit = false;
  for (const char c : number) {
    if (c == '_' && !after_digit) return false;
    after_digit = is_hex_digit(c);
  }
  return after_digit;
}

/// numHasLeadingZero
bool has_leading_zero(std::string_view number) {
  if (number.size() > 1 && number[0] == '0') return number[1] != 'b' && number[1] != 'o' && number[1] != 'x';
  return number.size() > 2 && (number[0] == '-' || number[0] == '+') && number[1] == '0';
}

std::string without_underscores(std::string_view text) {
  std::string result(text);
  std::erase(result, '_');
  return result;
}

int base_of(std::string_view number) {
  if (number.size() < 2 || number[0] != '0') return 10;
  switch (number[1]) {
    case 'b':
      return 2;
    case 'o':
      return 8;
    case 'x':
      return 16;
    default:
      return 10;
  }
}

/// Reads one form of a date or time; each part is taken off the front.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : text_(text) {}

  bool date() {
    const std::string_view written = text_.substr(0, 10);
    if (!parse_go_date(written)) return false;
    text_.remove_prefix(10);
    return true;
  }
  bool word(char c) {
    if (!text_.starts_with(c)) return false;
    text_.remove_prefix(1);
    return true;
  }
  /// An hour may have one digit, all else has two.
  bool clock(bool with_seconds) {
    const std::size_t digits = is_digit(at(text_, 1)) ? 2 : 1;
    if (!number(digits, 23) || !word(':') || !number(2, 59)) return false;
    if (!with_seconds) return true;
    if (!word(':') || !number(2, 59)) return false;
    if (at(text_, 0) == '.' && is_digit(at(text_, 1))) text_.remove_prefix(run(text_, 1, kDigits));
    return true;
  }
  bool offset() {
    if (word('Z')) return true;
    return (word('+') || word('-')) && number(2, 24) && word(':') && number(2, 60);
  }
  [[nodiscard]] bool done() const { return text_.empty(); }

 private:
  bool number(std::size_t digits, int most) {
    int value = 0;
    for (std::size_t i = 0; i < digits; ++i) {
      if (!is_digit(at(text_, i))) return false;
      value = value * 10 + (text_[i] - '0');
    }
    text_.remove_prefix(digits);
    return value <= most;
  }

  std::string_view text_;
};

std::string_view trimmed_right(std::string_view text, std::string_view set) {
  const std::size_t last = text.find_last_not_of(set);
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

std::string_view trimmed_left(std::string_view text, std::string_view set) {
  return text.substr(std::min(text.find_first_not_of(set), text.size()));
}

/// Whether the last of the backslashes at the end of a line escapes something.
bool ends_in_escape(std::string_view line) {
  const std::size_t backslashes = line.size() - trimmed_right(line, "\\").size();
  return backslashes % 2 == 1;
}

/// stripEscapedNewlines up to 1.2, line by line: once a line ended in an escape, no later line
/// keeps its newline until one ends in an even number of backslashes.
std::string join_line_by_line(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  std::vector<std::string_view> lines;
  for (std::size_t from = 0;;) {
    const std::size_t end = text.find('\n', from);
    lines.push_back(text.substr(from, end - from));
    if (end == std::string_view::npos) break;
    from = end + 1;
  }
  std::string result;
  bool after_escape = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool last = i + 1 == lines.size();
    std::string_view line = trimmed_right(lines[i], kBlanks);
    if (!line.ends_with('\\')) {
      result += trimmed_right(lines[i], "\r");
      if (!after_escape && !last) result += '\n';
      continue;
    }
    if (after_escape) line = trimmed_left(line, kBlanks);
    after_escape = ends_in_escape(line);
    if (!after_escape) {
      result += lines[i];
      result += '\n';
    } else if (last) {
      result += lines[i];  // an escape without anything behind it: refused later
    } else {
      result += line.substr(0, line.size() - 1);
      lines[i + 1] = trimmed_left(lines[i + 1], kBlanks);
    }
  }
  return result;
}

/// From 1.3 on: an unescaped backslash and all white space behind it go if there is a newline in
/// that.
std::string join_lines(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      result += text[i++];
      continue;
    }
    const std::size_t end = run(text, i + 1, " \t\r\n");
    if (text.substr(i, end - i).contains('\n')) {
      i = end;
      continue;
    }
    result += text.substr(i, 2);
    i += 2;
  }
  return result;
}

}  // namespace

BurntSushiExtent measure_burntsushi_number(std::string_view text) {
  const char first = at(text, 0);
  if (first == '+' || first == '-') return measure_signed(text);
  if (text.starts_with("inf") || text.starts_with("nan")) return {.kind = Kind::floating, .length = 3};
  if (!is_digit(first)) return {};
  const char second = at(text, 1);
  if (first == '0' && (second == 'b' || second == 'o' || second == 'x')) return measure_prefixed(text);
  // A date begins with two digits at least.
  return measure_decimal(text, 0, first != '0' || is_digit(second));
}

std::optional<TomlNumber> parse_burntsushi_integer(std::string_view written, std::string_view& problem) {
  if (!has_right_underscores(written)) {
    problem = kMisplacedUnderscore;
    return std::nullopt;
  }
  if (has_leading_zero(written)) {
    problem = kLeadingZero;
    return std::nullopt;
  }
  const int base = base_of(written);
  const auto number = parse_integer(without_underscores(base == 10 ? written : written.substr(2)), base);
  problem = kNumberTooLarge;
  return number ? std::optional<TomlNumber>(*number) : std::nullopt;
}

std::optional<TomlNumber> parse_burntsushi_float(std::string_view written, std::string_view& problem) {
  const bool negative = written.starts_with('-');
  const std::string_view word = negative || written.starts_with('+') ? written.substr(1) : written;
  if (word == "inf") {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative ? -infinity : infinity;
  }
  if (word == "nan") return std::numeric_limits<double>::quiet_NaN();
  bool first = true;
  for (std::size_t from = 0; from <= written.size();) {
    const std::size_t end = std::min(written.find_first_of(".eE", from), written.size());
    const std::string_view part = written.substr(from, end - from);
    from = end + 1;
    if (part.empty()) continue;
    if (!has_right_underscores(part)) {
      problem = kMisplacedUnderscore;
      return std::nullopt;
    }
    if (first && has_leading_zero(part)) {
      problem = kLeadingZero;
      return std::nullopt;
    }
    first = false;
  }
  for (std::size_t dot = written.find('.'); dot != std::string_view::npos; dot = written.find('.', dot + 1)) {
    if (is_digit(at(written, dot + 1))) continue;
    problem = "a float can't end with a dot";
    return std::nullopt;
  }
  const auto number = parse_float(without_underscores(written));
  problem = "no float, or too large";
  return number ? std::optional<TomlNumber>(*number) : std::nullopt;
}

bool is_burntsushi_date(std::string_view written, const TomlDialect& dialect) {
  std::string text(written);
  for (char& c : text) {
    if (c == 'z') c = 'Z';
    if (c == 't' || c == ' ') c = 'T';
  }
  for (const bool seconds : {true, false}) {
    if (!seconds && !dialect.seconds_optional) break;
    DateReader zoned(text);
    if (zoned.date() && zoned.word('T') && zoned.clock(seconds) && zoned.offset() && zoned.done()) return true;
    DateReader local(text);
    if (local.date() && local.word('T') && local.clock(seconds) && local.done()) return true;
    DateReader time(text);
    if (time.clock(seconds) && time.done()) return true;
  }
  DateReader date(text);
  return date.date() && date.done();
}

std::string join_escaped_lines(std::string_view text, const TomlDialect& dialect) {
  const std::string_view rest = without_first_newline(text);
  return dialect.line_by_line_strings ? join_line_by_line(rest) : join_lines(rest);
}

std::optional<std::string> replace_escapes(std::string_view text,
                                           const TomlDialect& dialect,
                                           std::string_view& problem) {
  constexpr std::string_view kNames = "btnfr\"\\";
  constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
  const auto fail = [&problem](std::string_view message) {
    problem = message;
    return std::nullopt;
  };
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] != '\\') {
      result += text[i++];
      continue;
    }
    const char name = at(text, i + 1);
    i += 2;
    if (const auto known = kNames.find(name); name != '\0' && known != std::string_view::npos) {
      result += kMeanings[known];
      continue;
    }
    if (name == 'e' && dialect.hex_escapes) {
      result += '\x1b';
      continue;
    }
    std::size_t digits = 0;
    if (name == 'x' && dialect.hex_escapes) digits = 2;
    if (name == 'u') digits = 4;
    if (name == 'U') digits = 8;
    if (digits == 0) return fail("unknown escape; a backslash is written '\\\\' here");
    const auto rune = parse_hex(text.substr(i, digits));
    if (!rune || text.size() - i < digits) return fail("an unfinished Unicode escape");
    if (!is_unicode_scalar(*rune)) return fail("an escape that is no Unicode character");
    append_utf8(result, *rune);
    i += digits;
  }
  return result;
}

std::string_view without_first_newline(std::string_view text) {
  if (text.starts_with('\n'))
    text.remove_prefix(1);
  else if (text.starts_with("\r\n"))
    text.remove_prefix(2);
  return text;
}

}  // namespace ctkit::engine
