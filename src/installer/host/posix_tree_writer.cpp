#include "installer/host/posix_tree_writer.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <linux/openat2.h>
#include <optional>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

#include "installer/host/durable_replace.h"
#include "installer/host/folder_names.h"
#include "installer/host/system_error.h"
#include "installer/host/write_all.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr mode_t kFolderMode = 0755;
constexpr mode_t kUnfinishedMode = 0600;
constexpr std::size_t kChunk = std::size_t{1} << 20U;
constexpr int kDeepest = 64;

// A folder in an open one, of the same mount and no link.
UniqueFd open_folder_in(int folder, const std::string& name) {
  open_how how{};
  how.flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  how.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH;
  return UniqueFd(static_cast<int>(::syscall(SYS_openat2, folder, name.c_str(), &how, sizeof how)));
}

Result<std::vector<std::string>> names_of(int folder, std::string_view path) {
  UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return std::unexpected(make_system_error(errno, "list the folder", path));
  return read_names(std::move(again), path);
}

Error too_deep(const std::string& path) {
  return {.message = "folders are nested too deep", .where = path};
}

Result<void> remove_in(int folder, const std::string& name, const std::string& path, int depth) {
  struct stat status{};
  if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return {};
    return std::unexpected(make_system_error(errno, "look at it", path));
  }
  if (!S_ISDIR(status.st_mode)) {
    if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return {};
    return std::unexpected(make_system_error(errno, "remove the file", path));
  }
  if (depth == 0) return std::unexpected(too_deep(path));
  const UniqueFd opened = open_folder_in(folder, name);
  if (!opened) return std::unexpected(make_system_error(errno, "open the folder to remove it", path));
  const auto names = names_of(opened.get(), path);
  if (!names) return std::unexpected(names.error());
  for (const std::string& below : *names) {
    if (auto done = remove_in(opened.get(), below, path + "/" + below, depth - 1); !done) return done;
  }
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return {};
  return std::unexpected(make_system_error(errno, "remove the folder", path));
}

// Files first, then the names that lead to them.
Result<void> settle_in(int folder, const std::string& path, int depth) {
  if (depth == 0) return std::unexpected(too_deep(path));
  const auto names = names_of(folder, path);
  if (!names) return std::unexpected(names.error());
  for (const std::string& name : *names) {
    const std::string here = path + "/" + name;
    struct stat status{};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      return std::unexpected(make_system_error(errno, "look at it", here));
    }
    if (S_ISDIR(status.st_mode)) {
      const UniqueFd opened = open_folder_in(folder, name);
      if (!opened) return std::unexpected(make_system_error(errno, "open the folder", here));
      if (auto done = settle_in(opened.get(), here, depth - 1); !done) return done;
    } else if (S_ISREG(status.st_mode)) {
      const UniqueFd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
      if (!file || ::fsync(file.get()) != 0) {
        return std::unexpected(make_system_error(errno, "write the file to disk", here));
      }
    }
  }
  return sync_folder(folder, path);
}

Result<UniqueFd> make_file(const Place& place, const std::string& path) {
  UniqueFd file(::openat(
      place.folder.get(), place.name.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, kUnfinishedMode));
  if (!file) return std::unexpected(make_system_error(errno, "create the file", path));
  return file;
}

Result<void> set_mode(const UniqueFd& file, unsigned mode, const std::string& path) {
  if (::fchmod(file.get(), mode) != 0)
    return std::unexpected(make_system_error(errno, "set the mode of the file", path));
  return {};
}

/// The two places of a move.
struct Move {
  Place from = {};
  Place to = {};
};

Result<Move> find_move(const RootFolder& root, const std::string& from, const std::string& to) {
  auto old_place = root.place_of(from);
  if (!old_place) return std::unexpected(old_place.error());
  auto place = root.place_of(to);
  if (!place) return std::unexpected(place.error());
  return Move{.from = *std::move(old_place), .to = *std::move(place)};
}

int rename_by(const Move& move, unsigned flags) {
  return ::renameat2(move.from.folder.get(), move.from.name.c_str(), move.to.folder.get(), move.to.name.c_str(), flags);
}

Result<void> settle_move(const Move& move, const std::string& from, const std::string& to) {
  if (auto synced = sync_folder(move.to.folder.get(), to); !synced) return synced;
  return sync_folder(move.from.folder.get(), from);
}

}  // namespace

Result<std::unique_ptr<PosixTreeWriter>> PosixTreeWriter::open(const std::string& source, const std::string& root) {
  auto source_folder = RootFolder::open(source);
  if (!source_folder) return std::unexpected(source_folder.error());
  auto folder = RootFolder::open(root);
  if (!folder) return std::unexpected(folder.error());
  return std::make_unique<PosixTreeWriter>(*std::move(source_folder), *std::move(folder));
}

