#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "engine/crio/command_line.h"

// systemd.exec(5), EnvironmentFile=: assignments a line, `#` and `;` begin a comment, quotes around a value go, a
// backslash at the end of a line joins the next. The packaged unit's ExecStart names five variables without quotes,
// which systemd splits at white space.

namespace ctkit::engine::crio {

namespace {

constexpr std::string_view kPath = "/etc/sysconfig/crio";
constexpr std::array<std::string_view, 5> kOptions = {"CRIO_CONFIG_OPTIONS",
                                                      "CRIO_RUNTIME_OPTIONS",
                                                      "CRIO_STORAGE_OPTIONS",
                                                      "CRIO_NETWORK_OPTIONS",
                                                      "CRIO_METRICS_OPTIONS"};
constexpr std::string_view kSpace = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

/// Quotes go, wherever in the value they are; in double quotes and outside of them a backslash takes the next letter.
std::string unquoted(std::string_view text) {
  std::string value;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (quote == 0 && (letter == '"' || letter == '\'')) {
      quote = letter;
    } else if (letter == quote) {
      quote = 0;
    } else if (letter == '\\' && quote != '\'' && i + 1 < text.size()) {
      value += text[++i];
    } else {
      value += letter;
    }
  }
  return value;
}

std::vector<StartVariable> read_assignments(std::string_view text) {
  std::vector<StartVariable> variables;
  const auto file = std::make_shared<const std::string>(kPath);
  std::uint32_t line = 0;
  while (!text.empty()) {
    std::string whole;
    const std::uint32_t first = line + 1;
    bool joined = true;
    while (joined && !text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view part = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      ++line;
      joined = part.ends_with('\\');
      if (joined) part.remove_suffix(1);
      whole += part;
    }
    const std::string_view statement = trimmed(whole);
    const std::size_t equals = statement.find('=');
    if (statement.empty() || statement.front() == '#' || statement.front() == ';' || equals == std::string_view::npos)
      continue;
    variables.push_back({.name = std::string(trimmed(statement.substr(0, equals))),
                         .value = unquoted(trimmed(statement.substr(equals + 1))),
                         .origin = {.file = file, .line = first, .column = 1}});
  }
  return variables;
}

void split_words(const StartVariable& variable, std::vector<StartWord>& words) {
  std::string_view rest = variable.value;
  while (true) {
    const std::size_t begin = rest.find_first_not_of(" \t\n");
    if (begin == std::string_view::npos) return;
    rest.remove_prefix(begin);
    const std::string_view word = rest.substr(0, rest.find_first_of(" \t\n"));
    words.push_back({.text = unquoted(word), .origin = variable.origin});
    rest.remove_prefix(word.size());
  }
}

}  // namespace

StartWords read_environment_file(const FileReader& files) {
  StartWords start;
  const auto text = files.read(kPath);
  if (!text) return start;
  start.variables = read_assignments(*text);
  for (const std::string_view name : kOptions) {
    // The last assignment of a name counts.
    const auto found = std::ranges::find(start.variables.rbegin(), start.variables.rend(), name, &StartVariable::name);
    if (found != start.variables.rend()) split_words(*found, start.words);
  }
  return start;
}

}  // namespace ctkit::engine::crio
