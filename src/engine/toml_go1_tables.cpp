#include "engine/toml_go1_tables.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "engine/key_path.h"
#include "engine/toml_text.h"

namespace ctkit::engine {

namespace {

std::string quoted(std::string_view key) {
  return "'" + std::string(key) + "'";
}

/// Where a path leads; neither a table nor a value if it ends early.
struct Place {
  Draft* table = nullptr;
  bool is_value = false;
};

Place find_path(Draft& start, Go1Key key) {
  Draft* table = &start;
  for (const std::string& part : key) {
    Draft* const next = table->find(part);
    if (!next) return {.is_value = &part == &key.back() && table->has_value(part)};
    table = next;
  }
  return {.table = table};
}

Draft& child(Draft& table, const std::string& key, const Origin& origin, bool closed) {
  const auto [entry, is_new] = table.tables.try_emplace(key);
  if (is_new) {
    entry->second.closed = closed;
    entry->second.origin = origin;
  }
  return entry->second;
}

/// Makes the tables of a path that are missing; those in an inline table count as inline. Null if a
/// value is in the way.
Draft* make_path(Draft& start, Go1Key key, const Origin& origin) {
  Draft* table = &start;
  for (const std::string& part : key) {
    if (table->has_value(part)) return nullptr;
    table = &child(*table, part, origin, table->closed);
  }
  return table;
}

/// Under a key that is not there yet.
void put(Draft& table, const std::string& key, Go1Value value) {
  if (value.table) {
    table.tables.emplace(key, std::move(*value.table));
  } else {
    table.values.emplace(key, std::move(value.value));
  }
}

}  // namespace

std::optional<std::vector<std::string>> split_go1_key(std::string_view spelled, std::string_view& problem) {
  std::vector<std::string> parts;
  parts.reserve(static_cast<std::size_t>(std::ranges::count(spelled, '.')) + 1);
  const auto fail = [&problem](std::string_view message) {
    problem = message;
    return std::nullopt;
  };
  const std::size_t size = spelled.size();
  for (std::size_t at = 0;;) {
    while (at < size && is_blank(spelled[at]))
      ++at;
    if (at == size) break;
    const char c = spelled[at];
    if (is_bare_key_character(c)) {
      const std::size_t begin = at;
      while (at < size && is_bare_key_character(spelled[at]))
        ++at;
      parts.emplace_back(spelled.substr(begin, at - begin));
      while (at < size && is_blank(spelled[at]))
        ++at;
      if (at < size && spelled[at] != '.') return fail("a key can't contain this character");
    } else if (c == '"' || c == '\'') {
      const std::size_t end = spelled.find(c, at + 1);
      if (end == std::string_view::npos) return fail("a quoted key has no end");
      parts.emplace_back(spelled.substr(at + 1, end - at - 1));
      at = end + 1;
    } else if (c == '.') {
      ++at;
      if (at == size) return fail("expected a key after the dot");
      const char next = spelled[at];
      if (!is_bare_key_character(next) && next != '\'' && next != '"' && next != ' ') {
        return fail("expected a key after the dot");
      }
    } else {
      return fail("a key can't contain this character");
    }
  }
  if (parts.empty()) return fail("expected a key");
  return parts;
}

void set_go1_path(Draft& table, Go1Key key, const Origin& origin, Go1Value value) {
  Draft* place = &table;
  for (const std::string& part : key.first(key.size() - 1)) {
    if (!place->has_value(part)) place = &child(*place, part, origin, false);
  }
  place->values.erase(key.back());
  place->tables.erase(key.back());
  put(*place, key.back(), std::move(value));
}

std::string Go1Tables::open_table(const std::string& spelled, std::vector<std::string> key, const Origin& origin) {
  if (!spelled_.insert(spelled).second) {
    const Place first = find_path(root_, key);
    return already_there("table", spelled, first.table ? first.table->origin : origin);
  }
  current_ = make_path(root_, key, origin);
  if (!current_) return "a part of " + quoted(spelled) + " is no table";
  if (current_->closed && !current_->is_array) {
    return already_there("inline table", spelled, current_->origin);
  }
  current_key_ = std::move(key);
  return {};
}

std::string Go1Tables::open_array_table(const std::string& spelled,
                                        std::vector<std::string> key,
                                        const Origin& origin) {
  make_path(root_, Go1Key(key).first(key.size() - 1), origin);
  const Place place = find_path(root_, key);
  if (place.is_value || (place.table && !place.table->is_array)) {
    return quoted(spelled) + " is no array of tables";
  }
  if (place.table) {
    add_element(*place.table, origin);
    place.table->closed = false;
  } else {
    auto array = std::make_unique<Draft>();
    array->origin = origin;
    make_array(*array, origin);
    set_go1_path(root_, key, origin, {.table = std::move(array)});
  }
  forget_below(spelled);
  spelled_.insert(spelled);
  current_ = find_path(root_, key).table;
  current_key_ = std::move(key);
  return {};
}

std::string Go1Tables::insert(std::vector<std::string> key, const Origin& origin, Go1Value value) {
  const Go1Key prefix = Go1Key(key).first(key.size() - 1);
  Place place = current_ ? find_path(*current_, prefix) : Place{};
  if (place.is_value) return quoted(prefix.back()) + " is no table";
  if (!place.table) {
    std::vector<std::string> path = current_key_;
    path.insert(path.end(), prefix.begin(), prefix.end());
    place.table = make_path(root_, path, origin);
    if (!place.table) return "a part of " + quoted(key.front()) + " is no table";
  }
  if (place.table->closed) return "an inline table can't be extended";
  if (const Origin* const first = place.table->first_written(key.back())) {
    return already_there("key", KeyPath{std::move(key)}.to_string(), *first);
  }
  put(*place.table, key.back(), std::move(value));
  return {};
}

void Go1Tables::forget_below(std::string_view spelled) {
  const std::string prefix = std::string(spelled) + '.';
  const auto first = spelled_.lower_bound(prefix);
  auto last = first;
  while (last != spelled_.end() && last->starts_with(prefix))
    ++last;
  spelled_.erase(first, last);
}

}  // namespace ctkit::engine
