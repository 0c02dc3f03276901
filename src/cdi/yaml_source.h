#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ctkit::cdi {

/// The characters of a YAML text as go-yaml v2 reads them: decoded in pieces of 512 bytes, so that
/// a bad byte is an error only when the piece it is in is wanted. UTF-8, or UTF-16 with a byte
/// order mark. `text` must outlive this.
class YamlSource {
 public:
  explicit YamlSource(std::string_view text) : text_(text) {}

  /// The character that many places ahead; 0 at the end, and everywhere after an error.
  char32_t peek(std::size_t ahead = 0);

  /// One character on; a line break is `skip_line`'s.
  void skip();
  /// Over a line break (CR LF is one), if there is one here.
  void skip_line();

  [[nodiscard]] int line() const { return line_; }      ///< from 1
  [[nodiscard]] int column() const { return column_; }  ///< from 0
  [[nodiscard]] std::size_t index() const { return position_; }
  /// What is wrong with the bytes; empty if nothing so far.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  /// From here on there is nothing more to read.
  void stop() { stopped_ = true; }

 private:
  enum class Encoding { unknown, utf8, utf16_little, utf16_big };

  bool decode_piece();
  void find_encoding();
  /// One character; false at an incomplete one that the next piece may complete, and after an
  /// error.
  bool decode_one(std::size_t end);
  bool decode_utf8(std::size_t end, char32_t& value, std::size_t& width);
  bool decode_utf16(std::size_t end, char32_t& value, std::size_t& width);
  bool fail(const char* problem);

  std::string_view text_;
  std::size_t raw_ = 0;      // first byte that is not decoded
  std::size_t raw_end_ = 0;  // end of the bytes that were read
  Encoding encoding_ = Encoding::unknown;
  std::vector<char32_t> characters_ = {};
  std::size_t position_ = 0;
  int line_ = 1;
  int column_ = 0;
  bool stopped_ = false;
  std::string problem_ = {};
};

constexpr bool is_break(char32_t c) {
  return c == '\r' || c == '\n' || c == 0x85 || c == 0x2028 || c == 0x2029;
}
constexpr bool is_blank(char32_t c) {
  return c == ' ' || c == '\t';
}
constexpr bool is_blank_or_end(char32_t c) {
  return c == 0 || is_blank(c) || is_break(c);
}

/// Appends the character in UTF-8.
void append_utf8(std::string& text, char32_t c);

}  // namespace ctkit::cdi
