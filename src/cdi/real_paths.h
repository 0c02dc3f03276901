#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cdi/tree.h"

namespace ctkit::cdi {

/// Where a path ends when all links are followed inside the tree.
struct RealPath {
  std::string path = {};
  /// A link on the way was absolute: who follows it from outside the tree, as a container runtime
  /// does on the host, ends elsewhere.
  bool through_absolute_link = false;
};

/// Resolves paths and lists folders of a tree; remembers what it has seen.
class RealPaths {
 public:
  explicit RealPaths(const Tree& tree) : tree_(tree) {}

  /// `not_found` if there is nothing at the end, `failed` for a loop.
  engine::Result<RealPath> resolve(std::string_view path);

  /// The names in the folder, sorted; none if it can't be listed.
  const std::vector<std::string>& names_in(std::string_view folder);

  /// Whether there is something but a folder at the end of all links.
  [[nodiscard]] bool has_file(std::string_view path) const;

  [[nodiscard]] const Tree& tree() const { return tree_; }

 private:
  engine::Result<RealPath> resolve(std::string_view path, int& links);

  const Tree& tree_;
  std::map<std::string, RealPath, std::less<>> folders_ = {};
  std::map<std::string, std::vector<std::string>, std::less<>> names_ = {};
};

/// Whether the name fits the pattern, in which `*` stands for any number of characters.
bool matches(std::string_view name, std::string_view pattern);

}  // namespace ctkit::cdi
