#include "installer/host/run_daemonset.h"

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <unistd.h>
#include <utility>
#include <vector>

#include "daemonset/mounts.h"
#include "daemonset/resolve_settings.h"
#include "installer/exit_code.h"
#include "installer/find_daemon.h"
#include "installer/host/mapped_file_system.h"
#include "installer/host/open_node.h"
#include "installer/host/posix_tree.h"
#include "installer/host/run_loop.h"
#include "installer/host/system_clock.h"
#include "installer/host/toolkit_files.h"
#include "installer/pass_request.h"
#include "installer/report_text.h"
#include "installer/run_pass.h"

namespace ctkit::installer::host {

using daemonset::PassMode;
using daemonset::PassReport;
using daemonset::ResolvedSettings;
using engine::Error;
using engine::Result;

namespace {

int fail(const Error& error) {
  std::cerr << report_error(error);
  return static_cast<int>(exit_code(error.code));
}

void say(const std::string& text) {
  std::cerr << "ctkit: " << text << '\n';
}

daemonset::Environment read_environment() {
  daemonset::Environment environment;
  for (char** item = ::environ; item != nullptr && *item != nullptr; ++item) {
    const std::string_view text(*item);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

// A file of /proc is read to its end at once, whatever its size.
std::string read_mounts() {
  std::ifstream file("/proc/self/mountinfo");
  return {std::istreambuf_iterator<char>(file), {}};
}

PassReport make_pass(const ResolvedSettings& resolved,
                     const std::vector<daemonset::MappedFolder>& folders,
                     PassMode mode,
                     const std::string& driver_ready) {
  // The locks are taken before anything is looked at.
  const auto locking = make_pass_request(resolved.settings, folders, mode);
  if (!locking) return failed_pass(locking.error());
  const auto node = OpenNode::open(*locking, {.folders = folders, .holds_stock_lock = true});
  if (!node) return failed_pass(node.error());
  const auto tree = PosixTree::open("/");
  if (!tree) return failed_pass(tree.error());
  SystemClock clock;
  const auto find_node = [&](const Request& request) -> Result<NodeAtHand> {
    if (const auto known = (*node)->observe(request); !known) return std::unexpected(known.error());
    NodeAtHand found{.engine = (*node)->engine(), .host = &(*node)->host()};
    if (const LiveDaemon* daemon = (*node)->daemon()) {
      found.daemon_pid = daemon->process.pid;
      found.daemon_config = config_path_of(*daemon);
    }
    return found;
  };
  return run_pass({.resolved = resolved, .mode = mode, .folders = folders, .driver_ready = driver_ready},
                  {.here = (*node)->here(),
                   .here_tree = **tree,
                   .clock = clock,
                   .say = say,
                   .install_toolkit =
                       [&](const daemonset::Settings& settings, const std::vector<std::string>& low_level) {
                         return install_toolkit_files(settings, folders, low_level, (*node)->files());
                       },
                   .make_device_nodes = make_device_nodes,
                   .find_node = find_node});
}

bool wants_help(std::span<const std::string> words) {
  return std::ranges::any_of(words, [](const std::string& word) { return word == "--help" || word == "-h"; });
}

bool wants_version(std::span<const std::string> words) {
  return std::ranges::any_of(words, [](const std::string& word) { return word == "--version" || word == "-v"; });
}

void log_settings(const ResolvedSettings& resolved) {
  say("settings that were given" + std::string(resolved.settings.debug ? ", and all others:" : ":"));
  std::cerr << render_settings(resolved, resolved.settings.debug);
  for (const std::string& warning : resolved.warnings)
    say("warning: " + warning);
}

}  // namespace

int run_daemonset(daemonset::Dialect dialect, std::span<const std::string> words, const std::string& version) {
  if (wants_version(words)) {
    std::cout << "ctkit " << version << '\n';
    return 0;
  }
  if (wants_help(words)) {
    std::cout
        << "The GPU Operator's toolkit container: installs the toolkit, keeps the CDI spec and the handlers right.\n"
           "Each flag may be given by its environment variables; a flag counts more.\n\n"
        << daemonset::settings_help(dialect);
    return 0;
  }
  const auto resolved = resolve_settings(dialect, words, read_environment());
  if (!resolved) return fail(resolved.error());
  log_settings(*resolved);
  const daemonset::Settings& settings = resolved->settings;
  const auto folders = daemonset::find_mapped_folders(read_mounts(), settings.host_root);
  for (const daemonset::MappedFolder& folder : folders) {
    if (settings.debug) say("the host's '" + folder.host + "' is writable at '" + folder.here + "'");
  }
  if (const auto fits = make_pass_request(settings, folders, PassMode::install); !fits) return fail(fits.error());
  const auto files = MappedFileSystem::open(settings.host_root, folders);
  if (!files) return fail(files.error());
  const auto lock = (*files)->lock_file(settings.pid_file);
  if (!lock) return fail(lock.error());
  if (settings.nri_plugin) {
    say("error: ctkit has no NRI plugin: the toolkit and the CDI spec are kept, and this node will never be ready; "
        "set cdi.nriPluginEnabled=false");
  }
  const auto ended = run_loop({.resolved = *resolved,
                               .files = **files,
                               .version = version,
                               .pass = [&](PassMode mode, const std::string& driver_ready) {
                                 return make_pass(*resolved, folders, mode, driver_ready);
                               }});
  return ended ? *ended : fail(ended.error());
}

}  // namespace ctkit::installer::host
