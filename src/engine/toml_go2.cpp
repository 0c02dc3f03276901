#include "engine/toml_go2.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/toml_date.h"
#include "engine/toml_go2_tables.h"
#include "engine/toml_number.h"
#include "engine/toml_reader.h"

namespace ctkit::engine {

namespace {

constexpr std::size_t kDepthLimit = kDeepest;

/// How far a date or time reaches: everything that may be part of one, right or not. A blank is if a digit follows.
std::size_t date_length(std::string_view text, bool second_digit_unseen) {
  bool blank_seen = false;
  std::size_t length = 0;
  for (; length < text.size(); ++length) {
    const char c = text[length];
    if (is_digit(c) || std::string_view("-+.:TtZz").contains(c)) continue;
    if (c != ' ' || length + 1 == text.size() || !is_digit(text[length + 1])) break;
    if (!second_digit_unseen) continue;
    if (std::exchange(blank_seen, true)) break;
    length = std::min(length + 2, text.size() - 1);
  }
  return length;
}

/// How far a number or word reaches.
std::size_t atom_length(std::string_view text) {
  std::size_t length = 0;
  for (; length < text.size(); ++length) {
    const char c = text[length];
    if (!is_bare_key_character(c) && c != '+' && c != '.' && c != ':') break;
  }
  return length;
}

std::string quoted(std::string_view key) {
  return "'" + std::string(key) + "'";
}

}  // namespace

Result<std::optional<Statement>> Go2Parser::next() {
  if (!within_line_ && cursor_.at("\xef\xbb\xbf")) {
    cursor_.refuse(0, "a byte order mark", "save the file as UTF-8 without one");
    return std::unexpected(cursor_.take_error());
  }
  for (;;) {
    if (within_line_ && !cursor_.at_end() && !cursor_.newline()) break;
    within_line_ = true;
    cursor_.skip_blanks();
    if (cursor_.at_end()) return std::nullopt;
    if (cursor_.at('#')) {
      if (!cursor_.comment()) break;
    } else if (!cursor_.at('\n') && !cursor_.at('\r')) {
      Statement found;
      if (!statement(found)) break;
      cursor_.skip_blanks();
      if (cursor_.at('#') && !cursor_.comment()) break;
      return found;
    }
  }
  return std::unexpected(cursor_.take_error());
}

bool Go2Parser::statement(Statement& statement) {
  if (cursor_.at('[')) {
    const bool is_array = cursor_.at("[[");
    statement.kind = is_array ? Statement::Kind::array_table : Statement::Kind::table;
    cursor_.skip(is_array ? 2 : 1);
    cursor_.skip_blanks();
  }
  statement.key_span.begin = cursor_.offset();
  if (!cursor_.key(statement.key, statement.key_span.end)) return false;
  if (statement.key.size() > kDepthLimit) return too_deep(statement.key_span.begin);
  const auto place = places_.position(statement.key_span.begin);
  statement.line = place.line;
  statement.column = place.column;
  switch (statement.kind) {
    case Statement::Kind::array_table:
      return cursor_.expect(']', "expected ']]'") && cursor_.expect(']', "expected ']]'");
    case Statement::Kind::table:
      return cursor_.expect(']', "expected ']'");
    case Statement::Kind::key_value:
      break;
  }
  if (!cursor_.expect('=', "expected '=' after the key")) return false;
  cursor_.skip_blanks();
  statement.value.begin = cursor_.offset();
  if (!value(nullptr, statement.key.size())) return false;
  statement.value.end = cursor_.offset();
  return true;
}

Result<Value> Go2Parser::read(Span span, std::size_t depth, Values values) {
  values_ = values;
  const std::size_t resume = cursor_.offset();
  cursor_.move_to(span.begin);
  Value out;
  if (!value(&out, depth)) return std::unexpected(cursor_.take_error());
  cursor_.move_to(resume);
  return out;
}

Result<ArrayLayout> Go2Parser::layout(Span span) {
  cursor_.move_to(span.begin);
  ArrayLayout layout;
  if (!cursor_.at('[')) return layout;
  if (!array(nullptr, &layout, 0)) return std::unexpected(cursor_.take_error());
  return layout;
}

bool Go2Parser::too_deep(std::size_t offset) {
  return cursor_.fail(places_.failure(ErrorCode::failed, offset, "nested deeper than " + std::to_string(kDeepest)));
}

bool Go2Parser::value(Value* out, std::size_t depth) {
  const std::size_t begin = cursor_.offset();
  if (depth > kDepthLimit) return too_deep(begin);
  if (out) out->origin = places_.origin(begin);
  if (cursor_.at('"') || cursor_.at('\'')) {
    return cursor_.string(out ? &out->data.emplace<std::string>() : nullptr);
  }
  if (cursor_.at('[')) return array(out ? &out->data.emplace<Array>() : nullptr, nullptr, depth + 1);
  if (cursor_.at('{')) return inline_table(out ? &out->data.emplace<Table>() : nullptr, depth + 1);
  return scalar(out);
}

bool Go2Parser::array(Array* out, ArrayLayout* layout, std::size_t depth) {
  const std::size_t begin = cursor_.offset();
  cursor_.skip(1);
  for (bool after_value = false;;) {
    if (!cursor_.skip_blank_lines()) return false;
    if (cursor_.at_end()) return cursor_.refuse(begin, "the array has no end");
    const std::size_t here = cursor_.offset();
    if (cursor_.at(']')) {
      if (layout) {
        layout->closing_bracket = here;
        layout->trailing_comma = !after_value && !layout->elements.empty();
      }
      cursor_.skip(1);
      return true;
    }
    if (cursor_.at(',')) {
      if (!after_value) return cursor_.refuse(here, "expected a value");
      cursor_.skip(1);
    } else {
      if (after_value) return cursor_.refuse(here, "expected ',' or ']'");
      if (!value(out ? &out->emplace_back() : nullptr, depth)) return false;
      if (layout) layout->elements.push_back({.begin = here, .end = cursor_.offset()});
    }
    after_value = !after_value;
  }
}

bool Go2Parser::skip_within_table() {
  if (dialect_.inline_tables_span_lines) return cursor_.skip_blank_lines();
  cursor_.skip_blanks();
  return true;
}

bool Go2Parser::inline_table(Table* out, std::size_t depth) {
  const std::size_t begin = cursor_.offset();
  Go2Tables tables(dialect_);
  cursor_.skip(1);
  for (bool after_value = false, after_comma = false;;) {
    if (!skip_within_table()) return false;
    if (cursor_.at_end()) return cursor_.refuse(begin, "the inline table has no end");
    const std::size_t here = cursor_.offset();
    if (cursor_.at('}')) {
      if (after_comma && !dialect_.inline_tables_span_lines) return cursor_.refuse(here, "expected a key");
      cursor_.skip(1);
      if (out) *out = tables.finish();
      return true;
    }
    if (cursor_.at(',')) {
      if (!after_value) return cursor_.refuse(here, "expected a key");
      cursor_.skip(1);
      after_value = false;
      after_comma = true;
      continue;
    }
    if (after_value) return cursor_.refuse(here, "expected ',' or '}'");
    std::vector<std::string> key;
    std::size_t key_end = 0;
    if (!cursor_.key(key, key_end)) return false;
    if (!cursor_.expect('=', "expected '=' after the key")) return false;
    cursor_.skip_blanks();
    Value entry;
    if (!value(out ? &entry : nullptr, depth + key.size())) return false;
    if (out) {
      std::string problem = tables.insert(key, places_.origin(here), std::move(entry));
      if (!problem.empty()) return cursor_.refuse(here, std::move(problem));
    }
    after_value = true;
    after_comma = false;
  }
}

bool Go2Parser::scalar(Value* out) {
  const std::size_t begin = cursor_.offset();
  const std::string_view rest = cursor_.rest();
  const std::string_view atom =
      rest.substr(0, begins_like_date(rest) ? date_length(rest, dialect_.second_digit_unseen) : atom_length(rest));
  if (atom.empty()) return cursor_.refuse(begin, "expected a value");
  cursor_.skip(atom.size());
  return !out || convert(atom, begin, *out);
}

bool Go2Parser::convert(std::string_view atom, std::size_t begin, Value& out) {
  if (atom == "true" || atom == "false") {
    out.data = atom == "true";
    return true;
  }
  if (begins_like_date(atom)) {
    auto date = parse_toml_1_0_date(
        atom, {.seconds_optional = dialect_.seconds_optional, .leap_seconds = dialect_.leap_seconds});
    if (!date) return unconverted(atom, begin, "no date or time", out);
    out.data = DateTime{std::move(*date)};
    return true;
  }
  std::string_view problem;
  const auto number = parse_toml_1_0_number(atom, problem);
  if (number) {
    std::visit([&out](auto parsed) { out.data = parsed; }, *number);
    return true;
  }
  if (problem == kNumberTooLarge) return unconverted(atom, begin, problem, out);
  return cursor_.refuse(begin, quoted(atom) + ": " + std::string(problem), "a string needs quotes");
}

/// What is rightly delimited but means nothing.
bool Go2Parser::unconverted(std::string_view atom, std::size_t begin, std::string_view problem, Value& out) {
  if (values_ == Values::placed) {
    return cursor_.refuse(begin, quoted(atom) + ": " + std::string(problem));
  }
  out.data = std::string(atom);
  return true;
}

Result<Table> read_go2(std::string_view text,
                       std::string_view file,
                       const TomlDialect& dialect,
                       const HasPlace& has_place) {
  const TextPlaces places(text, file);
  Go2Parser parser(text, places, dialect);
  Go2Tables tables(dialect);
  std::vector<std::string> header;
  const auto is_placed = [&](const std::vector<std::string>& key) {
    if (!has_place) return true;
    std::vector<std::string> path = header;
    path.insert(path.end(), key.begin(), key.end());
    return has_place(path);
  };
  for (bool table_is_placed = true;;) {
    auto next = parser.next();
    if (!next) return std::unexpected(std::move(next.error()));
    std::optional<Statement> statement = std::move(*next);
    if (!statement) return tables.finish();
    const Statement& found = *statement;
    const Origin origin = places.origin({.line = found.line, .column = found.column});
    std::string problem;
    if (found.kind != Statement::Kind::key_value) {
      const bool is_array = found.kind == Statement::Kind::array_table;
      problem = is_array ? tables.open_array_table(found.key, origin) : tables.open_table(found.key, origin);
      header.clear();
      table_is_placed = is_placed(found.key);
      header = found.key;
    } else if (table_is_placed || !dialect.unplaced_tables_unchecked) {
      const bool placed = table_is_placed && is_placed(found.key);
      auto value = parser.read(found.value,
                               header.size() + found.key.size(),
                               placed ? Go2Parser::Values::placed : Go2Parser::Values::unplaced);
      if (!value) return std::unexpected(std::move(value.error()));
      problem = tables.insert(found.key, origin, std::move(*value));
    }
    if (!problem.empty()) return std::unexpected(places.refusal(found.key_span.begin, std::move(problem)));
  }
}

}  // namespace ctkit::engine
