#include "installer/host/posix_file_system.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <ranges>
#include <sys/file.h>
#include <sys/stat.h>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "cdi/path.h"
#include "installer/host/durable_replace.h"
#include "installer/host/folder_names.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20U;
constexpr std::size_t kFirstRead = 4096;
constexpr mode_t kFolderMode = 0755;
constexpr mode_t kLockMode = 0644;
constexpr std::int64_t kMicroseconds = 1'000'000;

// At the end of all links.
Result<struct stat> look_at(const RootFolder& root, std::string_view path) {
  const auto file = root.open(path, O_PATH);
  if (!file) return std::unexpected(file.error());
  struct stat status{};
  if (::fstat(file->get(), &status) != 0) {
    return std::unexpected(make_system_error(errno, "look at the file", path));
  }
  return status;
}

Error too_large(std::string_view path) {
  return {.message = "cannot read the file: larger than 64 MiB", .where = std::string(path)};
}

// `size` is a guess: files of /proc say 0, and a file may grow.
Result<std::string> read_all(int file, std::size_t size, std::string_view path) {
  std::string text(size == 0 ? kFirstRead : size + 1, '\0');
  std::size_t length = 0;
  while (true) {
    const ssize_t count = ::read(file, text.data() + length, text.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(make_system_error(errno, "read the file", path));
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
    if (length > kMostBytes) return std::unexpected(too_large(path));
    if (length == text.size()) text.resize(2 * length);
  }
  text.resize(length);
  return text;
}

std::string_view without_trailing_slashes(std::string_view folder) {
  while (folder.ends_with('/'))
    folder.remove_suffix(1);
  return folder;
}

// The umask has no say in the mode: the daemon may run as somebody else.
Result<void> settle_folder(int parent, const std::string& name, std::string_view path) {
  const UniqueFd made(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!made || ::fchmod(made.get(), kFolderMode) != 0) {
    return std::unexpected(make_system_error(errno, "set the mode of the folder", path));
  }
  if (auto synced = sync_folder(made.get(), path); !synced) return synced;
  const UniqueFd above(::openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!above) return std::unexpected(make_system_error(errno, "open the folder above", path));
  return sync_folder(above.get(), path);
}

Result<void> make_folder(int parent, const std::string& name, std::string_view path) {
  if (::mkdirat(parent, name.c_str(), kFolderMode) != 0) {
    return std::unexpected(make_system_error(errno, "make the folder", path));
  }
  auto settled = settle_folder(parent, name, path);
  if (!settled) ::unlinkat(parent, name.c_str(), AT_REMOVEDIR);
  return settled;
}

// Until the result is let go.
Result<std::shared_ptr<void>> hold(UniqueFd file, std::string_view taken, std::string_view path) {
  if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(make_system_error(errno, "lock", path));
    return std::unexpected(Error{.code = ErrorCode::locked,
                                 .message = std::string(taken),
                                 .where = std::string(path),
                                 .hint = "try again when it is done"});
  }
  return std::make_shared<UniqueFd>(std::move(file));
}

}  // namespace

Result<std::unique_ptr<PosixFileSystem>> PosixFileSystem::open(const std::string& folder) {
  auto root = RootFolder::open(folder);
  if (!root) return std::unexpected(root.error());
  return std::make_unique<PosixFileSystem>(std::move(*root));
}

Result<std::string> PosixFileSystem::read(std::string_view path) const {
  // O_NONBLOCK: opening a FIFO would wait for its writer.
  auto file = root_.open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!file) {
    // A loop of links, a name too long: the path is to blame, whoever reads it.
    if (file.error().code == engine::ErrorCode::failed) file.error().code = engine::ErrorCode::unreadable;
    return std::unexpected(std::move(file.error()));
  }
  struct stat status{};
  if (::fstat(file->get(), &status) != 0) {
    return std::unexpected(make_system_error(errno, "look at the file", path));
  }
  if (S_ISDIR(status.st_mode)) return std::unexpected(make_system_error(EISDIR, "read the file", path));
  if (!S_ISREG(status.st_mode)) {
    return std::unexpected(
        Error{.message = "cannot read the file: it is not a regular file", .where = std::string(path)});
  }
  const auto size = static_cast<std::size_t>(status.st_size);
  if (size > kMostBytes) return std::unexpected(too_large(path));
  return read_all(file->get(), size, path);
}

Result<std::vector<std::string>> PosixFileSystem::list(std::string_view folder) const {
  auto opened = root_.open(folder, O_RDONLY | O_DIRECTORY);
  if (!opened) return std::unexpected(opened.error());
  return read_names(std::move(*opened), folder);
}

