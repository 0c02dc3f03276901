#pragma once

#include <string>
#include <vector>

namespace ctkit::toolkit {

/// What the toolkit's config.toml is to say beyond NVIDIA's defaults; each field is what one of NVIDIA's flags sets.
struct ConfigSettings {
  std::string driver_root = "/run/nvidia/driver";  ///< on the host
  std::string ldconfig = {};                       ///< on the host, below the driver root; empty: `sbin/ldconfig` there
  bool accept_envvar_when_unprivileged = true;
  bool accept_volume_mounts = false;
  std::string cli_debug = {};
  std::string cli_user = {};  ///< "root:video" on SUSE
  std::string runtime_debug = "/dev/null";
  std::string log_level = "info";
  std::string mode = "auto";
  std::vector<std::string> runtimes = {"runc", "crun"};  ///< low-level ones, the first that is there counts
  std::string default_kind = "nvidia.com/gpu";
  std::vector<std::string> annotation_prefixes = {"cdi.k8s.io/"};
  bool skip_mode_detection = true;
  std::vector<std::string> features = {};  ///< opted in
};

}  // namespace ctkit::toolkit
