#include "installer/watch_list.h"

#include <set>

#include "cdi/path.h"

namespace ctkit::installer {

namespace {

using daemonset::WatchItem;
using engine::Result;

std::string without_trailing_slashes(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/'))
    path.remove_suffix(1);
  return std::string(path);
}

/// Passes questions on and notes what they were about.
class NotingReader : public engine::FileReader {
 public:
  explicit NotingReader(const engine::FileReader& base) : base_(base) {}

  [[nodiscard]] Result<std::string> read(std::string_view path) const override {
    note(path);
    return base_.read(path);
  }
  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view folder) const override {
    const std::string clean = without_trailing_slashes(folder);
    items_.insert({.folder = clean});
    note(clean);  // a link in the folder's place may come to lead elsewhere
    return base_.list(folder);
  }
  [[nodiscard]] bool exists(std::string_view path) const override {
    note(path);
    return base_.exists(path);
  }
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const override {
    note(path);
    return base_.link_target(path);
  }

  [[nodiscard]] const std::set<WatchItem>& items() const { return items_; }

 private:
  void note(std::string_view asked) const {
    constexpr int kMostLinks = 8;
    std::string path = without_trailing_slashes(asked);
    for (int links = 0; links < kMostLinks && path.size() > 1 && path.starts_with('/'); ++links) {
      if (!items_.insert(watch_of(path)).second) return;
      const auto target = base_.link_target(path);
      if (!target) return;
      path = target->starts_with('/') ? *target : cdi::join(cdi::folder_of(path), *target);
    }
  }

  const engine::FileReader& base_;
  mutable std::set<WatchItem> items_ = {};
};

}  // namespace

WatchItem watch_of(const std::string& path) {
  return {.folder = std::string(cdi::folder_of(path)), .prefix = std::string(cdi::base_name(path))};
}

std::vector<WatchItem> config_watch_list(const engine::Engine& engine, const engine::FileReader& files) {
  const NotingReader noting(files);
  // What can't be loaded is watched as well: it is to be mended.
  static_cast<void>(engine.effective(noting, false));
  std::vector<WatchItem> list;
  for (const WatchItem& item : noting.items()) {
    // Every name of the folder counts already.
    if (item.prefix.empty() || !noting.items().contains({.folder = item.folder})) list.push_back(item);
  }
  return list;
}

}  // namespace ctkit::installer
