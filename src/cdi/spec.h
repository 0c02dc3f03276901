#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ctkit::cdi {

/// A CDI spec as its file says it, all fields of all versions (specs-go/config.go). `line` is where
/// an item stands in the file, from 1, 0 in one that we made. `null` tells that the file has `null`
/// in the item's place: the library then holds a nil pointer.
struct DeviceNode {
  std::string path = {};
  std::string host_path = {};  ///< empty: the same as `path`
  std::string type = {};
  std::int64_t major = 0;
  std::int64_t minor = 0;
  std::optional<std::uint32_t> file_mode = {};  ///< permission bits
  std::string permissions = {};                 ///< of the cgroup: some of "rwm"
  std::optional<std::uint32_t> uid = {};
  std::optional<std::uint32_t> gid = {};
  int line = 0;
  bool null = false;

  bool operator==(const DeviceNode&) const = default;
};

struct Mount {
  std::string host_path = {};
  std::string container_path = {};
  std::vector<std::string> options = {};
  std::string type = {};
  int line = 0;
  bool null = false;

  bool operator==(const Mount&) const = default;
};

struct Hook {
  std::string name = {};  ///< the OCI hook, such as "createContainer"
  std::string path = {};
  std::vector<std::string> args = {};  ///< with argv[0]
  std::vector<std::string> env = {};
  std::optional<std::int64_t> timeout = {};  ///< seconds
  int line = 0;
  bool null = false;

  bool operator==(const Hook&) const = default;
};

struct IntelRdt {
  std::string clos_id = {};
  std::string l3_cache_schema = {};
  std::string mem_bw_schema = {};
  std::vector<std::string> schemata = {};
  bool enable_cmt = false;
  bool enable_mbm = false;
  bool enable_monitoring = false;
  int line = 0;

  bool operator==(const IntelRdt&) const = default;
};

struct NetDevice {
  std::string host_interface_name = {};
  std::string name = {};
  int line = 0;
  bool null = false;

  bool operator==(const NetDevice&) const = default;
};

struct ContainerEdits {
  std::vector<std::string> env = {};
  std::vector<DeviceNode> device_nodes = {};
  std::vector<Hook> hooks = {};
  std::vector<Mount> mounts = {};
  std::optional<IntelRdt> intel_rdt = {};
  std::vector<std::uint32_t> additional_gids = {};
  std::vector<NetDevice> net_devices = {};
  int line = 0;

  bool operator==(const ContainerEdits&) const = default;
};

struct Device {
  std::string name = {};
  std::map<std::string, std::string> annotations = {};
  ContainerEdits edits = {};
  int line = 0;

  bool operator==(const Device&) const = default;
};

struct Spec {
  std::string version = {};  ///< cdiVersion
  std::string kind = {};     ///< vendor/class
  std::map<std::string, std::string> annotations = {};
  std::vector<Device> devices = {};
  ContainerEdits edits = {};  ///< for every device of this spec
  int version_line = 0;
  int kind_line = 0;

  bool operator==(const Spec&) const = default;
};

}  // namespace ctkit::cdi
