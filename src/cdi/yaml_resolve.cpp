#include "cdi/yaml_resolve.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

namespace ctkit::cdi {

namespace {

constexpr std::string_view kPrefix = "tag:yaml.org,2002:";

std::optional<bool> boolean_of(std::string_view text) {
  constexpr std::array<std::string_view, 11> kTrue = {
      "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  constexpr std::array<std::string_view, 11> kFalse = {
      "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
  if (std::ranges::find(kTrue, text) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, text) != kFalse.end()) return false;
  return std::nullopt;
}

bool is_null(std::string_view text) {
  return text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL";
}

std::optional<double> special_float(std::string_view text) {
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return std::numeric_limits<double>::quiet_NaN();
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  if (text != ".inf" && text != ".Inf" && text != ".INF") return std::nullopt;
  return minus ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

struct Digits {
  int base = 10;
  std::string_view digits = {};
};

// strconv's base 0: 0x, 0o, 0b, or 0 for octal. Underscores are gone already.
Digits split_base(std::string_view text) {
  if (text.size() > 1 && text[0] == '0') {
    const char mark = static_cast<char>(text[1] | 0x20);
    if (mark == 'x') return {16, text.substr(2)};
    if (mark == 'o') return {8, text.substr(2)};
    if (mark == 'b') return {2, text.substr(2)};
    return {8, text.substr(1)};
  }
  return {10, text};
}

bool parse_magnitude(std::string_view text, std::uint64_t& value) {
  const auto [base, digits] = split_base(text);
  if (digits.empty()) return false;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  return error == std::errc{} && end == digits.data() + digits.size();
}

std::optional<YamlValue> integer_of(std::string_view text) {
  const bool minus = text.starts_with('-');
  const bool has_sign = minus || text.starts_with('+');
  std::uint64_t magnitude = 0;
  if (!parse_magnitude(has_sign ? text.substr(1) : text, magnitude)) return std::nullopt;
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (minus) {
    if (magnitude > kMost + 1) return std::nullopt;
    return YamlValue{.kind = YamlKind::integer, .integer = static_cast<std::int64_t>(0 - magnitude)};
  }
  if (magnitude <= kMost) return YamlValue{.kind = YamlKind::integer, .integer = static_cast<std::int64_t>(magnitude)};
  if (has_sign) return std::nullopt;
  return YamlValue{.kind = YamlKind::unsigned_integer, .unsigned_integer = magnitude};
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool is_yaml_float(std::string_view text) {
  const auto digits = [&text] {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
  };
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    if (digits() == 0) return false;
  } else {
    if (digits() == 0) return false;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      digits();
    }
  }
  if (text.empty()) return true;
  if (text[0] != 'e' && text[0] != 'E') return false;
  text.remove_prefix(1);
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return digits() > 0 && text.empty();
}

// strconv.ParseFloat of what is_yaml_float takes; out of range is an error, too small is 0.
std::optional<double> float_of(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) {
    // Both ends are reported alike.
    const std::size_t exponent = text.find_first_of("eE");
    if (exponent != std::string_view::npos && text.substr(exponent + 1).starts_with('-')) return 0;
    return std::nullopt;
  }
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

YamlValue number_or_text(const std::string& text) {
  std::string plain = text;
  std::erase(plain, '_');
  if (auto value = integer_of(plain)) return *std::move(value);
  if (is_yaml_float(plain)) {
    if (const auto value = float_of(plain)) return {.kind = YamlKind::floating, .floating = *value};
  }
  return {.kind = YamlKind::text, .text = text};
}

YamlValue resolve_plain(const std::string& text) {
  if (is_null(text)) return {};
  const char first = text.front();
  const bool number = (first >= '0' && first <= '9') || first == '+' || first == '-';
  if (number || first == '.') {
    if (const auto value = special_float(text)) return {.kind = YamlKind::floating, .floating = *value};
  }
  if (number) return number_or_text(text);
  if (first == '.') {
    if (is_yaml_float(text)) {
      if (const auto value = float_of(text)) return {.kind = YamlKind::floating, .floating = *value};
    }
  } else if (const auto value = boolean_of(text)) {
    return {.kind = YamlKind::boolean, .boolean = *value};
  }
  return {.kind = YamlKind::text, .text = text};
}

// encoding/base64's StdEncoding: padding is required, line breaks are skipped.
std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string letters(text);
  std::erase_if(letters, [](char c) { return c == '\n' || c == '\r'; });
  if (letters.size() % 4 != 0) return std::nullopt;
  std::size_t padding = 0;
  while (padding < 2 && padding < letters.size() && letters[letters.size() - 1 - padding] == '=')
    ++padding;
  letters.resize(letters.size() - padding);
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char letter : letters) {
    const std::size_t value = kAlphabet.find(letter);
    if (value == std::string_view::npos) return std::nullopt;
    bits = (bits << 6U) | static_cast<std::uint32_t>(value);
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes += static_cast<char>((bits >> static_cast<unsigned>(count)) & 0xFFU);
    }
  }
  return bytes;
}

