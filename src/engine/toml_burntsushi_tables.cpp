#include "engine/toml_burntsushi_tables.h"

#include <utility>

#include "engine/key_path.h"
#include "engine/toml_draft.h"

namespace ctkit::engine {

namespace {

using Path = BurntSushiTables::Path;

std::string quoted(const Path& path) {
  return "'" + KeyPath{path}.to_string() + "'";
}

Path child(Path path, const std::string& part) {
  path.push_back(part);
  return path;
}

/// What keys can be put into: the table itself, the last of an array of tables; null for all else.
OpenValue* inside(OpenValue& value) {
  switch (value.kind) {
    case OpenValue::Kind::table:
      return &value;
    case OpenValue::Kind::tables:
      return &value.elements.back();
    case OpenValue::Kind::value:
      return nullptr;
  }
  return nullptr;
}

OpenValue open_table(const Origin& origin) {
  OpenValue table{.kind = OpenValue::Kind::table};
  table.value.origin = origin;
  return table;
}

OpenValue opened(Value value) {
  Table* const table = value.table();
  if (!table) return {.value = std::move(value)};
  OpenValue result = open_table(value.origin);
  for (auto& [key, member] : *table)
    result.members.emplace(key, opened(std::move(member)));
  return result;
}

Value closed(OpenValue&& open) {
  if (open.kind == OpenValue::Kind::value) return std::move(open.value);
  Value result{.origin = std::move(open.value.origin)};
  if (open.kind == OpenValue::Kind::tables) {
    Array array;
    for (OpenValue& element : open.elements)
      array.push_back(closed(std::move(element)));
    result.data = std::move(array);
    return result;
  }
  Table table;
  for (auto& [key, member] : open.members)
    table.emplace(key, closed(std::move(member)));
  result.data = std::move(table);
  return result;
}

}  // namespace

std::string BurntSushiTables::open(const Path& path, bool is_array, const Origin& origin) {
  std::string problem = enter(path, is_array, origin);
  if (problem.empty()) arrays_.erase(context_);
  return problem;
}

std::string BurntSushiTables::descend(const std::string& part, const Origin& origin) {
  const Path path = child(context_, part);
  implicit_.insert(path);
  return enter(path, false, origin);
}

std::string BurntSushiTables::set(const std::string& key, Value value, bool is_array) {
  std::string problem = put(key, opened(std::move(value)));
  if (problem.empty()) note(key, is_array);
  return problem;
}

std::string BurntSushiTables::open_inline(const std::string& key, bool in_array, const Origin& origin) {
  const Path path = child(context_, key);
  implicit_.insert(path);
  return enter(path, in_array, origin);
}

Table BurntSushiTables::finish() {
  Value root = closed(std::move(root_));
  return std::move(*root.table());
}

std::string BurntSushiTables::enter(const Path& path, bool is_array, const Origin& origin) {
  OpenValue* table = &root_;
  Path walked;
  for (const std::string& part : std::span(path).first(path.size() - 1)) {
    walked.push_back(part);
    const auto [entry, is_new] = table->members.try_emplace(part, open_table(origin));
    if (is_new) implicit_.insert(walked);
    table = inside(entry->second);
    if (!table) return quoted(walked) + " is no table";
  }
  context_ = std::move(walked);
  const std::string& last = path.back();
  if (is_array) {
    const auto [entry, is_new] = table->members.try_emplace(last);
    if (is_new) {
      entry->second.kind = OpenValue::Kind::tables;
      entry->second.value.origin = origin;
    }
    if (entry->second.kind != OpenValue::Kind::tables)
      return quoted(path) + " is there already and is no array of tables";
    entry->second.elements.push_back(open_table(origin));
  } else if (std::string problem = put(last, open_table(origin)); !problem.empty()) {
    return problem;
  }
  context_.push_back(last);
  return {};
}

std::string BurntSushiTables::put(const std::string& key, OpenValue value) {
  OpenValue* table = &root_;
  for (const std::string& part : context_) {
    const auto member = table->members.find(part);
    table = member == table->members.end() ? nullptr : inside(member->second);
    if (!table) return quoted(context_) + " is no table";
  }
  const Path path = child(context_, key);
  const auto [entry, is_new] = table->members.try_emplace(key);
  if (is_new) {
    entry->second = std::move(value);
    return {};
  }
  const bool was_implicit = implicit_.erase(path) > 0;
  if (arrays_.contains(path)) {
    entry->second = std::move(value);
    return {};
  }
  if (was_implicit) return {};
  return already_there("key", KeyPath{path}.to_string(), entry->second.value.origin);
}

/// An empty key notes its table.
void BurntSushiTables::note(const std::string& key, bool is_array) {
  Path path = context_;
  if (!key.empty() || path.empty()) path.push_back(key);
  if (is_array) {
    arrays_.insert(std::move(path));
  } else {
    arrays_.erase(path);
  }
}

}  // namespace ctkit::engine
