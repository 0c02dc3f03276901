#include "cdi/ld_conf.h"

#include <algorithm>
#include <deque>
#include <set>

#include "cdi/path.h"
#include "cdi/real_paths.h"

namespace ctkit::cdi {

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostFiles = 1000;  // more is no configuration, but an attempt to keep us busy

#if defined(__x86_64__)
constexpr std::string_view kTriplet = "x86_64-linux-gnu";
constexpr std::string_view kMuslFile = "/etc/ld-musl-x86_64.path";
constexpr bool kHasX32 = true;
#elif defined(__aarch64__)
constexpr std::string_view kTriplet = "aarch64-linux-gnu";
constexpr std::string_view kMuslFile = "/etc/ld-musl-aarch64.path";
constexpr bool kHasX32 = false;
#else
constexpr std::string_view kTriplet = "";
constexpr std::string_view kMuslFile = "";
constexpr bool kHasX32 = false;
#endif

bool has_file(const Tree& container, std::string_view path) {
  const auto status = container.follow(path);
  return status && status->kind != FileKind::folder;
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\v\f";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

/// The files that an include's pattern names; a `*` in a folder's name is not followed.
std::vector<std::string> included(const Tree& container, std::string_view pattern) {
  std::vector<std::string> files;
  const std::string path = pattern.starts_with('/') ? std::string(pattern) : "/etc/" + std::string(pattern);
  const auto names = container.names_in(folder_of(path));
  if (!names) return files;
  for (const std::string& name : *names) {
    if (matches(name, base_name(path)) && !(name.starts_with('.') && !base_name(path).starts_with('.'))) {
      files.push_back(join(folder_of(path), name));
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> system_library_folders(bool debian_like) {
  std::vector<std::string> folders;
  if (debian_like) {
    if (!kTriplet.empty()) {
      folders.push_back("/lib/" + std::string(kTriplet));
      folders.push_back("/usr/lib/" + std::string(kTriplet));
    }
    folders.insert(folders.end(), {"/lib", "/usr/lib"});
    return folders;
  }
  folders = {"/lib", "/usr/lib"};
  if (!kTriplet.empty()) folders.insert(folders.end(), {"/lib64", "/usr/lib64"});
  if (kHasX32) folders.insert(folders.end(), {"/libx32", "/usr/libx32"});
  return folders;
}

bool is_debian_like(const Tree& container) {
  return has_file(container, "/etc/debian_version");
}

bool uses_musl(const Tree& container) {
  return has_file(container, "/etc/alpine-release");
}

std::string_view musl_path_file() {
  return kMuslFile;
}

std::vector<std::string> configured_library_folders(const Tree& container) {
  std::vector<std::string> folders;
  std::set<std::string> seen;
  std::deque<std::string> files = {"/etc/ld.so.conf"};
  while (!files.empty() && seen.size() < kMostFiles) {
    const std::string file = std::move(files.front());
    files.pop_front();
    if (!seen.insert(file).second) continue;
    const auto text = container.read(file, 0, kMostBytes);
    if (!text) continue;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = trim(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      constexpr std::string_view kInclude = "include ";
      if (line.empty() || line.starts_with('#')) continue;
      if (!line.starts_with(kInclude)) {
        folders.emplace_back(line);
        continue;
      }
      for (std::string& path : included(container, trim(line.substr(kInclude.size()))))
        files.push_back(std::move(path));
    }
  }
  return folders;
}

std::vector<std::string> new_library_folders(const std::vector<std::string>& folders,
                                             const std::vector<std::string>& configured,
                                             const std::vector<std::string>& system) {
  std::set<std::string_view> known(configured.begin(), configured.end());
  known.insert(system.begin(), system.end());
  std::vector<std::string> added;
  for (const std::string& folder : folders) {
    if (known.insert(folder).second) added.push_back(folder);
  }
  return added;
}

std::string render_folders(const std::vector<std::string>& folders) {
  std::string text;
  std::set<std::string_view> seen;
  for (const std::string& folder : folders) {
    if (seen.insert(folder).second) text += folder + "\n";
  }
  return text;
}

}  // namespace ctkit::cdi
