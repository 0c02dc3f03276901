#pragma once

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/origin.h"
#include "engine/value.h"

namespace ctkit::engine {

/// A value that BurntSushi/toml holds while it reads: tables and arrays of tables stay open,
/// written inline or not.
struct OpenValue {
  enum class Kind { value, table, tables };

  Kind kind = Kind::value;
  Value value = {};  ///< value: what it is; else only its origin counts
  std::map<std::string, OpenValue, std::less<>> members = {};
  std::vector<OpenValue> elements = {};  ///< tables: never empty
};

/// Puts keys and headers where they belong and says which the library refuses (parse.go:
/// addContext, setValue, setType):
/// 1. A path is implicit from when something below it is written until it is written itself.
/// Written again while it is
///    implicit, it is the same table; else it is refused.
/// 2. Paths are known by their names alone: what is implicit in one element of an array of tables
/// is so in the next.
/// 3. A dotted key names its tables anew: the second one under the same table makes them explicit.
/// 4. What was last given an array may be written again, and is then replaced.
/// 5. An inline table is a table like any other, closed by being written once.
class BurntSushiTables {
 public:
  using Path = std::vector<std::string>;

  // Each function says what is wrong, or nothing.

  /// `[a.b]` or `[[a.b]]`; what follows stands in it.
  std::string open(const Path& path, bool is_array, const Origin& origin);
  /// Where a part of a dotted key leads, below where we stand.
  std::string descend(const std::string& part, const Origin& origin);
  /// The value of a key where we stand.
  std::string set(const std::string& key, Value value, bool is_array);

  /// Begins an inline table at a key where we stand; in an array it is one more of its elements.
  std::string open_inline(const std::string& key, bool in_array, const Origin& origin);
  /// An array begins at the key where we stand.
  void note_array(const std::string& key) { note(key, true); }

  /// Where we stand. Going back to it is the caller's business.
  [[nodiscard]] const Path& context() const { return context_; }
  void go_back(Path context) { context_ = std::move(context); }

  Table finish();

 private:
  std::string enter(const Path& path, bool is_array, const Origin& origin);
  std::string put(const std::string& key, OpenValue value);
  void note(const std::string& key, bool is_array);

  OpenValue root_ = {.kind = OpenValue::Kind::table};
  Path context_ = {};
  std::set<Path> implicit_ = {};
  std::set<Path> arrays_ = {};
};

}  // namespace ctkit::engine
