#pragma once

#include <string_view>

namespace ctkit::engine {

/// Whether a handler's binary is one of NVIDIA's runtimes, by its base name: the handler's own name is a setting.
inline bool is_nvidia_runtime(std::string_view binary) {
  return binary.substr(binary.rfind('/') + 1).starts_with("nvidia-container-runtime");
}

}  // namespace ctkit::engine