bool PosixFileSystem::exists(std::string_view path) const {
  return root_.open(path, O_PATH | O_NOFOLLOW).has_value();
}

std::optional<std::string> PosixFileSystem::link_target(std::string_view path) const {
  const auto link = root_.open(path, O_PATH | O_NOFOLLOW);
  if (!link) return std::nullopt;
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlinkat(link->get(), "", target.data(), target.size());
  if (length < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(length));
}

Result<unsigned> PosixFileSystem::mode_of(std::string_view path) const {
  const auto status = look_at(root_, path);
  if (!status) return std::unexpected(status.error());
  return status->st_mode & 07777U;
}

Result<std::int64_t> PosixFileSystem::modified(std::string_view path) const {
  const auto status = look_at(root_, path);
  if (!status) return std::unexpected(status.error());
  return (status->st_mtim.tv_sec * kMicroseconds) + (status->st_mtim.tv_nsec / 1000);
}

Result<void> PosixFileSystem::replace(std::string_view path, std::string_view text, FileMode mode) {
  auto place = root_.final_place_of(path);
  if (!place) return std::unexpected(place.error());
  if (mode.stage_above) place->stage = root_.stage_above(*place);
  return replace_durably(*place, text, mode, path);
}

Result<void> PosixFileSystem::remove(std::string_view path) {
  const auto place = root_.place_of(path);
  if (!place) return std::unexpected(place.error());
  if (::unlinkat(place->folder.get(), place->name.c_str(), 0) != 0) {
    return std::unexpected(make_system_error(errno, "remove the file", path));
  }
  return sync_folder(place->folder.get(), path);
}

Result<std::string> PosixFileSystem::make_folders(std::string_view folder) {
  auto parent = root_.open("/", O_PATH | O_DIRECTORY);
  if (!parent) return std::unexpected(parent.error());
  std::vector<std::string> made;
  // What we made goes again if the rest can't be made; that this may fail too is no news for the
  // caller.
  const auto fail = [&](const Error& error) {
    for (const std::string& path : std::views::reverse(made))
      std::ignore = remove_folder(path);
    return std::unexpected(error);
  };

  for (std::size_t start = 0; start < folder.size();) {
    const std::size_t end = std::min(folder.find('/', start), folder.size());
    const std::string_view path = folder.substr(0, end);
    const std::string name(folder.substr(start, end - start));
    start = end + 1;
    if (name.empty()) continue;
    auto opened = root_.open(path, O_PATH | O_DIRECTORY);
    if (!opened && opened.error().code == ErrorCode::not_found) {
      if (auto done = make_folder(parent->get(), name, path); !done) return fail(done.error());
      made.emplace_back(path);
      opened = root_.open(path, O_PATH | O_DIRECTORY);
    }
    if (!opened) return fail(opened.error());
    parent = std::move(opened);
  }
  return made.empty() ? "" : made.front();
}

Result<bool> PosixFileSystem::remove_folder(std::string_view folder) {
  const auto place = root_.place_of(without_trailing_slashes(folder));
  if (!place) return std::unexpected(place.error());
  if (::unlinkat(place->folder.get(), place->name.c_str(), AT_REMOVEDIR) != 0) {
    if (errno == ENOTEMPTY || errno == EEXIST) return false;
    return std::unexpected(make_system_error(errno, "remove the folder", folder));
  }
  if (auto synced = sync_folder(place->folder.get(), folder); !synced) return std::unexpected(synced.error());
  return true;
}

Result<std::shared_ptr<void>> PosixFileSystem::lock() {
  // A file description of its own: a lock belongs to that, not to the descriptor.
  auto folder = root_.open("/", O_RDONLY | O_DIRECTORY);
  if (!folder) return std::unexpected(folder.error());
  return hold(*std::move(folder), "another ctkit is changing this host", "/");
}

Result<std::shared_ptr<void>> PosixFileSystem::lock_file(std::string_view path) {
  if (auto made = make_folders(cdi::folder_of(path)); !made) return std::unexpected(made.error());
  const auto place = root_.place_of(path);
  if (!place) return std::unexpected(place.error());
  // Not truncated: whoever holds it may have written its pid there.
  UniqueFd file(
      ::openat(place->folder.get(), place->name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, kLockMode));
  if (!file) return std::unexpected(make_system_error(errno, "open the lock", path));
  return hold(std::move(file), "another installer is at work on this node", path);
}

}  // namespace ctkit::installer::host
