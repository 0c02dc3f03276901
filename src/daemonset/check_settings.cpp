#include "daemonset/check_settings.h"

#include <string>
#include <string_view>
#include <utility>

#include "cdi/device_name.h"
#include "daemonset/listen_address.h"
#include "daemonset/words.h"

namespace ctkit::daemonset {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

Result<void> refuse(std::string message, std::string hint = {}) {
  return std::unexpected(Error{.code = ErrorCode::usage, .message = std::move(message), .hint = std::move(hint)});
}

/// The row's value follows from another setting.
void derive(ResolvedSettings& resolved, std::string_view name, std::string value, const std::string& from) {
  for (ResolvedValue& row : resolved.table) {
    if (row.name != name) continue;
    row.value = std::move(value);
    row.source = from;
  }
}

void apply_foreground(ResolvedSettings& resolved) {
  Settings& settings = resolved.settings;
  const auto set = [&](std::string_view name, std::string& member) {
    if (resolved.is_given(name)) return;
    member = "/";
    derive(resolved, name, "/", "foreground");
  };
  set("host-root", settings.host_root);
  const bool given = resolved.is_given("driver-root");
  set("driver-root", settings.driver_root);
  if (!given) set("driver-root-ctr-path", settings.driver_root_ctr_path);
  if (given && !resolved.is_given("driver-root-ctr-path")) {
    settings.driver_root_ctr_path = settings.driver_root;
    derive(resolved, "driver-root-ctr-path", settings.driver_root, "driver-root");
  }
}

}  // namespace

Result<void> check_settings(Dialect dialect, ResolvedSettings& resolved) {
  Settings& settings = resolved.settings;
  if (settings.runtime == "docker") {
    return refuse("docker is not supported: ctkit sets up containerd and CRI-O (runtime, from " +
                      resolved.find("runtime")->source + ")",
                  dialect == Dialect::nvidia && !resolved.is_given("runtime")
                      ? "set RUNTIME=containerd or RUNTIME=crio; docker is what NVIDIA's installer takes without it"
                      : "on a node with Docker, `nvidia-ctk runtime configure --runtime=docker` does it");
  }
  if (settings.foreground) apply_foreground(resolved);
  if (settings.install_folder == "/") {
    return refuse("toolkit-install-dir wants a folder");
  }
  if (!settings.pid_file.ends_with("/toolkit.pid")) {
    return refuse("pid-file wants a file named toolkit.pid, not '" + settings.pid_file + "'",
                  "NVIDIA's installer locks a file of that name, and takes no other");
  }
  if (const auto kind = cdi::parse_kind(settings.cdi_kind); !kind) {
    return std::unexpected(kind.error().with_context("cdi-kind"));
  }
  constexpr long kMostIndex = 99;
  if (settings.nri_index > kMostIndex) return refuse("nri-plugin-index wants a number up to 99");
  if (settings.nri_plugin && settings.no_daemon) settings.nri_plugin = false;  // as NVIDIA's installer
  if (settings.cdi_enabled && settings.cdi_folder.empty()) {
    resolved.warnings.emplace_back("cdi-output-dir is empty: no CDI spec is written");
    settings.cdi_enabled = false;
  }
  // "" is what NVIDIA's installer takes for not said: a flag that has no default of its own.
  if (settings.enable_cdi_in_runtime.empty()) {
    settings.enable_cdi_in_runtime = settings.cdi_enabled ? "true" : "false";
    derive(resolved, "enable-cdi-in-runtime", settings.enable_cdi_in_runtime, "default");
  }
  const auto enables = parse_bool(settings.enable_cdi_in_runtime);
  if (!enables) {
    return refuse("enable-cdi-in-runtime: '" + settings.enable_cdi_in_runtime + "' is neither true nor false");
  }
  settings.enable_cdi_in_runtime = *enables ? "true" : "false";
  if (settings.restart_mode == "signal") {
    resolved.warnings.emplace_back("restart-mode signal is done as systemd: the signal ends containerd");
  }
  if (settings.runtime_name.empty()) return refuse("runtime-name wants a name");
  if (!settings.listen.empty()) {
    if (const auto address = parse_listen(settings.listen); !address) return std::unexpected(address.error());
  }
  return {};
}

}  // namespace ctkit::daemonset
