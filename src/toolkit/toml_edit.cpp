#include "toolkit/toml_edit.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "engine/find_key.h"
#include "engine/text_lines.h"
#include "engine/toml_reader.h"
#include "engine/toml_scanner.h"
#include "engine/toml_writer.h"

// Rules, one key at a time:
//  1. A key that has a line: its value is replaced, or its lines go.
//  2. A key within an inline table: the whole table's value is written anew.
//  3. A new key follows the last one of its table, indented and written like it (dotted keys under the same header).
//  4. In a table that has a header only, it follows the header.
//  5. Of a table that isn't there: a header and the key at the end of the text; a new key of the top level goes before
//     the first header.
namespace ctkit::toolkit {

using engine::Error;
using engine::KeyPath;
using engine::line_begin;
using engine::line_end;
using engine::newline_of;
using engine::Result;
using engine::Span;
using engine::Statement;
using engine::Table;
using engine::TomlDialect;
using engine::Value;

namespace {

/// A statement with the header it stands under.
struct Placed {
  Statement statement = {};
  KeyPath header = {};    ///< of a header: its own key
  KeyPath key = {};       ///< the whole one
  bool in_array = false;  ///< below [[…]]: not for us
};

std::vector<Placed> place(std::vector<Statement> statements) {
  std::vector<Placed> placed;
  KeyPath header;
  bool in_array = false;
  for (Statement& statement : statements) {
    KeyPath key{.parts = statement.key};
    if (statement.kind != Statement::Kind::key_value) {
      header = key;
      in_array = statement.kind == Statement::Kind::array_table;
    } else {
      KeyPath whole = header;
      whole.parts.insert(whole.parts.end(), key.parts.begin(), key.parts.end());
      key = std::move(whole);
    }
    placed.push_back(
        {.statement = std::move(statement), .header = header, .key = std::move(key), .in_array = in_array});
  }
  return placed;
}

KeyPath parent_of(const KeyPath& key) {
  KeyPath parent = key;
  parent.parts.pop_back();
  return parent;
}

std::string_view indentation_at(std::string_view text, std::size_t at) {
  const std::size_t begin = line_begin(text, at);
  const std::string_view line = text.substr(begin, at - begin);
  return line.substr(0, std::min(line.find_first_not_of(" \t"), line.size()));
}

void insert_line(std::string& text, std::size_t at, const std::string& line) {
  const std::string newline(newline_of(text));
  if (at > 0 && text[at - 1] != '\n') {
    text.insert(at, newline);
    at += newline.size();
  }
  text.insert(at, line + newline);
}

bool is_value(const Placed& placed) {
  return placed.statement.kind == Statement::Kind::key_value && !placed.in_array;
}

void add_key(std::string& text, const std::vector<Placed>& placed, const KeyPath& key, const Value& value) {
  const KeyPath parent = parent_of(key);
  const std::string assignment = " = " + engine::render_value(value);
  const Placed* sibling = nullptr;
  const Placed* header = nullptr;
  for (const Placed& one : placed) {
    if (is_value(one) && parent_of(one.key) == parent) sibling = &one;
    if (one.statement.kind == Statement::Kind::table && one.key == parent) header = &one;
  }
  if (sibling) {
    const KeyPath relative{
        .parts = {key.parts.begin() + static_cast<std::ptrdiff_t>(sibling->header.parts.size()), key.parts.end()}};
    const std::string line(indentation_at(text, sibling->statement.key_span.begin));
    insert_line(text, line_end(text, sibling->statement.value.end), line + relative.to_string() + assignment);
    return;
  }
  const std::string name = engine::quote_key(key.parts.back());
  if (header) {
    const std::string line(indentation_at(text, line_begin(text, header->statement.key_span.begin)));
    insert_line(text, line_end(text, header->statement.key_span.end), line + name + assignment);
    return;
  }
  if (parent.parts.empty()) {
    const auto first = std::ranges::find_if(
        placed, [](const Placed& one) { return one.statement.kind != Statement::Kind::key_value; });
    const std::size_t at = first == placed.end() ? text.size() : line_begin(text, first->statement.key_span.begin);
    insert_line(text, at, name + assignment);
    return;
  }
  if (!text.empty()) insert_line(text, text.size(), "");
  insert_line(text, text.size(), "[" + parent.to_string() + "]");
  insert_line(text, text.size(), name + assignment);
}

/// Sets or removes the value at the path, which has at least one part, below the table.
void change_in(Table& table, std::span<const std::string> path, const std::optional<Value>& value) {
  if (path.size() == 1) {
    table.erase(path.front());
    if (value) table.emplace(path.front(), *value);
    return;
  }
  Value& below = table.try_emplace(path.front(), Value{.data = Table{}}).first->second;
  if (!below.table()) below.data = Table{};
  change_in(*below.table(), path.subspan(1), value);
}

void collect(const Table& table, const KeyPath& prefix, Leaves& leaves) {
  for (const auto& [name, value] : table) {
    if (value.table()) {
      collect(*value.table(), prefix.child(name), leaves);
    } else {
      leaves.emplace(prefix.child(name), value);
    }
  }
}

Result<std::string> edit_one(std::string text,
                             std::string_view file,
                             const KeyChange& change,
                             const TomlDialect& dialect) {
  auto statements = engine::scan_statements(text, file, dialect);
  if (!statements) return std::unexpected(statements.error());
  const std::vector<Placed> placed = place(*std::move(statements));
  const auto holder =
      std::ranges::find_if(placed, [&](const Placed& one) { return is_value(one) && change.key.starts_with(one.key); });
  if (holder == placed.end()) {
    if (change.value) add_key(text, placed, change.key, *change.value);
    return text;
  }
  const Span value = holder->statement.value;
  if (holder->key == change.key) {
    if (change.value) return text.replace(value.begin, value.end - value.begin, render_value(*change.value));
    const std::size_t begin = line_begin(text, holder->statement.key_span.begin);
    return text.erase(begin, line_end(text, value.end) - begin);
  }
  auto table = engine::read_toml(text, file, dialect);
  if (!table) return std::unexpected(table.error());
  set_key(*table, change);
  const Value* whole = engine::find_key(*table, holder->key.parts);
  if (whole) text.replace(value.begin, value.end - value.begin, render_value(*whole));
  return text;
}

}  // namespace

Leaves leaves_of(const Table& table) {
  Leaves leaves;
  collect(table, {}, leaves);
  return leaves;
}

void set_key(Table& table, const KeyChange& change) {
  change_in(table, change.key.parts, change.value);
}

Result<std::string> edit_toml(std::string_view text,
                              std::string_view file,
                              std::span<const KeyChange> changes,
                              const TomlDialect& dialect) {
  auto expected = engine::read_toml(text, file, dialect);
  if (!expected) return std::unexpected(expected.error());
  std::string edited(text);
  for (const KeyChange& change : changes) {
    set_key(*expected, change);
    auto next = edit_one(std::move(edited), file, change, dialect);
    if (!next) return next;
    edited = *std::move(next);
  }
  const auto result = engine::read_toml(edited, file, dialect);
  if (!result) return std::unexpected(result.error());
  if (leaves_of(*result) != leaves_of(*expected)) {
    return std::unexpected(Error{.message = "keys of this file can't be edited in place, by the way it is written",
                                 .where = std::string(file)});
  }
  return edited;
}

}  // namespace ctkit::toolkit
