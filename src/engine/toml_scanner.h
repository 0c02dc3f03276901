#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/toml_dialect.h"

namespace ctkit::engine {

/// A stretch of bytes of the text: [begin, end).
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool operator==(const Span&) const = default;
};

/// One statement of a TOML text: a table header or a key with its value. Comments and blank lines
/// stand between.
struct Statement {
  enum class Kind { table, array_table, key_value };

  Kind kind = Kind::key_value;
  std::vector<std::string> key = {};  ///< unquoted parts
  Span key_span = {};                 ///< the key as written, without brackets of a header
  Span value = {};                    ///< key_value only: the value as written, no space or comment around it
  std::uint32_t line = 0;             ///< of the key, from 1
  std::uint32_t column = 0;
};

/// The statements in file order. Fails at `file:line:column` where a statement's borders cannot be
/// found or the dialect refuses a key. Values are not judged here.
Result<std::vector<Statement>> scan_statements(std::string_view text,
                                               std::string_view file,
                                               const TomlDialect& dialect);

/// The parts of an array value: the elements' spans, and where a comma follows them.
struct ArrayLayout {
  std::vector<Span> elements = {};
  bool trailing_comma = false;
  std::size_t closing_bracket = 0;
};

/// `value` must be the span of an array, as scan_statements gives it; empty if the value is no
/// array.
Result<ArrayLayout> scan_array(std::string_view text, Span value, const TomlDialect& dialect);

}  // namespace ctkit::engine
