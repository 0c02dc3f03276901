#include "engine/toml_cursor.h"

namespace ctkit::engine {

namespace {

/// What may stand for itself in strings and comments, ASCII only.
bool is_plain(char c) {
  return (c >= 0x20 && c < 0x7f) || c == '\t';
}

bool is_ascii(char c) {
  return static_cast<unsigned char>(c) < 0x80;
}

void append(std::string* out, std::string_view text) {
  if (out) out->append(text);
}

}  // namespace

bool TomlCursor::newline() {
  if (at("\r\n") || at('\n')) {
    skip(at('\n') ? 1 : 2);
    return true;
  }
  return at('\r') ? refuse_character() : refuse(at_, "expected the end of the line");
}

bool TomlCursor::comment() {
  for (;;) {
    while (!at_end() && is_plain(text_[at_]))
      ++at_;
    if (at_end() || at('\n') || at("\r\n")) return true;
    const std::size_t length = is_ascii(text_[at_]) ? 0 : utf8_length(text_, at_);
    if (length == 0) return refuse_character();
    skip(length);
  }
}

bool TomlCursor::skip_blank_lines() {
  for (;;) {
    skip_blanks();
    if (at('#') && !comment()) return false;
    if (!at('\n') && !at('\r')) return true;
    if (!newline()) return false;
  }
}

bool TomlCursor::expect(char c, std::string_view message) {
  if (!at(c)) return refuse(at_, std::string(message));
  skip(1);
  return true;
}

bool TomlCursor::key(std::vector<std::string>& parts, std::size_t& end) {
  parts.reserve(4);
  for (;;) {
    if (!key_part(parts.emplace_back())) return false;
    end = at_;
    skip_blanks();
    if (!at('.')) return true;
    skip(1);
    skip_blanks();
  }
}

bool TomlCursor::key_part(std::string& part) {
  if (at('"') || at('\'')) return one_line_string(&part);
  const std::size_t begin = at_;
  while (!at_end() && is_bare_key_character(text_[at_]))
    ++at_;
  if (at_ == begin) return refuse(at_, "expected a key");
  part = text_.substr(begin, at_ - begin);
  return true;
}

bool TomlCursor::string(std::string* out) {
  return at("\"\"\"") || at("'''") ? multi_line_string(out) : one_line_string(out);
}

bool TomlCursor::one_line_string(std::string* out) {
  const std::size_t begin = at_;
  const char quote = text_[at_];
  skip(1);
  for (;;) {
    plain_characters(quote, out);
    if (at_end()) return refuse(begin, "the string has no end");
    if (at(quote)) {
      skip(1);
      return true;
    }
    if (at('\n') || at('\r')) return refuse(begin, "the string has no end on its line");
    if (!at('\\')) return refuse_character();
    if (!escape(out)) return false;
  }
}

bool TomlCursor::multi_line_string(std::string* out) {
  const std::size_t begin = at_;
  const char quote = text_[at_];
  skip(3);
  if (at('\n') || at("\r\n")) newline();
  for (;;) {
    plain_characters(quote, out);
    const std::size_t here = at_;
    if (at_end()) return refuse(begin, "the string has no end");
    if (at(quote)) {
      while (at(quote))
        skip(1);
      const std::size_t quotes = at_ - here;
      if (quotes > 5) return refuse(here, "more than five quotes at the end of a string");
      append(out, text_.substr(here, quotes < 3 ? quotes : quotes - 3));
      if (quotes >= 3) return true;
    } else if (at('\n') || at('\r')) {
      if (!newline()) return false;
      append(out, text_.substr(here, at_ - here));
    } else if (at('\\')) {
      skip(1);
      const bool continued = at(' ') || at('\t') || at('\n') || at('\r');
      if (!continued) move_to(here);
      if (!(continued ? line_continuation() : escape(out))) return false;
    } else {
      return refuse_character();
    }
  }
}

/// A backslash at the end of a line takes the newline and all white space after it away.
bool TomlCursor::line_continuation() {
  const std::size_t begin = at_ - 1;
  skip_blanks();
  if (!at('\n') && !at("\r\n")) return refuse(begin, "a backslash before blanks within a line");
  while (at('\n') || at("\r\n")) {
    newline();
    skip_blanks();
  }
  return true;
}

bool TomlCursor::escape(std::string* out) {
  constexpr std::string_view kNames = R"(btnfre"\)";
  constexpr std::string_view kMeanings = "\b\t\n\f\r\x1b\"\\";
  const std::size_t begin = at_;
  skip(1);
  if (at_end()) return refuse(begin, "the string has no end");
  const char name = text_[at_];
  skip(1);
  if (const auto index = kNames.find(name); index != std::string_view::npos) {
    append(out, kMeanings.substr(index, 1));
    return true;
  }
  if (name == 'u') return unicode_escape(out, 4);
  if (name == 'U') return unicode_escape(out, 8);
  if (name == 'x' && dialect_.hex_escapes) return unicode_escape(out, 2);
  return refuse(begin,
                std::string("unknown escape '\\") + (is_plain(name) ? name : '?') + "'",
                "a backslash is written \\\\ here, or the string in single quotes");
}

bool TomlCursor::unicode_escape(std::string* out, std::size_t digits) {
  const auto rune = parse_hex(rest().substr(0, digits));
  if (!rune || rest().size() < digits || !is_unicode_scalar(*rune)) {
    return refuse(at_ - 2, "the escape is no Unicode character");
  }
  if (out) append_utf8(*out, *rune);
  skip(digits);
  return true;
}

/// Passes what stands for itself: neither the quote, nor a backslash in double quotes, nor a
/// newline.
void TomlCursor::plain_characters(char quote, std::string* out) {
  const std::size_t begin = at_;
  while (!at_end()) {
    const char c = text_[at_];
    if (is_ascii(c)) {
      if (!is_plain(c) || c == quote || (c == '\\' && quote == '"')) break;
      ++at_;
    } else {
      const std::size_t length = utf8_length(text_, at_);
      if (length == 0) break;
      at_ += length;
    }
  }
  append(out, text_.substr(begin, at_ - begin));
}

bool TomlCursor::refuse_character() {
  if (at('\r')) return refuse(at_, "a carriage return without a newline");
  return refuse(at_, is_ascii(text_[at_]) ? "a control character" : "invalid UTF-8");
}

bool TomlCursor::refuse(std::size_t offset, std::string message, std::string hint) {
  return fail(places_.refusal(offset, std::move(message), std::move(hint)));
}

bool TomlCursor::fail(Error error) {
  error_ = std::move(error);
  return false;
}

}  // namespace ctkit::engine
