#include "installer/redact.h"

#include <algorithm>
#include <array>

#include "engine/letter_case.h"
#include "engine/toml_writer.h"

namespace ctkit::installer {

namespace {

constexpr std::string_view kRedacted = "\"<redacted>\"";

bool names_a_credential(std::string_view part) {
  constexpr std::array<std::string_view, 8> kNames = {
      "password", "passwd", "auth", "identitytoken", "registrytoken", "token", "secret", "authorization"};
  return std::ranges::find(kNames, engine::lower(part)) != kNames.end();
}

/// A value that goes on over several lines.
struct OpenValue {
  int depth = 0;           // of brackets and braces
  std::string quote = {};  // the string we are in

  [[nodiscard]] bool open() const { return depth > 0 || !quote.empty(); }

  void read(std::string_view line) {
    for (std::size_t i = 0; i < line.size(); ++i) {
      const std::string_view rest = line.substr(i);
      if (!quote.empty()) {
        if (quote.front() == '"' && rest.front() == '\\') {
          ++i;
        } else if (rest.starts_with(quote)) {
          i += quote.size() - 1;
          quote.clear();
        }
      } else if (rest.front() == '#') {
        break;
      } else if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
        quote = rest.substr(0, 3);
        i += 2;
      } else if (rest.front() == '"' || rest.front() == '\'') {
        quote = rest.substr(0, 1);
      } else if (rest.front() == '[' || rest.front() == '{') {
        ++depth;
      } else if ((rest.front() == ']' || rest.front() == '}') && depth > 0) {
        --depth;
      }
    }
    if (quote.size() == 1) quote.clear();  // ends with its line
  }
};

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

/// Whether any `key =` in the line names a credential, or stands below `headers`.
bool assigns_a_credential(std::string_view line) {
  constexpr std::string_view kAroundKeys = " \t\"'.,{[#";
  for (std::size_t equals = line.find('='); equals != std::string_view::npos; equals = line.find('=', equals + 1)) {
    std::string_view key = line.substr(0, equals);
    const std::size_t end = key.find_last_not_of(" \t\"'");
    key = key.substr(0, end == std::string_view::npos ? 0 : end + 1);
    const std::string_view last = key.substr(key.find_last_of(kAroundKeys) + 1);
    if (names_a_credential(last)) return true;
    const bool inline_table = without_spaces(line.substr(equals + 1)).starts_with('{');
    if (key.contains("headers") && (last != "headers" || inline_table)) return true;
  }
  return false;
}

}  // namespace

engine::Value redacted(const engine::KeyPath& key, const engine::Value& value) {
  if (const engine::Table* table = value.table()) {
    engine::Value copy{.data = engine::Table{}};
    for (const auto& [name, child] : *table)
      copy.table()->emplace(name, redacted(key.child(name), child));
    return copy;
  }
  if (is_secret(key)) return {.data = std::string("<redacted>")};
  if (const engine::Array* array = value.array()) {
    engine::Array copy;
    for (const engine::Value& item : *array)
      copy.push_back(redacted(key, item));
    return {.data = std::move(copy)};
  }
  return value;
}

bool is_secret(const engine::KeyPath& key) {
  if (key.parts.empty()) return false;
  if (names_a_credential(key.parts.back())) return true;
  const auto headers = std::ranges::find(key.parts, "headers");
  return headers != key.parts.end() && headers != key.parts.end() - 1;
}

std::string shown(const engine::KeyPath& key, const engine::Value& value) {
  return engine::render_value(redacted(key, value));
}

std::string redact_lines(std::string_view text) {
  std::string result;
  bool in_headers = false;
  bool secret = false;
  OpenValue value;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    const std::string_view words = without_spaces(line);
    const bool continued = value.open();
    const std::size_t equals = line.find('=');
    const bool assigns = equals != std::string_view::npos;
    if (!continued && words.starts_with('[')) in_headers = words.contains("headers");
    const bool starts = !continued && assigns && !words.starts_with('[') && !words.starts_with('#');
    if (!continued) secret = starts && in_headers;
    const bool remark = in_headers && assigns && words.starts_with('#');
    const bool hidden = secret || remark || assigns_a_credential(line);
    if (starts) secret = hidden;
    if (continued) {
      value.read(line);
    } else if (starts) {
      value.read(line.substr(equals + 1));
    }
    if (!hidden) {
      result += line;
      continue;
    }
    if (assigns && !(continued && secret)) result += std::string(line.substr(0, equals + 1)) + " ";
    result += kRedacted;
    if (line.ends_with('\n')) result += '\n';
  }
  return result;
}

}  // namespace ctkit::installer
