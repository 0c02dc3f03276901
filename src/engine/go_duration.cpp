#include "engine/go_duration.h"

#include <array>
#include <limits>

namespace ctkit::engine {

namespace {

struct Unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};

// Longest first: "ms" before "m". Both micro signs are Go's.
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\u00b5s", 1'000},
                                         {"\u03bcs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

constexpr std::uint64_t kLargest = std::uint64_t{1} << 63;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Whole digits at the front, taken off; nothing if above 2^63.
std::optional<std::uint64_t> take_whole(std::string_view& text) {
  std::uint64_t value = 0;
  while (!text.empty() && is_digit(text.front())) {
    if (value > kLargest / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(text.front() - '0');
    if (value > kLargest) return std::nullopt;
    text.remove_prefix(1);
  }
  return value;
}

struct Fraction {
  std::uint64_t value = 0;
  double scale = 1;
};

/// Digits after the point, taken off; those that no longer fit are skipped, as time.leadingFraction does.
Fraction take_fraction(std::string_view& text) {
  Fraction fraction;
  bool overflow = false;
  while (!text.empty() && is_digit(text.front())) {
    const auto digit = static_cast<std::uint64_t>(text.front() - '0');
    text.remove_prefix(1);
    if (overflow) continue;
    if (fraction.value > (kLargest - 1) / 10) {
      overflow = true;
      continue;
    }
    const std::uint64_t next = fraction.value * 10 + digit;
    if (next > kLargest) {
      overflow = true;
      continue;
    }
    fraction.value = next;
    fraction.scale *= 10;
  }
  return fraction;
}

const Unit* take_unit(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && text[length] != '.' && !is_digit(text[length]))
    ++length;
  const std::string_view name = text.substr(0, length);
  for (const Unit& unit : kUnits) {
    if (unit.name == name) {
      text.remove_prefix(length);
      return &unit;
    }
  }
  return nullptr;
}

/// `value` in units of 10^digits, zeros at the end dropped: 1500 ns in µs is "1.5".
std::string decimal(std::uint64_t value, int digits) {
  std::string fraction;
  bool significant = false;
  for (int i = 0; i < digits; ++i) {
    const char digit = static_cast<char>('0' + value % 10);
    value /= 10;
    significant = significant || digit != '0';
    if (significant) fraction.insert(fraction.begin(), digit);
  }
  return std::to_string(value) + (fraction.empty() ? "" : "." + fraction);
}

}  // namespace

std::optional<std::int64_t> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return 0;
  if (text.empty()) return std::nullopt;
  std::uint64_t total = 0;
  while (!text.empty()) {
    const std::size_t before = text.size();
    auto whole = take_whole(text);
    if (!whole) return std::nullopt;
    bool digits = text.size() != before;
    Fraction fraction;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      const std::size_t rest = text.size();
      fraction = take_fraction(text);
      digits = digits || text.size() != rest;
    }
    if (!digits) return std::nullopt;
    const Unit* unit = take_unit(text);
    if (!unit || *whole > kLargest / unit->nanoseconds) return std::nullopt;
    std::uint64_t part = *whole * unit->nanoseconds;
    if (fraction.value > 0) {
      part += static_cast<std::uint64_t>(static_cast<double>(fraction.value) *
                                         (static_cast<double>(unit->nanoseconds) / fraction.scale));
      if (part > kLargest) return std::nullopt;
    }
    total += part;
    if (total > kLargest) return std::nullopt;
  }
  if (negative) return static_cast<std::int64_t>(~total + 1);
  if (total > kLargest - 1) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

std::string render_duration(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return "0s";
  const bool negative = nanoseconds < 0;
  const std::uint64_t value =
      negative ? ~static_cast<std::uint64_t>(nanoseconds) + 1 : static_cast<std::uint64_t>(nanoseconds);
  std::string text;
  if (value < 1'000) {
    text = std::to_string(value) + "ns";
  } else if (value < 1'000'000) {
    text = decimal(value, 3) + "\u00b5s";
  } else if (value < 1'000'000'000) {
    text = decimal(value, 6) + "ms";
  } else {
    constexpr std::uint64_t kMinute = 60'000'000'000;
    const std::uint64_t minutes = value / kMinute;
    text = decimal(value % kMinute, 9) + "s";
    if (minutes > 0) text = std::to_string(minutes % 60) + "m" + text;
    if (minutes >= 60) text = std::to_string(minutes / 60) + "h" + text;
  }
  return negative ? "-" + text : text;
}

}  // namespace ctkit::engine
