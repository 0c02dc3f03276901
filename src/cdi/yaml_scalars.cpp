// The scalars of the scanner: block, quoted and plain (scannerc.go from
// yaml_parser_scan_block_scalar on).
#include <algorithm>
#include <utility>

#include "cdi/yaml_scanner.h"

namespace ctkit::cdi {

namespace {

constexpr bool is_digit(char32_t c) {
  return c >= '0' && c <= '9';
}

}  // namespace

void YamlScanner::scan_block_scalar(bool literal) {
  remove_simple_key();
  if (failed()) return;
  simple_key_allowed_ = true;
  YamlToken token{.kind = YamlTokenKind::scalar, .line = source_.line()};
  source_.skip();
  int chomping = 0;
  int increment = 0;
  for (int part = 0; part < 2; ++part) {
    const char32_t c = source_.peek();
    if ((c == '+' || c == '-') && chomping == 0) {
      chomping = c == '+' ? 1 : -1;
      source_.skip();
    } else if (is_digit(c) && increment == 0) {
      if (c == '0') return fail("found an indentation indicator equal to 0", token.line);
      increment = static_cast<int>(c - '0');
      source_.skip();
    }
  }
  while (is_blank(source_.peek()))
    source_.skip();
  if (source_.peek() == '#') {
    while (source_.peek() != 0 && !is_break(source_.peek()))
      source_.skip();
  }
  if (source_.peek() != 0 && !is_break(source_.peek())) {
    return fail("did not find expected comment or line break", token.line);
  }
  source_.skip_line();

  int indent = increment == 0 ? 0 : std::max(indent_, 0) + increment;
  std::string first_break;
  std::string breaks;
  indent = scan_block_breaks(indent, breaks, token.line);
  bool blank_before = false;
  while (!failed() && source_.column() == indent && source_.peek() != 0) {
    const bool blank = is_blank(source_.peek());
    if (!literal && !blank_before && !blank && first_break.starts_with('\n')) {
      if (breaks.empty()) token.value += ' ';
    } else {
      token.value += first_break;
    }
    token.value += breaks;
    first_break.clear();
    breaks.clear();
    blank_before = blank;
    while (source_.peek() != 0 && !is_break(source_.peek()))
      read(token.value);
    read_line(first_break);
    indent = scan_block_breaks(indent, breaks, token.line);
  }
  if (chomping != -1) token.value += first_break;
  if (chomping == 1) token.value += breaks;
  if (!failed()) tokens_.push_back(std::move(token));
}

// Empty lines and indentation; with `indent` 0 it is found. Returns the indentation.
int YamlScanner::scan_block_breaks(int indent, std::string& breaks, int line) {
  int widest = 0;
  while (true) {
    while ((indent == 0 || source_.column() < indent) && source_.peek() == ' ')
      source_.skip();
    widest = std::max(widest, source_.column());
    if ((indent == 0 || source_.column() < indent) && source_.peek() == '\t') {
      fail("found a tab character where an indentation space is expected", line);
      return 1;
    }
    if (!is_break(source_.peek())) break;
    read_line(breaks);
  }
  return indent != 0 ? indent : std::max({widest, indent_ + 1, 1});
}

// One blank or line break between the words of a scalar.
void YamlScanner::read_space(YamlFolding& folding) {
  if (is_blank(source_.peek())) {
    if (folding.broken) {
      source_.skip();
    } else {
      read(folding.blanks);
    }
  } else if (!folding.broken) {
    folding.blanks.clear();
    read_line(folding.first_break);
    folding.broken = true;
  } else {
    read_line(folding.breaks);
  }
}

void YamlScanner::scan_quoted_scalar(bool single) {
  save_simple_key();
  if (failed()) return;
  simple_key_allowed_ = false;
  YamlToken token{.kind = YamlTokenKind::scalar, .line = source_.line()};
  const char32_t quote = single ? '\'' : '"';
  source_.skip();
  YamlFolding folding;
  while (true) {
    if (is_document_indicator('-') || is_document_indicator('.')) {
      return fail("found unexpected document indicator", token.line);
    }
    if (source_.peek() == 0) return fail("found unexpected end of stream", token.line);
    while (!is_blank_or_end(source_.peek())) {
      const char32_t c = source_.peek();
      if (single && c == quote && source_.peek(1) == quote) {
        token.value += '\'';
        source_.skip();
        source_.skip();
      } else if (c == quote) {
        break;
      } else if (!single && c == '\\' && is_break(source_.peek(1))) {
        source_.skip();
        source_.skip_line();
        folding.broken = true;
        break;
      } else if (!single && c == '\\') {
        if (!scan_escape(token.value, token.line)) return;
      } else {
        read(token.value);
      }
    }
    if (source_.peek() == quote) break;
    while (is_blank(source_.peek()) || is_break(source_.peek())) {
      read_space(folding);
    }
    folding.join(token.value);
  }
  source_.skip();
  tokens_.push_back(std::move(token));
}

bool YamlScanner::scan_escape(std::string& text, int line) {
  constexpr std::string_view kNames = "abt\tnvfre \"'\\";
  constexpr std::string_view kMeanings = "\a\b\t\t\n\v\f\r\x1B \"'\\";
  const char32_t c = source_.peek(1);
  const std::size_t at = c != 0 && c < 0x80 ? kNames.find(static_cast<char>(c)) : std::string_view::npos;
  std::size_t digits = 0;
  if (at != std::string_view::npos) {
    text += kMeanings[at];
  } else if (c == '0') {
    text += '\0';
  } else if (c == 'N' || c == '_') {
    append_utf8(text, c == 'N' ? 0x85 : 0xA0);
  } else if (c == 'L' || c == 'P') {
    append_utf8(text, c == 'L' ? 0x2028 : 0x2029);
  } else if (c == 'x' || c == 'u' || c == 'U') {
    digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
  } else {
    fail("found unknown escape character", line);
    return false;
  }
  source_.skip();
  source_.skip();
  if (digits == 0) return true;
  unsigned long value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char32_t digit = source_.peek();
    const char32_t lower = digit | 0x20U;
    if (!is_digit(digit) && (lower < 'a' || lower > 'f')) {
      fail("did not find expected hexdecimal number", line);
      return false;
    }
    value = (value << 4U) + (is_digit(digit) ? digit - '0' : lower - 'a' + 10);
    source_.skip();
  }
  if ((value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) {
    fail("found invalid Unicode character escape code", line);
    return false;
  }
  append_utf8(text, static_cast<char32_t>(value));
  return true;
}

void YamlScanner::scan_plain_scalar() {
  save_simple_key();
  if (failed()) return;
  simple_key_allowed_ = false;
  YamlToken token{.kind = YamlTokenKind::scalar, .line = source_.line(), .plain = true};
  const int indent = indent_ + 1;
  YamlFolding folding;
  while (true) {
    if (is_document_indicator('-') || is_document_indicator('.') || source_.peek() == '#') break;
    while (!is_blank_or_end(source_.peek())) {
      const char32_t c = source_.peek();
      if (c == ':' && is_blank_or_end(source_.peek(1))) break;
      if (flow_level_ > 0 && (c == ',' || c == '?' || c == '[' || c == ']' || c == '{' || c == '}')) break;
      if (folding.broken || !folding.blanks.empty()) folding.join(token.value);
      read(token.value);
    }
    if (!is_blank(source_.peek()) && !is_break(source_.peek())) break;
    while (is_blank(source_.peek()) || is_break(source_.peek())) {
      if (folding.broken && source_.column() < indent && source_.peek() == '\t') {
        return fail("found a tab character that violates indentation", token.line);
      }
      read_space(folding);
    }
    if (flow_level_ == 0 && source_.column() < indent) break;
  }
  if (folding.broken) simple_key_allowed_ = true;
  if (!failed()) tokens_.push_back(std::move(token));
}

}  // namespace ctkit::cdi
