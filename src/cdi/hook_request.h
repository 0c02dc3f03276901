#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace ctkit::cdi {

enum class ContainerHook {
  none,         ///< no hook is named, or a flag in front of it is not known: nothing to do
  unsupported,  ///< a hook of another release: nothing to do
  noop,
  create_symlinks,
  update_ldcache,
  enable_cuda_compat,
  disable_device_node_modification,
  chmod,
};

/// What `nvidia-cdi-hook ARG…` asks for.
struct HookRequest {
  ContainerHook hook = ContainerHook::none;
  std::string name = {};  ///< as given
  bool quiet = false;
  std::string container_spec = {};      ///< a file with the state; "" or "-": standard input
  std::vector<std::string> links = {};  ///< TARGET::LINK
  std::vector<std::string> folders = {};
  std::string ldconfig = "/sbin/ldconfig";
  std::string host_driver_version = {};
  std::string host_cuda_version = {};
  std::string compat_folder = "/usr/local/cuda/compat";
  std::vector<std::string> paths = {};
  unsigned mode = 0;  ///< chmod: 12 bits
};

/// The contract of NVIDIA's binary, v1.20.0: what it does not know by name is `none` or
/// `unsupported` (a newer spec must not keep containers from starting), but a wrong flag of a known
/// hook is `usage`.
engine::Result<HookRequest> parse_hook_command(std::span<const std::string> arguments);

/// TARGET::LINK in its two parts; `usage` if it is not that.
struct LinkWords {
  std::string target = {};
  std::string link = {};
};
engine::Result<LinkWords> parse_link(std::string_view text);

}  // namespace ctkit::cdi
