#include "installer/toolkit_request.h"

#include <algorithm>
#include <array>
#include <utility>

#include "cdi/path.h"
#include "engine/nvidia_runtime.h"

namespace ctkit::installer {

namespace {

using daemonset::Settings;

// nvidia-container-toolkit v1.20.0, internal/config/config.go: getUserGroup asks for suse in ID_LIKE or ID.
bool is_suse(const engine::FileReader& host_files) {
  auto text = host_files.read("/etc/os-release");
  if (!text) text = host_files.read("/usr/lib/os-release");
  if (!text) return false;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const bool names_kind = line.starts_with("ID=") || line.starts_with("ID_LIKE=");
    if (names_kind && (line.contains("suse") || line.contains("sles"))) return true;
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
  }
  return false;
}

}  // namespace

toolkit::ConfigSettings make_toolkit_config(const Settings& settings,
                                            const std::vector<std::string>& low_level,
                                            const engine::FileReader& here,
                                            const engine::FileReader& host_files) {
  toolkit::ConfigSettings config{.driver_root = settings.driver_root,
                                 .accept_envvar_when_unprivileged = settings.accept_envvar_when_unprivileged,
                                 .accept_volume_mounts = settings.accept_volume_mounts,
                                 .cli_debug = settings.cli_debug,
                                 .skip_mode_detection = settings.skip_mode_detection,
                                 .features = settings.features};
  const std::string& seen =
      settings.driver_root_ctr_path.empty() ? settings.driver_root : settings.driver_root_ctr_path;
  // On Debian and Ubuntu `ldconfig` is a script.
  constexpr std::string_view kRealLdconfig = "sbin/ldconfig.real";
  if (here.exists(cdi::join(seen, kRealLdconfig))) config.ldconfig = cdi::join(settings.driver_root, kRealLdconfig);
  if (is_suse(host_files)) config.cli_user = "root:video";
  const std::array<std::pair<const std::string*, std::string*>, 4> texts = {{
      {&settings.runtime_debug, &config.runtime_debug},
      {&settings.runtime_log_level, &config.log_level},
      {&settings.runtime_mode, &config.mode},
      {&settings.default_kind, &config.default_kind},
  }};
  for (const auto& [said, wanted] : texts) {
    if (!said->empty()) *wanted = *said;
  }
  if (!settings.annotation_prefixes.empty()) config.annotation_prefixes = settings.annotation_prefixes;
  if (!settings.low_level_runtimes.empty()) {
    config.runtimes = settings.low_level_runtimes;
  } else {
    // The daemon's own come first, as with NVIDIA's installer; a name twice is of no use.
    std::vector<std::string> runtimes = low_level;
    for (const std::string& usual : config.runtimes) {
      if (std::ranges::find(runtimes, usual) == runtimes.end()) runtimes.push_back(usual);
    }
    config.runtimes = std::move(runtimes);
  }
  return config;
}

std::vector<std::string> low_level_runtimes(const std::vector<engine::Handler>& handlers) {
  std::vector<std::string> binaries;
  const auto take = [&](const engine::Handler& handler) {
    if (handler.binary.empty() || engine::is_nvidia_runtime(handler.binary)) return;
    if (std::ranges::find(binaries, handler.binary) == binaries.end()) binaries.push_back(handler.binary);
  };
  for (const engine::Handler& handler : handlers) {
    if (handler.is_default) take(handler);
  }
  for (const std::string_view name : {"runc", "crun"}) {
    const auto handler = std::ranges::find(handlers, name, &engine::Handler::name);
    if (handler != handlers.end()) take(*handler);
  }
  return binaries;
}

}  // namespace ctkit::installer
