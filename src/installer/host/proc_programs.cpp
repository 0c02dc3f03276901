#include "installer/host/proc_programs.h"

#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <string_view>
#include <sys/statvfs.h>
#include <unistd.h>

#include "installer/host/folder_names.h"
#include "installer/host/system_error.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

using engine::ErrorCode;
using engine::Result;

std::vector<std::string> ProcPrograms::list() {
  std::vector<std::string> programs;
  UniqueFd folder(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return programs;
  const auto names = read_names(std::move(folder), "/proc");
  if (!names) return programs;
  for (const std::string& name : *names) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::array<char, PATH_MAX> target{};
    // Threads of the kernel, and processes that ended meanwhile or aren't ours to look at, have none.
    const ssize_t length = ::readlink(("/proc/" + name + "/exe").c_str(), target.data(), target.size());
    if (length > 0) programs.emplace_back(target.data(), static_cast<std::size_t>(length));
  }
  return programs;
}

Result<bool> ProcPrograms::may_run_from(const std::string& folder) {
  for (std::string path = folder;; path.resize(path.rfind('/'))) {
    const auto opened = root_.open(path.empty() ? "/" : path, O_PATH | O_DIRECTORY);
    if (!opened && opened.error().code == ErrorCode::not_found && !path.empty()) continue;
    if (!opened) return std::unexpected(opened.error());
    struct statvfs status{};
    if (::fstatvfs(opened->get(), &status) != 0) {
      return std::unexpected(make_system_error(errno, "look at the file system of", folder));
    }
    return (status.f_flag & ST_NOEXEC) == 0;
  }
}

}  // namespace ctkit::installer::host
