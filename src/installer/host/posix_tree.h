#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cdi/tree.h"
#include "installer/host/root_folder.h"

namespace ctkit::installer::host {

/// A folder of this machine as a tree: all paths are resolved below it by the kernel.
class PosixTree : public cdi::Tree {
 public:
  explicit PosixTree(RootFolder root) : root_(std::move(root)) {}

  static engine::Result<std::unique_ptr<PosixTree>> open(const std::string& folder);

  [[nodiscard]] engine::Result<std::unique_ptr<cdi::Tree>> below(std::string_view folder) const override;
  [[nodiscard]] engine::Result<cdi::FileStatus> look(std::string_view path) const override;
  [[nodiscard]] engine::Result<cdi::FileStatus> follow(std::string_view path) const override;
  [[nodiscard]] engine::Result<std::string> target_of(std::string_view path) const override;
  [[nodiscard]] engine::Result<std::vector<std::string>> names_in(std::string_view folder) const override;
  [[nodiscard]] engine::Result<std::string> read(std::string_view path,
                                                 std::uint64_t offset,
                                                 std::size_t size) const override;

 private:
  RootFolder root_;
};

}  // namespace ctkit::installer::host
