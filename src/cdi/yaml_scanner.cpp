#include "cdi/yaml_scanner.h"

#include <utility>

namespace ctkit::cdi {

namespace {

constexpr std::size_t kMostDepth = 10000;  // max_flow_level and max_indents
constexpr std::size_t kLongestSimpleKey = 1024;
constexpr std::size_t kLongestVersionPart = 2;
constexpr char32_t kByteOrderMark = 0xFEFF;

constexpr bool is_digit(char32_t c) {
  return c >= '0' && c <= '9';
}
constexpr bool is_name(char32_t c) {
  return is_digit(c) || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' || c == '-';
}

constexpr bool is_one_of(char32_t c, std::string_view set) {
  return c != 0 && c < 0x80 && set.contains(static_cast<char>(c));
}

}  // namespace

void YamlScanner::fail(std::string problem, int line) {
  if (failed()) return;
  problem_ = std::move(problem);
  problem_line_ = line;
  source_.stop();
}

const YamlToken& YamlScanner::peek() {
  while (!failed() && !ended_) {
    if (!tokens_.empty()) {
      // The head may yet turn out to be a key, and then a token goes before it.
      const auto key = simple_key_of_token_.find(tokens_parsed_);
      if (key == simple_key_of_token_.end() || !is_valid(simple_keys_[key->second])) break;
    }
    if (failed()) break;
    fetch();
  }
  if (failed() || tokens_.empty()) return end_;
  return tokens_.front();
}

void YamlScanner::pop() {
  peek();
  if (failed() || tokens_.empty()) return;
  tokens_.pop_front();
  ++tokens_parsed_;
}

void YamlScanner::add(YamlTokenKind kind, int line) {
  tokens_.push_back({.kind = kind, .line = line});
}

void YamlScanner::insert(std::size_t token, YamlTokenKind kind, int line) {
  const auto at = static_cast<std::ptrdiff_t>(token - tokens_parsed_);
  tokens_.insert(tokens_.begin() + at, {.kind = kind, .line = line});
}

bool YamlScanner::is_document_indicator(char32_t c) {
  return source_.column() == 0 && source_.peek() == c && source_.peek(1) == c && source_.peek(2) == c &&
         is_blank_or_end(source_.peek(3));
}

bool YamlScanner::starts_plain_scalar() {
  const char32_t c = source_.peek();
  if (!is_blank_or_end(c) && !is_one_of(c, "-?:,[]{}#&*!|>'\"%@`")) return true;
  if (c == '-' && !is_blank(source_.peek(1))) return true;
  return flow_level_ == 0 && (c == '?' || c == ':') && !is_blank_or_end(source_.peek(1));
}

void YamlScanner::to_next_token() {
  while (true) {
    if (source_.column() == 0 && source_.peek() == kByteOrderMark) source_.skip();
    // In the block context a tab is no white space where a token may begin a line's structure.
    while (source_.peek() == ' ' || ((flow_level_ > 0 || !simple_key_allowed_) && source_.peek() == '\t'))
      source_.skip();
    if (source_.peek() == '#') {
      while (source_.peek() != 0 && !is_break(source_.peek()))
        source_.skip();
    }
    if (!is_break(source_.peek())) return;
    source_.skip_line();
    if (flow_level_ == 0) simple_key_allowed_ = true;
  }
}

void YamlScanner::fetch() {
  using enum YamlTokenKind;
  if (!started_) {
    started_ = true;
    simple_keys_.emplace_back();
    simple_key_allowed_ = true;
    source_.peek();
    return add(stream_start, source_.line());
  }
  to_next_token();
  if (failed()) return;
  unroll_indent(source_.column());
  source_.peek(3);
  if (failed()) return;
  const char32_t c = source_.peek();
  const bool blank_follows = is_blank_or_end(source_.peek(1));
  if (c == 0) return fetch_stream_end();
  if (source_.column() == 0 && c == '%') return fetch_directive();
  if (is_document_indicator('-')) return fetch_document_indicator(document_start);
  if (is_document_indicator('.')) return fetch_document_indicator(document_end);
  if (c == '[') return fetch_flow_start(flow_sequence_start);
  if (c == '{') return fetch_flow_start(flow_mapping_start);
  if (c == ']') return fetch_flow_end(flow_sequence_end);
  if (c == '}') return fetch_flow_end(flow_mapping_end);
  if (c == ',') return fetch_flow_entry();
  if (c == '-' && blank_follows) return fetch_block_entry();
  if (c == '?' && (flow_level_ > 0 || blank_follows)) return fetch_key();
  if (c == ':' && (flow_level_ > 0 || blank_follows)) return fetch_value();
  if (c == '*') return fetch_anchor(alias);
  if (c == '&') return fetch_anchor(anchor);
  if (c == '!') return fetch_tag();
  if (c == '|' && flow_level_ == 0) return scan_block_scalar(true);
  if (c == '>' && flow_level_ == 0) return scan_block_scalar(false);
  if (c == '\'') return scan_quoted_scalar(true);
  if (c == '"') return scan_quoted_scalar(false);
  if (starts_plain_scalar()) return scan_plain_scalar();
  fail("found character that cannot start any token", source_.line());
}

bool YamlScanner::is_valid(SimpleKey& key) {
  if (!key.possible) return false;
  if (key.line >= source_.line() && key.index + kLongestSimpleKey >= source_.index()) return true;
  if (key.required) fail("could not find expected ':'", key.line);
  key.possible = false;
  return false;
}

void YamlScanner::save_simple_key() {
  if (!simple_key_allowed_) return;
  const SimpleKey key{.possible = true,
                      .required = flow_level_ == 0 && indent_ == source_.column(),
                      .token = tokens_parsed_ + tokens_.size(),
                      .line = source_.line(),
                      .column = source_.column(),
                      .index = source_.index()};
  remove_simple_key();
  if (failed()) return;
  simple_keys_.back() = key;
  simple_key_of_token_[key.token] = simple_keys_.size() - 1;
}

void YamlScanner::remove_simple_key() {
  SimpleKey& key = simple_keys_.back();
  if (!key.possible) return;
  if (key.required) return fail("could not find expected ':'", key.line);
  key.possible = false;
  simple_key_of_token_.erase(key.token);
}

bool YamlScanner::push_indent(int column) {
  if (flow_level_ > 0 || indent_ >= column) return false;
  indents_.push_back(indent_);
  indent_ = column;
  if (indents_.size() <= kMostDepth) return true;
  fail("exceeded max depth of 10000", source_.line());
  return false;
}

void YamlScanner::roll_indent(int column, YamlTokenKind kind, int line) {
  if (push_indent(column)) add(kind, line);
}

void YamlScanner::roll_indent_at(int column, std::size_t token, YamlTokenKind kind, int line) {
  if (push_indent(column)) insert(token, kind, line);
}

void YamlScanner::unroll_indent(int column) {
  if (flow_level_ > 0) return;
  while (indent_ > column) {
    add(YamlTokenKind::block_end, source_.line());
    indent_ = indents_.back();
    indents_.pop_back();
  }
}

// What a directive, a document indicator and the end of the text do first.
void YamlScanner::end_line_state() {
  unroll_indent(-1);
  remove_simple_key();
  simple_key_allowed_ = false;
}

void YamlScanner::fetch_stream_end() {
  end_line_state();
  if (failed()) return;
  ended_ = true;
  add(YamlTokenKind::stream_end, source_.line());
}

void YamlScanner::fetch_document_indicator(YamlTokenKind kind) {
  end_line_state();
  if (failed()) return;
  add(kind, source_.line());
  for (int i = 0; i < 3; ++i)
    source_.skip();
}

void YamlScanner::fetch_flow_start(YamlTokenKind kind) {
  save_simple_key();
  simple_keys_.push_back({.token = tokens_parsed_ + tokens_.size()});
  ++flow_level_;
  if (static_cast<std::size_t>(flow_level_) > kMostDepth) return fail("exceeded max depth of 10000", source_.line());
  simple_key_allowed_ = true;
  add(kind, source_.line());
  source_.skip();
}

void YamlScanner::fetch_flow_end(YamlTokenKind kind) {
  remove_simple_key();
  if (failed()) return;
  if (flow_level_ > 0) {
    --flow_level_;
    simple_key_of_token_.erase(simple_keys_.back().token);
    simple_keys_.pop_back();
  }
  simple_key_allowed_ = false;
  add(kind, source_.line());
  source_.skip();
}

void YamlScanner::fetch_flow_entry() {
  remove_simple_key();
  if (failed()) return;
  simple_key_allowed_ = true;
  add(YamlTokenKind::flow_entry, source_.line());
  source_.skip();
}

void YamlScanner::fetch_block_entry() {
  if (flow_level_ == 0) {
    if (!simple_key_allowed_) return fail("block sequence entries are not allowed in this context", source_.line());
    roll_indent(source_.column(), YamlTokenKind::block_sequence_start, source_.line());
  }
  remove_simple_key();
  if (failed()) return;
  simple_key_allowed_ = true;
  add(YamlTokenKind::block_entry, source_.line());
  source_.skip();
}

void YamlScanner::fetch_key() {
  if (flow_level_ == 0) {
    if (!simple_key_allowed_) return fail("mapping keys are not allowed in this context", source_.line());
    roll_indent(source_.column(), YamlTokenKind::block_mapping_start, source_.line());
  }
  remove_simple_key();
  if (failed()) return;
  simple_key_allowed_ = flow_level_ == 0;
  add(YamlTokenKind::key, source_.line());
  source_.skip();
}

void YamlScanner::fetch_value() {
  SimpleKey& key = simple_keys_.back();
  if (is_valid(key)) {
    insert(key.token, YamlTokenKind::key, key.line);
    roll_indent_at(key.column, key.token, YamlTokenKind::block_mapping_start, key.line);
    key.possible = false;
    simple_key_of_token_.erase(key.token);
    simple_key_allowed_ = false;
  } else {
    if (failed()) return;
    if (flow_level_ == 0) {
      if (!simple_key_allowed_) return fail("mapping values are not allowed in this context", source_.line());
      roll_indent(source_.column(), YamlTokenKind::block_mapping_start, source_.line());
    }
    simple_key_allowed_ = flow_level_ == 0;
  }
  if (failed()) return;
  add(YamlTokenKind::value, source_.line());
  source_.skip();
}

void YamlScanner::fetch_anchor(YamlTokenKind kind) {
  save_simple_key();
  if (failed()) return;
  simple_key_allowed_ = false;
  YamlToken token{.kind = kind, .line = source_.line()};
  source_.skip();
  while (is_name(source_.peek()))
    read(token.value);
  const char32_t next = source_.peek();
  if (token.value.empty() || !(is_blank_or_end(next) || is_one_of(next, "?:,]}%@`"))) {
    return fail("did not find expected alphabetic or numeric character", token.line);
  }
  tokens_.push_back(std::move(token));
}

void YamlScanner::fetch_tag() {
  save_simple_key();
  if (failed()) return;
  simple_key_allowed_ = false;
  YamlToken token{.kind = YamlTokenKind::tag, .line = source_.line()};
  if (source_.peek(1) == '<') {
    source_.skip();
    source_.skip();
    token.suffix = scan_tag_uri("", token.line);
    if (source_.peek() != '>') return fail("did not find the expected '>'", token.line);
    source_.skip();
  } else {
    token.value = scan_tag_handle(false, token.line);
    if (token.value.size() > 1 && token.value.ends_with('!')) {
      token.suffix = scan_tag_uri("", token.line);
    } else {
      token.suffix = scan_tag_uri(token.value, token.line);
      token.value = "!";
      if (token.suffix.empty()) std::swap(token.value, token.suffix);
    }
  }
  if (!is_blank_or_end(source_.peek())) return fail("did not find expected whitespace or line break", token.line);
  tokens_.push_back(std::move(token));
}

std::string YamlScanner::scan_tag_handle(bool directive, int line) {
  std::string handle;
  if (source_.peek() != '!') {
    fail("did not find expected '!'", line);
    return handle;
  }
  read(handle);
  while (is_name(source_.peek()))
    read(handle);
  if (source_.peek() == '!') {
    read(handle);
  } else if (directive && handle != "!") {
    fail("did not find expected '!'", line);
  }
  return handle;
}

std::string YamlScanner::scan_tag_uri(std::string_view head, int line) {
  std::string uri(head.size() > 1 ? head.substr(1) : "");
  bool any = !head.empty();
  while (is_name(source_.peek()) || is_one_of(source_.peek(), ";/?:@&=+$.,!~*'()[]%")) {
    if (source_.peek() == '%') {
      if (!scan_escaped_octets(uri, line)) return uri;
    } else {
      read(uri);
    }
    any = true;
  }
  if (!any) fail("did not find expected tag URI", line);
  return uri;
}

bool YamlScanner::scan_escaped_octets(std::string& text, int line) {
  const auto hex = [](char32_t c) -> int {
    if (is_digit(c)) return static_cast<int>(c - '0');
    if (c >= 'a' && c <= 'f') return static_cast<int>(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return static_cast<int>(c - 'A') + 10;
    return -1;
  };
  int left = 1;
  for (bool first = true; left > 0; first = false) {
    const int high = hex(source_.peek(1));
    const int low = hex(source_.peek(2));
    if (source_.peek() != '%' || high < 0 || low < 0) {
      fail("did not find URI escaped octet", line);
      return false;
    }
    const auto octet = static_cast<unsigned>(high * 16 + low);
    if (first) {
      left = octet < 0x80              ? 1
             : (octet & 0xE0U) == 0xC0 ? 2
             : (octet & 0xF0U) == 0xE0 ? 3
             : (octet & 0xF8U) == 0xF0 ? 4
                                       : 0;
      if (left == 0) {
        fail("found an incorrect leading UTF-8 octet", line);
        return false;
      }
    } else if ((octet & 0xC0U) != 0x80) {
      fail("found an incorrect trailing UTF-8 octet", line);
      return false;
    }
    text += static_cast<char>(octet);
    for (int i = 0; i < 3; ++i)
      source_.skip();
    --left;
  }
  return true;
}

void YamlScanner::fetch_directive() {
  end_line_state();
  if (failed()) return;
  YamlToken token{.line = source_.line()};
  source_.skip();
  std::string name;
  while (is_name(source_.peek()))
    read(name);
  if (name.empty()) return fail("could not find expected directive name", token.line);
  if (!is_blank_or_end(source_.peek())) return fail("found unexpected non-alphabetical character", token.line);
  while (is_blank(source_.peek()))
    source_.skip();
  if (name == "YAML") {
    token.kind = YamlTokenKind::version_directive;
    token.value = scan_version(token.line);
  } else if (name == "TAG") {
    token.kind = YamlTokenKind::tag_directive;
    token.value = scan_tag_handle(true, token.line);
    if (!is_blank(source_.peek())) return fail("did not find expected whitespace", token.line);
    while (is_blank(source_.peek()))
      source_.skip();
    token.suffix = scan_tag_uri("", token.line);
    if (!is_blank_or_end(source_.peek())) return fail("did not find expected whitespace or line break", token.line);
  } else {
    return fail("found unknown directive name", token.line);
  }
  scan_directive_end(token.line);
  if (!failed()) tokens_.push_back(std::move(token));
}

std::string YamlScanner::scan_version(int line) {
  std::string version;
  for (const bool major : {true, false}) {
    std::string number;
    while (is_digit(source_.peek()))
      read(number);
    if (number.empty()) {
      fail("did not find expected version number", line);
    } else if (number.size() > kLongestVersionPart) {
      fail("found extremely long version number", line);
    }
    // 01.1 is 1.1
    while (number.size() > 1 && number.starts_with('0'))
      number.erase(0, 1);
    version += number;
    if (!major) break;
    if (source_.peek() != '.') fail("did not find expected digit or '.' character", line);
    read(version);
  }
  return version;
}

void YamlScanner::scan_directive_end(int line) {
  while (is_blank(source_.peek()))
    source_.skip();
  if (source_.peek() == '#') {
    while (source_.peek() != 0 && !is_break(source_.peek()))
      source_.skip();
  }
  if (source_.peek() != 0 && !is_break(source_.peek()))
    return fail("did not find expected comment or line break", line);
  source_.skip_line();
}

void YamlScanner::read(std::string& text) {
  append_utf8(text, source_.peek());
  source_.skip();
}

// CR, LF, CR LF and NEL become LF; the other two breaks stay.
void YamlScanner::read_line(std::string& text) {
  const char32_t c = source_.peek();
  if (!is_break(c)) return;
  append_utf8(text, c > 0x85 ? c : U'\n');
  source_.skip_line();
}

}  // namespace ctkit::cdi
