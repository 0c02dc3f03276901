#include "engine/toml_go1_lexer.h"

#include <algorithm>
#include <utility>

#include "engine/text_lines.h"
#include "engine/toml_date.h"
#include "engine/toml_number.h"
#include "engine/toml_text.h"

namespace ctkit::engine {

namespace {

constexpr std::string_view kUnclosedString = "the string has no end";

bool has(std::string_view text, std::size_t at, std::string_view characters) {
  return at < text.size() && characters.contains(text[at]);
}

/// How far bare keys and dots reach.
std::size_t plain_key_length(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, [](char c) { return c == '.' || is_bare_key_character(c); });
  return static_cast<std::size_t>(end - text.begin());
}

}  // namespace

Go1Lexer::Go1Lexer(std::string_view text, const TomlDialect& dialect)
    : text_(text), dialect_(dialect), at_(byte_order_mark_length(text)) {}

void Go1Lexer::move_to_value(std::size_t offset) {
  at_ = offset;
  state_ = State::values;
}

const Go1Token& Go1Lexer::peek() {
  while (taken_ == tokens_.size()) {
    tokens_.clear();
    taken_ = 0;
    state_ = step();
  }
  return tokens_[taken_];
}

Go1Token Go1Lexer::take() {
  peek();
  return std::move(tokens_[taken_++]);
}

void Go1Lexer::drop() {
  peek();
  ++taken_;
}

Go1Lexer::State Go1Lexer::step() {
  switch (state_) {
    case State::keys:
      return keys();
    case State::values:
      return values();
    case State::done:
      break;
  }
  emit(Kind::end, at_);
  return State::done;
}

Go1Lexer::State Go1Lexer::keys() {
  for (;;) {
    while (!at_end() && (is_blank(here()) || at('\n') || at('\r')))
      ++at_;
    if (at_end()) return State::done;
    switch (here()) {
      case '}':
        return closing('{', Kind::right_brace);
      case '[':
        return header();
      case '=':
        return emit_word(Kind::equals, 1);
      case '#':
        skip_comment();
        continue;
      default:
        return key();
    }
  }
}

Go1Lexer::State Go1Lexer::values() {
  skip_blanks();
  if (at_end()) return State::done;
  switch (here()) {
    case '.':
      return error("a float can't begin with a dot");
    case '=':
      return emit_word(Kind::equals, 1);
    case '[':
      brackets_ += '[';
      return emit_word(Kind::left_bracket, 1);
    case ']':
      return closing('[', Kind::right_bracket);
    case '{':
      brackets_ += '{';
      emit_word(Kind::left_brace, 1);
      return State::keys;
    case '}':
      return closing('{', Kind::right_brace);
    case '#':
      skip_comment();
      return State::values;
    case '"':
    case '\'':
      return string();
    case ',':
      emit_word(Kind::comma, 1);
      return brackets_.ends_with('{') ? State::keys : State::values;
    case '\r':
    case '\n':
      return newline();
    default:
      break;
  }
  if (at("true")) return emit_word(Kind::true_word, 4);
  if (at("false")) return emit_word(Kind::false_word, 5);
  if (at("inf")) return emit_word(Kind::infinity, 3);
  if (at("nan")) return emit_word(Kind::not_a_number, 3);
  if (dialect_.dates_by_pattern) {
    const DatePatternMatch match = match_date_pattern(text_.substr(at_));
    if (match.length > 0) {
      return emit_word(match.zoned ? Kind::zoned_date : Kind::pattern_date, match.length);
    }
  }
  if (at('+') || at('-')) return number();
  if (at_digit()) return date_or_number();
  return error(kNoGo1Value);
}

Go1Lexer::State Go1Lexer::newline() {
  ++at_;
  return brackets_.ends_with('[') ? State::values : State::keys;
}

Go1Lexer::State Go1Lexer::closing(char open, Kind kind) {
  emit_word(kind, 1);
  if (!brackets_.ends_with(open)) {
    --at_;
    return error("a closing bracket without its opening one");
  }
  brackets_.pop_back();
  return State::values;
}

