#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cdi/level.h"

namespace ctkit::installer {

enum class CdiVerb { generate, validate, list };

/// What the user asked of `ctkit cdi`. Paths are those that the host root's inhabitants see.
struct CdiRequest {
  CdiVerb verb = CdiVerb::validate;
  std::string root = "/";                   ///< host root, or a capture's folder
  std::string level = {};                   ///< CDI library; empty: that of the release
  std::string release = {};                 ///< containerd's; empty: the capture's
  std::vector<std::string> spec_dirs = {};  ///< lowest priority first; empty: the usual ones
  bool json = false;                        ///< else a table, or YAML
  bool exit_code = false;                   ///< validate: 2 if a file is refused
  std::string driver_root = "/";            ///< on the host: what the spec says
  std::string driver_root_ctr_path = {};    ///< where it is in our tree; empty: the same
  std::string dev_root = {};                ///< empty: the driver root
  std::string dev_root_ctr_path = {};       ///< empty: where the driver root is, or `dev_root`
  std::string kind = "management.nvidia.com/gpu";
  std::string hook_path = "/usr/local/nvidia/toolkit/nvidia-cdi-hook";
  std::string output = {};  ///< file, or "-"; empty: the customary one
};

}  // namespace ctkit::installer