std::string_view short_tag(YamlKind kind) {
  switch (kind) {
    case YamlKind::null:
      return "null";
    case YamlKind::boolean:
      return "bool";
    case YamlKind::integer:
    case YamlKind::unsigned_integer:
      return "int";
    case YamlKind::floating:
      return "float";
    case YamlKind::text:
    case YamlKind::list:
    case YamlKind::map:
      break;
  }
  return "str";
}

bool is_date(std::string_view text) {
  // Only tells a tagged date from other text; which dates Go takes does not show: they stay text.
  return text.size() >= 8 && text.find_first_not_of("0123456789") == 4 && text[4] == '-';
}

}  // namespace

std::string format_double(double value) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string format_single(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::abs(value) > static_cast<double>(std::numeric_limits<float>::max())) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 64> text{};
  const auto [end, error] =
      std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value), std::chars_format::scientific);
  const std::string scientific(text.data(), end);
  const std::size_t mark = scientific.find('e');
  int exponent = 0;
  const std::size_t digits_at = mark + (scientific[mark + 1] == '+' ? 2 : 1);
  std::from_chars(scientific.data() + digits_at, scientific.data() + scientific.size(), exponent);
  if (exponent < -4 || exponent >= 6) return scientific;
  const auto [fixed_end, fixed_error] =
      std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value), std::chars_format::fixed);
  return {text.data(), fixed_end};
}

std::expected<YamlValue, std::string> resolve_yaml(std::string_view tag, const std::string& text, bool implicit) {
  if (tag.empty()) {
    if (!implicit) return YamlValue{.kind = YamlKind::text, .text = text};
    return resolve_plain(text);
  }
  const std::string_view name = tag.starts_with(kPrefix) ? tag.substr(kPrefix.size()) : std::string_view{};
  if (name == "binary") {
    auto bytes = decode_base64(text);
    if (!bytes) return std::unexpected("!!binary value contains invalid base64 data");
    return YamlValue{.kind = YamlKind::text, .text = *std::move(bytes)};
  }
  const bool resolvable = name == "bool" || name == "int" || name == "float" || name == "null" || name == "timestamp";
  if (!resolvable) return YamlValue{.kind = YamlKind::text, .text = text};
  YamlValue value = resolve_plain(text);
  if (name == "timestamp" && is_date(text)) return YamlValue{.kind = YamlKind::text, .text = text};
  if (short_tag(value.kind) == name) return value;
  if (name == "float" && value.kind == YamlKind::integer) {
    return YamlValue{.kind = YamlKind::floating, .floating = static_cast<double>(value.integer)};
  }
  return std::unexpected("cannot decode !!" + std::string(short_tag(value.kind)) + " `" + text + "` as a !!" +
                         std::string(name));
}

}  // namespace ctkit::cdi
