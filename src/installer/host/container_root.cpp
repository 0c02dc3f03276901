#include "installer/host/container_root.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cdi/path.h"
#include "installer/host/system_error.h"
#include "installer/host/write_all.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr mode_t kFolderMode = 0755;
constexpr mode_t kFileMode = 0644;
constexpr mode_t kCoverMode = 0444;

constexpr long kFchmodat2 = 452;  // the same on every architecture; glibc 2.36 has neither name nor wrapper

/// A link's target, "" if it is none.
std::string target_at(int folder, const std::string& name) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(folder, name.c_str(), target.data(), target.size());
  return length < 0 ? "" : std::string(target.data(), static_cast<std::size_t>(length));
}

/// A file with the text in a file system of its own, as a mount that is nowhere yet.
Result<UniqueFd> make_detached_file(std::string_view text, int folder_to_borrow, std::string_view path) {
  const UniqueFd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
  if (!context) return std::unexpected(make_system_error(errno, "make a file system", path));
  if (::fsconfig(context.get(), FSCONFIG_SET_STRING, "mode", "0700", 0) != 0 ||
      ::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0) {
    return std::unexpected(make_system_error(errno, "make a file system", path));
  }
  const UniqueFd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, 0));
  if (!mount) return std::unexpected(make_system_error(errno, "make a file system", path));
  {
    const UniqueFd file(::openat(mount.get(), "file", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kCoverMode));
    if (!file) return std::unexpected(make_system_error(errno, "make the file", path));
    if (auto written = write_all(file.get(), text, path); !written) return std::unexpected(written.error());
    if (::fchmod(file.get(), kCoverMode) != 0) return std::unexpected(make_system_error(errno, "set the mode", path));
  }
  const auto clone = [&mount] {
    return UniqueFd(::open_tree(mount.get(), "file", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
  };
  UniqueFd detached = clone();
  if (!detached && errno == EINVAL) {
    // Before Linux 6.15 only what is mounted somewhere can be cloned: over a folder, for that
    // moment.
    if (::move_mount(mount.get(), "", folder_to_borrow, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
      return std::unexpected(make_system_error(errno, "mount", path));
    }
    detached = clone();
    const int clone_error = errno;
    const std::string mounted = fmt::format("/proc/self/fd/{}", mount.get());
    if (::umount2(mounted.c_str(), MNT_DETACH) != 0) {
      return std::unexpected(make_system_error(errno, "unmount what we mounted", path));
    }
    errno = clone_error;
  }
  if (!detached) return std::unexpected(make_system_error(errno, "clone a mount", path));
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;
  if (::mount_setattr(detached.get(), "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) {
    return std::unexpected(make_system_error(errno, "make a mount read-only", path));
  }
  return detached;
}

}  // namespace

std::string random_uuid() {
  std::array<unsigned char, 16> bytes{};
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = ::getrandom(bytes.data() + got, bytes.size() - got, 0);
    if (count > 0) got += static_cast<std::size_t>(count);
    if (count < 0 && errno != EINTR) break;
  }
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0FU) | 0x40U);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3FU) | 0x80U);
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", bytes[i]);
  }
  return text;
}

Result<ContainerRoot> ContainerRoot::open(const std::string& folder) {
  auto root = RootFolder::open(folder);
  if (!root) return std::unexpected(root.error());
  auto same = root->below("/");
  if (!same) return std::unexpected(same.error());
  return ContainerRoot(*std::move(root), std::make_unique<PosixTree>(*std::move(same)));
}

