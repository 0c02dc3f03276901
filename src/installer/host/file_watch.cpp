#include "installer/host/file_watch.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "cdi/path.h"
#include "installer/file_system.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using daemonset::WatchItem;
using engine::ErrorCode;
using engine::Result;

namespace {

// Reading and opening are no changes; IN_MODIFY comes for each of many writes, IN_CLOSE_WRITE when they are done.
constexpr std::uint32_t kEvents = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_CLOSE_WRITE | IN_ATTRIB |
                                  IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR;
constexpr std::size_t kBuffer = 16384;

std::string joined(const std::string& folder, std::string_view name) {
  return (folder == "/" ? "" : folder) + "/" + std::string(name);
}

void append(std::vector<std::string>& paths, std::string path) {
  if (std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
}

}  // namespace

Result<FileWatch> FileWatch::open(const std::string& host_root) {
  UniqueFd inotify(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
  if (!inotify) return std::unexpected(make_system_error(errno, "watch files", host_root));
  auto host = RootFolder::open(host_root);
  if (!host) return std::unexpected(host.error());
  auto here = RootFolder::open("/");
  if (!here) return std::unexpected(here.error());
  return FileWatch(std::move(inotify), *std::move(host), *std::move(here));
}

std::string FileWatch::add(const WatchItem& item, std::map<int, std::vector<Watched>>& watched) {
  const RootFolder& root = item.on_host ? host_ : here_;
  Watched entry{.item = item};
  auto folder = root.open(entry.item.folder, O_PATH | O_DIRECTORY);
  while (!folder && folder.error().code == ErrorCode::not_found) {
    const std::string above(cdi::folder_of(entry.item.folder));
    if (above.empty() || above == entry.item.folder) break;
    // Until it is there, its name in the folder above is what we wait for.
    entry.item.prefix = cdi::base_name(entry.item.folder);
    entry.item.folder = above;
    entry.exact = true;
    folder = root.open(entry.item.folder, O_PATH | O_DIRECTORY);
  }
  if (!folder) return folder.error().message + " (" + item.folder + ")";
  const std::string path = "/proc/self/fd/" + std::to_string(folder->get());
  const int number = ::inotify_add_watch(inotify_.get(), path.c_str(), kEvents);
  if (number < 0) return make_system_error(errno, "watch the folder", item.folder).message + " (" + item.folder + ")";
  auto& there = watched[number];
  if (std::ranges::find(there, entry) == there.end()) there.push_back(std::move(entry));
  return "";
}

FileWatch::Set FileWatch::set(const std::vector<WatchItem>& items) {
  std::map<int, std::vector<Watched>> watched;
  Set result;
  for (const WatchItem& item : items) {
    const std::string failed = add(item, watched);
    if (result.failed.empty()) result.failed = failed;
  }
  result.grew = std::ranges::any_of(watched, [&](const auto& folder) { return !watched_.contains(folder.first); });
  for (const auto& [number, entries] : watched_) {
    if (!watched.contains(number)) ::inotify_rm_watch(inotify_.get(), number);
  }
  watched_ = std::move(watched);
  return result;
}

std::vector<std::string> FileWatch::read() {
  std::vector<std::string> changed;
  alignas(inotify_event) std::array<char, kBuffer> buffer{};
  while (true) {
    const ssize_t length = ::read(inotify_.get(), buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return changed;
    for (std::size_t at = 0; at + sizeof(inotify_event) <= static_cast<std::size_t>(length);) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      at += sizeof(inotify_event) + event->len;
      if ((event->mask & IN_Q_OVERFLOW) != 0U) append(changed, "(more than the kernel could note)");
      const auto there = watched_.find(event->wd);
      if (there == watched_.end()) continue;
      const std::string_view name = event->len > 0 ? std::string_view(static_cast<const char*>(event->name)) : "";
      if (is_leftover_name(name)) continue;
      for (const Watched& entry : there->second) {
        const bool fits = entry.exact ? name == entry.item.prefix : name.starts_with(entry.item.prefix);
        if (name.empty()) {
          // The folder itself: its attributes are nothing to us.
          if ((event->mask & IN_ATTRIB) == 0U) append(changed, entry.item.folder);
        } else if (fits) {
          append(changed, joined(entry.item.folder, name));
        }
      }
    }
  }
}

std::string FileWatch::describe(const std::string& path) const {
  auto file = host_.open(path, O_PATH | O_NOFOLLOW);
  if (!file) file = here_.open(path, O_PATH | O_NOFOLLOW);
  struct stat status{};
  if (!file || ::fstat(file->get(), &status) != 0) return "'" + path + "' is gone";
  std::tm when{};
  ::gmtime_r(&status.st_mtim.tv_sec, &when);
  return fmt::format("'{}' changed: modified {:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z, owner {}:{}, mode {:04o}, {} bytes",
                     path,
                     when.tm_year + 1900,
                     when.tm_mon + 1,
                     when.tm_mday,
                     when.tm_hour,
                     when.tm_min,
                     when.tm_sec,
                     status.st_uid,
                     status.st_gid,
                     status.st_mode & 07777U,
                     status.st_size);
}

}  // namespace ctkit::installer::host
