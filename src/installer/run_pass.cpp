#include "installer/run_pass.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "cdi/inventory.h"
#include "cdi/path.h"
#include "daemonset/driver_ready.h"
#include "daemonset/words.h"
#include "installer/before_change.h"
#include "installer/cdi_commands.h"
#include "installer/exit_code.h"
#include "installer/locked_run.h"
#include "installer/node_state.h"
#include "installer/pass_request.h"
#include "installer/refused_change.h"
#include "installer/report_node.h"
#include "installer/toolkit_request.h"
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
void watch_driver(const daemonset::DriverPlaces& places, PassReport& report) {
  for (const std::string_view folder : {"dev", "dev/nvidia-caps"}) {
    report.watch.push_back({.on_host = false, .folder = cdi::join(places.dev, folder), .prefix = "nvidia"});
  }
  for (const std::string_view folder : {"usr/lib64", "usr/lib/x86_64-linux-gnu", "usr/lib/aarch64-linux-gnu"}) {
    for (const std::string_view library : {"libcuda.so", "libnvidia-ml.so"}) {
      report.watch.push_back(
          {.on_host = false, .folder = cdi::join(places.driver, folder), .prefix = std::string(library)});
    }
  }
}

/// False: the pass can't go on, and the report says why.
bool make_nodes(const Settings& settings, const PassHost& host, PassReport& report) {
  if (!settings.cdi_enabled || settings.create_device_nodes != "control" || !host.make_device_nodes) return true;
  const auto made = host.make_device_nodes(daemonset::driver_places(settings).dev);
  // Whether the driver is there is for the spec to say.
  if (!made && made.error().code == ErrorCode::not_found) return true;
  if (!made) {
    fail(report, made.error().with_context("making the control device nodes"));
    return false;
  }
  for (const std::string& node : *made)
    host.say("made '" + node + "'");
  return true;
}

/// The spec that fits the driver, written, or only tried. False: there is none to be had now, and the report says why.
bool refresh_spec(const Settings& settings, bool writes, const PassHost& host, PassReport& report) {
  const auto module = host.here.read(cdi::kModuleVersionFile);
  report.looked_at_driver = true;
  report.driver_version = cdi::parse_module_version(module ? *module : "");
  if (!settings.cdi_enabled) {
    report.driver_ready = !report.driver_version.empty();
    return true;
  }
  CdiRequest request = make_spec_request(settings);
  if (!writes) request.output = "-";
  const auto done = run_cdi(request, HostRoot{.folder = "/"}, host.here, host.here, host.here_tree);
  if (!done && done.error().code == ErrorCode::not_found) {
    wait(report, "the driver: " + in_words(done.error()));
    return false;
  }
  if (!done) {
    fail(report, done.error().with_context("writing the CDI spec"));
    return false;
  }
  report.driver_ready = true;
  report.spec_current = writes;
  if (writes && !done->messages.ends_with(": unchanged\n")) {
    report.written.push_back(request.output);
    for (const std::string_view line : daemonset::split_words(done->messages, '\n'))
      host.say(std::string(line));
  }
  return true;
}

/// What is other than we set it up, as the plan to set it up again shows.
void add_drift(const Outcome& outcome, PassReport& report) {
  for (const engine::FileChange& file : outcome.plan->files) {
    report.drift.push_back("'" + file.path + "' " +
                           (!file.after    ? "is not needed any more"
                            : !file.before ? "is not there"
                                           : "is not what it has to be"));
  }
  if (!outcome.node) return;
  report.drift.insert(report.drift.end(), outcome.node->reasons.begin(), outcome.node->reasons.end());
}

bool holds(const Outcome& outcome) {
  using enum NodeChange::Verdict;
  return !outcome.node || (outcome.node->verdict != rolled_back && outcome.node->verdict != rollback_failed);
}

