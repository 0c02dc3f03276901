#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cdi/tree.h"
#include "engine/result.h"

namespace ctkit::toolkit {

/// A character device that has to be there for every container with a GPU.
struct ControlNode {
  std::string path = {};  ///< in the device root
  unsigned major = 0;
  unsigned minor = 0;
  bool operator==(const ControlNode&) const = default;
};

/// The nodes that the loaded modules have numbers for, by the text of /proc/devices.
struct ControlNodes {
  std::vector<ControlNode> nodes = {};
  std::vector<std::string> missing_modules = {};  ///< nvidia, nvidia-uvm
};

ControlNodes parse_control_nodes(std::string_view proc_devices);

/// Seam: makes device nodes.
class NodeMaker {
 public:
  NodeMaker() = default;
  NodeMaker(const NodeMaker&) = delete;
  NodeMaker& operator=(const NodeMaker&) = delete;
  NodeMaker(NodeMaker&&) = delete;
  NodeMaker& operator=(NodeMaker&&) = delete;
  virtual ~NodeMaker() = default;

  /// A character device with mode 0666, at once in place of what has the name. `not_found` if there is no folder for
  /// it.
  [[nodiscard]] virtual engine::Result<void> make_node(const ControlNode& node) = 0;
};

/// Makes the nodes that are missing or have other numbers than the modules; the paths of those made. Fails with
/// `not_found` if the nvidia module is not loaded. A missing nvidia-uvm is no error: it is loaded with its first user.
engine::Result<std::vector<std::string>> make_control_nodes(std::string_view proc_devices,
                                                            const cdi::Tree& device_root,
                                                            NodeMaker& maker);

}  // namespace ctkit::toolkit
