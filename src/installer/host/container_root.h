#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "cdi/tree.h"
#include "engine/result.h"
#include "installer/host/posix_tree.h"
#include "installer/host/root_folder.h"

namespace ctkit::installer::host {

/// The root of a container that is being made, for hooks to change. Whoever made the image or runs
/// beside us may have put links, pipes and device nodes anywhere in it, and may swap them while we
/// work: everything is resolved below the root by the kernel, done on open folders, and nothing
/// that exists is opened for writing.
class ContainerRoot {
 public:
  /// `folder` is the host's, as config.json says it.
  static engine::Result<ContainerRoot> open(const std::string& folder);

  [[nodiscard]] const cdi::Tree& tree() const { return *tree_; }
  [[nodiscard]] const RootFolder& folder() const { return root_; }

  /// Puts a link with this target at the path, in place of a file or link; what leads there is
  /// made. Nothing happens if it is there already.
  [[nodiscard]] engine::Result<void> make_link(const std::string& target, const std::string& link) const;

  /// Sets the 12 mode bits of what the path leads to. Nothing happens if it is not there or we may
  /// not.
  [[nodiscard]] engine::Result<void> set_mode(const std::string& path, unsigned mode) const;

  /// A new file of mode 0644 with the text in the folder, which is made if it is missing.
  [[nodiscard]] engine::Result<void> add_file(const std::string& folder,
                                              const std::string& name,
                                              std::string_view text) const;

  /// Appends to the regular file, or makes it.
  [[nodiscard]] engine::Result<void> append(const std::string& path, std::string_view text) const;

  /// Mounts a read-only file with this text over the file, for this mount namespace. Leaves nothing
  /// else behind.
  [[nodiscard]] engine::Result<void> cover(const std::string& path, std::string_view text) const;

 private:
  ContainerRoot(RootFolder root, std::unique_ptr<PosixTree> tree) : root_(std::move(root)), tree_(std::move(tree)) {}

  [[nodiscard]] engine::Result<UniqueFd> make_folder(std::string_view path) const;

  RootFolder root_;
  std::unique_ptr<PosixTree> tree_;
};

/// 16 random bytes as a UUID.
std::string random_uuid();

}  // namespace ctkit::installer::host