// Each folder is opened below the root anew: wherever somebody moves it to meanwhile, that is in
// the root.
Result<UniqueFd> ContainerRoot::make_folder(std::string_view path) const {
  auto folder = root_.open("/", O_RDONLY | O_DIRECTORY);
  for (std::size_t end = 1; folder && end < path.size();) {
    const std::size_t start = end;
    end = std::min(path.find('/', start), path.size());
    const std::string_view here = path.substr(0, end);
    const std::string name(path.substr(start, end - start));
    ++end;
    auto next = root_.open(here, O_RDONLY | O_DIRECTORY);
    if (!next && next.error().code == ErrorCode::not_found) {
      if (::mkdirat(folder->get(), name.c_str(), kFolderMode) != 0 && errno != EEXIST) {
        return std::unexpected(make_system_error(errno, "make the folder", here));
      }
      // The umask has no say. A link in the way is not followed, and fails.
      const UniqueFd made(::openat(folder->get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!made || ::fchmod(made.get(), kFolderMode) != 0) {
        return std::unexpected(make_system_error(errno, "make the folder", here));
      }
      next = root_.open(here, O_RDONLY | O_DIRECTORY);
    }
    folder = std::move(next);
  }
  return folder;
}

Result<void> ContainerRoot::make_link(const std::string& target, const std::string& link) const {
  const std::string path = cdi::clean(link);
  if (path == "/") return std::unexpected(Error{.message = "a link needs a name", .where = link});
  const std::string name(cdi::base_name(path));
  const auto folder = make_folder(cdi::folder_of(path));
  if (!folder) return std::unexpected(folder.error());
  if (!target.empty() && target_at(folder->get(), name) == target) return {};
  const std::string temporary = ".ctkit-" + random_uuid();
  if (::symlinkat(target.c_str(), folder->get(), temporary.c_str()) != 0) {
    return std::unexpected(make_system_error(errno, "make the link", path));
  }
  if (::renameat(folder->get(), temporary.c_str(), folder->get(), name.c_str()) != 0) {
    const int error = errno;
    ::unlinkat(folder->get(), temporary.c_str(), 0);
    return std::unexpected(make_system_error(error, "put the link in its place", path));
  }
  return {};
}

Result<void> ContainerRoot::set_mode(const std::string& path, unsigned mode) const {
  const auto file = root_.open(path, O_PATH);
  if (!file) {
    if (file.error().code == ErrorCode::not_found || file.error().code == ErrorCode::permission) return {};
    return std::unexpected(file.error());
  }
  long result = ::syscall(kFchmodat2, file->get(), "", mode, AT_EMPTY_PATH);
  if (result != 0 && (errno == ENOSYS || errno == EPERM)) {
    // Linux 6.6 has the call; a link of our own /proc leads to the open file itself.
    result = ::chmod(fmt::format("/proc/self/fd/{}", file->get()).c_str(), mode);
  }
  if (result != 0 && errno != EPERM && errno != EACCES) {
    return std::unexpected(make_system_error(errno, "set the mode", path));
  }
  return {};
}

Result<void> ContainerRoot::add_file(const std::string& folder, const std::string& name, std::string_view text) const {
  const std::string path = cdi::join(folder, name);
  const auto opened = make_folder(cdi::clean(folder));
  if (!opened) return std::unexpected(opened.error());
  const UniqueFd file(
      ::openat(opened->get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!file) {
    Error error = make_system_error(errno, "make the file", path);
    if (errno == EEXIST) error.code = ErrorCode::needs_decision;
    return std::unexpected(error);
  }
  if (auto written = write_all(file.get(), text, path); !written) return written;
  if (::fchmod(file.get(), kFileMode) != 0) return std::unexpected(make_system_error(errno, "set the mode", path));
  return {};
}

Result<void> ContainerRoot::append(const std::string& path, std::string_view text) const {
  const auto folder = make_folder(cdi::folder_of(path));
  if (!folder) return std::unexpected(folder.error());
  // O_NONBLOCK: a pipe without a reader fails instead of waiting. A link is not followed.
  const UniqueFd file(::openat(folder->get(),
                               std::string(cdi::base_name(path)).c_str(),
                               O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                               kFileMode));
  if (!file) return std::unexpected(make_system_error(errno, "open the file", path));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::unexpected(Error{.message = "it is not a regular file", .where = path});
  }
  return write_all(file.get(), text, path);
}

Result<void> ContainerRoot::cover(const std::string& path, std::string_view text) const {
  const auto target = root_.open(path, O_PATH);
  if (!target) return std::unexpected(target.error());
  const auto folder = root_.open(cdi::folder_of(path), O_PATH | O_DIRECTORY);
  if (!folder) return std::unexpected(folder.error());
  const auto file = make_detached_file(text, folder->get(), path);
  if (!file) return std::unexpected(file.error());
  if (::move_mount(file->get(), "", target->get(), "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0) {
    return std::unexpected(make_system_error(errno, "mount over the file", path));
  }
  return {};
}

}  // namespace ctkit::installer::host
