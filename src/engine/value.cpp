#include "engine/value.h"

#include <array>
#include <cmath>

namespace ctkit::engine {

Data::Data(const Data& other) = default;
Data::Data(Data&& other) noexcept = default;
Data& Data::operator=(const Data& other) = default;
Data& Data::operator=(Data&& other) noexcept = default;
Data::~Data() = default;

namespace {

bool same(double left, double right) {
  return left == right || (std::isnan(left) && std::isnan(right));
}

}  // namespace

bool operator==(const Value& left, const Value& right) {
  const double* left_float = std::get_if<double>(&left.data);
  const double* right_float = std::get_if<double>(&right.data);
  if (left_float && right_float) return same(*left_float, *right_float);
  return left.data == right.data;
}

const Value* find(const Table& table, std::string_view key) {
  const auto it = table.find(key);
  return it == table.end() ? nullptr : &it->second;
}

Value* find(Table& table, std::string_view key) {
  const auto it = table.find(key);
  return it == table.end() ? nullptr : &it->second;
}

std::string_view type_name(const Value& value) {
  constexpr std::array<std::string_view, std::variant_size_v<Data::variant>> kNames = {
      "boolean", "integer", "integer", "float", "string", "date-time", "array", "table"};
  return kNames[value.data.index()];
}

}  // namespace ctkit::engine
