#pragma once

#include <memory>
#include <string>
#include <utility>

#include "engine/result.h"
#include "installer/host/root_folder.h"
#include "toolkit/control_nodes.h"

namespace ctkit::installer::host {

/// Makes device nodes below a device root.
class PosixNodeMaker : public toolkit::NodeMaker {
 public:
  explicit PosixNodeMaker(RootFolder root) : root_(std::move(root)) {}

  /// `folder`: what holds /dev.
  static engine::Result<std::unique_ptr<PosixNodeMaker>> open(const std::string& folder);

  [[nodiscard]] engine::Result<void> make_node(const toolkit::ControlNode& node) override;

 private:
  RootFolder root_;
};

}  // namespace ctkit::installer::host
