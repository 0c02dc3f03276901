#include "installer/driver_ready.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ctkit::installer {

DriverReady parse_driver_ready(std::string_view text) {
  DriverReady ready;
  const std::array<std::pair<std::string_view, std::string*>, 5> variables = {{
      {"IS_HOST_DRIVER", &ready.is_host_driver},
      {"NVIDIA_DRIVER_ROOT", &ready.driver_root},
      {"DRIVER_ROOT_CTR_PATH", &ready.driver_root_here},
      {"NVIDIA_DEV_ROOT", &ready.dev_root},
      {"DEV_ROOT_CTR_PATH", &ready.dev_root_here},
  }};
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) continue;
    for (const auto& [name, value] : variables) {
      if (line.substr(0, equals) == name) *value = line.substr(equals + 1);
    }
  }
  for (const auto& [name, value] : variables) {
    if (value->empty()) ready.missing.emplace_back(name);
  }
  return ready;
}

}  // namespace ctkit::installer
