#include "daemonset/mounts.h"

#include <algorithm>
#include <optional>

#include "daemonset/words.h"

namespace ctkit::daemonset {

namespace {

/// A line of mountinfo (proc_pid_mountinfo(5)).
struct Mount {
  std::string device = {};  ///< major:minor of the file system
  std::string root = {};    ///< what of the file system is mounted
  std::string point = {};   ///< where
  bool writable = false;
};

/// Blanks and the like are written as \040.
std::string unescaped(std::string_view text) {
  constexpr std::size_t kDigits = 3;
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + kDigits >= text.size()) {
      plain += text[i];
      continue;
    }
    unsigned value = 0;
    for (const char digit : text.substr(i + 1, kDigits))
      value = (value * 8) + static_cast<unsigned>(digit - '0');
    plain += static_cast<char>(value);
    i += kDigits;
  }
  return plain;
}

std::optional<Mount> parse_line(std::string_view line) {
  constexpr std::size_t kOptions = 5;
  const auto words = split_words(line);
  if (words.size() <= kOptions) return std::nullopt;
  const auto options = split_words(words[kOptions], ',');
  return Mount{.device = std::string(words[2]),
               .root = unescaped(words[3]),
               .point = unescaped(words[4]),
               .writable = std::ranges::find(options, "rw") != options.end()};
}

/// What is behind the folder in the path, "" for the folder itself; nothing if the path isn't in it.
std::optional<std::string_view> behind(std::string_view folder, std::string_view path) {
  if (folder == "/") return path == "/" ? std::string_view() : path;
  if (!path.starts_with(folder)) return std::nullopt;
  path.remove_prefix(folder.size());
  if (!path.empty() && !path.starts_with('/')) return std::nullopt;
  return path;
}

std::string or_root(std::string path) {
  return path.empty() ? "/" : path;
}

}  // namespace

std::vector<MappedFolder> find_mapped_folders(std::string_view mountinfo, std::string_view host_root) {
  if (host_root == "/") return {};
  std::vector<Mount> below;
  std::vector<Mount> apart;
  bool is_mount = false;
  for (const std::string_view line : split_words(mountinfo, '\n')) {
    auto mount = parse_line(line);
    if (!mount) continue;
    is_mount = is_mount || mount->point == host_root;
    if (behind(host_root, mount->point)) {
      below.push_back(*std::move(mount));
    } else if (mount->writable) {
      apart.push_back(*std::move(mount));
    }
  }
  if (!is_mount) return {};
  std::vector<MappedFolder> folders;
  for (const Mount& mount : apart) {
    const Mount* best = nullptr;
    for (const Mount& host : below) {
      // Of two mounts of the same, the one that shows less of the file system is nearer; the later one hides the
      // earlier.
      if (host.device != mount.device || !behind(host.root, mount.root)) continue;
      if (best == nullptr || host.root.size() >= best->root.size()) best = &host;
    }
    if (best == nullptr) continue;
    const std::string point = std::string(*behind(host_root, best->point));
    folders.push_back({.host = or_root(point + std::string(*behind(best->root, mount.root))), .here = mount.point});
  }
  return folders;
}

std::string host_path(const std::vector<MappedFolder>& folders, std::string_view host_root, std::string_view path) {
  const MappedFolder* best = nullptr;
  for (const MappedFolder& folder : folders) {
    if (behind(folder.here, path) && (best == nullptr || folder.here.size() >= best->here.size())) best = &folder;
  }
  if (best != nullptr) {
    const std::string_view rest = *behind(best->here, path);
    return or_root((best->host == "/" ? "" : best->host) + std::string(rest));
  }
  if (host_root != "/") {
    if (const auto rest = behind(host_root, path)) return or_root(std::string(*rest));
  }
  return std::string(path);
}

}  // namespace ctkit::daemonset
