#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "engine/origin.h"

namespace ctkit::engine {

struct Value;

using Array = std::vector<Value>;

/// Keys in byte order, as every containerd prints them; file order is in the origins.
using Table = std::map<std::string, Value, std::less<>>;

/// A date, a time or both, as TOML writes it: the daemons only copy these.
struct DateTime {
  std::string text = {};
  bool operator==(const DateTime&) const = default;
};

/// What a value can be. Copying and destroying are out of line: the tree's code is large, and used everywhere.
struct Data : std::variant<bool, std::int64_t, std::uint64_t, double, std::string, DateTime, Array, Table> {
  using variant::variant;
  Data(const Data& other);
  Data(Data&& other) noexcept;
  Data& operator=(const Data& other);
  Data& operator=(Data&& other) noexcept;
  ~Data();
};

/// A TOML value and where it was written. Equality looks at the data, not at the origin.
struct Value {
  using Data = engine::Data;

  Data data = false;
  Origin origin = {};

  [[nodiscard]] const Table* table() const { return std::get_if<Table>(&data); }
  [[nodiscard]] Table* table() { return std::get_if<Table>(&data); }
  [[nodiscard]] const Array* array() const { return std::get_if<Array>(&data); }
  [[nodiscard]] const std::string* string() const { return std::get_if<std::string>(&data); }
  [[nodiscard]] const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data); }
  [[nodiscard]] const bool* boolean() const { return std::get_if<bool>(&data); }
};

/// Same data; NaN equals NaN.
bool operator==(const Value& left, const Value& right);

/// The value under `key`, or null.
const Value* find(const Table& table, std::string_view key);
Value* find(Table& table, std::string_view key);

/// "string", "integer", "table", … as messages name it.
std::string_view type_name(const Value& value);

}  // namespace ctkit::engine
