#include "installer/process_stat.h"

#include <charconv>
#include <optional>
#include <system_error>

namespace ctkit::installer {

namespace {

constexpr int kFieldsBefore = 19;  // from the state, field 3, to the start, field 22

}  // namespace

engine::Result<std::int64_t> parse_start_ticks(std::string_view stat) {
  // The name in parentheses may hold blanks and parentheses itself.
  const auto name_end = stat.rfind(") ");
  std::string_view rest = name_end == std::string_view::npos ? "" : stat.substr(name_end + 2);
  for (int field = 0; field < kFieldsBefore && !rest.empty(); ++field) {
    const auto blank = rest.find(' ');
    rest.remove_prefix(blank == std::string_view::npos ? rest.size() : blank + 1);
  }
  std::int64_t ticks = -1;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), ticks);
  if (error != std::errc() || ticks < 0) {
    return std::unexpected(engine::Error{.message = "cannot read when a process started"});
  }
  return ticks;
}

std::optional<std::int64_t> parse_own_pid(std::string_view status) {
  constexpr std::string_view kField = "\nNSpid:";
  const auto begin = status.find(kField);
  if (begin == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(begin + kField.size());
  line = line.substr(0, line.find('\n'));
  const auto last = line.find_last_of(" \t");
  if (last != std::string_view::npos) line.remove_prefix(last + 1);
  std::int64_t pid = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), pid);
  if (error != std::errc() || end != line.data() + line.size() || pid <= 0) return std::nullopt;
  return pid;
}

}  // namespace ctkit::installer
