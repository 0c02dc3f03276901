#include "engine/release.h"

#include <array>
#include <charconv>
#include <cstddef>

namespace ctkit::engine {

namespace {

/// Reads a number at `at` and moves behind it; false if there is none or it is absurdly long.
bool read_number(std::string_view text, std::size_t& at, int& number) {
  const char* const begin = text.data() + at;
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  if (error != std::errc{} || *begin == '-') return false;
  at += static_cast<std::size_t>(end - begin);
  return true;
}

/// `1.7.27` with an optional `v` before it and anything after it.
bool read_version(std::string_view word, Release& release) {
  if (word.starts_with('v')) word.remove_prefix(1);
  if (word.empty()) return false;
  std::size_t at = 0;
  if (!read_number(word, at, release.major)) return false;
  if (at >= word.size() || word[at] != '.') return false;
  if (++at >= word.size() || !read_number(word, at, release.minor)) return false;
  if (at >= word.size() || word[at] != '.') return false;
  if (++at >= word.size() || !read_number(word, at, release.patch)) return false;
  release.suffix = word.substr(at);
  return release.suffix.empty() || std::string_view("-~+").contains(release.suffix.front());
}

}  // namespace

Result<Release> Release::parse(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t begin = rest.find_first_not_of(" \t\r\n");
    if (begin == std::string_view::npos) break;
    rest.remove_prefix(begin);
    const std::string_view word = rest.substr(0, rest.find_first_of(" \t\r\n"));
    Release release;
    if (read_version(word, release)) return release;
    rest.remove_prefix(word.size());
  }
  return std::unexpected(Error{.code = ErrorCode::unknown_release,
                               .message = "cannot read a release in '" + std::string(text) + "'",
                               .hint = "give it as three numbers, as --release 1.7.27"});
}

std::string Release::to_string() const {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch) + suffix;
}

bool Release::pre_release() const {
  static constexpr std::array<std::string_view, 3> kMarks = {"-alpha", "-beta", "-rc"};
  for (const std::string_view mark : kMarks) {
    if (suffix.starts_with(mark)) return true;
  }
  return false;
}

bool Release::repacked() const {
  // Debian's containerd 2.x leaves version.Version as the sources have it.
  return suffix.starts_with("~ds") || suffix.starts_with("+ds") || suffix == "+unknown";
}

std::strong_ordering compare(const Release& left, const Release& right) {
  if (const auto order = left.major <=> right.major; order != 0) return order;
  if (const auto order = left.minor <=> right.minor; order != 0) return order;
  if (const auto order = left.patch <=> right.patch; order != 0) return order;
  return right.pre_release() <=> left.pre_release();
}

}  // namespace ctkit::engine
