#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "engine/toml_dialect.h"
#include "engine/toml_text.h"

namespace ctkit::engine {

/// Reads the smallest parts of a TOML 1.0 text: blanks, comments, strings, keys. Each function
/// begins where the cursor stands and leaves it behind what it took; where it returns false,
/// `error()` says what the library refuses.
class TomlCursor {
 public:
  /// Text, places and dialect must outlive it.
  TomlCursor(std::string_view text, const TextPlaces& places, const TomlDialect& dialect)
      : text_(text), places_(places), dialect_(dialect) {}

  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool at(std::string_view word) const { return rest().starts_with(word); }
  [[nodiscard]] std::string_view rest() const { return text_.substr(at_); }
  [[nodiscard]] std::size_t offset() const { return at_; }
  void move_to(std::size_t offset) { at_ = offset; }
  void skip(std::size_t count) { at_ += count; }
  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_]))
      ++at_;
  }

  bool newline();
  bool comment();
  /// Blanks, newlines and comments.
  bool skip_blank_lines();
  bool expect(char c, std::string_view message);
  /// A dotted key and the blanks behind it; `end` is where the key itself ends.
  bool key(std::vector<std::string>& parts, std::size_t& end);
  /// A string of any of the four kinds, at its quote; null to only pass it.
  bool string(std::string* out);

  bool refuse(std::size_t offset, std::string message, std::string hint = {});
  bool fail(Error error);
  [[nodiscard]] Error take_error() { return std::move(error_); }

 private:
  bool key_part(std::string& part);
  bool one_line_string(std::string* out);
  bool multi_line_string(std::string* out);
  bool escape(std::string* out);
  bool unicode_escape(std::string* out, std::size_t digits);
  bool line_continuation();
  void plain_characters(char quote, std::string* out);
  bool refuse_character();

  std::string_view text_;
  const TextPlaces& places_;
  const TomlDialect& dialect_;
  std::size_t at_ = 0;
  Error error_ = {};
};

}  // namespace ctkit::engine
