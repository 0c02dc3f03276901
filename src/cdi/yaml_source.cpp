#include "cdi/yaml_source.h"

#include <algorithm>

namespace ctkit::cdi {

namespace {

constexpr std::size_t kPiece = 512;  // go-yaml's input_raw_buffer_size

constexpr unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

// YAML 1.1's printable characters, as readerc.go has them.
constexpr bool is_allowed(char32_t c) {
  return c == 0x09 || c == 0x0A || c == 0x0D || (c >= 0x20 && c <= 0x7E) || c == 0x85 || (c >= 0xA0 && c <= 0xD7FF) ||
         (c >= 0xE000 && c <= 0xFFFD) || (c >= 0x10000 && c <= 0x10FFFF);
}

}  // namespace

void append_utf8(std::string& text, char32_t c) {
  const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6U));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12U));
    put(0x80 | ((c >> 6U) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18U));
    put(0x80 | ((c >> 12U) & 0x3F));
    put(0x80 | ((c >> 6U) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

char32_t YamlSource::peek(std::size_t ahead) {
  while (!stopped_ && position_ + ahead >= characters_.size()) {
    if (!decode_piece()) break;
  }
  if (stopped_ || position_ + ahead >= characters_.size()) return 0;
  return characters_[position_ + ahead];
}

void YamlSource::skip() {
  if (peek() == 0) return;
  ++position_;
  ++column_;
}

void YamlSource::skip_line() {
  const char32_t c = peek();
  if (!is_break(c)) return;
  position_ += c == '\r' && peek(1) == '\n' ? 2U : 1U;
  column_ = 0;
  ++line_;
}

bool YamlSource::fail(const char* problem) {
  if (problem_.empty()) problem_ = problem;
  stopped_ = true;
  return false;
}

// False when there is nothing left, or after an error.
bool YamlSource::decode_piece() {
  if (raw_end_ == text_.size() && raw_ == raw_end_) return false;
  // What an incomplete character left over counts for the next piece.
  const std::size_t before = raw_;
  raw_end_ = std::min(text_.size(), raw_ + kPiece);
  if (encoding_ == Encoding::unknown) find_encoding();
  while (raw_ < raw_end_) {
    if (!decode_one(raw_end_)) break;
  }
  return !stopped_ && raw_ != before;
}

void YamlSource::find_encoding() {
  encoding_ = Encoding::utf8;
  if (text_.starts_with("\xFF\xFE")) {
    encoding_ = Encoding::utf16_little;
    raw_ = 2;
  } else if (text_.starts_with("\xFE\xFF")) {
    encoding_ = Encoding::utf16_big;
    raw_ = 2;
  } else if (text_.starts_with("\xEF\xBB\xBF")) {
    raw_ = 3;
  }
}

bool YamlSource::decode_one(std::size_t end) {
  char32_t value = 0;
  std::size_t width = 0;
  const bool decoded = encoding_ == Encoding::utf8 ? decode_utf8(end, value, width) : decode_utf16(end, value, width);
  if (!decoded) return false;
  if (!is_allowed(value)) return fail("control characters are not allowed");
  raw_ += width;
  characters_.push_back(value);
  return true;
}

bool YamlSource::decode_utf8(std::size_t end, char32_t& value, std::size_t& width) {
  const unsigned first = byte_at(text_, raw_);
  width = first < 0x80              ? 1
          : (first & 0xE0U) == 0xC0 ? 2
          : (first & 0xF0U) == 0xE0 ? 3
          : (first & 0xF8U) == 0xF0 ? 4
                                    : 0;
  if (width == 0) return fail("invalid leading UTF-8 octet");
  if (raw_ + width > end) return end == text_.size() ? fail("incomplete UTF-8 octet sequence") : false;
  value = width == 1 ? first : width == 2 ? first & 0x1FU : width == 3 ? first & 0x0FU : first & 0x07U;
  for (std::size_t i = 1; i < width; ++i) {
    const unsigned next = byte_at(text_, raw_ + i);
    if ((next & 0xC0U) != 0x80) return fail("invalid trailing UTF-8 octet");
    value = (value << 6U) | (next & 0x3FU);
  }
  const bool fits =
      width == 1 || (width == 2 && value >= 0x80) || (width == 3 && value >= 0x800) || (width == 4 && value >= 0x10000);
  if (!fits) return fail("invalid length of a UTF-8 sequence");
  if ((value >= 0xD800 && value <= 0xDFFF) || value > 0x10FFFF) return fail("invalid Unicode character");
  return true;
}

bool YamlSource::decode_utf16(std::size_t end, char32_t& value, std::size_t& width) {
  const auto unit = [this](std::size_t at) {
    const unsigned one = byte_at(text_, at);
    const unsigned two = byte_at(text_, at + 1);
    return encoding_ == Encoding::utf16_little ? one | (two << 8U) : two | (one << 8U);
  };
  width = 2;
  if (raw_ + 2 > end) return end == text_.size() ? fail("incomplete UTF-16 character") : false;
  value = unit(raw_);
  if ((value & 0xFC00U) == 0xDC00) return fail("unexpected low surrogate area");
  if ((value & 0xFC00U) != 0xD800) return true;
  width = 4;
  if (raw_ + 4 > end) return end == text_.size() ? fail("incomplete UTF-16 surrogate pair") : false;
  const unsigned low = unit(raw_ + 2);
  if ((low & 0xFC00U) != 0xDC00) return fail("expected low surrogate area");
  value = 0x10000 + ((value & 0x3FFU) << 10U) + (low & 0x3FFU);
  return true;
}

}  // namespace ctkit::cdi
