#include "installer/host/posix_tree.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "installer/host/folder_names.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using cdi::FileKind;
using cdi::FileStatus;
using engine::Error;
using engine::Result;

namespace {

FileKind kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return FileKind::folder;
  if (S_ISLNK(mode)) return FileKind::link;
  if (S_ISCHR(mode)) return FileKind::character_device;
  if (S_ISBLK(mode)) return FileKind::block_device;
  if (S_ISSOCK(mode)) return FileKind::socket;
  if (S_ISFIFO(mode)) return FileKind::pipe;
  return FileKind::file;
}

Result<FileStatus> status_of(const Result<UniqueFd>& file, std::string_view path) {
  if (!file) return std::unexpected(file.error());
  struct stat status{};
  if (::fstat(file->get(), &status) != 0) return std::unexpected(make_system_error(errno, "look at it", path));
  return FileStatus{.kind = kind_of(status.st_mode),
                    .mode = status.st_mode & 07777U,
                    .uid = status.st_uid,
                    .gid = status.st_gid,
                    .major = ::major(status.st_rdev),
                    .minor = ::minor(status.st_rdev)};
}

}  // namespace

Result<std::unique_ptr<PosixTree>> PosixTree::open(const std::string& folder) {
  auto root = RootFolder::open(folder);
  if (!root) return std::unexpected(root.error());
  return std::make_unique<PosixTree>(*std::move(root));
}

Result<std::unique_ptr<cdi::Tree>> PosixTree::below(std::string_view folder) const {
  auto root = root_.below(folder);
  if (!root) return std::unexpected(root.error());
  return std::make_unique<PosixTree>(*std::move(root));
}

Result<FileStatus> PosixTree::look(std::string_view path) const {
  return status_of(root_.open(path, O_PATH | O_NOFOLLOW), path);
}

Result<FileStatus> PosixTree::follow(std::string_view path) const {
  return status_of(root_.open(path, O_PATH), path);
}

Result<std::string> PosixTree::target_of(std::string_view path) const {
  const auto file = root_.open(path, O_PATH | O_NOFOLLOW);
  if (!file) return std::unexpected(file.error());
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(file->get(), "", target.data(), target.size());
  if (length < 0) return std::unexpected(make_system_error(errno, "read the link", path));
  return std::string(target.data(), static_cast<std::size_t>(length));
}

Result<std::vector<std::string>> PosixTree::names_in(std::string_view folder) const {
  auto opened = root_.open(folder, O_RDONLY | O_DIRECTORY);
  if (!opened) return std::unexpected(opened.error());
  return read_names(*std::move(opened), folder);
}

Result<std::string> PosixTree::read(std::string_view path, std::uint64_t offset, std::size_t size) const {
  const auto file = root_.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) return std::unexpected(file.error());
  struct stat status{};
  if (::fstat(file->get(), &status) != 0) return std::unexpected(make_system_error(errno, "look at the file", path));
  if (!S_ISREG(status.st_mode)) {
    return std::unexpected(
        Error{.message = "cannot read the file: it is not a regular file", .where = std::string(path)});
  }
  // Files of /proc and /sys say 0, or a page.
  constexpr std::size_t kLeast = 4096;
  const auto left =
      static_cast<std::uint64_t>(status.st_size) > offset ? static_cast<std::uint64_t>(status.st_size) - offset : 0;
  std::string text(std::min<std::uint64_t>(size, std::max<std::uint64_t>(left, kLeast)), '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t count =
        ::pread(file->get(), text.data() + length, text.size() - length, static_cast<off_t>(offset + length));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(make_system_error(errno, "read the file", path));
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  text.resize(length);
  return text;
}

}  // namespace ctkit::installer::host
