#include "engine/key_path.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "engine/toml_text.h"

namespace ctkit::engine {

namespace {

Error not_a_key(std::string_view text, std::size_t at) {
  return {.code = ErrorCode::usage,
          .message = "'" + std::string(text) + "' is no dotted key: unexpected " +
                     (at < text.size() ? "character at " + std::to_string(at + 1) : "end"),
          .hint = "write it as TOML does: plugins.\"io.containerd.grpc.v1.cri\".containerd"};
}

/// One key out of a dotted key; nothing where it cannot be read.
class KeyReader {
 public:
  explicit KeyReader(std::string_view text) : text_(text) {}

  std::optional<std::string> part() {
    if (at_ == text_.size()) return std::nullopt;
    if (text_[at_] == '\'') return literal();
    if (text_[at_] == '"') return basic();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_bare_key_character(text_[at_]))
      ++at_;
    if (at_ == begin) return std::nullopt;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void skip_blanks() {
    while (at_ < text_.size() && is_blank(text_[at_]))
      ++at_;
  }

  bool skip(char c) {
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  [[nodiscard]] std::size_t at() const { return at_; }
  [[nodiscard]] bool at_end() const { return at_ == text_.size(); }

 private:
  std::optional<std::string> literal() {
    const std::size_t end = text_.find('\'', at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string part(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return part;
  }

  std::optional<std::string> basic() {
    std::string part;
    for (++at_; at_ < text_.size(); ++at_) {
      if (text_[at_] == '"') {
        ++at_;
        return part;
      }
      if (text_[at_] != '\\') {
        part += text_[at_];
      } else if (!escape(part)) {
        return std::nullopt;
      }
    }
    return std::nullopt;
  }

  /// From the backslash to the last character of the escape.
  bool escape(std::string& part) {
    constexpr std::string_view kNames = "btnfr\"\\";
    constexpr std::string_view kMeanings = "\b\t\n\f\r\"\\";
    if (++at_ == text_.size()) return false;
    if (const auto name = kNames.find(text_[at_]); name != std::string_view::npos) {
      part += kMeanings[name];
      return true;
    }
    std::size_t digits = 0;
    if (text_[at_] == 'u') digits = 4;
    if (text_[at_] == 'U') digits = 8;
    const auto rune = parse_hex(text_.substr(at_ + 1).substr(0, digits));
    if (digits == 0 || text_.size() - at_ - 1 < digits || !rune || !is_unicode_scalar(*rune)) {
      return false;
    }
    append_utf8(part, *rune);
    at_ += digits;
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string quote(std::string_view part) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr std::string_view kSpecial = "\b\t\n\f\r\"\\";
  constexpr std::string_view kNames = "btnfr\"\\";
  std::string text = "\"";
  for (const char c : part) {
    const auto byte = static_cast<unsigned char>(c);
    if (const auto special = kSpecial.find(c); special != std::string_view::npos) {
      text += '\\';
      text += kNames[special];
    } else if (byte < 0x20 || byte == 0x7f) {
      text += "\\u00";
      text += kHex[byte >> 4U];
      text += kHex[byte & 0xfU];
    } else {
      text += c;
    }
  }
  return text += '"';
}

}  // namespace

Result<KeyPath> KeyPath::parse(std::string_view text) {
  KeyPath path;
  KeyReader reader(text);
  do {
    reader.skip_blanks();
    auto part = reader.part();
    if (!part) return std::unexpected(not_a_key(text, reader.at()));
    path.parts.push_back(std::move(*part));
    reader.skip_blanks();
  } while (reader.skip('.'));
  if (!reader.at_end()) return std::unexpected(not_a_key(text, reader.at()));
  return path;
}

std::string KeyPath::to_string() const {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += '.';
    text += quote_key(part);
  }
  return text;
}

KeyPath KeyPath::child(std::string_view part) const {
  KeyPath path = *this;
  path.parts.emplace_back(part);
  return path;
}

bool KeyPath::starts_with(const KeyPath& prefix) const {
  return parts.size() >= prefix.parts.size() && std::equal(prefix.parts.begin(), prefix.parts.end(), parts.begin());
}

std::string quote_key(std::string_view part) {
  const bool bare = !part.empty() && std::ranges::all_of(part, is_bare_key_character);
  return bare ? std::string(part) : quote(part);
}

}  // namespace ctkit::engine
