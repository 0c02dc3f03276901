#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cdi/tree.h"
#include "engine/result.h"

namespace ctkit::cdi {

/// A file of the driver, as containers are to see it and as it is.
struct DriverFile {
  std::string path = {};  ///< in the driver root: where the container gets it
  /// In the driver root, what to mount: `path`, unless links on the way to it lead elsewhere when
  /// followed from outside.
  std::string source = {};

  bool operator==(const DriverFile&) const = default;
};

/// A driver library with the links that belong to it, as `target::link` of the hook.
struct DriverLibrary {
  std::string path = {};  ///< in the driver root, all links followed
  std::vector<std::string> links = {};

  bool operator==(const DriverLibrary&) const = default;
};

struct DriverNode {
  std::string path = {};  ///< in the device root, such as /dev/nvidia0
  FileStatus status = {};

  bool operator==(const DriverNode&) const = default;
};

/// What is in a driver root and its device root, in the order of the search.
struct Inventory {
  std::string version = {};                       ///< of the libraries, such as 580.95.05
  std::vector<std::string> library_folders = {};  ///< that hold libraries of this version; "" is the root itself
  std::vector<DriverLibrary> libraries = {};
  std::vector<DriverFile> binaries = {};
  std::vector<DriverFile> firmware = {};
  std::vector<DriverFile> sockets = {};
  std::string mps_folder = {};         ///< the pipe folder of the multi-process service; "": none
  std::vector<DriverNode> nodes = {};  ///< sorted by depth, then by path
  std::vector<std::string> warnings = {};
};

struct InventoryRequest {
  std::string kernel_release = {};   ///< firmware may be kept for a kernel
  std::string firmware_folder = {};  ///< where the kernel is told to look first; "": nowhere
  std::string module_version = {};   ///< of the loaded kernel module; "": not known
  bool root_is_host = false;         ///< the driver root is the host's own /
};

/// Looks around without running or loading anything. Fails with `not_found` and says what is
/// missing while the driver is not ready: no device nodes, no libraries, or libraries of another
/// version than the loaded module.
engine::Result<Inventory> take_inventory(const Tree& driver_root,
                                         const Tree& dev_root,
                                         const InventoryRequest& request);

/// The version the libraries of this root have, by the links that programs follow, else by name; ""
/// if there are none.
std::string find_library_version(const Tree& driver_root);

/// Where the loaded module says its version.
inline constexpr const char* kModuleVersionFile = "/proc/driver/nvidia/version";

/// The version in that file's text; "" if there is none.
std::string parse_module_version(std::string_view text);

}  // namespace ctkit::cdi
