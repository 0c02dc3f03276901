#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "daemonset/mounts.h"
#include "installer/file_system.h"
#include "installer/host/posix_file_system.h"
#include "installer/host/root_folder.h"

namespace ctkit::installer::host {

/// The host's files where the host root is read-only and some of its folders are mounted elsewhere for writing, as in
/// the operator's container. Paths are the host's: everything is read below the host root, and written through the
/// innermost mount that has it, else below the host root all the same.
class MappedFileSystem : public FileSystem {
 public:
  /// Folders that don't show the same as the host root does there are left out: something else is mounted over one of
  /// them.
  static engine::Result<std::unique_ptr<MappedFileSystem>> open(const std::string& host_root,
                                                                const std::vector<daemonset::MappedFolder>& folders);

  [[nodiscard]] engine::Result<std::string> read(std::string_view path) const override { return seen_->read(path); }
  [[nodiscard]] engine::Result<std::vector<std::string>> list(std::string_view folder) const override {
    return seen_->list(folder);
  }
  [[nodiscard]] bool exists(std::string_view path) const override { return seen_->exists(path); }
  [[nodiscard]] std::optional<std::string> link_target(std::string_view path) const override {
    return seen_->link_target(path);
  }
  [[nodiscard]] engine::Result<unsigned> mode_of(std::string_view path) const override { return seen_->mode_of(path); }
  [[nodiscard]] engine::Result<std::int64_t> modified(std::string_view path) const override {
    return seen_->modified(path);
  }

  [[nodiscard]] engine::Result<void> replace(std::string_view path, std::string_view text, FileMode mode) override;
  [[nodiscard]] engine::Result<void> remove(std::string_view path) override;
  [[nodiscard]] engine::Result<std::string> make_folders(std::string_view folder) override;
  [[nodiscard]] engine::Result<bool> remove_folder(std::string_view folder) override;
  [[nodiscard]] engine::Result<std::shared_ptr<void>> lock() override { return seen_->lock(); }
  [[nodiscard]] engine::Result<std::shared_ptr<void>> lock_file(std::string_view path) override;

 private:
  struct Window {
    std::string host = {};
    std::unique_ptr<PosixFileSystem> files = {};
  };
  /// Where to do something, and the path there.
  struct Target {
    FileSystem* files = nullptr;
    std::string path = {};
  };

  MappedFileSystem(RootFolder root, std::string real_root, std::unique_ptr<PosixFileSystem> seen)
      : root_(std::move(root)), real_root_(std::move(real_root)), seen_(std::move(seen)) {}

  [[nodiscard]] engine::Result<Target> target_of(const Place& place, std::string_view path) const;

  RootFolder root_;
  std::string real_root_;  ///< as the kernel names it
  std::unique_ptr<PosixFileSystem> seen_;
  std::vector<Window> windows_ = {};
};

}  // namespace ctkit::installer::host
