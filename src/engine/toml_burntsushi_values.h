#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "engine/toml_dialect.h"
#include "engine/toml_number.h"

namespace ctkit::engine {

// What BurntSushi/toml makes of values once it has cut them out of the text (parse.go).

/// A number, date or word at the front of a text, as the lexer cuts it; a length of 0 if none
/// begins there.
struct BurntSushiExtent {
  enum class Kind { integer, floating, date };

  Kind kind = Kind::integer;
  std::size_t length = 0;
  std::string_view problem = {};  ///< not empty: refused where it is cut
};
BurntSushiExtent measure_burntsushi_number(std::string_view text);

/// What was cut; nothing, and the `problem`, if it is refused.
std::optional<TomlNumber> parse_burntsushi_integer(std::string_view written, std::string_view& problem);
std::optional<TomlNumber> parse_burntsushi_float(std::string_view written, std::string_view& problem);

/// Whether a date or time is one (Go's time.Parse with the library's layouts).
bool is_burntsushi_date(std::string_view written, const TomlDialect& dialect);

/// The text between `"""`, its first newline taken away and its escaped newlines joined.
std::string join_escaped_lines(std::string_view text, const TomlDialect& dialect);

/// The text with its escapes replaced; nothing, and the `problem`, if one is refused.
std::optional<std::string> replace_escapes(std::string_view text,
                                           const TomlDialect& dialect,
                                           std::string_view& problem);

/// Without the newline at its front.
std::string_view without_first_newline(std::string_view text);

}  // namespace ctkit::engine
