#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "engine/result.h"
#include "installer/host/root_folder.h"
#include "toolkit/tree_writer.h"

namespace ctkit::installer::host {

/// Changes a tree of this machine: paths are resolved below its root by the kernel, changes made on open folders.
class PosixTreeWriter : public toolkit::TreeWriter {
 public:
  PosixTreeWriter(RootFolder source, RootFolder root) : source_(std::move(source)), root_(std::move(root)) {}

  /// `source`: the root of what `copy_file` reads; `root`: of everything else.
  static engine::Result<std::unique_ptr<PosixTreeWriter>> open(const std::string& source, const std::string& root);

  [[nodiscard]] engine::Result<void> make_folder(const std::string& path) override;
  [[nodiscard]] engine::Result<void> add_file(const std::string& path, std::string_view text, unsigned mode) override;
  [[nodiscard]] engine::Result<void> copy_file(const std::string& source,
                                               const std::string& path,
                                               unsigned mode) override;
  [[nodiscard]] engine::Result<void> replace_file(const std::string& path,
                                                  std::string_view text,
                                                  unsigned mode) override;
  [[nodiscard]] engine::Result<void> add_link(const std::string& path, const std::string& target) override;
  [[nodiscard]] engine::Result<void> settle(const std::string& folder) override;
  [[nodiscard]] engine::Result<void> rename(const std::string& from, const std::string& to) override;
  [[nodiscard]] engine::Result<void> take_place(const std::string& from, const std::string& to) override;
  [[nodiscard]] engine::Result<void> remove_all(const std::string& path) override;

 private:
  RootFolder source_;
  RootFolder root_;
};

}  // namespace ctkit::installer::host
