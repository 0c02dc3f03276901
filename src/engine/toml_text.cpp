#include "engine/toml_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

namespace ctkit::engine {

namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool is_continuation(std::string_view text, std::size_t at, unsigned char low = 0x80, unsigned char high = 0xbf) {
  return at < text.size() && byte_at(text, at) >= low && byte_at(text, at) <= high;
}

}  // namespace

std::size_t digits_at(std::string_view text, std::size_t at) {
  const std::size_t begin = std::min(at, text.size());
  std::size_t end = begin;
  while (end < text.size() && is_digit(text[end]))
    ++end;
  return end - begin;
}

std::optional<std::uint32_t> parse_hex(std::string_view digits) {
  std::uint32_t number = 0;
  if (digits.size() > 8) return std::nullopt;
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  const auto [stop, error] = std::from_chars(begin, end, number, 16);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

void append_utf8(std::string& text, std::uint32_t rune) {
  const auto tail = [&text](std::uint32_t bits) { text += static_cast<char>(0x80U | (bits & 0x3fU)); };
  if (!is_unicode_scalar(rune)) {
    text += kReplacement;
  } else if (rune < 0x80) {
    text += static_cast<char>(rune);
  } else if (rune < 0x800) {
    text += static_cast<char>(0xc0U | (rune >> 6U));
    tail(rune);
  } else if (rune < 0x10000) {
    text += static_cast<char>(0xe0U | (rune >> 12U));
    tail(rune >> 6U);
    tail(rune);
  } else {
    text += static_cast<char>(0xf0U | (rune >> 18U));
    tail(rune >> 12U);
    tail(rune >> 6U);
    tail(rune);
  }
}

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const unsigned char lead = byte_at(text, at);
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  if (lead < 0xe0) return is_continuation(text, at + 1) ? 2 : 0;
  // The second byte's range keeps out overlong forms, surrogates and what is above U+10FFFF.
  unsigned char low = 0x80;
  unsigned char high = 0xbf;
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  if (!is_continuation(text, at + 1, low, high) || !is_continuation(text, at + 2)) return 0;
  if (lead < 0xf0) return 3;
  return is_continuation(text, at + 3) ? 4 : 0;
}

void append_valid_utf8(std::string& out, std::string_view text) {
  std::size_t copied = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = byte_at(text, at) < 0x80 ? 1 : utf8_length(text, at);
    if (length == 0) {
      out += text.substr(copied, at - copied);
      out += kReplacement;
      copied = at + 1;
    }
    at += std::max<std::size_t>(length, 1);
  }
  out += text.substr(copied);
}

TextPlaces::TextPlaces(std::string_view text, std::string_view file)
    : file_(std::make_shared<const std::string>(file)), line_begins_{0} {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    line_begins_.push_back(at + 1);
  }
}

TextPlaces::Position TextPlaces::position(std::size_t offset) const {
  const auto after = std::ranges::upper_bound(line_begins_, offset);
  const auto line = static_cast<std::size_t>(after - line_begins_.begin());
  return {.line = static_cast<std::uint32_t>(line),
          .column = static_cast<std::uint32_t>(offset - line_begins_[line - 1] + 1)};
}

Origin TextPlaces::origin(Position position) const {
  return {.file = file_, .line = position.line, .column = position.column};
}

Error TextPlaces::refusal(std::size_t offset, std::string message, std::string hint) const {
  Error error = failure(ErrorCode::daemon_refuses, offset, std::move(message));
  error.hint = std::move(hint);
  return error;
}

Error TextPlaces::failure(ErrorCode code, std::size_t offset, std::string message) const {
  const Position place = position(offset);
  std::string where = *file_;
  if (!where.empty()) where += ':';
  where += std::to_string(place.line) + ":" + std::to_string(place.column);
  return {.code = code, .message = std::move(message), .where = std::move(where)};
}

}  // namespace ctkit::engine
