#include "installer/run_pass.h"

#include <string>
#include <vector>

#include "installer/pass_driver.h"
#include "installer/pass_end.h"
#include "installer/pass_handlers.h"
#include "installer/pass_request.h"
#include "installer/toolkit_request.h"
#include "installer/watch_list.h"

namespace ctkit::installer {

namespace {

using daemonset::PassMode;
using daemonset::PassReport;
using daemonset::Settings;
using engine::Error;

/// False: the pass can't go on, and the report says why.
bool install_files(
    const Settings& settings, const NodeAtHand& node, PassMode mode, const PassHost& host, PassReport& report) {
  report.watch.push_back({.folder = settings.install_folder, .prefix = "toolkit"});
  report.watch.push_back({.folder = settings.install_folder + "/toolkit"});
  if (mode == PassMode::look || !host.install_toolkit) return true;
  const auto today = node.engine->effective(node.host->files, false);
  const auto installed = host.install_toolkit(
      settings, today ? low_level_runtimes(node.engine->handlers(*today)) : std::vector<std::string>{});
  if (!installed) {
    end_failed(report, installed.error());
    return false;
  }
  for (const std::string& message : installed->messages)
    host.say(message);
  report.written.push_back(settings.install_folder);
  if (!installed->changed) return true;
  report.changed = true;
  if (mode == PassMode::repair) report.drift.emplace_back("the toolkit's files were not as they were installed");
  return true;
}

void compare_config(const Request& request, const NodeAtHand& node, PassMode mode, const PassHost& host) {
  if (mode != PassMode::install || request.config.empty() || node.daemon_config.empty()) return;
  if (request.config == node.daemon_config) return;
  host.say("warning: the settings name '" + request.config + "', the running daemon reads '" + node.daemon_config +
           (request.config_is_guess ? "': that counts" : "': the settings count"));
}

}  // namespace

// 1. Where the driver is: the operator's file, the environment, a flag.
// 2. The first time, a driver that isn't ready is waited for before anything is touched.
// 3. The daemon is found, and what its files make of it.
// 4. The toolkit's files: what handlers and hooks name has to be there before they do.
// 5. The CDI spec; without a driver the old one stays.
// 6. The handlers, and what the daemon itself says of them.
PassReport run_pass(const PassOrder& order, const PassHost& host) {
  PassReport report{.end = PassReport::End::settled, .exit_code = 0};
  const auto settings = find_driver(order, host, report);
  if (!settings) {
    end_waiting(report, settings.error().message);
    return report;
  }
  auto request = make_pass_request(*settings, order.folders, order.mode);
  if (!request) {
    end_failed(report, request.error());
    return report;
  }
  weigh_config(order.resolved, *request);
  if (settings->cdi_enabled) watch_driver(*settings, report);
  if (!make_nodes(*settings, host, report)) return report;
  if (order.mode == PassMode::install && !refresh_spec(*settings, false, host, report)) return report;

  const auto node = host.find_node(*request);
  if (!node) {
    end_failed(report, node.error());
    return report;
  }
  report.daemon_pid = node->daemon_pid;
  if (node->host->without_handlers) request->desired.handlers.clear();
  report.handlers_wanted = settings->nri_plugin ? 0 : static_cast<long>(request->desired.handlers.size());
  compare_config(*request, *node, order.mode, host);
  const auto watch = config_watch_list(*node->engine, node->host->files);
  report.watch.insert(report.watch.end(), watch.begin(), watch.end());
  if (!install_files(*settings, *node, order.mode, host, report)) return report;

  const bool has_driver = refresh_spec(*settings, true, host, report);
  if (report.end == PassReport::End::failed) return report;
  const std::string waited_for = report.message;
  report.end = PassReport::End::settled;
  if (settings->nri_plugin) {
    report.not_ready = "NRI mode: ctkit has no NRI plugin, and nobody injects devices";
  } else if (settings->no_runtime_config) {
    verify_handlers(*request, *node, report);
  } else {
    serve_handlers(*settings, *request, *node, order.mode, host, report);
  }
  // Without a driver nothing works, however well it is set up.
  if (!has_driver && report.end != PassReport::End::failed) end_waiting(report, waited_for);
  report.ready = report.end == PassReport::End::settled && report.not_ready.empty();
  return report;
}

PassReport failed_pass(const Error& error) {
  PassReport report;
  end_failed(report, error);
  return report;
}

}  // namespace ctkit::installer
