#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/result.h"
#include "engine/toml_cursor.h"
#include "engine/toml_dialect.h"
#include "engine/toml_reader.h"
#include "engine/toml_scanner.h"
#include "engine/toml_text.h"
#include "engine/value.h"

namespace ctkit::engine {

/// TOML 1.0 as pelletier/go-toml 2 reads it (unstable/parser.go): statement by statement, then
/// value by value.
class Go2Parser {
 public:
  /// Text, places and dialect must outlive it.
  Go2Parser(std::string_view text, const TextPlaces& places, const TomlDialect& dialect)
      : text_(text), places_(places), dialect_(dialect), cursor_(text, places, dialect) {}

  /// The next statement, its value only delimited; nothing at the end of the text.
  Result<std::optional<Statement>> next();

  /// Unplaced: the daemon has no place for it, and the library does not convert it.
  enum class Values { placed, unplaced };

  /// The value at `span`, which `next` gave; `depth` is that of the table it goes into.
  Result<Value> read(Span span, std::size_t depth, Values values);

  /// The elements of the array at `span`.
  Result<ArrayLayout> layout(Span span);

 private:
  bool statement(Statement& statement);
  bool value(Value* out, std::size_t depth);
  bool array(Array* out, ArrayLayout* layout, std::size_t depth);
  bool inline_table(Table* out, std::size_t depth);
  bool skip_within_table();
  bool too_deep(std::size_t offset);
  bool scalar(Value* out);
  bool convert(std::string_view atom, std::size_t begin, Value& out);
  bool unconverted(std::string_view atom, std::size_t begin, std::string_view problem, Value& out);

  std::string_view text_;
  const TextPlaces& places_;
  const TomlDialect& dialect_;
  TomlCursor cursor_;
  bool within_line_ = false;
  Values values_ = Values::placed;
};

/// The document as go-toml 2 understands it (internal/tracker/seen.go says which keys it takes).
Result<Table> read_go2(std::string_view text,
                       std::string_view file,
                       const TomlDialect& dialect,
                       const HasPlace& has_place);

}  // namespace ctkit::engine