Result<void> PosixTreeWriter::make_folder(const std::string& path) {
  // From the root down: what is there is passed through, links included.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (const auto opened = root_.open(part, O_PATH | O_DIRECTORY); !opened) {
      if (opened.error().code != ErrorCode::not_found) return std::unexpected(opened.error());
      const auto place = root_.place_of(part);
      if (!place) return std::unexpected(place.error());
      if (::mkdirat(place->folder.get(), place->name.c_str(), kFolderMode) != 0 && errno != EEXIST) {
        return std::unexpected(make_system_error(errno, "make the folder", part));
      }
      const auto made = root_.open(part, O_RDONLY | O_DIRECTORY);
      if (!made) return std::unexpected(made.error());
      if (auto done = set_mode(*made, kFolderMode, part); !done) return done;
      if (auto synced = sync_folder(place->folder.get(), part); !synced) return synced;
    }
    if (end == std::string::npos) return {};
  }
}

Result<void> PosixTreeWriter::add_file(const std::string& path, std::string_view text, unsigned mode) {
  const auto place = root_.place_of(path);
  if (!place) return std::unexpected(place.error());
  const auto file = make_file(*place, path);
  if (!file) return std::unexpected(file.error());
  if (auto written = write_all(file->get(), text, path); !written) return written;
  return set_mode(*file, mode, path);
}

Result<void> PosixTreeWriter::copy_file(const std::string& source, const std::string& path, unsigned mode) {
  // O_NONBLOCK: opening a pipe would wait for its writer.
  const auto from = source_.open(source, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  if (!from) return std::unexpected(from.error());
  struct stat status{};
  if (::fstat(from->get(), &status) != 0) return std::unexpected(make_system_error(errno, "look at the file", source));
  if (!S_ISREG(status.st_mode)) {
    return std::unexpected(Error{.message = "cannot copy the file: it is not a regular file", .where = source});
  }
  const auto place = root_.place_of(path);
  if (!place) return std::unexpected(place.error());
  const auto file = make_file(*place, path);
  if (!file) return std::unexpected(file.error());
  std::string chunk(kChunk, '\0');
  while (true) {
    const ssize_t count = ::read(from->get(), chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(make_system_error(errno, "read the file", source));
    if (count == 0) return set_mode(*file, mode, path);
    const std::string_view part(chunk.data(), static_cast<std::size_t>(count));
    if (auto written = write_all(file->get(), part, path); !written) return written;
  }
}

Result<void> PosixTreeWriter::replace_file(const std::string& path, std::string_view text, unsigned mode) {
  const auto place = root_.final_place_of(path);
  if (!place) return std::unexpected(place.error());
  return replace_durably(*place, text, {.mode = mode}, path);
}

Result<void> PosixTreeWriter::add_link(const std::string& path, const std::string& target) {
  const auto place = root_.place_of(path);
  if (!place) return std::unexpected(place.error());
  if (::symlinkat(target.c_str(), place->folder.get(), place->name.c_str()) != 0) {
    return std::unexpected(make_system_error(errno, "make the link", path));
  }
  return {};
}

Result<void> PosixTreeWriter::settle(const std::string& folder) {
  const auto opened = root_.open(folder, O_RDONLY | O_DIRECTORY);
  if (!opened) return std::unexpected(opened.error());
  return settle_in(opened->get(), folder, kDeepest);
}

Result<void> PosixTreeWriter::rename(const std::string& from, const std::string& to) {
  const auto move = find_move(root_, from, to);
  if (!move) return std::unexpected(move.error());
  if (rename_by(*move, RENAME_NOREPLACE) != 0) return std::unexpected(make_system_error(errno, "rename it to", to));
  return settle_move(*move, from, to);
}

Result<void> PosixTreeWriter::take_place(const std::string& from, const std::string& to) {
  const auto move = find_move(root_, from, to);
  if (!move) return std::unexpected(move.error());
  struct stat there{};
  const bool folder = ::fstatat(move->to.folder.get(), move->to.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
                      S_ISDIR(there.st_mode);
  if (rename_by(*move, folder ? RENAME_EXCHANGE : 0U) != 0) {
    Error error = make_system_error(errno, folder ? "exchange the folder for a link" : "put the link in place", to);
    if (errno == EBUSY)
      error.hint = "something is mounted there: mount the install folder itself, not the folder in it";
    if (errno == EINVAL) {
      error.hint = "its file system can't exchange two names at once: remove the folder while no container starts";
    }
    return std::unexpected(error);
  }
  return settle_move(*move, from, to);
}

Result<void> PosixTreeWriter::remove_all(const std::string& path) {
  const auto place = root_.place_of(path);
  if (!place && place.error().code == ErrorCode::not_found) return {};
  if (!place) return std::unexpected(place.error());
  return remove_in(place->folder.get(), place->name, path, kDeepest);
}

}  // namespace ctkit::installer::host
