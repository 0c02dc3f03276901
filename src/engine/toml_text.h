#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/origin.h"
#include "engine/result.h"

namespace ctkit::engine {

// What every TOML grammar of ours needs: characters, UTF-8, and places in a file.

[[nodiscard]] inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
[[nodiscard]] inline bool is_blank(char c) {
  return c == ' ' || c == '\t';
}
[[nodiscard]] inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
[[nodiscard]] inline bool is_bare_key_character(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '-';
}
[[nodiscard]] inline bool is_hex_digit(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Number of decimal digits from `at` on.
std::size_t digits_at(std::string_view text, std::size_t at);

/// All of `digits` as one number; nothing if one of them is no hexadecimal digit or there are none
/// or more than 8.
std::optional<std::uint32_t> parse_hex(std::string_view digits);

/// Neither a surrogate nor above U+10FFFF.
[[nodiscard]] inline bool is_unicode_scalar(std::uint32_t rune) {
  return rune <= 0x10ffff && (rune < 0xd800 || rune > 0xdfff);
}

/// What is no Unicode scalar becomes U+FFFD, as in Go.
void append_utf8(std::string& text, std::uint32_t rune);

/// Length of the valid UTF-8 sequence that begins at `at`, or 0.
std::size_t utf8_length(std::string_view text, std::size_t at);

/// Each byte that is no valid UTF-8 becomes U+FFFD, as Go's conversion to runes does.
void append_valid_utf8(std::string& out, std::string_view text);

/// Turns offsets in one file's text into origins and errors. The text must outlive it.
class TextPlaces {
 public:
  TextPlaces(std::string_view text, std::string_view file);

  struct Position {
    std::uint32_t line = 0;    ///< from 1
    std::uint32_t column = 0;  ///< from 1, in bytes
  };

  [[nodiscard]] Position position(std::size_t offset) const;
  [[nodiscard]] Origin origin(Position position) const;
  [[nodiscard]] Origin origin(std::size_t offset) const { return origin(position(offset)); }
  [[nodiscard]] Error refusal(std::size_t offset, std::string message, std::string hint = {}) const;
  [[nodiscard]] Error failure(ErrorCode code, std::size_t offset, std::string message) const;

 private:
  std::shared_ptr<const std::string> file_;
  std::vector<std::size_t> line_begins_;
};

}  // namespace ctkit::engine
