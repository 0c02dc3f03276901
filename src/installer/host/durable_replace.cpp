#include "installer/host/durable_replace.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <string>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utility>

#include "installer/host/folder_names.h"
#include "installer/host/system_error.h"
#include "installer/host/write_all.h"

// 1. The bytes go to a file without a name (O_TMPFILE), which a kill leaves no trace of.
// 2. It gets owner, mode, label and ACL of the file that is there, then fsync.
// 3. Nothing there: it is linked to the name itself. Else it is linked to a dot name and at once renamed over the file.
//    A glob like `conf.d/*` (and CRI-O, which reads every file) matches dot names too: where the caller asks for it the
//    dot name stands in the folder above. Where that is another mount, a load between the two calls sees whole content
//    twice.
// 4. A kill between the two leaves the dot name; the next replace in the folder removes it, from either place.
// 5. The folder is synced.
// 6. If the caller says what the file has to hold, the two names are exchanged instead: what comes out under the dot
// name is
//    what was really replaced, and is read. If it is something else, written since the caller read the file, they are
//    exchanged back. It is compared before, too, so that a kill in between finds both changed only if somebody wrote
//    then. A kill there leaves the old text under the dot name.
// File systems without O_TMPFILE (some overlays, FUSE, NFS) get the dot name from the start, in the same place.

namespace ctkit::installer::host {

using engine::Error;
using engine::Result;

namespace {

constexpr std::string_view kTemporaryPrefix = ".ctkit-";
constexpr std::string_view kDigits = "0123456789abcdef";
constexpr std::size_t kDigitCount = 16;
constexpr mode_t kModeBits = 07777;

// The ACL matters for the mode: where there is one, the group bits of st_mode are its mask, wider
// than the group's own.
constexpr auto kKeptAttributes = std::to_array({"security.selinux", "system.posix_acl_access"});

struct Existing {
  UniqueFd file = {};  // O_PATH: it may be unreadable to us
  struct stat status = {};
};

// A name of ours in the folder, removed unless it was renamed away.
class TemporaryName {
 public:
  /// `folder`: where it stands.
  explicit TemporaryName(int folder) : folder_(folder) {}
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;
  TemporaryName(TemporaryName&&) = delete;
  TemporaryName& operator=(TemporaryName&&) = delete;
  ~TemporaryName() {
    if (!name_.empty()) ::unlinkat(folder_, name_.c_str(), 0);
  }

  void hold(std::string name) { name_ = std::move(name); }
  void let_go() { name_.clear(); }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] int folder() const { return folder_; }

 private:
  int folder_;
  std::string name_;
};

Result<std::string> make_temporary_name(std::string_view path) {
  std::array<unsigned char, kDigitCount> random{};
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) {
    return std::unexpected(make_system_error(errno, "draw a random name", path));
  }
  std::string name(kTemporaryPrefix);
  for (const unsigned char byte : random)
    name += kDigits[byte % kDigits.size()];
  return name;
}

// A leftover does no harm that is worth failing for, so errors are passed over: we are asked again
// next time.
void remove_leftovers(int folder, std::string_view path) {
  UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return;
  const auto names = read_names(std::move(again), path);
  if (!names) return;
  for (const std::string& name : *names) {
    struct stat status{};
    if (is_leftover_name(name) && ::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode)) {
      ::unlinkat(folder, name.c_str(), 0);
    }
  }
}

