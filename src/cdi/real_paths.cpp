#include "cdi/real_paths.h"

#include "cdi/path.h"

namespace ctkit::cdi {

using engine::Error;
using engine::Result;

namespace {

constexpr int kMostLinks = 40;  // the kernel's own limit

}  // namespace

Result<RealPath> RealPaths::resolve(std::string_view path) {
  int links = 0;
  return resolve(clean(path), links);
}

// Bounded: each step is a part of the path or one of the links.
Result<RealPath> RealPaths::resolve(std::string_view path, int& links) {
  if (path == "/") return RealPath{.path = "/"};
  const std::string parent(folder_of(path));
  RealPath folder;
  if (const auto known = folders_.find(parent); known != folders_.end()) {
    folder = known->second;
  } else {
    auto resolved = resolve(parent, links);
    if (!resolved) return resolved;
    folder = folders_[parent] = *std::move(resolved);
  }
  const std::string here = join(folder.path, base_name(path));
  const auto status = tree_.look(here);
  if (!status) return std::unexpected(status.error());
  if (status->kind != FileKind::link)
    return RealPath{.path = here, .through_absolute_link = folder.through_absolute_link};
  if (++links > kMostLinks) return std::unexpected(Error{.message = "too many links", .where = std::string(path)});
  const auto target = tree_.target_of(here);
  if (!target) return std::unexpected(target.error());
  const bool absolute = target->starts_with('/');
  auto end = resolve(clean(absolute ? *target : join(folder.path, *target)), links);
  if (end) end->through_absolute_link = end->through_absolute_link || absolute || folder.through_absolute_link;
  return end;
}

const std::vector<std::string>& RealPaths::names_in(std::string_view folder) {
  const auto real = resolve(folder);
  const std::string key = real ? real->path : std::string(folder);
  const auto known = names_.find(key);
  if (known != names_.end()) return known->second;
  auto names = real ? tree_.names_in(key) : Result<std::vector<std::string>>();
  return names_[key] = names ? *std::move(names) : std::vector<std::string>{};
}

bool RealPaths::has_file(std::string_view path) const {
  const auto status = tree_.follow(path);
  return status && status->kind != FileKind::folder;
}

bool matches(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  if (!name.starts_with(pattern.substr(0, star))) return false;
  name.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  // The next fixed part as early as it comes; the last one must end the name.
  while (true) {
    const std::size_t next = pattern.find('*');
    if (next == std::string_view::npos) return name.ends_with(pattern);
    const std::size_t found = name.find(pattern.substr(0, next));
    if (found == std::string_view::npos) return false;
    name.remove_prefix(found + next);
    pattern.remove_prefix(next + 1);
  }
}

}  // namespace ctkit::cdi