/// A key keeps the quotes around its parts, with what is between them already unescaped.
Go1Lexer::State Go1Lexer::key() {
  const std::size_t begin = at_;
  std::size_t end = at_;
  std::string name;
  while (!at_end() && !at('=')) {
    const char c = here();
    if (c == '"' || c == '\'') {
      const std::string_view quote = text_.substr(at_, 1);
      ++at_;
      name += c;
      if (!(c == '"' ? basic_string(quote, true, name) : literal_string(quote, name))) return State::done;
      name += c;
      ++at_;
    } else if (is_blank(c)) {
      const std::size_t blanks = at_;
      skip_blanks();
      if (!at('.')) break;
      ++at_;
      skip_blanks();
      name += ' ';
      name += text_.substr(blanks + 1, at_ - blanks - 1);
    } else if (const std::size_t length = plain_key_length(text_.substr(at_)); length > 0) {
      name += text_.substr(at_, length);
      at_ += length;
    } else {
      return error(c == '\n' ? "expected '=' after the key" : "a key can't contain this character");
    }
    end = at_;
  }
  emit(Kind::key, {.begin = begin, .end = end}, std::move(name));
  return State::keys;
}

/// A name reaches to the first closing bracket, quotes or not.
Go1Lexer::State Go1Lexer::header() {
  const bool is_array = at("[[");
  emit_word(is_array ? Kind::double_left_bracket : Kind::left_bracket, is_array ? 2 : 1);
  std::size_t begin = at_;
  for (; !at_end(); ++at_) {
    if (at('[')) return error("a table name can't contain '['");
    if (!at(']')) continue;
    if (at_ > begin) {
      std::string name;
      append_valid_utf8(name, text_.substr(begin, at_ - begin));
      emit(is_array ? Kind::array_table_name : Kind::table_name, {.begin = begin, .end = at_}, std::move(name));
    }
    if (!is_array) {
      emit_word(Kind::right_bracket, 1);
      return State::keys;
    }
    if (at("]]")) {
      emit_word(Kind::double_right_bracket, 2);
      return State::keys;
    }
    begin = at_;
  }
  return error("the table name has no end");
}

Go1Lexer::State Go1Lexer::date_or_number() {
  if (dialect_.dates_by_pattern) return number();
  const std::size_t digits = digits_at(text_, at_);
  const bool time = digits == 2 && has(text_, at_ + 2, ":");
  if (digits == 4 && has(text_, at_ + 4, "-")) return date();
  if (!time) return number();
  const std::size_t begin = at_;
  if (!clock()) return State::done;
  emit(Kind::local_time, begin);
  return State::values;
}

Go1Lexer::State Go1Lexer::date() {
  std::size_t begin = at_;
  at_ += 5;
  if (!two_digits('-') || !two_digits('\0')) return State::done;
  emit(Kind::local_date, begin);
  if (at_end()) return State::values;
  if (!at(' ') && !at('T')) return error("a date must be followed by a blank or its time");
  if (at(' ') && digits_at(text_, at_ + 1) < 2) return State::values;
  begin = ++at_;
  if (!clock()) return State::done;
  emit(Kind::local_time, begin);
  begin = at_;
  if (at('Z')) return emit_word(Kind::time_offset, 1);
  if (!at('+') && !at('-')) return State::values;
  ++at_;
  if (!two_digits(':') || !two_digits('\0')) return State::done;
  emit(Kind::time_offset, begin);
  return State::values;
}

/// dd:dd:dd and, if there is one, a fraction.
bool Go1Lexer::clock() {
  if (!two_digits(':') || !two_digits(':') || !two_digits('\0')) return false;
  if (!at('.')) return true;
  ++at_;
  if (!at_digit()) return fail("a fraction needs digits");
  at_ += digits_at(text_, at_);
  return true;
}

/// Two digits and, unless it is NUL, the character behind them.
bool Go1Lexer::two_digits(char end) {
  if (digits_at(text_, at_) < 2) return fail("a date or time needs two digits here");
  at_ += 2;
  if (end == '\0') return true;
  if (!at(end)) return fail("a date or time with a wrong separator");
  ++at_;
  return true;
}

Go1Lexer::State Go1Lexer::number() {
  const std::string_view rest = text_.substr(at_);
  const bool has_sign = at('+') || at('-');
  const std::string_view word = rest.substr(has_sign ? 1 : 0, 3);
  if (word == "inf") return emit_word(Kind::infinity, 4);
  if (word == "nan") return emit_word(Kind::not_a_number, 4);
  const Go1NumberExtent extent = measure_go1_number(rest);
  if (!extent.problem.empty()) return error(extent.problem);
  return emit_word(extent.is_float ? Kind::floating : Kind::integer, extent.length);
}

