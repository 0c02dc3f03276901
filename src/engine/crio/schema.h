#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace ctkit::engine::crio {

/// What a Go type means to the daemon's TOML decoder.
enum class Kind : std::uint8_t {
  table,     ///< a struct: known keys only, merged key by key
  handlers,  ///< a map of structs: an entry that is named again starts from nothing; all else than
             ///< a table is ignored
  text_map,  ///< free keys, strings; all else than a table is ignored
  texts,     ///< a list of strings
  text,
  boolean,
  integer,
  unsigned_integer,
  duration,  ///< a Go duration as text, or nanoseconds
};

/// Releases as bits: bit n is recorded_releases()[n].
using Releases = std::uint16_t;

using Scalar = std::variant<std::monostate, bool, std::int64_t, std::string_view>;

/// A built-in value and the releases that have it.
struct BuiltIn {
  Releases releases = 0;
  Scalar value = {};  ///< empty: `texts` counts
  std::span<const std::string_view> texts = {};
};

/// One key that some release knows.
struct Key {
  std::string_view name = {};
  Kind kind = Kind::text;
  Releases releases = 0;
  bool always_there = false;  ///< in a handler: there even if no file says it, at its zero value
  std::span<const BuiltIn> built_in = {};
  std::span<const Key> keys = {};  ///< table: its members; handlers: those of an entry
};

/// A value of a built-in handler.
struct HandlerValue {
  std::string_view key = {};
  Scalar value = {};  ///< empty: `texts` counts
  std::span<const std::string_view> texts = {};
};

/// The handler that a release has without any file.
struct BuiltInHandler {
  Releases releases = 0;
  std::string_view name = {};
  std::span<const HandlerValue> values = {};
};

/// What was recorded, oldest first. Generated, as all below.
std::span<const std::string_view> recorded_releases();

/// The document: a table that holds `crio`.
const Key& document();

std::span<const BuiltInHandler> built_in_handlers();

}  // namespace ctkit::engine::crio
