#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/result.h"
#include "installer/file_system.h"
#include "installer/host/root_folder.h"

namespace ctkit::installer::host {

/// The files of the node, or of a tree: every path is resolved below the host root.
class PosixFileSystem : public FileSystem {
 public:
  explicit PosixFileSystem(RootFolder root) : root_(std::move(root)) {}

  /// On the host root at `folder`: "/" or a tree. Fails if it can't be opened or the kernel is too
  /// old.
  static engine::Result<std::unique_ptr<PosixFileSystem>> open(const std::string& folder);

  /// Regular files of at most 64 MiB; a FIFO, socket or device is `failed`, and nobody waits for
  /// it.
  [[nodiscard]] engine::Result<std::string> read(std::string_view path) const override;
  [[nodiscard]] engine::Result<std::vector<std::string>> list(std::string_view folder) const override;
  [[nodiscard]] bool exists(std::string_view path) const override;
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const override;
  [[nodiscard]] engine::Result<unsigned> mode_of(std::string_view path) const override;
  [[nodiscard]] engine::Result<std::int64_t> modified(std::string_view path) const override;

  [[nodiscard]] engine::Result<void> replace(std::string_view path, std::string_view text, FileMode mode) override;
  [[nodiscard]] engine::Result<void> remove(std::string_view path) override;
  [[nodiscard]] engine::Result<std::string> make_folders(std::string_view folder) override;
  [[nodiscard]] engine::Result<bool> remove_folder(std::string_view folder) override;

  /// A flock on the host root's folder: nothing is written for it, and it ends with the process.
  [[nodiscard]] engine::Result<std::shared_ptr<void>> lock() override;
  [[nodiscard]] engine::Result<std::shared_ptr<void>> lock_file(std::string_view path) override;

 private:
  RootFolder root_;
};

}  // namespace ctkit::installer::host
