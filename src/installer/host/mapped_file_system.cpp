#include "installer/host/mapped_file_system.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "cdi/path.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

// The name the kernel has for an open folder, all links resolved.
std::string name_of(int folder) {
  std::array<char, PATH_MAX> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(folder);
  const ssize_t length = ::readlink(link.c_str(), name.data(), name.size());
  return length < 0 ? "" : std::string(name.data(), static_cast<std::size_t>(length));
}

// What is behind the folder in the path; nothing if it isn't in it.
std::optional<std::string> behind(const std::string& folder, const std::string& path) {
  if (folder == "/") return path;
  if (!path.starts_with(folder)) return std::nullopt;
  std::string rest = path.substr(folder.size());
  if (!rest.empty() && !rest.starts_with('/')) return std::nullopt;
  return rest;
}

bool same_folder(int one, const std::string& other) {
  struct stat ours{};
  struct stat theirs{};
  return ::fstat(one, &ours) == 0 && ::stat(other.c_str(), &theirs) == 0 && ours.st_dev == theirs.st_dev &&
         ours.st_ino == theirs.st_ino && S_ISDIR(ours.st_mode);
}

// What people know is the host's path.
template <typename T>
Result<T> at_host_path(Result<T> result, std::string_view path) {
  if (result) return result;
  Error error = result.error();
  error.where = path;
  return std::unexpected(error);
}

std::string_view without_trailing_slashes(std::string_view folder) {
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.remove_suffix(1);
  return folder;
}

}  // namespace

Result<std::unique_ptr<MappedFileSystem>> MappedFileSystem::open(const std::string& host_root,
                                                                 const std::vector<daemonset::MappedFolder>& folders) {
  auto root = RootFolder::open(host_root);
  if (!root) return std::unexpected(root.error());
  auto seen = PosixFileSystem::open(host_root);
  if (!seen) return std::unexpected(seen.error());
  const auto top = root->open("/", O_PATH | O_DIRECTORY);
  if (!top) return std::unexpected(top.error());
  std::string real_root = name_of(top->get());
  std::unique_ptr<MappedFileSystem> mapped(
      new MappedFileSystem(*std::move(root), std::move(real_root), *std::move(seen)));
  for (const daemonset::MappedFolder& folder : folders) {
    const auto there = mapped->root_.open(folder.host, O_PATH | O_DIRECTORY);
    if (!there || !same_folder(there->get(), folder.here)) continue;
    auto files = PosixFileSystem::open(folder.here);
    if (!files) return std::unexpected(files.error());
    mapped->windows_.push_back({.host = folder.host, .files = *std::move(files)});
  }
  std::ranges::stable_sort(
      mapped->windows_, std::ranges::greater{}, [](const Window& window) { return window.host.size(); });
  return mapped;
}

Result<MappedFileSystem::Target> MappedFileSystem::target_of(const Place& place, std::string_view path) const {
  const auto folder = behind(real_root_, name_of(place.folder.get()));
  if (!folder) {
    return std::unexpected(
        Error{.message = "cannot tell where the folder is: it has moved", .where = std::string(path)});
  }
  const std::string real = (*folder == "/" ? "" : *folder) + "/" + place.name;
  for (const Window& window : windows_) {
    const auto rest = behind(window.host, real);
    // The folder itself has its name in the one above it.
    if (rest && !rest->empty()) return Target{.files = window.files.get(), .path = *rest};
  }
  return Target{.files = seen_.get(), .path = real};
}

Result<void> MappedFileSystem::replace(std::string_view path, std::string_view text, FileMode mode) {
  const auto place = root_.final_place_of(path);
  if (!place) return std::unexpected(place.error());
  const auto target = target_of(*place, path);
  if (!target) return std::unexpected(target.error());
  return at_host_path(target->files->replace(target->path, text, mode), path);
}

Result<void> MappedFileSystem::remove(std::string_view path) {
  const auto place = root_.place_of(path);
  if (!place) return std::unexpected(place.error());
  const auto target = target_of(*place, path);
  if (!target) return std::unexpected(target.error());
  return at_host_path(target->files->remove(target->path), path);
}

Result<std::string> MappedFileSystem::make_folders(std::string_view folder) {
  // The innermost folder that is there says which mount the rest is made in.
  const std::string_view wanted = without_trailing_slashes(folder);
  std::string_view above = wanted;
  auto there = root_.open(above, O_PATH | O_DIRECTORY);
  while (!there && there.error().code == ErrorCode::not_found && above.size() > 1) {
    above = cdi::folder_of(above);
    there = root_.open(above, O_PATH | O_DIRECTORY);
  }
  if (!there) return std::unexpected(there.error());
  if (above == wanted) return "";
  const std::string_view rest = wanted.substr(above == "/" ? 0 : above.size());
  const std::string missing(rest.substr(1));
  const Place place{.folder = *std::move(there), .name = missing};
  const auto target = target_of(place, folder);
  if (!target) return std::unexpected(target.error());
  auto made = at_host_path(target->files->make_folders(target->path), folder);
  if (!made || made->empty()) return made;
  const std::string prefix = target->path.substr(0, target->path.size() - rest.size());
  return std::string(above == "/" ? "" : above) + made->substr(prefix.size());
}

Result<bool> MappedFileSystem::remove_folder(std::string_view folder) {
  const auto place = root_.place_of(without_trailing_slashes(folder));
  if (!place) return std::unexpected(place.error());
  const auto target = target_of(*place, folder);
  if (!target) return std::unexpected(target.error());
  return at_host_path(target->files->remove_folder(target->path), folder);
}

Result<std::shared_ptr<void>> MappedFileSystem::lock_file(std::string_view path) {
  if (auto made = make_folders(cdi::folder_of(path)); !made) return std::unexpected(made.error());
  const auto place = root_.place_of(path);
  if (!place) return std::unexpected(place.error());
  const auto target = target_of(*place, path);
  if (!target) return std::unexpected(target.error());
  return at_host_path(target->files->lock_file(target->path), path);
}

}  // namespace ctkit::installer::host
