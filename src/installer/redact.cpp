#include "installer/redact.h"

#include <algorithm>
#include <array>

#include "engine/toml_writer.h"

namespace ctkit::installer {

namespace {

constexpr std::string_view kRedacted = "\"<redacted>\"";

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

bool names_a_credential(std::string_view part) {
  constexpr std::array<std::string_view, 8> kNames = {"password",      "passwd", "auth",   "identitytoken",
                                                      "registrytoken", "token",  "secret", "authorization"};
  return std::ranges::find(kNames, lower(part)) != kNames.end();
}

engine::Value redacted(const engine::KeyPath& key, const engine::Value& value) {
  if (const engine::Table* table = value.table()) {
    engine::Value copy{.data = engine::Table{}};
    for (const auto& [name, child] : *table) copy.table()->emplace(name, redacted(key.child(name), child));
    return copy;
  }
  if (is_secret(key)) return {.data = std::string("<redacted>")};
  if (const engine::Array* array = value.array()) {
    engine::Array copy;
    for (const engine::Value& item : *array) copy.push_back(redacted(key, item));
    return {.data = std::move(copy)};
  }
  return value;
}

}  // namespace

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
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    const std::size_t begin = line.find_first_not_of("+- \t");
    const std::size_t equals = line.find('=');
    if (begin != std::string_view::npos && line[begin] == '[') in_headers = line.contains("headers");
    if (begin == std::string_view::npos || equals == std::string_view::npos || equals < begin) {
      result += line;
      continue;
    }
    std::string_view key = line.substr(begin, equals - begin);
    while (!key.empty() && (key.back() == ' ' || key.back() == '\t' || key.back() == '"' || key.back() == '\'')) {
      key.remove_suffix(1);
    }
    key.remove_prefix(std::min(key.size(), key.find_last_of(".\"' ") + 1));
    const bool braces = line.substr(equals).contains('{');
    const bool secret = names_a_credential(key) || (in_headers && line[begin] != '[') ||
                        (braces && (lower(line).contains("password") || lower(line).contains("token") ||
                                    lower(line).contains("auth")));
    if (!secret) {
      result += line;
      continue;
    }
    result += std::string(line.substr(0, equals + 1)) + " " + std::string(kRedacted);
    if (line.ends_with('\n')) result += '\n';
  }
  return result;
}

}  // namespace ctkit::installer
