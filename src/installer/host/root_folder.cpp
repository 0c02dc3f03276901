#include "installer/host/root_folder.h"

#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <linux/openat2.h>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::Result;

namespace {

constexpr int kMostLinks = 40;     // the kernel's own limit
constexpr int kMostAttempts = 64;  // EAGAIN: somebody renamed folders while a `..` was resolved

// glibc has no wrapper for openat2.
int open_at(int folder, const char* path, int flags, unsigned resolve) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = resolve;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    const long fd = ::syscall(SYS_openat2, folder, path, &how, sizeof how);
    if (fd >= 0 || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(fd);
  }
  return -1;
}

int open_below(int root, const char* path, int flags) {
  return open_at(root, path, flags, RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS);
}

// "/etc/x" is "/etc/" and "x"; a name alone is in "./".
std::string folder_part(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == std::string_view::npos ? "./" : std::string(path.substr(0, slash + 1));
}

std::string_view name_part(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

// Where the link points; nothing if it is no link or not there.
Result<std::optional<std::string>> read_link(const Place& place, std::string_view path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(place.folder.get(), place.name.c_str(), target.data(), target.size());
  if (length >= 0) return std::string(target.data(), static_cast<std::size_t>(length));
  if (errno == EINVAL || errno == ENOENT) return std::nullopt;
  return std::unexpected(make_system_error(errno, "read the link", path));
}

// A name can be moved within a mount only: a bind mount of the same file system is another one.
bool same_mount(int left, int right) {
  struct statx one{};
  struct statx other{};
  constexpr unsigned kWanted = STATX_BASIC_STATS | STATX_MNT_ID;
  if (::statx(left, "", AT_EMPTY_PATH, kWanted, &one) != 0 || ::statx(right, "", AT_EMPTY_PATH, kWanted, &other) != 0) {
    return false;
  }
  return (one.stx_mask & other.stx_mask & STATX_MNT_ID) != 0 && one.stx_mnt_id == other.stx_mnt_id &&
         one.stx_dev_major == other.stx_dev_major && one.stx_dev_minor == other.stx_dev_minor;
}

}  // namespace

Result<RootFolder> RootFolder::open(const std::string& folder) {
  // As openat(2) would, but that this tells at once whether the call is there at all.
  UniqueFd root(open_at(AT_FDCWD, folder.c_str(), O_PATH | O_DIRECTORY, 0));
  // Container runtimes older than the call deny it with EPERM; opening a folder with O_PATH gives that to nobody else.
  if (!root && (errno == ENOSYS || errno == EPERM)) {
    return std::unexpected(
        Error{.message = "this kernel has no openat2(2), or a seccomp profile denies it",
              .where = folder,
              .hint = "Linux 5.6 or newer is needed, and in a container a runtime of 2021 or newer"});
  }
  if (!root) return std::unexpected(make_system_error(errno, "open the host root", folder));
  return RootFolder(std::move(root));
}

Result<RootFolder> RootFolder::below(std::string_view folder) const {
  auto opened = open(folder, O_PATH | O_DIRECTORY);
  if (!opened) return std::unexpected(opened.error());
  return RootFolder(*std::move(opened));
}

Result<UniqueFd> RootFolder::open(std::string_view path, int flags) const {
  if (path.contains('\0')) {
    return std::unexpected(make_system_error(EINVAL, "open a path with a NUL in it", path));
  }
  UniqueFd fd(open_below(root_.get(), std::string(path).c_str(), flags));
  if (!fd) return std::unexpected(make_system_error(errno, "open", path));
  return fd;
}

Result<Place> RootFolder::place_of(std::string_view path) const {
  const auto name = name_part(path);
  if (name.empty() || name == "." || name == "..") {
    return std::unexpected(make_system_error(EISDIR, "use this as a file", path));
  }
  if (name.contains('\0')) {
    return std::unexpected(make_system_error(EINVAL, "open a path with a NUL in it", path));
  }
  auto folder = open(folder_part(path), O_RDONLY | O_DIRECTORY);
  if (!folder) return std::unexpected(folder.error());
  return Place{.folder = std::move(*folder), .name = std::string(name), .folder_path = folder_part(path)};
}

Result<Place> RootFolder::final_place_of(std::string_view path) const {
  std::string current(path);
  for (int links = 0; links <= kMostLinks; ++links) {
    auto place = place_of(current);
    if (!place) return place;
    const auto link = read_link(*place, current);
    if (!link) return std::unexpected(link.error());
    const std::optional<std::string>& target = *link;
    if (!target) return place;
    // Joined below the root only; the kernel resolves the result, and so keeps it there.
    current = target->starts_with('/') ? *target : folder_part(current) + *target;
  }
  return std::unexpected(make_system_error(ELOOP, "follow the link", path));
}

UniqueFd RootFolder::stage_above(const Place& place) const {
  auto above = open(place.folder_path + "..", O_RDONLY | O_DIRECTORY);
  if (!above || !same_mount(above->get(), place.folder.get()) ||
      ::faccessat(above->get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return {};
  }
  return *std::move(above);
}

}  // namespace ctkit::installer::host
