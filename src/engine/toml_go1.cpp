#include "engine/toml_go1.h"

#include <limits>
#include <utility>

#include "engine/toml_date.h"
#include "engine/toml_number.h"
#include "engine/toml_reader.h"

namespace ctkit::engine {

namespace {

constexpr std::size_t kDepthLimit = kDeepest;

/// Blanks within the brackets of a header are not part of its name.
Span trimmed(std::string_view text, Span span) {
  while (span.begin < span.end && is_blank(text[span.begin]))
    ++span.begin;
  while (span.begin < span.end && is_blank(text[span.end - 1]))
    --span.end;
  return span;
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

std::optional<std::string> parse_pattern_date(std::string_view text) {
  if (text.contains(':') && text.find(':') < text.find_first_of("T ")) return parse_go_time(text, false);
  if (text.size() <= 10) return parse_go_date(text);
  if (text[10] != 'T' && text[10] != ' ') return std::nullopt;
  const auto date = parse_go_date(text.substr(0, 10));
  const auto time = parse_go_time(text.substr(11), false);
  if (!date || !time) return std::nullopt;
  return *date + 'T' + *time;
}

std::optional<std::string> parse_zoned_date(std::string_view text) {
  const std::size_t offset = text.find_first_of("Z+-", 11);
  if (text.size() < 20 || offset == std::string_view::npos) return std::nullopt;
  if (text[10] != 'T' && text[10] != ' ') return std::nullopt;
  return parse_go_offset_date_time(text.substr(0, 10), text.substr(11, offset - 11), text.substr(offset), false);
}

}  // namespace

Result<std::optional<Statement>> Go1Parser::next() {
  Statement statement;
  bool good = false;
  switch (lexer_.peek().kind) {
    case Kind::end:
      return std::nullopt;
    case Kind::left_bracket:
    case Kind::double_left_bracket:
      good = header(statement);
      break;
    case Kind::key:
      good = key_value(statement);
      break;
    case Kind::error:
      refuse(lexer_.peek(), lexer_.peek().text);
      break;
    default:
      refuse(lexer_.peek(), "expected a key or a table");
      break;
  }
  if (!good) return std::unexpected(std::move(error_));
  return statement;
}

bool Go1Parser::header(Statement& statement) {
  const bool is_array = lexer_.peek().kind == Kind::double_left_bracket;
  lexer_.drop();
  statement.kind = is_array ? Statement::Kind::array_table : Statement::Kind::table;
  Go1Token name = take();
  if (name.kind != (is_array ? Kind::array_table_name : Kind::table_name)) {
    return refuse(name, name.kind == Kind::error ? name.text : "expected the name of a table");
  }
  if (!key(name, statement.key)) return false;
  if (statement.key.size() > kDepthLimit) return too_deep(name.span.begin);
  const Kind closing = is_array ? Kind::double_right_bracket : Kind::right_bracket;
  if (!expect(closing, is_array ? "expected ']]'" : "expected ']'")) return false;
  statement.key_span = trimmed(text_, name.span);
  const auto place = places_.position(statement.key_span.begin);
  statement.line = place.line;
  statement.column = place.column;
  name_ = std::move(name.text);
  table_depth_ = statement.key.size();
  return true;
}

bool Go1Parser::key_value(Statement& statement) {
  const Go1Token name = take();
  statement.key_span = name.span;
  const auto place = places_.position(name.span.begin);
  statement.line = place.line;
  statement.column = place.column;
  if (!expect(Kind::equals, "expected '=' after the key")) return false;
  if (!key(name, statement.key)) return false;
  statement.value.begin = lexer_.peek().span.begin;
  value_ = {};
  if (!value(value_, table_depth_ + statement.key.size())) return false;
  statement.value.end = end_of_last_;
  return true;
}

bool Go1Parser::key(const Go1Token& token, std::vector<std::string>& parts) {
  std::string_view problem;
  auto split = split_go1_key(token.text, problem);
  if (!split) return refuse(token, problem);
  parts = std::move(*split);
  return true;
}

bool Go1Parser::value(Go1Value& out, std::size_t depth) {
  Go1Token token = take();
  if (depth > kDepthLimit) return too_deep(token.span.begin);
  if (token.kind == Kind::left_bracket) return array(out, token, nullptr, depth + 1);
  if (token.kind == Kind::left_brace) {
    out.table = std::make_unique<Draft>();
    return inline_table(*out.table, token, depth + 1);
  }
  out.value.origin = places_.origin(token.span.begin);
  return scalar(token, out.value);
}

bool Go1Parser::scalar(Go1Token& token, Value& out) {
  switch (token.kind) {
    case Kind::string:
      out.data = std::move(token.text);
      return true;
    case Kind::true_word:
    case Kind::false_word:
      out.data = token.kind == Kind::true_word;
      return true;
    case Kind::infinity:
      out.data = token.written.starts_with('-') ? -std::numeric_limits<double>::infinity()
                                                : std::numeric_limits<double>::infinity();
      return true;
    case Kind::not_a_number:
      out.data = std::numeric_limits<double>::quiet_NaN();
      return true;
    case Kind::integer:
    case Kind::floating:
      return number(token, out);
    case Kind::local_date:
    case Kind::local_time:
    case Kind::pattern_date:
    case Kind::zoned_date:
      return date(token, out);
    case Kind::equals:
      return refuse(token, "expected a value, not another '='");
    case Kind::error:
      return refuse(token, token.text);
    default:
      return refuse(token, kNoGo1Value);
  }
}

bool Go1Parser::number(const Go1Token& token, Value& out) {
  if (values_ == Values::passed) return true;
  std::string_view problem;
  const auto number = parse_go1_number(token.written, token.kind == Kind::floating, dialect_, problem);
  if (!number) return refuse(token, quoted(token.written) + ": " + std::string(problem));
  std::visit([&out](auto parsed) { out.data = parsed; }, *number);
  return true;
}

bool Go1Parser::date(const Go1Token& token, Value& out) {
  const bool long_fractions = dialect_.long_fractions;
  std::optional<std::string> text;
  if (token.kind == Kind::pattern_date) {
    text = parse_pattern_date(token.written);
  } else if (token.kind == Kind::zoned_date) {
    text = parse_zoned_date(token.written);
  } else if (token.kind == Kind::local_time) {
    text = parse_go_time(token.written, long_fractions);
  } else if (lexer_.peek().kind != Kind::local_time) {
    text = parse_go_date(token.written);
  } else {
    const Go1Token time = take();
    if (lexer_.peek().kind == Kind::time_offset) {
      text = parse_go_offset_date_time(token.written, time.written, take().written, long_fractions);
    } else if (const auto date = parse_go_date(token.written), clock = parse_go_time(time.written, long_fractions);
               date && clock) {
      text = *date + 'T' + *clock;
    }
  }
  if (values_ == Values::passed) return true;
  if (!text) return refuse(token, quoted(token.written) + ": no date or time");
  out.data = DateTime{std::move(*text)};
  return true;
}

bool Go1Parser::array(Go1Value& out, const Go1Token& opening, ArrayLayout* layout, std::size_t depth) {
  Array elements;
  std::unique_ptr<Draft> last;  // of inline tables: the only one that could stay open
  bool only_tables = true;
  bool after_comma = false;
  while (lexer_.peek().kind != Kind::right_bracket) {
    if (lexer_.peek().kind == Kind::end) return refuse(opening, "the array has no end");
    const std::size_t begin = lexer_.peek().span.begin;
    if (last) elements.push_back(finish(std::move(*std::exchange(last, nullptr))));
    Go1Value element;
    if (!value(element, depth)) return false;
    if (layout) layout->elements.push_back({.begin = begin, .end = end_of_last_});
    only_tables = only_tables && element.table && !element.table->is_array;
    last = std::move(element.table);
    if (!last) elements.push_back(std::move(element.value));
    after_comma = lexer_.peek().kind == Kind::comma;
    if (after_comma) {
      lexer_.drop();
    } else if (lexer_.peek().kind == Kind::end) {
      return refuse(opening, "the array has no end");
    } else if (lexer_.peek().kind != Kind::right_bracket) {
      return refuse(lexer_.peek(), "expected ',' or ']'");
    }
  }
  const Go1Token closing = take();
  if (layout) {
    layout->closing_bracket = closing.span.begin;
    layout->trailing_comma = after_comma;
  }
  Origin origin = places_.origin(opening.span.begin);
  if (last && only_tables) {
    make_array(*last, origin);
    last->earlier = std::move(elements);
    out.table = std::move(last);
    return true;
  }
  if (last) elements.push_back(finish(std::move(*last)));
  out.value.data = std::move(elements);
  out.value.origin = std::move(origin);
  return true;
}

bool Go1Parser::inline_table(Draft& out, const Go1Token& opening, std::size_t depth) {
  std::optional<Kind> previous;
  out.origin = places_.origin(opening.span.begin);
  for (;;) {
    const Go1Token token = take();
    switch (token.kind) {
      case Kind::end:
        return refuse(opening, "the inline table has no end");
      case Kind::right_brace:
        if (previous == Kind::comma) return refuse(token, "a comma at the end of an inline table");
        out.closed = true;
        return true;
      case Kind::comma:
        if (previous == Kind::comma) return refuse(token, "expected a key");
        break;
      case Kind::key:
      case Kind::integer:
      case Kind::string: {
        if (previous && previous != Kind::comma) return refuse(token, "expected ',' or '}'");
        if (!expect(Kind::equals, "expected '=' after the key")) return false;
        std::vector<std::string> parts;
        if (!key(token, parts)) return false;
        Go1Value entry;
        if (!value(entry, depth + parts.size())) return false;
        set_go1_path(out, parts, places_.origin(token.span.begin), std::move(entry));
        break;
      }
      case Kind::error:
        return refuse(token, token.text);
      default:
        return refuse(token, "expected a key or '}'");
    }
    previous = token.kind;
  }
}

Result<ArrayLayout> Go1Parser::layout(Span span) {
  lexer_.move_to_value(span.begin);
  ArrayLayout layout;
  const Go1Token opening = take();
  Go1Value passed;
  if (opening.kind == Kind::left_bracket && !array(passed, opening, &layout, 0)) {
    return std::unexpected(std::move(error_));
  }
  return layout;
}

bool Go1Parser::too_deep(std::size_t offset) {
  error_ = places_.failure(ErrorCode::failed, offset, "nested deeper than " + std::to_string(kDeepest));
  return false;
}

Go1Token Go1Parser::take() {
  Go1Token token = lexer_.take();
  end_of_last_ = token.span.end;
  return token;
}

bool Go1Parser::expect(Kind kind, std::string_view message) {
  const Go1Token& token = lexer_.peek();
  if (token.kind != kind) return refuse(token, token.kind == Kind::error ? token.text : message);
  lexer_.drop();
  return true;
}

bool Go1Parser::refuse(const Go1Token& token, std::string_view message) {
  const std::string_view hint = message == kNoGo1Value ? "a string needs quotes" : "";
  error_ = places_.refusal(token.span.begin, std::string(message), std::string(hint));
  return false;
}

Result<Table> read_go1(std::string_view text, std::string_view file, const TomlDialect& dialect) {
  const TextPlaces places(text, file);
  Go1Parser parser(text, places, dialect, Go1Parser::Values::judged);
  Go1Tables tables;
  for (;;) {
    auto next = parser.next();
    if (!next) return std::unexpected(std::move(next.error()));
    std::optional<Statement> statement = std::move(*next);
    if (!statement) return tables.finish();
    Statement& found = *statement;
    const Origin origin = places.origin({.line = found.line, .column = found.column});
    std::string problem;
    switch (found.kind) {
      case Statement::Kind::table:
        problem = tables.open_table(parser.name(), std::move(found.key), origin);
        break;
      case Statement::Kind::array_table:
        problem = tables.open_array_table(parser.name(), std::move(found.key), origin);
        break;
      case Statement::Kind::key_value:
        problem = tables.insert(std::move(found.key), origin, parser.take_value());
        break;
    }
    if (!problem.empty()) return std::unexpected(places.refusal(found.key_span.begin, std::move(problem)));
  }
}

}  // namespace ctkit::engine
