#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

namespace ctkit::daemonset {

/// Without blanks, tabs and line ends at either side.
inline std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t start = text.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) return "";
  return text.substr(start, text.find_last_not_of(kBlanks) - start + 1);
}

/// The words between runs of `separator`.
inline std::vector<std::string_view> split_words(std::string_view text, char separator = ' ') {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::size_t end = text.find(separator) == std::string_view::npos ? text.size() : text.find(separator);
    if (end > 0) words.push_back(text.substr(0, end));
    text.remove_prefix(end == text.size() ? end : end + 1);
  }
  return words;
}

/// Go's strconv.ParseBool.
inline std::optional<bool> parse_bool(std::string_view text) {
  constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "TRUE", "true", "True"};
  constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "FALSE", "false", "False"};
  if (std::ranges::find(kTrue, text) != kTrue.end()) return true;
  if (std::ranges::find(kFalse, text) != kFalse.end()) return false;
  return std::nullopt;
}

}  // namespace ctkit::daemonset
