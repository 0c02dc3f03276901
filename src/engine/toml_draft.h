#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "engine/origin.h"
#include "engine/value.h"

namespace ctkit::engine {

/// A table that later statements may add to, or an array of such tables: then its entries are those
/// of the last one.
struct Draft {
  bool is_array = false;
  /// go-toml 1: it was written inline. go-toml 2: it had its own header.
  bool closed = false;
  /// go-toml 2: number of the header under which a dotted key made it, or 0.
  std::uint32_t dotted_under = 0;
  Origin origin = {};
  Table values = {};
  std::map<std::string, Draft, std::less<>> tables = {};
  /// Arrays: where the last table begins, and the tables before it.
  Origin last_origin = {};
  Array earlier = {};

  /// The open table under `key`, or null.
  Draft* find(std::string_view key);
  /// Whether `key` has a value that is no open table.
  [[nodiscard]] bool has_value(std::string_view key) const { return values.contains(key); }
  /// Where `key`, of either sort, was first written; null if it is not there.
  [[nodiscard]] const Origin* first_written(std::string_view key) const;
};

/// `key 'a.b' is there already, in line 3`
std::string already_there(std::string_view what, std::string_view key, const Origin& first);

/// Makes an array of tables of one table.
void make_array(Draft& table, const Origin& origin);
/// Finishes the last table of an array and begins the next.
void add_element(Draft& array, const Origin& origin);

/// What nothing can be added to any more: a table, or an array of tables.
Value finish(Draft&& draft);
Table finish_table(Draft&& draft);

}  // namespace ctkit::engine
