#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace ctkit::engine::containerd {

/// What a Go type means to the daemon's TOML decoder.
enum class Kind : std::uint8_t {
  table,  ///< a struct: known keys only
  map,    ///< free keys, values of one type
  array,  ///< a slice
  any,    ///< interface{}: whatever the file says
  boolean,
  integer,
  floating,
  string,
  duration_text,  ///< a type that reads and prints Go durations as text (tomlext.Duration, scheduler.duration, …)
  duration_int,   ///< a plain time.Duration
};

/// A built-in value; empty: the type's zero value.
using BuiltIn = std::variant<std::monostate, bool, std::int64_t, double, std::string_view>;

/// One recorded Go type with its built-in value: a struct field, a map's element, a whole plugin section.
/// From what reflection printed for a release.
struct Type {
  std::string_view name = {};  ///< TOML key of a field or of a built-in map entry; empty for elements
  Kind kind = Kind::any;
  bool pointer = false;      ///< *T: may be nil, and then isn't printed
  bool nil_default = false;  ///< starts as nil
  bool omit_empty = false;   ///< isn't printed when empty
  bool embedded = false;     ///< a Go struct embedded under this name: 1.x also reads its keys from the table around it
  BuiltIn built_in = {};
  std::span<const Type> fields = {};               ///< table: in declaration order
  const Type* element = nullptr;                   ///< map, array
  std::span<const Type> entries = {};              ///< map: built-in entries, by name
  std::span<const Type> items = {};                ///< array: built-in elements that are tables
  std::span<const std::string_view> strings = {};  ///< array: built-in elements that are strings
};

struct PluginType {
  std::string_view id = {};
  const Type* type = nullptr;
};

/// Everything recorded about one release. Sorted by id where order has no meaning.
struct Schema {
  std::string_view release = {};
  const Type* top = nullptr;                 ///< the top-level config, its built-in values filled in
  std::span<const PluginType> plugins = {};  ///< those with a configuration, in the order the daemon decodes them
  std::span<const std::string_view> plugin_ids = {};  ///< all registered ones, sorted
  std::span<const std::string_view> migrations = {};  ///< plugins with a migration, in the order they run
};

/// All recorded releases, oldest first.
std::vector<std::string_view> recorded_releases();

/// What was recorded about one of them; lasts to the program's end.
const Schema& recorded_schema(std::string_view release);

}  // namespace ctkit::engine::containerd
