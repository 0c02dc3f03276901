#include "engine/containerd/go_path.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <utility>

#include "engine/file_reader.h"
#include "engine/toml_text.h"

// Rules of path/filepath/match.go (Go 1.16 and later; run against 1.19):
//  1. A pattern is a row of chunks, each but the first after one or more `*`.
//  2. `*` skips any run of bytes without a slash. A chunk takes its first fit, nothing is tried
//     again later; only the last chunk goes on looking until the name ends with it.
//  3. `?` is one rune but a slash; `[…]` and `[^…]` are one rune, a slash too; anything else is
//     one byte.
//  4. A byte that is no UTF-8 is the rune U+FFFD in a name, and an error inside a class of a
//     pattern.
//  5. A class needs a member; `-` and `]` stand in it only after a backslash. A backslash needs a
//     character after it. Otherwise the chunk is malformed, and an error when the matching comes
//     to it: not where the name ends earlier or an earlier chunk does not fit (path.Match is
//     stricter there).
//  6. Glob first matches the pattern and each of its folders with the empty name, so that a
//     malformed first chunk is always an error; a later one is only where a name gets to it.
//  7. Glob cuts at slashes before it looks at classes: `[a/b]` is malformed there although Match
//     takes it.
namespace ctkit::engine::containerd {
namespace {

constexpr char32_t kRuneError = 0xFFFD;

/// Go gives up on a pattern with more parts than that (CVE-2022-30632).
constexpr std::size_t kMostParts = 10'000;

struct Rune {
  char32_t value = kRuneError;
  std::size_t size = 1;

  [[nodiscard]] bool broken() const { return value == kRuneError && size == 1; }
};

struct RuneRange {
  char32_t low = 0;
  char32_t high = 0;
};

struct Token {
  enum class Kind : std::uint8_t { byte, any_rune, one_of };

