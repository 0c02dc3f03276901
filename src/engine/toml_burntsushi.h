#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/toml_burntsushi_tables.h"
#include "engine/toml_burntsushi_values.h"
#include "engine/toml_dialect.h"
#include "engine/toml_scanner.h"
#include "engine/toml_text.h"
#include "engine/value.h"

namespace ctkit::engine {

/// TOML as BurntSushi/toml reads it (lex.go, parse.go), statement by statement.
class BurntSushiParser {
 public:
  /// Text, places and dialect must outlive it. With `tables` each statement also goes into them,
  /// and values are judged.
  BurntSushiParser(std::string_view text,
                   const TextPlaces& places,
                   const TomlDialect& dialect,
                   BurntSushiTables* tables);

  /// The next statement; nothing at the end of the text.
  Result<std::optional<Statement>> next();

  /// The elements of the array at `span`.
  Result<ArrayLayout> layout(Span span);

 private:
  bool begin();
  bool statement(Statement& statement);
  bool header(Statement& statement);
  bool key_value(Statement& statement);
  bool end_of_statement();
  bool key(std::vector<std::string>& parts, Span& span);
  bool key_part(std::string& part);

  bool value(Value& out, const std::string& key, bool in_array, std::size_t depth);
  bool array(Value& out, const std::string& key, ArrayLayout* layout, std::size_t depth);
  bool inline_table(Value& out, const std::string& key, bool in_array, std::size_t depth);
  bool entry(Table& out, std::size_t depth);
  bool put_entry(const std::vector<std::string>& parts, const Origin& origin, Table& out, std::size_t depth);
  bool after_entry(bool& more);
  bool string(Value& out);
  bool one_line_string(std::string& out);
  bool multi_line_string(std::string& out);
  bool number(Value& out);
  bool word(Value& out);

  void skip_blanks();
  void skip_blank_lines();
  void skip_comment();
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }
  [[nodiscard]] bool at(char c) const { return at_ < text_.size() && text_[at_] == c; }
  [[nodiscard]] bool at(std::string_view word) const { return text_.substr(at_).starts_with(word); }
  [[nodiscard]] bool at_newline() const { return at('\n') || at('\r'); }
  [[nodiscard]] bool judging() const { return tables_ != nullptr; }

  bool too_deep(std::size_t offset);
  bool refuse(std::size_t offset, std::string message, std::string hint = {});
  /// Whether the tables found nothing wrong.
  bool accept(std::string problem, std::size_t offset);

  std::string_view text_;  ///< up to the first character that no text may have
  const TextPlaces& places_;
  const TomlDialect& dialect_;
  BurntSushiTables* tables_;
  std::size_t at_ = 0;
  std::string bad_character_ = {};  ///< what is wrong with the character behind `text_`; empty: the whole text is good
  bool begun_ = false;
  bool within_line_ = false;
  std::size_t header_depth_ = 0;
  Error error_ = {};
};

/// The document as BurntSushi/toml understands it.
Result<Table> read_burntsushi(std::string_view text, std::string_view file, const TomlDialect& dialect);

}  // namespace ctkit::engine
