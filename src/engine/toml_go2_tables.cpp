#include "engine/toml_go2_tables.h"

#include <string_view>
#include <utility>

#include "engine/key_path.h"

namespace ctkit::engine {

namespace {

std::string name(Go2Tables::Key key) {
  return KeyPath{{key.begin(), key.end()}}.to_string();
}

std::string quoted(std::string_view key) {
  return "'" + std::string(key) + "'";
}

Draft& child(Draft& table, const std::string& key, const Origin& origin) {
  const auto [entry, is_new] = table.tables.try_emplace(key);
  if (is_new) entry->second.origin = origin;
  return entry->second;
}

}  // namespace

std::string Go2Tables::open_table(Key key, const Origin& origin) {
  ++header_number_;
  std::string problem;
  Draft* const parent = parent_of(key, origin, problem);
  if (!parent) return problem;
  Draft& table = child(*parent, key.back(), origin);
  if (table.is_array) return quoted(name(key)) + " is an array of tables";
  if (is_closed(table)) return already_there("table", name(key), table.origin);
  table.closed = true;
  current_ = &table;
  return {};
}

std::string Go2Tables::open_array_table(Key key, const Origin& origin) {
  ++header_number_;
  std::string problem;
  Draft* const parent = parent_of(key, origin, problem);
  if (!parent) return problem;
  const auto [entry, is_new] = parent->tables.try_emplace(key.back());
  Draft& array = entry->second;
  if (is_new) {
    array.origin = origin;
    make_array(array, origin);
  } else {
    if (!array.is_array) return quoted(name(key)) + " is no array of tables";
    add_element(array, origin);
  }
  current_ = &array;
  return {};
}

std::string Go2Tables::insert(Key key, const Origin& origin, Value value) {
  Draft* table = current_;
  for (const std::string& part : key.first(key.size() - 1)) {
    if (table->has_value(part)) return quoted(part) + " is no table";
    const auto [entry, is_new] = table->tables.try_emplace(part);
    table = &entry->second;
    if (is_new) {
      table->origin = origin;
      table->dotted_under = header_number_;
    }
    if (table->is_array) return quoted(part) + " is an array of tables";
    if (!is_extensible(*table)) return "a dotted key can't extend table " + quoted(part);
  }
  if (const Origin* const first = table->first_written(key.back())) {
    return already_there("key", name(key), *first);
  }
  table->values.emplace(key.back(), std::move(value));
  return {};
}

/// Where the last part of a header goes, which is no value there; null if something is in the way.
Draft* Go2Tables::parent_of(Key key, const Origin& origin, std::string& problem) {
  Draft* table = &root_;
  for (const std::string& part : key) {
    if (table->has_value(part)) {
      problem = quoted(part) + " is no table";
      return nullptr;
    }
    if (&part != &key.back()) table = &child(*table, part, origin);
  }
  return table;
}

bool Go2Tables::is_closed(const Draft& table) const {
  return table.closed || (table.dotted_under != 0 && table.dotted_under != header_number_);
}

bool Go2Tables::is_extensible(const Draft& table) const {
  return !is_closed(table) && (table.dotted_under != 0 || dialect_.dotted_keys_extend_implied);
}

}  // namespace ctkit::engine
