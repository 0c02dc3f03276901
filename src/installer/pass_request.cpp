#include "installer/pass_request.h"

#include <algorithm>
#include <utility>

#include "cdi/management.h"
#include "cdi/path.h"
#include "installer/daemon_kind.h"
#include "installer/handlers_option.h"

namespace ctkit::installer {

namespace {

using daemonset::PassMode;
using daemonset::Settings;
using engine::DesiredHandler;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

constexpr std::string_view kUsualType = "io.containerd.runc.v2";
/// Where the operator mounts the host's folder of OCI hooks, whichever that is.
const std::string kHooks = "/usr/share/containers/oci/hooks.d";

Result<std::vector<DesiredHandler>> make_handlers(const Settings& settings) {
  auto given = parse_handlers(join_types(settings.handlers));
  if (!given) return given;
  std::vector<DesiredHandler> handlers =
      given->empty() ? usual_handlers(settings.install_folder + "/toolkit") : *std::move(given);
  // A name that one of the others has leaves the first as it is, as with NVIDIA's installer.
  if (settings.handlers.empty() &&
      std::ranges::find(handlers, settings.runtime_name, &DesiredHandler::name) == handlers.end()) {
    handlers.front().name = settings.runtime_name;
  }
  // The parent's own type is what it usually is.
  if (settings.runtime_type != kUsualType) {
    for (DesiredHandler& handler : handlers) {
      if (handler.type.empty()) handler.type = settings.runtime_type;
    }
  }
  pass_annotations(settings.passed_annotation_prefixes, handlers);
  return handlers;
}

}  // namespace

Result<Request> make_pass_request(const Settings& settings,
                                  const std::vector<daemonset::MappedFolder>& folders,
                                  PassMode mode) {
  const auto on_host = [&](const std::string& path) {
    return path.empty() ? path : daemonset::host_path(folders, settings.host_root, path);
  };
  if (!is_hook_name(settings.hook_file_name)) {
    return std::unexpected(Error{.code = ErrorCode::usage,
                                 .message = "hook-filename wants a name that ends in .json, as CRI-O does, not '" +
                                            settings.hook_file_name + "'"});
  }
  auto handlers = make_handlers(settings);
  if (!handlers) return std::unexpected(handlers.error());
  using enum engine::OnConflict;
  Request request{.verb = mode == PassMode::look ? Verb::plan : Verb::apply,
                  .root = settings.host_root,
                  .engine = settings.runtime,
                  .release = settings.release,
                  .config = on_host(settings.config),
                  .defaults = settings.defaults};
  request.state_dir = settings.state_folder.empty() ? settings.install_folder + "/.ctkit" : settings.state_folder;
  request.desired = {.handlers = *std::move(handlers),
                     .on_conflict = settings.on_conflict == "keep"     ? keep
                                    : settings.on_conflict == "refuse" ? refuse
                                                                       : restore};
  request.desired.drop_in = settings.drop_in_host_path.empty() ? on_host(settings.drop_in) : settings.drop_in_host_path;
  request.desired.enable_cdi = settings.enable_cdi_in_runtime == "true";
  if (settings.set_as_default) {
    request.desired.default_handler =
        settings.handlers.empty() ? settings.runtime_name : request.desired.handlers.front().name;
  }
  request.hook_mode = settings.crio_config_mode == "hook";
  request.hook_name = settings.hook_file_name;
  request.hooks_folder = on_host(settings.hooks_folder.empty() ? kHooks : settings.hooks_folder);
  if (settings.hooks_folder.empty() && request.hooks_folder == kHooks) request.hooks_folder.clear();
  request.toolkit_folder = settings.install_folder + "/toolkit";
  request.restart = settings.restart_mode == "none"     ? RestartMode::none
                    : settings.restart_mode == "always" ? RestartMode::always
                                                        : RestartMode::unserved;
  request.trust = settings.trust == "dump"         ? Trust::dump
                  : settings.trust == "prediction" ? Trust::prediction
                                                   : Trust::neither;
  request.socket = on_host(settings.socket);
  request.unit = settings.unit;
  request.lock = settings.pid_file;
  request.confirm_timeout = settings.confirm_timeout;
  return request;
}

void weigh_config(const daemonset::ResolvedSettings& resolved, Request& request) {
  if (resolved.is_ours("config")) return;
  request.config_is_guess = true;
  const bool is_read = std::ranges::all_of(daemon_kinds(), [&](const DaemonKind& kind) {
    return kind.reads_operators_config || (!request.engine.empty() && kind.engine != request.engine);
  });
  if (!is_read) request.config.clear();
}

CdiRequest make_spec_request(const Settings& settings) {
  return {.verb = CdiVerb::generate,
          .root = "/",
          .driver_root = settings.driver_root,
          .driver_root_ctr_path = settings.driver_root_ctr_path,
          .dev_root = settings.dev_root,
          .dev_root_ctr_path = settings.dev_root_ctr_path,
          .kind = settings.cdi_kind,
          .hook_path = settings.install_folder + "/toolkit/nvidia-cdi-hook",
          .output = cdi::join(settings.cdi_folder, cdi::management_file_name(settings.cdi_kind))};
}

}  // namespace ctkit::installer
