#pragma once

#include <string>
#include <string_view>

#include "cdi/inventory.h"
#include "cdi/spec.h"

namespace ctkit::cdi {

/// The kind of the spec that NVIDIA's runtime asks for; whoever has its device `all` has every GPU.
inline constexpr std::string_view kManagementKind = "management.nvidia.com/gpu";

/// Where the things of an inventory are on the host, and who runs the hooks. Roots are clean paths.
struct ManagementRequest {
  std::string kind = {};         ///< vendor/class, valid
  std::string hook_path = {};    ///< on the host
  std::string driver_root = {};  ///< on the host
  std::string dev_root = {};     ///< on the host
  /// A device node whose host path is its container path needs none: true if we saw the roots where
  /// the host has them.
  bool same_view = false;
};

/// The spec of one device `all` for containers that manage GPUs: every node, library, binary,
/// firmware and socket, and the hooks that make them usable (nvidia-container-toolkit v1.20.0,
/// management mode). Its version is the smallest that fits.
Spec make_management_spec(const Inventory& inventory, const ManagementRequest& request);

/// The file's customary name, such as `management.nvidia.com-gpu.yaml`.
std::string management_file_name(const std::string& kind);

}  // namespace ctkit::cdi
