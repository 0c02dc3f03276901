#include "installer/host/process_start.h"

#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <unistd.h>

#include "installer/host/system_error.h"
#include "installer/host/unique_fd.h"
#include "installer/process_stat.h"

namespace ctkit::installer::host {

using engine::Result;

namespace {

constexpr std::int64_t kMicroseconds = 1'000'000;

std::int64_t microseconds_on(clockid_t clock) {
  timespec time{};
  ::clock_gettime(clock, &time);  // can't fail for these clocks
  return (time.tv_sec * kMicroseconds) + (time.tv_nsec / 1000);
}

}  // namespace

Result<ProcessStart> read_process_start(std::int64_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 2048> text{};
  const ssize_t length = file ? ::read(file.get(), text.data(), text.size()) : -1;
  if (length < 0) {
    // ESRCH: it ended between the two calls.
    return std::unexpected(make_system_error(errno == ESRCH ? ENOENT : errno, "look at the process", path));
  }
  const auto ticks = parse_start_ticks(std::string_view(text.data(), static_cast<std::size_t>(length)));
  if (!ticks) return std::unexpected(ticks.error());
  const std::int64_t boot = microseconds_on(CLOCK_REALTIME) - microseconds_on(CLOCK_BOOTTIME);
  return ProcessStart{.ticks = *ticks, .time = boot + (*ticks * kMicroseconds / ::sysconf(_SC_CLK_TCK))};
}

}  // namespace ctkit::installer::host
