#include "installer/run_pass.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "cdi/inventory.h"
#include "cdi/path.h"
#include "daemonset/driver_ready.h"
#include "daemonset/words.h"
#include "installer/cdi_commands.h"
#include "installer/exit_code.h"
#include "installer/locked_run.h"
#include "installer/node_state.h"
#include "installer/pass_request.h"
#include "installer/report_node.h"
#include "installer/watch_list.h"

namespace ctkit::installer {

namespace {

using daemonset::PassMode;
using daemonset::PassReport;
using daemonset::Settings;
using daemonset::WatchItem;
using engine::Error;
using engine::ErrorCode;
using engine::Result;
using namespace std::literals;

constexpr std::string_view kModuleVersion = "/proc/driver/nvidia/version";
constexpr auto kStatusTime = 10s;

std::string in_words(const Error& error) {
  std::string text = error.message;
  if (!error.where.empty()) text += " (" + error.where + ")";
  if (!error.hint.empty()) text += "; " + error.hint;
  return text;
}

void fail(PassReport& report, const Error& error) {
  report.end = PassReport::End::failed;
  report.exit_code = static_cast<int>(exit_code(error.code));
  report.message = in_words(error);
  report.not_ready = report.message;
}

void wait(PassReport& report, std::string what) {
  report.end = PassReport::End::waiting;
  report.exit_code = static_cast<int>(ExitCode::failed);
  report.message = std::move(what);
  report.not_ready = "waiting for " + report.message;
}

WatchItem watch_here(const std::string& path) {
  WatchItem item = watch_of(path);
  item.on_host = false;
  return item;
}

/// Where the driver is; an error: the operator's file has to say it, and doesn't yet.
Result<Settings> find_driver(const PassOrder& order, const PassHost& host, PassReport& report) {
  const Settings& settings = order.resolved.settings;
  if (settings.foreground) return settings;
  report.watch.push_back(watch_here(settings.driver_ready));
  report.driver_ready_text = order.driver_ready;
  const auto text = host.here.read(settings.driver_ready);
  auto ready = daemonset::parse_driver_ready(text ? *text : "");
  if (ready.whole()) {
    report.driver_ready_text = *text;
    return with_driver_ready(order.resolved, ready);
  }
  // The validator removes the file when it is restarted itself: the driver is where it was.
  const auto known = daemonset::parse_driver_ready(order.driver_ready);
  if (known.whole()) return with_driver_ready(order.resolved, known);
  if (!daemonset::needs_driver_ready(order.resolved)) return settings;
  std::string what = "the driver: '" + settings.driver_ready + "' ";
  if (!text) {
    what += text.error().code == ErrorCode::not_found ? "is not there" : "can't be read: " + text.error().message;
  } else {
    what += "does not say yet:";
    for (const std::string& name : ready.missing)
      what += " " + name;
  }
  return std::unexpected(Error{.code = ErrorCode::not_found, .message = std::move(what)});
}

/// What changes when the driver does.
void watch_driver(const Settings& settings, PassReport& report) {
  const auto below = [](const std::string& root, std::string_view path) { return cdi::join(root, std::string(path)); };
  const std::string driver =
      settings.driver_root_ctr_path.empty() ? settings.driver_root : settings.driver_root_ctr_path;
  const std::string dev = !settings.dev_root_ctr_path.empty() ? settings.dev_root_ctr_path
                          : settings.dev_root.empty() || settings.dev_root == settings.driver_root ? driver
                                                                                                   : settings.dev_root;
  report.watch.push_back({.on_host = false, .folder = below(dev, "dev"), .prefix = "nvidia"});
  report.watch.push_back({.on_host = false, .folder = below(dev, "dev/nvidia-caps"), .prefix = "nvidia"});
  for (const std::string_view folder : {"usr/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu"}) {
    for (const std::string_view library : {"libcuda.so", "libnvidia-ml.so"}) {
      report.watch.push_back({.on_host = false, .folder = below(driver, folder), .prefix = std::string(library)});
    }
  }
}

/// The spec that fits the driver. False: there is none to be had now, and the report says why.
bool refresh_spec(const Settings& settings, const PassHost& host, PassReport& report) {
  const auto module = host.here.read(kModuleVersion);
  report.driver_version = cdi::parse_module_version(module ? *module : "");
  if (!settings.cdi_enabled) {
    report.driver_ready = !report.driver_version.empty();
    return true;
  }
  watch_driver(settings, report);
  const CdiRequest request = make_spec_request(settings);
  report.watch.push_back(watch_here(request.output));
  const auto done = run_cdi(request, HostRoot{.folder = "/"}, host.here, host.here, host.here_tree);
  if (!done && done.error().code == ErrorCode::not_found) {
    wait(report, "the driver: " + in_words(done.error()));
    return false;
  }
  if (!done) {
    fail(report, done.error().with_context("writing the CDI spec"));
    return false;
  }
  report.driver_ready = report.spec_current = true;
  if (!done->messages.ends_with(": unchanged\n")) {
    report.written.push_back(request.output);
    for (const std::string_view line : daemonset::split_words(done->messages, '\n'))
      host.say(std::string(line));
  }
  return true;
}

/// What is other than we set it up, as the plan to set it up again shows.
std::vector<std::string> drift_of(const Outcome& outcome) {
  std::vector<std::string> drift;
  if (!outcome.plan) return drift;
  for (const engine::FileChange& file : outcome.plan->files) {
    drift.push_back("'" + file.path + "' " +
                    (!file.after    ? "is not needed any more"
                     : !file.before ? "is not there"
                                    : "is not what it has to be"));
  }
  if (outcome.node) drift.insert(drift.end(), outcome.node->reasons.begin(), outcome.node->reasons.end());
  return drift;
}

void tell(const Outcome& outcome, PassMode mode, const PassHost& host) {
  if (mode != PassMode::look) {
    for (const engine::FileChange& file : outcome.plan->files)
      host.say((file.after ? "wrote '" : "removed '") + file.path + "'");
  }
  if (!outcome.node) return;
  for (const std::string& reason : outcome.node->reasons)
    host.say((outcome.node->restarted ? "restarted '" + outcome.node->unit + "': " : "a restart is due: ") + reason);
  const std::string verdict = report_verdict(*outcome.node);
  if (!verdict.empty()) host.say(verdict.substr(0, verdict.size() - 1));
}

/// Whether it is about what we set up. What others changed in files is theirs to make effective.
bool is_ours(const Difference& difference, const std::vector<engine::DesiredHandler>& handlers) {
  const auto named = [&](const std::string& name) {
    return std::ranges::find(handlers, name, &engine::DesiredHandler::name) != handlers.end();
  };
  return difference.what == kDefaultHandler && (named(difference.files) || named(difference.loaded));
}

/// Why files, daemon and wishes aren't of one mind; empty: they are. Which handlers it has loaded is another question.
std::string objection(const NodeState& state, const std::vector<engine::DesiredHandler>& handlers) {
  if (!state.refused.empty()) return "the daemon would refuse its files: " + state.refused;
  if (!state.not_serving.empty()) return state.not_serving.front();
  if (!state.drifted.empty()) return "'" + state.drifted.front() + "' is not as we wrote it";
  if (!state.missing_binaries.empty()) return "'" + state.missing_binaries.front() + "' is not there";
  if (state.socket.empty()) return "no daemon runs here";
  if (!state.unreachable.empty()) return "the daemon doesn't answer: " + state.unreachable;
  for (const Difference& difference : state.differences) {
    if (is_ours(difference, handlers)) return "the daemon has not loaded what its files say: " + difference.what;
  }
  return "";
}

/// The daemon's own word.
void verify(const Request& request, const NodeAtHand& node, PassReport& report) {
  Request looking = request;
  looking.verb = Verb::status;
  const auto looked = look_at_node(looking, *node.engine, *node.host);
  if (!looked) {
    report.not_ready = looked.error().message;
    return;
  }
  const NodeState& state = *looked->state;
  if (state.journal) report.restarts = state.journal->restarts;
  report.not_ready = objection(state, request.desired.handlers);
  if (node.host->live && node.host->live->daemon) {
    LiveNode& live = *node.host->live;
    const auto loaded = live.status.status(live.clock.now() + kStatusTime);
    for (const engine::DesiredHandler& wanted : request.desired.handlers) {
      const LoadedHandler* there = loaded ? loaded->find_handler(wanted.name) : nullptr;
      if (there && there->binary_name == wanted.binary) ++report.handlers_ready;
    }
  }
  if (report.not_ready.empty() && report.handlers_ready < report.handlers_wanted) {
    report.not_ready = "the daemon serves " + std::to_string(report.handlers_ready) + " of " +
                       std::to_string(report.handlers_wanted) + " handlers";
  }
}

/// The handlers: set up, or looked at.
void serve_handlers(const Request& request, PassMode mode, const PassHost& host, PassReport& report) {
  const auto found = host.find_node(request);
  if (!found) {
    fail(report, found.error());
    return;
  }
  report.daemon_pid = found->daemon_pid;
  const auto watch = config_watch_list(*found->engine, found->host->files);
  report.watch.insert(report.watch.end(), watch.begin(), watch.end());
  const Moment start = host.clock.now();
  const auto outcome = run_locked(request, found->engine, *found->host);
  if (!outcome) {
    fail(report, outcome.error());
    return;
  }
  if (mode != PassMode::install) report.drift = drift_of(*outcome);
  tell(*outcome, mode, host);
  const bool wrote = mode != PassMode::look && !outcome->plan->files.empty();
  for (const engine::FileChange& file : outcome->plan->files)
    report.written.push_back(file.path);
  const bool restarted = outcome->node && outcome->node->restarted;
  if (wrote || restarted) {
    report.repaired = true;
    report.apply_microseconds = std::chrono::duration_cast<std::chrono::microseconds>(host.clock.now() - start).count();
    // The folders that were made for it.
    const auto now = config_watch_list(*found->engine, found->host->files);
    report.watch.insert(report.watch.end(), now.begin(), now.end());
  }
  // A daemon that was restarted is another process.
  const auto again = restarted ? host.find_node(request) : found;
  if (!again) {
    fail(report, again.error());
    return;
  }
  report.daemon_pid = again->daemon_pid;
  using enum NodeChange::Verdict;
  if (outcome->node && (outcome->node->verdict == rolled_back || outcome->node->verdict == rollback_failed)) {
    const bool back = outcome->node->verdict == rolled_back;
    report.took_back = true;
    fail(report,
         {.message = (back ? "the change was taken back: " : "the change could not be taken back: ") +
                     (outcome->node->problems.empty() ? "" : outcome->node->problems.front())});
    report.exit_code = static_cast<int>(back ? ExitCode::rolled_back : ExitCode::rollback_failed);
    return;
  }
  verify(request, *again, report);
}

}  // namespace

PassReport run_pass(const PassOrder& order, const PassHost& host) {
  PassReport report{.end = PassReport::End::settled, .exit_code = 0};
  const auto settings = find_driver(order, host, report);
  if (!settings) {
    wait(report, settings.error().message);
    return report;
  }
  const auto request = make_pass_request(*settings, order.folders, order.mode);
  if (!request) {
    fail(report, request.error());
    return report;
  }
  report.handlers_wanted = settings->nri_plugin ? 0 : static_cast<long>(request->desired.handlers.size());

  if (order.mode != PassMode::look && host.install_toolkit) {
    const auto installed = host.install_toolkit(*settings);
    if (!installed) {
      fail(report, installed.error().with_context("installing the toolkit's files"));
      return report;
    }
    for (const std::string& message : installed->messages)
      host.say(message);
    report.repaired = installed->changed;
    if (installed->changed && order.mode == PassMode::repair) {
      report.drift.emplace_back("the toolkit's files were not as they were installed");
    }
  }
  report.watch.push_back({.folder = settings->install_folder, .prefix = "toolkit"});
  report.watch.push_back({.folder = settings->install_folder + "/toolkit"});

  const bool has_driver = refresh_spec(*settings, host, report);
  if (report.end == PassReport::End::failed) return report;
  if (!has_driver && order.mode == PassMode::install) return report;
  PassReport spec = report;
  if (!settings->nri_plugin) {
    const PassMode mode = settings->no_runtime_config ? PassMode::look : order.mode;
    Request asked = *request;
    if (settings->no_runtime_config) asked.verb = Verb::plan;
    serve_handlers(asked, mode, host, report);
    if (settings->no_runtime_config) report.drift = spec.drift;
  } else {
    report.not_ready = "NRI mode: ctkit has no NRI plugin, and nobody injects devices";
  }
  // Without a driver nothing works, however well it is set up.
  if (!has_driver && report.end != PassReport::End::failed) wait(report, spec.message);
  report.ready = report.end == PassReport::End::settled && report.not_ready.empty();
  return report;
}

}  // namespace ctkit::installer
