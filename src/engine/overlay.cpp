#include "engine/overlay.h"

#include <set>
#include <utility>

namespace ctkit::engine {

void Overlay::put(std::string path, std::optional<std::string> text) {
  changed_.insert_or_assign(std::move(path), std::move(text));
}

void Overlay::apply(const std::vector<FileChange>& changes) {
  for (const FileChange& change : changes)
    put(change.path, change.after);
}

Result<std::string> Overlay::read(std::string_view path) const {
  const auto changed = changed_.find(path);
  if (changed == changed_.end()) return base_.read(path);
  if (changed->second) return *changed->second;
  return std::unexpected(Error{.code = ErrorCode::not_found,
                               .message = "'" + std::string(path) + "' does not exist",
                               .where = std::string(path)});
}

Result<std::vector<std::string>> Overlay::list(std::string_view folder) const {
  while (folder.size() > 1 && folder.ends_with('/'))
    folder.remove_suffix(1);
  const std::string prefix = folder == "/" ? "/" : std::string(folder) + "/";
  std::set<std::string> names;
  auto base = base_.list(folder);
  if (base) names.insert(base->begin(), base->end());
  bool known = base.has_value();
  for (const auto& [path, text] : changed_) {
    if (!path.starts_with(prefix)) continue;
    const std::string rest = path.substr(prefix.size());
    const std::size_t slash = rest.find('/');
    if (slash == std::string::npos && !text) {
      names.erase(rest);
    } else if (text) {
      names.insert(rest.substr(0, slash));
      known = true;
    }
  }
  if (!known) return base;
  return std::vector<std::string>(names.begin(), names.end());
}

bool Overlay::exists(std::string_view path) const {
  const auto changed = changed_.find(path);
  if (changed != changed_.end()) return changed->second.has_value();
  if (base_.exists(path)) return true;
  const std::string prefix = std::string(path) + "/";
  const auto below = changed_.lower_bound(prefix);
  return below != changed_.end() && below->first.starts_with(prefix) && below->second;
}

/// A changed text goes through a link, which stays.
std::optional<std::string> Overlay::link_target(std::string_view path) const {
  const auto changed = changed_.find(path);
  return changed != changed_.end() && !changed->second ? std::nullopt : base_.link_target(path);
}

}  // namespace ctkit::engine