  Kind kind = Kind::byte;
  char byte = 0;
  bool negated = false;
  std::vector<RuneRange> ranges = {};
};

struct Chunk {
  bool after_star = false;
  std::vector<Token> tokens = {};
};

/// utf8.DecodeRuneInString; the text is not empty.
Rune decode_rune(std::string_view text) {
  const std::size_t size = utf8_length(text, 0);
  if (size == 0) return {};
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  char32_t value = size == 1 ? byte(0) : byte(0) & (0x7FU >> size);
  for (std::size_t at = 1; at < size; ++at)
    value = (value << 6U) | (byte(at) & 0x3FU);
  return {.value = value, .size = size};
}

/// One member of a class, taken off the pattern; something must follow it, as the class is still
/// open.
std::optional<char32_t> take_class_rune(std::string_view& pattern) {
  if (pattern.empty() || pattern[0] == '-' || pattern[0] == ']') return std::nullopt;
  if (pattern[0] == '\\') pattern.remove_prefix(1);
  if (pattern.empty()) return std::nullopt;
  const Rune rune = decode_rune(pattern);
  pattern.remove_prefix(rune.size);
  if (rune.broken() || pattern.empty()) return std::nullopt;
  return rune.value;
}

/// The class after its `[`, taken off the pattern up to and with its `]`.
std::optional<Token> take_class(std::string_view& pattern) {
  Token token{.kind = Token::Kind::one_of, .negated = pattern.starts_with('^')};
  if (token.negated) pattern.remove_prefix(1);
  while (token.ranges.empty() || !pattern.starts_with(']')) {
    const auto low = take_class_rune(pattern);
    if (!low) return std::nullopt;
    auto high = low;
    if (pattern[0] == '-') {
      pattern.remove_prefix(1);
      high = take_class_rune(pattern);
      if (!high) return std::nullopt;
    }
    token.ranges.push_back({.low = *low, .high = *high});
  }
  pattern.remove_prefix(1);
  return token;
}

/// The next chunk, taken off the pattern; nothing if it is malformed.
std::optional<Chunk> take_chunk(std::string_view& pattern) {
  Chunk chunk{.after_star = pattern.starts_with('*')};
  pattern.remove_prefix(std::min(pattern.find_first_not_of('*'), pattern.size()));
  while (!pattern.empty() && pattern[0] != '*') {
    const char next = pattern[0];
    pattern.remove_prefix(1);
    if (next == '?') {
      chunk.tokens.push_back({.kind = Token::Kind::any_rune});
    } else if (next == '[') {
      auto token = take_class(pattern);
      if (!token) return std::nullopt;
      chunk.tokens.push_back(std::move(*token));
    } else if (next == '\\') {
      if (pattern.empty()) return std::nullopt;
      chunk.tokens.push_back({.byte = pattern[0]});
      pattern.remove_prefix(1);
    } else {
      chunk.tokens.push_back({.byte = next});
    }
  }
  return chunk;
}

/// How many bytes at the start of the name, which is not empty, fit the token.
std::optional<std::size_t> match_token(const Token& token, std::string_view name) {
  if (token.kind == Token::Kind::byte) {
    return name[0] == token.byte ? std::optional<std::size_t>(1) : std::nullopt;
  }
  const Rune rune = decode_rune(name);
  if (token.kind == Token::Kind::any_rune) {
    return name[0] != '/' ? std::optional(rune.size) : std::nullopt;
  }
  const bool found = std::ranges::any_of(
      token.ranges, [&](const RuneRange& range) { return range.low <= rune.value && rune.value <= range.high; });
  return found != token.negated ? std::optional(rune.size) : std::nullopt;
}

/// What is left of the name behind the chunk, if the name starts with it.
std::optional<std::string_view> match_chunk(const Chunk& chunk, std::string_view name) {
  for (const Token& token : chunk.tokens) {
    if (name.empty()) return std::nullopt;
    const auto size = match_token(token, name);
    if (!size) return std::nullopt;
    name.remove_prefix(*size);
  }
  return name;
}

/// The same where the chunk may start, by rule 2.
std::optional<std::string_view> find_chunk(const Chunk& chunk, std::string_view name, bool is_last) {
  while (true) {
    const auto rest = match_chunk(chunk, name);
    if (rest && (rest->empty() || !is_last)) return rest;
    if (!chunk.after_star || name.empty() || name[0] == '/') return std::nullopt;
    name.remove_prefix(1);
  }
}

/// Nothing if it comes to a malformed chunk.
std::optional<bool> matches(std::string_view pattern, std::string_view name) {
  while (!pattern.empty()) {
    const auto chunk = take_chunk(pattern);
    if (!chunk) return std::nullopt;
    if (chunk->tokens.empty()) return !name.contains('/');  // a `*` at the end
    const auto rest = find_chunk(*chunk, name, pattern.empty());
    if (!rest) return false;
    name = *rest;
  }
  return name.empty();
}

bool has_meta(std::string_view path) {
  return path.find_first_of(R"(*?[\)") != std::string_view::npos;
}

Error bad_pattern(std::string_view pattern) {
  return {.code = ErrorCode::daemon_refuses, .message = "syntax error in pattern '" + std::string(pattern) + "'"};
}

/// The path for the reader. Not cleaned: the kernel follows a link before it goes up from it.
std::string located(std::string_view path, std::string_view working_folder) {
  if (is_absolute(path)) return std::string(path);
  if (path == ".") return std::string(working_folder);
  std::string result(working_folder);
  if (!result.ends_with('/')) result += '/';
  return result += path;
}

/// The folder of a pattern as Go's cleanGlobPath leaves it; `path` ends with a slash or is empty.
std::string_view glob_folder(std::string_view path) {
  if (path.empty()) return ".";
  return path == "/" ? path : path.substr(0, path.size() - 1);
}

}  // namespace

std::string clean(std::string_view path) {
  const bool rooted = is_absolute(path);
  std::vector<std::string_view> parts;
  for (const auto part : std::views::split(path, '/')) {
    const std::string_view name(part.begin(), part.end());
    if (name.empty() || name == ".") continue;
    if (name == ".." && !parts.empty() && parts.back() != "..") {
      parts.pop_back();
    } else if (name != ".." || !rooted) {
      parts.push_back(name);
    }
  }
  std::string result = rooted ? "/" : "";
  for (const std::string_view part : parts) {
    if (!result.empty() && !result.ends_with('/')) result += '/';
    result += part;
  }
  return result.empty() ? "." : result;
}

std::string join(std::string_view left, std::string_view right) {
  if (left.empty()) return right.empty() ? "" : clean(right);
  return clean(std::string(left) + "/" + std::string(right));
}

std::string dir(std::string_view path) {
  return clean(path.substr(0, path.rfind('/') + 1));
}

std::string base(std::string_view path) {
  if (path.empty()) return ".";
  const std::size_t last = path.find_last_not_of('/');
  if (last == std::string_view::npos) return "/";
  path = path.substr(0, last + 1);
  return std::string(path.substr(path.rfind('/') + 1));
}

bool is_absolute(std::string_view path) {
  return path.starts_with('/');
}

Result<bool> match(std::string_view pattern, std::string_view name) {
  const auto result = matches(pattern, name);
  if (!result) return std::unexpected(bad_pattern(pattern));
  return *result;
}

Result<std::vector<std::string>> glob(std::string_view pattern,
                                      const FileReader& files,
                                      std::string_view working_folder) {
  // The parts that have to be matched, the last one first; then the folder where to start.
  std::vector<std::string_view> parts;
  std::string_view folder = pattern;
  while (has_meta(folder)) {
    if (parts.size() == kMostParts || !matches(folder, "")) {
      return std::unexpected(bad_pattern(pattern));
    }
    const std::size_t cut = folder.rfind('/') + 1;
    parts.push_back(folder.substr(cut));
    folder = glob_folder(folder.substr(0, cut));
  }

  std::vector<std::string> found = {std::string(folder)};
  if (parts.empty() && (pattern.empty() || !files.exists(located(pattern, working_folder)))) {
    found.clear();
  }
  for (const std::string_view part : parts | std::views::reverse) {
    std::vector<std::string> next;
    for (const std::string& parent : found) {
      const auto names = files.list(located(parent, working_folder));
      if (!names && names.error().code == ErrorCode::permission) {
        return std::unexpected(names.error());
      }
      if (!names) continue;
      for (const std::string& name : *names) {
        const auto taken = matches(part, name);
        if (!taken) return std::unexpected(bad_pattern(pattern));
        if (*taken) next.push_back(join(parent, name));
      }
    }
    found = std::move(next);
  }
  return found;
}

}  // namespace ctkit::engine::containerd
