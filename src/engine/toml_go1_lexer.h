#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "engine/toml_dialect.h"
#include "engine/toml_scanner.h"

namespace ctkit::engine {

struct Go1Token {
  enum class Kind {
    error,  ///< the text stands for no token; nothing follows
    end,
    key,
    string,
    integer,
    floating,
    true_word,
    false_word,
    infinity,
    not_a_number,
    local_date,
    local_time,
    time_offset,
    zoned_date,    ///< 1.8 only: date, time and offset in one
    pattern_date,  ///< 1.8 only: a date, a time or both in one
    equals,
    comma,
    left_bracket,
    right_bracket,
    left_brace,
    right_brace,
    double_left_bracket,
    double_right_bracket,
    table_name,
    array_table_name,
  };

  Kind kind = Kind::end;
  /// As it stands in the text.
  std::string_view written = {};
  /// Keys, names and strings: what they mean. Errors: what is wrong.
  std::string text = {};
  Span span = {};
};

/// The tokens of a TOML text as pelletier/go-toml 1 cuts them (lexer.go). What a character means
/// depends on whether it stands where a key or where a value may begin, and on the bracket around
/// it, not on the line.
class Go1Lexer {
 public:
  /// Text and dialect must outlive it. A byte order mark of any kind is passed over.
  Go1Lexer(std::string_view text, const TomlDialect& dialect);

  /// Start in the middle, where a value begins.
  void move_to_value(std::size_t offset);

  const Go1Token& peek();
  Go1Token take();
  void drop();

 private:
  using Kind = Go1Token::Kind;
  enum class State { keys, values, done };

  State step();
  State keys();
  State values();
  State key();
  State header();
  State number();
  State date_or_number();
  State date();
  State string();
  State newline();
  State closing(char open, Kind kind);

  bool basic_string(std::string_view end, bool may_span_lines, std::string& out);
  bool literal_string(std::string_view end, std::string& out);
  bool escape(std::string& out);
  bool clock();
  bool two_digits(char end);
  bool fail(std::string_view message);
  State error(std::string_view message);
  void emit(Kind kind, std::size_t begin);
  void emit(Kind kind, Span span, std::string text);
  State emit_word(Kind kind, std::size_t length);

  [[nodiscard]] bool at_end() const { return at_ >= text_.size(); }
  [[nodiscard]] char here() const { return at_end() ? '\0' : text_[at_]; }
  [[nodiscard]] bool at(char c) const { return !at_end() && text_[at_] == c; }
  [[nodiscard]] bool at(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  [[nodiscard]] bool at_digit() const;
  void skip_blanks();
  void skip_first_newline();
  void skip_comment();

  std::string_view text_;
  const TomlDialect& dialect_;
  std::size_t at_ = 0;
  State state_ = State::keys;
  std::string brackets_ = {};
  std::vector<Go1Token> tokens_ = {};
  std::size_t taken_ = 0;
};

}  // namespace ctkit::engine