Go1Lexer::State Go1Lexer::string() {
  const std::size_t begin = at_;
  const bool basic = at('"');
  const std::string_view triple = basic ? R"(""")" : "'''";
  const std::string_view end = at(triple) ? triple : triple.substr(0, 1);
  const bool may_span_lines = end.size() == 3;
  at_ += end.size();
  if (may_span_lines) skip_first_newline();
  std::string value;
  if (!(basic ? basic_string(end, may_span_lines, value) : literal_string(end, value))) return State::done;
  at_ += end.size();
  emit(Kind::string, {.begin = begin, .end = at_}, std::move(value));
  return State::values;
}

bool Go1Lexer::literal_string(std::string_view end, std::string& out) {
  const std::size_t length = text_.substr(at_).find(end);
  if (length == std::string_view::npos) return fail(kUnclosedString);
  append_valid_utf8(out, text_.substr(at_, length));
  at_ += length;
  return true;
}

bool Go1Lexer::basic_string(std::string_view end, bool may_span_lines, std::string& out) {
  const auto stops = [may_span_lines](char c) {
    if (c == '"' || c == '\\') return true;
    if (c == '\n' || c == '\r') return !may_span_lines;
    return static_cast<unsigned char>(c) < 0x20 && c != '\t';
  };
  for (;;) {
    const std::string_view rest = text_.substr(at_);
    const auto length = std::ranges::find_if(rest, stops) - rest.begin();
    append_valid_utf8(out, rest.substr(0, static_cast<std::size_t>(length)));
    at_ += static_cast<std::size_t>(length);
    if (at_end()) return fail(kUnclosedString);
    if (at(end)) return true;
    if (at('\\')) {
      if (!escape(out)) return false;
    } else if (at('"')) {
      out += '"';
      ++at_;
    } else {
      const bool is_newline = at('\n') || at('\r');
      return fail(is_newline ? "the string has no end on its line" : "a control character");
    }
  }
}

/// A backslash before blanks or newlines takes all of them away, also within a line.
bool Go1Lexer::escape(std::string& out) {
  constexpr std::string_view kNames = "\"nbf/tr\\";
  constexpr std::string_view kMeanings = "\"\n\b\f/\t\r\\";
  constexpr std::string_view kWhiteSpace = "\r\n\t ";
  ++at_;
  if (at_end()) return fail(kUnclosedString);
  if (kWhiteSpace.contains(here())) {
    while (!at_end() && kWhiteSpace.contains(here()))
      ++at_;
    return true;
  }
  const char name = here();
  if (const auto index = kNames.find(name); index != std::string_view::npos) {
    out += kMeanings[index];
    ++at_;
    return true;
  }
  if (name != 'u' && name != 'U') return fail("unknown escape; a backslash is written '\\\\' here");
  const std::size_t digits = name == 'u' ? 4 : 8;
  ++at_;
  const auto rune = parse_hex(text_.substr(at_, digits));
  if (!rune || text_.size() - at_ < digits) return fail("an unfinished Unicode escape");
  append_utf8(out, *rune);
  at_ += digits;
  return true;
}

Go1Lexer::State Go1Lexer::error(std::string_view message) {
  fail(message);
  return State::done;
}

bool Go1Lexer::fail(std::string_view message) {
  emit(Kind::error, {.begin = at_, .end = at_}, std::string(message));
  return false;
}

void Go1Lexer::emit(Kind kind, std::size_t begin) {
  emit(kind, {.begin = begin, .end = at_}, {});
}

void Go1Lexer::emit(Kind kind, Span span, std::string text) {
  Go1Token& token = tokens_.emplace_back();
  token.kind = kind;
  token.written = text_.substr(span.begin, span.end - span.begin);
  token.text = std::move(text);
  token.span = span;
}

Go1Lexer::State Go1Lexer::emit_word(Kind kind, std::size_t length) {
  const std::size_t begin = at_;
  at_ += length;
  emit(kind, begin);
  return State::values;
}

bool Go1Lexer::at_digit() const {
  return is_digit(here());
}

void Go1Lexer::skip_blanks() {
  while (!at_end() && is_blank(here()))
    ++at_;
}

void Go1Lexer::skip_first_newline() {
  if (at("\r\n")) {
    at_ += 2;
  } else if (at('\n')) {
    ++at_;
  }
}

void Go1Lexer::skip_comment() {
  while (!at_end() && !at('\n') && !at("\r\n"))
    ++at_;
}

}  // namespace ctkit::engine
