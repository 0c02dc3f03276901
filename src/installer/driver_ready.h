#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ctkit::installer {

/// What the GPU Operator's validator noted about the driver, five assignments that shells read
/// (`/run/nvidia/validations/driver-ready`).
struct DriverReady {
  std::string is_host_driver = {};    ///< "true" or "false"
  std::string driver_root = {};       ///< on the host
  std::string driver_root_here = {};  ///< in the operator's containers
  std::string dev_root = {};          ///< on the host
  std::string dev_root_here = {};
  std::vector<std::string> missing = {};  ///< variables without a value: it is being written, or was cut off
  bool operator==(const DriverReady&) const = default;
};

DriverReady parse_driver_ready(std::string_view text);

}  // namespace ctkit::installer
