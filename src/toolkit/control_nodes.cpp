#include "toolkit/control_nodes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <system_error>

#include "cdi/path.h"

// Numbers as nvidia-modprobe and NVIDIA's installer have them (v1.20.0, internal/system/nvdevices): the major one of
// the module's line in /proc/devices, the minor one fixed.
namespace ctkit::toolkit {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

struct KnownNode {
  std::string_view name;
  std::string_view module;
  unsigned minor;
};

constexpr std::string_view kModule = "nvidia";
constexpr std::string_view kFormerModule = "nvidia-frontend";
constexpr std::string_view kMemoryModule = "nvidia-uvm";

constexpr std::array<KnownNode, 4> kNodes = {{
    {.name = "nvidiactl", .module = kModule, .minor = 255},
    {.name = "nvidia-modeset", .module = kModule, .minor = 254},
    {.name = "nvidia-uvm", .module = kMemoryModule, .minor = 0},
    {.name = "nvidia-uvm-tools", .module = kMemoryModule, .minor = 1},
}};

/// The names of character devices with their numbers.
std::map<std::string, unsigned, std::less<>> parse_majors(std::string_view text) {
  std::map<std::string, unsigned, std::less<>> majors;
  bool characters = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with(':')) characters = line.starts_with("Character");
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    unsigned major = 0;
    const auto read = std::from_chars(line.data(), line.data() + line.size(), major);
    if (!characters || read.ec != std::errc{}) continue;
    line.remove_prefix(static_cast<std::size_t>(read.ptr - line.data()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    majors.emplace(line, major);
  }
  return majors;
}

bool is_right(const cdi::FileStatus& status, const ControlNode& node) {
  return status.kind == cdi::FileKind::character_device && status.major == node.major && status.minor == node.minor;
}

}  // namespace

ControlNodes parse_control_nodes(std::string_view proc_devices) {
  auto majors = parse_majors(proc_devices);
  if (const auto former = majors.find(kFormerModule); former != majors.end()) majors.emplace(kModule, former->second);
  ControlNodes found;
  for (const KnownNode& node : kNodes) {
    if (const auto major = majors.find(node.module); major != majors.end()) {
      found.nodes.push_back({.path = cdi::join("/dev", node.name), .major = major->second, .minor = node.minor});
    } else if (found.missing_modules.empty() || found.missing_modules.back() != node.module) {
      found.missing_modules.emplace_back(node.module);
    }
  }
  return found;
}

Result<std::vector<std::string>> make_control_nodes(std::string_view proc_devices,
                                                    const cdi::Tree& device_root,
                                                    NodeMaker& maker) {
  const ControlNodes wanted = parse_control_nodes(proc_devices);
  if (!wanted.missing_modules.empty() && wanted.missing_modules.front() == kModule) {
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .message = "the nvidia module is not loaded: it has no device number",
                                 .where = "/proc/devices",
                                 .hint = "load the driver first"});
  }
  std::vector<std::string> made;
  for (const ControlNode& node : wanted.nodes) {
    const auto status = device_root.follow(node.path);
    if (status && is_right(*status, node)) continue;
    if (auto done = maker.make_node(node); !done) {
      return std::unexpected(done.error().with_context("making the device node"));
    }
    made.push_back(node.path);
  }
  return made;
}

}  // namespace ctkit::toolkit
