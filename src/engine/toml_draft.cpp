#include "engine/toml_draft.h"

#include <utility>

namespace ctkit::engine {

Draft* Draft::find(std::string_view key) {
  const auto it = tables.find(key);
  return it == tables.end() ? nullptr : &it->second;
}

const Origin* Draft::first_written(std::string_view key) const {
  if (const Value* const value = engine::find(values, key)) return &value->origin;
  const auto table = tables.find(key);
  return table == tables.end() ? nullptr : &table->second.origin;
}

std::string already_there(std::string_view what, std::string_view key, const Origin& first) {
  return std::string(what) + " '" + std::string(key) + "' is there already, in line " + std::to_string(first.line);
}

void make_array(Draft& table, const Origin& origin) {
  table.is_array = true;
  table.last_origin = std::exchange(table.origin, origin);
}

void add_element(Draft& array, const Origin& origin) {
  Draft last;
  last.values.swap(array.values);
  last.tables.swap(array.tables);
  last.origin = std::exchange(array.last_origin, origin);
  array.earlier.push_back(finish(std::move(last)));
}

Value finish(Draft&& draft) {
  Value value;
  value.origin = std::move(draft.origin);
  if (draft.is_array) {
    add_element(draft, {});
    value.data = std::move(draft.earlier);
  } else {
    value.data = finish_table(std::move(draft));
  }
  return value;
}

Table finish_table(Draft&& draft) {
  while (!draft.tables.empty()) {
    auto entry = draft.tables.extract(draft.tables.begin());
    draft.values.emplace(std::move(entry.key()), finish(std::move(entry.mapped())));
  }
  return std::move(draft.values);
}

}  // namespace ctkit::engine