Result<std::optional<Existing>> find_existing(const Place& place, std::string_view path) {
  UniqueFd file(::openat(place.folder.get(), place.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) {
    return std::unexpected(make_system_error(errno, "look at the file", path));
  }
  if (S_ISDIR(status.st_mode)) {
    return std::unexpected(make_system_error(EISDIR, "replace the file", path));
  }
  if (!S_ISREG(status.st_mode)) {
    return std::unexpected(
        Error{.message = "cannot replace the file: it is not a regular file", .where = std::string(path)});
  }
  return Existing{.file = std::move(file), .status = status};
}

Result<UniqueFd> open_new(int folder, TemporaryName& temporary, std::string_view path) {
  // Closed to others until it has its mode.
  UniqueFd unnamed(::openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (unnamed) return unnamed;
  if (errno != EOPNOTSUPP && errno != EISDIR) {  // EISDIR: file systems and kernels that don't know the flag
    return std::unexpected(make_system_error(errno, "create a file in the folder", path));
  }
  auto name = make_temporary_name(path);
  if (!name) return std::unexpected(name.error());
  UniqueFd named(::openat(
      temporary.folder(), name->c_str(), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!named) return std::unexpected(make_system_error(errno, "create a file in the folder", path));
  temporary.hold(std::move(*name));
  return named;
}

std::string link_to(int fd) {
  return "/proc/self/fd/" + std::to_string(fd);
}

// By way of /proc, because fgetxattr takes no O_PATH descriptor.
Result<std::optional<std::string>> read_attribute(int file, const char* name, std::string_view path) {
  const std::string link = link_to(file);
  std::string value;
  ssize_t length = ::getxattr(link.c_str(), name, nullptr, 0);
  if (length > 0) {
    value.resize(static_cast<std::size_t>(length));
    length = ::getxattr(link.c_str(), name, value.data(), value.size());
  }
  if (length < 0 && (errno == ENODATA || errno == EOPNOTSUPP)) return std::nullopt;
  if (length < 0) return std::unexpected(make_system_error(errno, "read the label or ACL of the file", path));
  value.resize(static_cast<std::size_t>(length));
  return value;
}

Result<void> copy_attribute(int from, int to, const char* name, std::string_view path) {
  const auto read = read_attribute(from, name, path);
  if (!read) return std::unexpected(read.error());
  const std::optional<std::string>& wanted = *read;
  if (!wanted) return {};
  const auto present = read_attribute(to, name, path);
  if (!present) return std::unexpected(present.error());
  // Setting a label needs rights that keeping the folder's default one does not.
  if (*present == wanted) return {};
  if (::fsetxattr(to, name, wanted->data(), wanted->size(), 0) != 0) {
    return std::unexpected(make_system_error(errno, "keep the label or ACL of the file", path));
  }
  return {};
}

Result<void> take_over(const Existing& existing, int file, FileMode mode, std::string_view path) {
  struct stat own{};
  if (::fstat(file, &own) != 0) return std::unexpected(make_system_error(errno, "look at the file", path));
  const auto& wanted = existing.status;
  if ((own.st_uid != wanted.st_uid || own.st_gid != wanted.st_gid) &&
      ::fchown(file, wanted.st_uid, wanted.st_gid) != 0) {
    return std::unexpected(make_system_error(errno, "keep the owner of the file", path));
  }
  // After the owner: a change of owner takes the set-id bits away.
  if (::fchmod(file, (mode.for_existing ? mode.mode : wanted.st_mode) & kModeBits) != 0) {
    return std::unexpected(make_system_error(errno, "set the mode of the file", path));
  }
  for (const char* name : kKeptAttributes) {
    if (mode.for_existing && std::string_view(name).contains("acl")) continue;
    if (auto copied = copy_attribute(existing.file.get(), file, name, path); !copied) return copied;
  }
  return {};
}

Result<void> link_unnamed(int file, int folder, const std::string& name, std::string_view path) {
  if (::linkat(AT_FDCWD, link_to(file).c_str(), folder, name.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    return std::unexpected(make_system_error(errno, "give the new file its name", path));
  }
  return {};
}

Error changed_meanwhile(std::string_view path) {
  return {
      .message = "the file was changed by somebody else meanwhile", .where = std::string(path), .hint = "try again"};
}

// Whether the name in the folder is a regular file with this text. One byte more is asked for: a longer file differs.
Result<bool> holds(int folder, const std::string& name, const std::string& text, std::string_view path) {
  const UniqueFd file(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return std::unexpected(make_system_error(errno, "read the file", path));
  std::string found(text.size() + 1, '\0');
  std::size_t length = 0;
  while (length < found.size()) {
    const ssize_t count = ::read(file.get(), found.data() + length, found.size() - length);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return std::unexpected(make_system_error(errno, "read the file", path));
    if (count == 0) break;
    length += static_cast<std::size_t>(count);
  }
  return std::string_view(found).substr(0, length) == text;
}

// The temporary name takes the place of a file with that text.
Result<void> exchange(TemporaryName& temporary, const Place& place, const std::string& text, std::string_view path) {
  const int folder = place.folder.get();
  const auto swap = [&] {
    return ::renameat2(temporary.folder(), temporary.name().c_str(), folder, place.name.c_str(), RENAME_EXCHANGE);
  };
  const auto before = holds(folder, place.name, text, path);
  if (!before) return std::unexpected(before.error());
  if (!*before) return std::unexpected(changed_meanwhile(path));
  if (swap() != 0) {
    // File systems without an exchange: what was compared just now has to do.
    if (errno == EINVAL && ::renameat(temporary.folder(), temporary.name().c_str(), folder, place.name.c_str()) == 0) {
      temporary.let_go();
      return {};
    }
    return std::unexpected(make_system_error(errno, "replace the file", path));
  }
  const auto replaced = holds(temporary.folder(), temporary.name(), text, path);
  if (replaced && *replaced) {
    ::unlinkat(temporary.folder(), temporary.name().c_str(), 0);
    temporary.let_go();
    return {};
  }
  if (swap() != 0) {
    Error error = make_system_error(errno, "put back what somebody wrote meanwhile into", path);
    error.hint = "it is in '" + temporary.name() + (place.stage ? "' in the folder above" : "' beside it");
    temporary.let_go();
    return std::unexpected(error);
  }
  return std::unexpected(replaced ? changed_meanwhile(path) : replaced.error());
}

Result<void> put_in_place(int file,
                          TemporaryName& temporary,
                          const Place& place,
                          bool is_new,
                          const std::optional<std::string>* instead_of,
                          std::string_view path) {
  const int folder = place.folder.get();
  if (temporary.name().empty()) {
    // Not over a file that somebody created meanwhile: linkat doesn't replace.
    if (is_new) return link_unnamed(file, folder, place.name, path);
    auto name = make_temporary_name(path);
    if (!name) return std::unexpected(name.error());
    if (auto linked = link_unnamed(file, temporary.folder(), *name, path); !linked) return linked;
    temporary.hold(std::move(*name));
  }
  if (!is_new && instead_of != nullptr && *instead_of) return exchange(temporary, place, **instead_of, path);
  if (::renameat(temporary.folder(), temporary.name().c_str(), folder, place.name.c_str()) != 0) {
    return std::unexpected(make_system_error(errno, "replace the file", path));
  }
  temporary.let_go();
  return {};
}

}  // namespace

Result<void> replace_durably(const Place& place, std::string_view text, FileMode mode, std::string_view path) {
  const int folder = place.folder.get();
  remove_leftovers(folder, path);
  if (place.stage) remove_leftovers(place.stage.get(), path);
  const auto found = find_existing(place, path);
  if (!found) return std::unexpected(found.error());
  const std::optional<Existing>& existing = *found;
  if (mode.instead_of != nullptr && mode.instead_of->has_value() != existing.has_value()) {
    return std::unexpected(changed_meanwhile(path));
  }

  TemporaryName temporary(place.stage ? place.stage.get() : folder);
  const auto file = open_new(folder, temporary, path);
  if (!file) return std::unexpected(file.error());
  if (auto written = write_all(file->get(), text, path); !written) return written;
  if (existing) {
    if (auto taken = take_over(*existing, file->get(), mode, path); !taken) return taken;
  } else if (::fchmod(file->get(), mode.mode & kModeBits) != 0) {
    return std::unexpected(make_system_error(errno, "set the mode of the file", path));
  }
  if (::fsync(file->get()) != 0) {
    return std::unexpected(make_system_error(errno, "write the file to disk", path));
  }
  if (auto put = put_in_place(file->get(), temporary, place, !existing, mode.instead_of, path); !put) return put;
  return sync_folder(folder, path);
}

Result<void> sync_folder(int folder, std::string_view path) {
  // EINVAL: a file system that has nothing to sync for a folder.
  if (::fsync(folder) != 0 && errno != EINVAL) {
    return std::unexpected(make_system_error(errno, "write the folder to disk", path));
  }
  return {};
}

}  // namespace ctkit::installer::host
