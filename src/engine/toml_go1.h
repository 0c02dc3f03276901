#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/toml_dialect.h"
#include "engine/toml_go1_lexer.h"
#include "engine/toml_go1_tables.h"
#include "engine/toml_scanner.h"
#include "engine/toml_text.h"
#include "engine/value.h"

namespace ctkit::engine {

/// TOML as pelletier/go-toml 1 reads it (parser.go), statement by statement.
class Go1Parser {
 public:
  enum class Values { judged, passed };

  /// Text, places and dialect must outlive it. Values that are only passed may be numbers and dates
  /// that don't exist.
  Go1Parser(std::string_view text, const TextPlaces& places, const TomlDialect& dialect, Values values)
      : text_(text), places_(places), dialect_(dialect), values_(values), lexer_(text, dialect) {}

  /// The next statement; nothing at the end of the text.
  Result<std::optional<Statement>> next();

  /// The value of the statement that `next` gave.
  [[nodiscard]] Go1Value take_value() { return std::move(value_); }
  /// The header that `next` gave as the library remembers it.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// The elements of the array at `span`.
  Result<ArrayLayout> layout(Span span);

 private:
  using Kind = Go1Token::Kind;

  bool header(Statement& statement);
  bool key_value(Statement& statement);
  bool key(const Go1Token& token, std::vector<std::string>& parts);
  bool value(Go1Value& out, std::size_t depth);
  bool scalar(Go1Token& token, Value& out);
  bool number(const Go1Token& token, Value& out);
  bool date(const Go1Token& token, Value& out);
  bool array(Go1Value& out, const Go1Token& opening, ArrayLayout* layout, std::size_t depth);
  bool inline_table(Draft& out, const Go1Token& opening, std::size_t depth);

  bool too_deep(std::size_t offset);
  Go1Token take();
  bool expect(Kind kind, std::string_view message);
  bool refuse(const Go1Token& token, std::string_view message);

  std::string_view text_;
  const TextPlaces& places_;
  const TomlDialect& dialect_;
  Values values_;
  Go1Lexer lexer_;
  Go1Value value_ = {};
  std::string name_ = {};
  std::size_t table_depth_ = 0;
  std::size_t end_of_last_ = 0;
  Error error_ = {};
};

/// The document as go-toml 1 understands it.
Result<Table> read_go1(std::string_view text, std::string_view file, const TomlDialect& dialect);

}  // namespace ctkit::engine