void tell(const Outcome& outcome, PassMode mode, const PassHost& host) {
  if (mode != PassMode::look && holds(outcome)) {
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
  return std::ranges::any_of(handlers, [&](const engine::DesiredHandler& handler) {
    return difference.what == "handler '" + handler.name + "'" ||
           (difference.what == kDefaultHandler &&
            (difference.files == handler.name || difference.loaded == handler.name));
  });
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

/// Why the hook that stands for handlers isn't there, or can't do its work; empty: it is and can.
std::string hook_objection(const Request& request, const NodeAtHand& node) {
  Request planning = request;
  planning.verb = Verb::plan;
  const auto outcome = run_locked(planning, node.engine, *node.host);
  if (!outcome) return outcome.error().message;
  if (!outcome->plan->files.empty()) return "'" + outcome->plan->files.front().path + "' is not as it has to be";
  const auto there = check_binaries(request, *node.host);
  return there ? "" : there.error().message;
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
  report.restarts = state.journal ? state.journal->restarts : 0;
  report.not_ready = objection(state, request.desired.handlers);
  if (report.not_ready.empty() && node.host->without_handlers) report.not_ready = hook_objection(request, node);
  for (const engine::DesiredHandler& wanted : request.desired.handlers) {
    const LoadedHandler* there = state.loaded ? state.loaded->find_handler(wanted.name) : nullptr;
    if (there && there->binary_name == wanted.binary) ++report.handlers_ready;
  }
  if (report.not_ready.empty() && report.handlers_ready < report.handlers_wanted) {
    report.not_ready = "the daemon serves " + std::to_string(report.handlers_ready) + " of " +
                       std::to_string(report.handlers_wanted) + " handlers";
  }
}

Error with_read_only_hint(Error error, const Settings& settings) {
  if (settings.host_root != "/" && error.hint.contains("mounted read-only")) {
    error.hint +=
        "; RUNTIME_CONFIG and RUNTIME_DROP_IN_CONFIG (with the operator also CONTAINERD_SOCKET, in toolkit.env) say "
        "what is "
        "mounted for writing";
  }
  return error;
}

std::string refused_path(const Settings& settings) {
  return cdi::join(cdi::folder_of(settings.ready_file), "ctkit-refused");
}

/// The same change was taken back not long ago; the report says so.
bool was_refused(const Settings& settings,
                 const Request& request,
                 const NodeAtHand& found,
                 PassMode mode,
                 const PassHost& host,
                 PassReport& report) {
  if (request.verb != Verb::apply) return false;
  const auto refused = read_refused_change(found.host->files, refused_path(settings), host.clock.real_time());
  if (!refused) return false;
  Request planning = request;
  planning.verb = Verb::plan;
  const auto outcome = run_locked(planning, found.engine, *found.host);
  if (!outcome || digest_of_change(found.engine->name(), *outcome, found.host->files) != refused->digest) return false;
  if (mode != PassMode::install) add_drift(*outcome, report);
  report.took_back = true;
  fail(report,
       {.code = ErrorCode::needs_decision,
        .message = "the daemon did not take this change, and it is not tried again for an hour: " + refused->reason,
        .hint = "`ctkit apply` tries it at once; so does any other change"});
  return true;
}

/// The handlers: set up, or looked at.
void serve_handlers(const Settings& settings,
                    const Request& request,
                    const NodeAtHand& found,
                    PassMode mode,
                    const PassHost& host,
                    PassReport& report) {
  if (was_refused(settings, request, found, mode, host, report)) return;
  const std::string engine = found.engine->name();
  const Moment start = host.clock.now();
  const auto outcome = run_locked(request, found.engine, *found.host);
  if (!outcome) {
    fail(report, with_read_only_hint(outcome.error(), settings));
    return;
  }
  if (mode != PassMode::install) add_drift(*outcome, report);
  tell(*outcome, mode, host);
  const bool wrote = mode != PassMode::look && !outcome->plan->files.empty();
  if (wrote) {
    for (const engine::FileChange& file : outcome->plan->files)
      report.written.push_back(file.path);
  }
  const bool restarted = outcome->node && outcome->node->restarted;
  if (wrote || restarted) {
    report.changed = true;
    report.apply_microseconds = std::chrono::duration_cast<std::chrono::microseconds>(host.clock.now() - start).count();
    // The folders that were made for it.
    const auto now = config_watch_list(*found.engine, found.host->files);
    report.watch.insert(report.watch.end(), now.begin(), now.end());
  }
  // A daemon that was restarted is another process.
  const auto again = restarted ? host.find_node(request) : Result<NodeAtHand>(found);
  if (!again) {
    fail(report, again.error());
    return;
  }
  report.daemon_pid = again->daemon_pid;
  // A hook is no file of the daemon's config.
  for (const engine::FileChange& file : outcome->plan->desired)
    report.watch.push_back(watch_of(file.path));
  if (!holds(*outcome)) {
    const bool back = outcome->node->verdict == NodeChange::Verdict::rolled_back;
    report.took_back = true;
    fail(report,
         {.message = (back ? "the change was taken back: " : "the change could not be taken back: ") +
                     (outcome->node->problems.empty() ? "" : outcome->node->problems.front())});
    report.exit_code = static_cast<int>(back ? ExitCode::rolled_back : ExitCode::rollback_failed);
    const auto kept = keep_refused_change(again->host->files,
                                          refused_path(settings),
                                          {.digest = digest_of_change(engine, *outcome, again->host->files),
                                           .time = host.clock.real_time(),
                                           .reason = report.message});
    if (!kept) host.say("warning: " + kept.error().message);
    return;
  }
  verify(request, *again, report);
  if (report.not_ready.empty()) forget_refused_change(again->host->files, refused_path(settings));
}

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
    fail(report, installed.error());
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
    wait(report, settings.error().message);
    return report;
  }
  auto request = make_pass_request(*settings, order.folders, order.mode);
  if (!request) {
    fail(report, request.error());
    return report;
  }
  weigh_config(order.resolved, *request);
  if (settings->cdi_enabled) {
    watch_driver(daemonset::driver_places(*settings), report);
    report.watch.push_back(watch_here(make_spec_request(*settings).output));
  }
  if (!make_nodes(*settings, host, report)) return report;
  if (order.mode == PassMode::install && !refresh_spec(*settings, false, host, report)) return report;

  const auto node = host.find_node(*request);
  if (!node) {
    fail(report, node.error());
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
    verify(*request, *node, report);
  } else {
    serve_handlers(*settings, *request, *node, order.mode, host, report);
  }
  // Without a driver nothing works, however well it is set up.
  if (!has_driver && report.end != PassReport::End::failed) wait(report, waited_for);
  report.ready = report.end == PassReport::End::settled && report.not_ready.empty();
  return report;
}

PassReport failed_pass(const Error& error) {
  PassReport report;
  fail(report, error);
  return report;
}

}  // namespace ctkit::installer
