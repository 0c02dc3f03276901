#include "engine/toml_burntsushi.h"

#include <algorithm>
#include <utility>

#include "engine/toml_reader.h"

namespace ctkit::engine {

namespace {

constexpr std::size_t kDepthLimit = kDeepest;
constexpr std::string_view kReplacementCharacter = "\xef\xbf\xbd";

/// What no text may have at `at`: empty if the character there is good. Its length comes back too.
std::string_view problem_of_character(std::string_view text, std::size_t at, std::size_t& length) {
  const auto c = static_cast<unsigned char>(text[at]);
  length = 1;
  if (c == '\t' || c == '\n') return {};
  if (c == '\r') return text.substr(at, 2) == "\r\n" ? "" : "a carriage return without a newline";
  if (c < 0x20 || c == 0x7f) return "a control character";
  if (c < 0x80) return {};
  length = utf8_length(text, at);
  if (length == 0) return "a byte that is no UTF-8";
  // The library takes it for its own sign of a bad byte.
  if (text.substr(at, length) == kReplacementCharacter) return "the character U+FFFD";
  return {};
}

std::string quoted(std::string_view text) {
  return "'" + std::string(text) + "'";
}

bool is_bare_key(char c) {
  return is_bare_key_character(c);
}

}  // namespace

BurntSushiParser::BurntSushiParser(std::string_view text,
                                   const TextPlaces& places,
                                   const TomlDialect& dialect,
                                   BurntSushiTables* tables)
    : text_(text), places_(places), dialect_(dialect), tables_(tables) {}

/// Marks of UTF-8 and UTF-16 are passed over; a NUL among the first bytes means UTF-16.
bool BurntSushiParser::begin() {
  begun_ = true;
  if (at("\xff\xfe") || at("\xfe\xff"))
    at_ = 2;
  else if (dialect_.byte_order_mark && at("\xef\xbb\xbf"))
    at_ = 3;
  constexpr std::size_t kExamined = 6;
  if (text_.substr(at_, kExamined).contains('\0'))
    return refuse(at_, "a NUL byte; the file is probably UTF-16", "save the file as UTF-8");
  std::size_t length = 0;
  for (std::size_t i = at_; i < text_.size(); i += length) {
    bad_character_ = problem_of_character(text_, i, length);
    if (bad_character_.empty()) continue;
    text_ = text_.substr(0, i);
    break;
  }
  return true;
}

Result<std::optional<Statement>> BurntSushiParser::next() {
  if (!begun_ && !begin()) return std::unexpected(std::move(error_));
  if (within_line_ && !end_of_statement()) return std::unexpected(std::move(error_));
  within_line_ = true;
  skip_blank_lines();
  if (at_end()) {
    if (bad_character_.empty()) return std::nullopt;
    refuse(at_, {});
    return std::unexpected(std::move(error_));
  }
  Statement found;
  if (!statement(found)) return std::unexpected(std::move(error_));
  return found;
}

bool BurntSushiParser::statement(Statement& statement) {
  if (!at('[')) return key_value(statement);
  return header(statement);
}

bool BurntSushiParser::header(Statement& statement) {
  const bool is_array = at("[[");
  statement.kind = is_array ? Statement::Kind::array_table : Statement::Kind::table;
  at_ += is_array ? 2 : 1;
  if (!key(statement.key, statement.key_span)) return false;
  if (!at(']')) return refuse(at_, "expected '.' or ']' after the name of a table");
  ++at_;
  if (is_array && !at(']')) return refuse(at_, "expected ']]'");
  at_ += is_array ? 1 : 0;
  const std::size_t begin = statement.key_span.begin;
  if (statement.key.size() > kDepthLimit) return too_deep(begin);
  const auto place = places_.position(begin);
  statement.line = place.line;
  statement.column = place.column;
  header_depth_ = statement.key.size();
  return !judging() || accept(tables_->open(statement.key, is_array, places_.origin(place)), begin);
}

bool BurntSushiParser::key_value(Statement& statement) {
  if (!key(statement.key, statement.key_span)) return false;
  if (!at('=')) {
    return refuse(at_, at(':') ? "expected '.' or '=', not ':'" : "expected '.' or '=' after the key");
  }
  ++at_;
  skip_blanks();
  const std::size_t begin = statement.key_span.begin;
  const auto place = places_.position(begin);
  statement.line = place.line;
  statement.column = place.column;
  statement.value.begin = at_;
  if (header_depth_ + statement.key.size() > kDepthLimit) return too_deep(begin);
  const BurntSushiTables::Path outer = judging() ? tables_->context() : BurntSushiTables::Path{};
  Table passed;
  if (!put_entry(statement.key, places_.origin(place), passed, header_depth_ + statement.key.size())) return false;
  if (judging()) tables_->go_back(outer);
  statement.value.end = at_;
  return true;
}

/// Nothing but a comment may stand behind a statement.
bool BurntSushiParser::end_of_statement() {
  skip_blanks();
  if (at('#')) skip_comment();
  if (at_end() || at_newline()) return true;
  return refuse(at_, "expected the end of the line", "a string needs quotes");
}

bool BurntSushiParser::key(std::vector<std::string>& parts, Span& span) {
  skip_blanks();
  span.begin = at_;
  parts.reserve(4);
  for (;;) {
    skip_blanks();
    if (!key_part(parts.emplace_back())) return false;
    span.end = at_;
    skip_blanks();
    if (!at('.')) return true;
    ++at_;
  }
}

bool BurntSushiParser::key_part(std::string& part) {
  const std::size_t begin = at_;
  if (at('"') || at('\'')) return one_line_string(part);
  while (at_ < text_.size() && is_bare_key(text_[at_]))
    ++at_;
  part = text_.substr(begin, at_ - begin);
  if (!part.empty()) return true;
  if (at("\xef\xbb\xbf")) return refuse(at_, "a byte order mark", "save the file as UTF-8 without one");
  return refuse(at_, "expected a key");
}

bool BurntSushiParser::put_entry(const std::vector<std::string>& parts,
                                 const Origin& origin,
                                 Table& out,
                                 std::size_t depth) {
  const std::size_t begin = at_;
  Table* inner = &out;
  for (const std::string& part : std::span(parts).first(parts.size() - 1)) {
    if (judging() && !accept(tables_->descend(part, origin), begin)) return false;
    if (dialect_.flat_inline_copies) continue;
    Value& member = (*inner)[part];
    if (!member.table()) member = {.data = Table{}, .origin = origin};
    inner = member.table();
  }
  Value entry;
  const std::string& last = parts.back();
  if (!value(entry, last, false, depth)) return false;
  if (!judging()) return true;
  const bool is_array = entry.array() != nullptr;
  (*inner)[last] = entry;
  return accept(tables_->set(last, std::move(entry), is_array), begin);
}

bool BurntSushiParser::value(Value& out, const std::string& key, bool in_array, std::size_t depth) {
  skip_blanks();
  const std::size_t begin = at_;
  if (depth > kDepthLimit) return too_deep(begin);
  out.origin = places_.origin(begin);
  if (at('[')) return array(out, key, nullptr, depth + 1);
  if (at('{')) return inline_table(out, key, in_array, depth + 1);
  if (at('"') || at('\'')) return string(out);
  if (at("inf") || at("nan") || at('+') || at('-') || (!at_end() && is_digit(text_[at_]))) return number(out);
  return word(out);
}

bool BurntSushiParser::array(Value& out, const std::string& key, ArrayLayout* layout, std::size_t depth) {
  const std::size_t opening = at_;
  ++at_;
  if (judging()) tables_->note_array(key);
  Array elements;
  for (bool after_value = false;;) {
    skip_blank_lines();
    if (at_end()) return refuse(opening, "the array has no end");
    const std::size_t here = at_;
    if (at(']')) {
      if (layout) {
        layout->closing_bracket = here;
        layout->trailing_comma = !after_value && !layout->elements.empty();
      }
      ++at_;
      out.data = std::move(elements);
      return true;
    }
    if (at(',')) {
      if (!after_value) return refuse(here, "expected a value");
      ++at_;
    } else {
      if (after_value) return refuse(here, "expected ',' or ']'");
      if (!value(elements.emplace_back(), key, true, depth)) return false;
      if (layout) layout->elements.push_back({.begin = here, .end = at_});
    }
    after_value = !after_value;
  }
}

bool BurntSushiParser::inline_table(Value& out, const std::string& key, bool in_array, std::size_t depth) {
  const std::size_t opening = at_;
  ++at_;
  const BurntSushiTables::Path outer = judging() ? tables_->context() : BurntSushiTables::Path{};
  if (judging() && !accept(tables_->open_inline(key, in_array, out.origin), opening)) return false;
  const BurntSushiTables::Path own = judging() ? tables_->context() : BurntSushiTables::Path{};
  Table table;
  for (bool more = true; more;) {
    if (dialect_.inline_tables_span_lines) {
      skip_blank_lines();
    } else {
      skip_blanks();
      if (at_newline() || at('#')) return refuse(at_, "a newline or comment in an inline table");
    }
    if (at_end()) return refuse(opening, "the inline table has no end");
    if (at('}')) break;
    if (!entry(table, depth)) return false;
    if (judging()) tables_->go_back(own);
    if (!after_entry(more)) return false;
  }
  ++at_;
  if (judging()) tables_->go_back(outer);
  out.data = std::move(table);
  return true;
}

bool BurntSushiParser::entry(Table& out, std::size_t depth) {
  std::vector<std::string> parts;
  Span span;
  if (!key(parts, span)) return false;
  if (!at('=')) return refuse(at_, "expected '.' or '=' after the key");
  ++at_;
  skip_blanks();
  return put_entry(parts, places_.origin(span.begin), out, depth + parts.size());
}

/// Up to the next key or the closing brace, which `more` tells apart.
bool BurntSushiParser::after_entry(bool& more) {
  const bool spans_lines = dialect_.inline_tables_span_lines;
  if (spans_lines) {
    skip_blank_lines();
  } else {
    skip_blanks();
  }
  more = at(',');
  if (!more) return at('}') || refuse(at_, "expected ',' or '}'");
  ++at_;
  skip_blanks();
  if (at('}') && !spans_lines) return refuse(at_, "a comma at the end of an inline table");
  return true;
}

bool BurntSushiParser::string(Value& out) {
  std::string text;
  const bool multi_line = at(R"(""")") || at("'''");
  if (!(multi_line ? multi_line_string(text) : one_line_string(text))) return false;
  out.data = std::move(text);
  return true;
}

bool BurntSushiParser::one_line_string(std::string& out) {
  const std::size_t opening = at_;
  const char quote = text_[at_++];
  const std::size_t begin = at_;
  while (!at_end() && !at(quote)) {
    if (at_newline()) return refuse(opening, "the string has no end on its line");
    // What is escaped is judged below; a newline can't be.
    if (quote == '"' && at('\\') && at_ + 1 < text_.size() && text_[at_ + 1] != '\r' && text_[at_ + 1] != '\n') ++at_;
    ++at_;
  }
  if (at_end()) return refuse(opening, "the string has no end");
  const std::string_view written = text_.substr(begin, at_ - begin);
  ++at_;
  if (quote == '\'') {
    out = written;
    return true;
  }
  std::string_view problem;
  auto text = replace_escapes(written, dialect_, problem);
  if (!text) return refuse(opening, std::string(problem));
  out = *std::move(text);
  return true;
}

/// Of the quotes that end it two may belong to it; of six the library says that they are too many,
/// unless it takes the first for escaped: `\` before five quotes.
bool BurntSushiParser::multi_line_string(std::string& out) {
  const std::size_t opening = at_;
  const char quote = text_[at_];
  const std::string three(3, quote);
  const std::string five(5, quote);
  at_ += 3;
  const std::size_t begin = at_;
  for (;; ++at_) {
    if (at_end()) return refuse(opening, "the string has no end");
    if (quote == '"' && at('\\')) {
      ++at_;
      if (at_end()) return refuse(opening, "the string has no end");
      continue;
    }
    if (!at(three)) continue;
    if (at_ + 3 == text_.size() || text_[at_ + 3] != quote) break;
    const std::string_view so_far = text_.substr(begin, at_ + 3 - begin);
    const bool escaped = quote == '"' && so_far.ends_with("\\" + five);
    if (so_far.ends_with(five) && !escaped) return refuse(at_, "too many quotes at the end of a string");
  }
  const std::string_view written = text_.substr(begin, at_ - begin);
  at_ += 3;
  if (quote == '\'') {
    out = without_first_newline(written);
    return true;
  }
  std::string_view problem;
  auto text = replace_escapes(join_escaped_lines(written, dialect_), dialect_, problem);
  if (!text) return refuse(opening, std::string(problem));
  out = *std::move(text);
  return true;
}

bool BurntSushiParser::number(Value& out) {
  const std::size_t begin = at_;
  const BurntSushiExtent extent = measure_burntsushi_number(text_.substr(begin));
  if (!extent.problem.empty()) return refuse(begin, std::string(extent.problem));
  at_ += extent.length;
  std::string_view written = text_.substr(begin, extent.length);
  if (!judging()) return true;
  if (extent.kind == BurntSushiExtent::Kind::date) {
    while (written.ends_with(' '))
      written.remove_suffix(1);
    if (!is_burntsushi_date(written, dialect_)) return refuse(begin, quoted(written) + ": no date or time");
    out.data = DateTime{std::string(written)};
    return true;
  }
  std::string_view problem;
  const auto number = extent.kind == BurntSushiExtent::Kind::integer ? parse_burntsushi_integer(written, problem)
                                                                     : parse_burntsushi_float(written, problem);
  if (!number) return refuse(begin, quoted(written) + ": " + std::string(problem));
  std::visit([&out](auto parsed) { out.data = parsed; }, *number);
  return true;
}

bool BurntSushiParser::word(Value& out) {
  for (const std::string_view known : {"true", "false"}) {
    if (!at(known)) continue;
    at_ += known.size();
    out.data = known == "true";
    return true;
  }
  return refuse(at_, "expected a value", "a string needs quotes");
}

void BurntSushiParser::skip_blanks() {
  while (at_ < text_.size() && is_blank(text_[at_]))
    ++at_;
}

void BurntSushiParser::skip_blank_lines() {
  for (;;) {
    skip_blanks();
    if (at('#')) skip_comment();
    if (!at_newline()) return;
    ++at_;
  }
}

void BurntSushiParser::skip_comment() {
  at_ = std::min(text_.find_first_of("\r\n", at_), text_.size());
}

Result<ArrayLayout> BurntSushiParser::layout(Span span) {
  if (!begun_ && !begin()) return std::unexpected(std::move(error_));
  at_ = span.begin;
  ArrayLayout layout;
  Value passed;
  if (at('[') && !array(passed, {}, &layout, 0)) return std::unexpected(std::move(error_));
  return layout;
}

bool BurntSushiParser::too_deep(std::size_t offset) {
  error_ = places_.failure(ErrorCode::failed, offset, "nested deeper than " + std::to_string(kDeepest));
  return false;
}

/// At the end of the good part of the text it is the bad character that is refused.
bool BurntSushiParser::refuse(std::size_t offset, std::string message, std::string hint) {
  if (at_end() && !bad_character_.empty()) {
    offset = text_.size();
    message = bad_character_;
    hint.clear();
  }
  error_ = places_.refusal(offset, std::move(message), std::move(hint));
  return false;
}

bool BurntSushiParser::accept(std::string problem, std::size_t offset) {
  return problem.empty() || refuse(offset, std::move(problem));
}

Result<Table> read_burntsushi(std::string_view text, std::string_view file, const TomlDialect& dialect) {
  const TextPlaces places(text, file);
  BurntSushiTables tables;
  BurntSushiParser parser(text, places, dialect, &tables);
  for (;;) {
    auto next = parser.next();
    if (!next) return std::unexpected(std::move(next.error()));
    if (!*next) return tables.finish();
  }
}

}  // namespace ctkit::engine
