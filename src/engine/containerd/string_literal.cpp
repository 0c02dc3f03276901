#include "engine/containerd/string_literal.h"

#include <algorithm>
#include <cstddef>

#include "engine/toml_text.h"

namespace ctkit::engine::containerd {
namespace {

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

/// The character that `\c` stands for, 0 if it is not one of the short escapes.
char short_escape(char c) {
  constexpr std::string_view kLetters = "btnfre\"\\";
  constexpr std::string_view kMeanings = "\b\t\n\f\r\x1B\"\\";
  const std::size_t at = kLetters.find(c);
  return at == std::string_view::npos ? '\0' : kMeanings[at];
}

std::size_t digits_of_escape(char c) {
  if (c == 'x') return 2;
  if (c == 'u') return 4;
  return c == 'U' ? 8 : 0;
}

/// The character of an escape, whose backslash is gone, taken off the text.
std::optional<std::string> take_escape(std::string_view& text) {
  if (text.empty()) return std::nullopt;
  const char letter = text[0];
  text.remove_prefix(1);
  if (const char meaning = short_escape(letter); meaning != '\0') return std::string(1, meaning);

  const std::string_view digits = text.substr(0, digits_of_escape(letter));
  const auto rune = parse_hex(digits);
  if (!rune || digits.size() < digits_of_escape(letter)) return std::nullopt;
  text.remove_prefix(digits.size());
  std::string character;
  append_utf8(character, *rune);
  return character;
}

}  // namespace

std::string make_literal(std::string_view text, char wished_quote) {
  if (wished_quote == '\'' && !text.contains('\'') && std::ranges::none_of(text, is_control)) {
    return "'" + std::string(text) + "'";
  }
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string literal = "\"";
  for (const char c : text) {
    if (is_control(c)) {
      const auto byte = static_cast<unsigned char>(c);
      literal += {'\\', 'u', '0', '0', kHex[byte / 16U], kHex[byte % 16U]};
      continue;
    }
    if (c == '"' || c == '\\') literal += '\\';
    literal += c;
  }
  return literal += '"';
}

std::optional<std::string> parse_literal(std::string_view literal) {
  if (literal.size() < 2 || literal.front() != literal.back()) return std::nullopt;
  const char quote = literal.front();
  std::string_view rest = literal.substr(1, literal.size() - 2);
  if ((quote != '"' && quote != '\'') || rest.contains('\n')) return std::nullopt;
  if (quote == '\'') return rest.contains('\'') ? std::nullopt : std::optional<std::string>(rest);

  std::string text;
  while (!rest.empty()) {
    const char c = rest[0];
    rest.remove_prefix(1);
    if (c == '"') return std::nullopt;
    if (c != '\\') {
      text += c;
      continue;
    }
    const auto character = take_escape(rest);
    if (!character) return std::nullopt;
    text += *character;
  }
  return text;
}

}  // namespace ctkit::engine::containerd
