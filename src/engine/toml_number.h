#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include "engine/toml_dialect.h"

namespace ctkit::engine {

using TomlNumber = std::variant<std::int64_t, std::uint64_t, double>;

/// An integer without underscores and prefix, with or without sign; nothing if it is none or does
/// not fit.
std::optional<std::int64_t> parse_integer(std::string_view digits, int base);

/// A float without underscores; nothing if it is none or too large. What is too small is 0, as in
/// Go.
std::optional<double> parse_float(std::string_view text);

/// The problem of a number that is rightly spelled.
inline constexpr std::string_view kNumberTooLarge = "the number is too large";

/// A number as TOML 1.0 writes it, `inf` and `nan` included; nothing, and the `problem`, if it is
/// none.
std::optional<TomlNumber> parse_toml_1_0_number(std::string_view text, std::string_view& problem);

/// The message where something stands that can't be a value.
inline constexpr std::string_view kNoGo1Value = "expected a value";

/// How far a number of go-toml 1 reaches. If `problem` is not empty, it is none.
struct Go1NumberExtent {
  std::size_t length = 0;
  bool is_float = false;
  std::string_view problem = {};
};

/// At the front of a text that begins with a digit or a sign (lexNumber in lexer.go).
Go1NumberExtent measure_go1_number(std::string_view text);

/// What measure_go1_number delimited; nothing, and the `problem`, if the library refuses it.
std::optional<TomlNumber> parse_go1_number(std::string_view written,
                                           bool is_float,
                                           const TomlDialect& dialect,
                                           std::string_view& problem);

}  // namespace ctkit::engine
