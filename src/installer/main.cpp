#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "daemonset/resolve_settings.h"
#include "daemonset/settings.h"
#include "engine/diagnostic.h"
#include "installer/cdi_cli.h"
#include "installer/cdi_commands.h"
#include "installer/cli.h"
#include "installer/daemon_build.h"
#include "installer/doctor_cli.h"
#include "installer/exit_code.h"
#include "installer/find_daemon.h"
#include "installer/host/cdi_hooks.h"
#include "installer/host/cri_status.h"
#include "installer/host/heap.h"
#include "installer/host/live_seams.h"
#include "installer/host/open_node.h"
#include "installer/host/posix_file_system.h"
#include "installer/host/posix_tree.h"
#include "installer/host/readiness_file.h"
#include "installer/host/root_folder.h"
#include "installer/host/run_daemonset.h"
#include "installer/host/run_doctor.h"
#include "installer/locked_run.h"
#include "installer/observe.h"
#include "installer/plan_file.h"
#include "installer/report_json.h"
#include "installer/report_node.h"
#include "installer/report_text.h"
#include "installer/state_place.h"

namespace ctkit::installer {
namespace {

constexpr unsigned kPlanMode = 0600;

int fail(const engine::Error& error) {
  std::cerr << report_error(error);
  return static_cast<int>(exit_code(error.code));
}

/// Paths of our own machine, as the user gives them from the folder he stands in.
std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

const engine::Diagnostics* diagnostics_of(const Outcome& outcome) {
  if (outcome.effective) return &outcome.effective->diagnostics;
  if (outcome.lint) return &outcome.lint->diagnostics;
  if (outcome.preflight) return &outcome.preflight->diagnostics;
  return outcome.plan ? &outcome.plan->diagnostics : nullptr;
}

/// What the request says in a file.
engine::Result<void> read_plan_file(const engine::FileReader& here, Request& request) {
  if (request.plan_file.empty()) return {};
  const auto text = here.read(absolute(request.plan_file));
  if (!text) return std::unexpected(text.error().with_context("reading the plan"));
  auto kept = parse_kept_plan(*text, request.plan_file);
  if (!kept) return std::unexpected(kept.error());
  request.desired = kept->desired;
  if (request.release.empty()) request.release = kept->release;
  if (request.config.empty()) request.config = kept->config;
  if (request.defaults.empty()) request.defaults = kept->defaults;
  request.kept_plan = *std::move(kept);
  return {};
}

int exit_status(const Request& request, const Outcome& outcome) {
  if (outcome.node && outcome.node->verdict == NodeChange::Verdict::rolled_back)
    return static_cast<int>(ExitCode::rolled_back);
  if (outcome.node && outcome.node->verdict == NodeChange::Verdict::rollback_failed) {
    return static_cast<int>(ExitCode::rollback_failed);
  }
  const bool differs =
      (outcome.plan && !outcome.plan->files.empty()) || (outcome.lint && outcome.lint->has_problems()) ||
      (outcome.preflight && outcome.preflight->changes()) || (outcome.state && outcome.state->differs());
  return static_cast<int>(request.exit_code && differs ? ExitCode::differences : ExitCode::done);
}

int report(const Request& request, const Outcome& outcome) {
  if (const auto* diagnostics = diagnostics_of(outcome)) {
    for (const engine::Diagnostic& diagnostic : *diagnostics)
      std::cerr << render(diagnostic);
  }
  if (outcome.node) std::cerr << report_verdict(*outcome.node);
  std::cout << (request.format != Format::text ? report_json(request, outcome) : report_text(request, outcome));
  if (!std::cout.flush()) {
    std::cerr << "ctkit: cannot write the result to standard output\n";
    return static_cast<int>(ExitCode::failed);
  }
  return exit_status(request, outcome);
}

/// For a probe: no daemon is asked, `ctkit run` has done that.
int tell_readiness(const Request& request) {
  const auto root = host::RootFolder::open(absolute(request.root));
  if (!root) return fail(root.error());
  const std::string path = request.ready_file.empty() ? std::string(daemonset::kReadyFile) : request.ready_file;
  const std::string reason = host::why_not_ready(*root, path);
  std::cout << (reason.empty() ? "ready" : "not ready: " + reason) << '\n';
  return static_cast<int>(reason.empty() ? ExitCode::done : ExitCode::failed);
}

int run_request(Request request) {
  if (request.ready) return tell_readiness(request);
  const auto here = host::PosixFileSystem::open("/");
  if (!here) return fail(here.error());
  if (auto read = read_plan_file(**here, request); !read) return fail(read.error());
  if (!request.defaults.empty()) request.defaults = absolute(request.defaults);
  const auto node = host::OpenNode::open(request);
  if (!node) return fail(node.error());
  if (auto known = (*node)->observe(request); !known) return fail(known.error());
  const auto outcome = run_locked(request, (*node)->engine(), (*node)->host());
  if (outcome && !request.plan_out.empty()) {
    const auto kept_plan = render_kept_plan(make_kept_plan(request, *outcome->plan, (*node)->files()));
    if (auto written = (*here)->replace(absolute(request.plan_out), kept_plan, {.mode = kPlanMode}); !written) {
      return fail(written.error());
    }
  }
  if (!outcome) return fail(outcome.error());
  return report(request, *outcome);
}

/// What the daemon that runs on this machine says its release is; "" if none does.
std::string running_release(const FileSystem& files) {
  const auto seams = host::open_live_seams("/");
  if (!seams) return "";
  const Request request;
  const auto connect = [](const std::string& socket) -> engine::Result<std::unique_ptr<DaemonStatus>> {
    return host::CriStatus::open("/", socket);
  };
  const auto found = find_daemon(request,
                                 state_folder(request),
                                 {.files = files,
                                  .processes = (*seams)->processes,
                                  .runner = *(*seams)->runner,
                                  .clock = (*seams)->clock,
                                  .connect = connect});
  return found && found->daemon ? found->daemon->build.version : "";
}

int run_cdi_request(CdiRequest request) {
  const auto here = host::PosixFileSystem::open("/");
  if (!here) return fail(here.error());
  const HostRoot root = find_host_root(**here, absolute(request.root));
  if (!request.output.empty() && request.output != "-" && root.folder == "/") request.output = absolute(request.output);
  const auto files = host::PosixFileSystem::open(root.folder);
  if (!files) return fail(files.error());
  const auto tree = host::PosixTree::open(root.folder);
  if (!tree) return fail(tree.error());
  const bool judges = request.verb != CdiVerb::generate && request.level.empty() && request.release.empty();
  if (judges && root.folder == "/" && root.capture.empty()) request.release = running_release(**files);
  const auto outcome = run_cdi(request, root, **here, **files, **tree);
  if (!outcome) return fail(outcome.error());
  std::cerr << outcome->messages;
  std::cout << outcome->text;
  if (!std::cout.flush()) {
    std::cerr << "ctkit: cannot write the result to standard output\n";
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(request.exit_code && outcome->problems ? ExitCode::differences : ExitCode::done);
}

/// `ctkit cdi-hook …`, or this binary under the name that CDI specs call.
bool is_hook(std::span<const char* const> words) {
  if (words.empty()) return false;
  const std::string_view name = words[0];
  return name.substr(name.rfind('/') + 1) == "nvidia-cdi-hook" ||
         (words.size() > 1 && std::string_view(words[1]) == "cdi-hook");
}

int run_hook(std::span<const char* const> words) {
  const std::string_view name = words[0];
  const bool by_name = name.substr(name.rfind('/') + 1) == "nvidia-cdi-hook";
  const auto rest = words.subspan(by_name ? 1 : 2);
  return host::run_cdi_hook(std::vector<std::string>(rest.begin(), rest.end()));
}

/// `ctkit run`, or this binary under a name of NVIDIA's installer.
bool is_run(std::span<const char* const> words) {
  if (words.empty()) return false;
  return daemonset::is_nvidia_name(words[0]) || (words.size() > 1 && std::string_view(words[1]) == "run");
}

int run_life_cycle(std::span<const char* const> words) {
  const bool by_name = daemonset::is_nvidia_name(words[0]);
  const auto rest = words.subspan(by_name ? 1 : 2);
  return host::run_daemonset(by_name ? daemonset::Dialect::nvidia : daemonset::Dialect::own,
                             std::vector<std::string>(rest.begin(), rest.end()),
                             CTKIT_VERSION);
}

int print(const Printed& printed) {
  (printed.mistake ? std::cerr : std::cout) << printed.text;
  return static_cast<int>(printed.mistake ? ExitCode::usage : ExitCode::done);
}

}  // namespace
}  // namespace ctkit::installer

int main(int argc, char** argv) {
  using namespace ctkit::installer;
  host::map_usual_heap();
  try {
    const std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
    if (is_hook(words)) return run_hook(words);
    if (is_run(words)) return run_life_cycle(words);
    if (const auto cdi = parse_cdi_command_line(words)) {
      if (const auto* printed = std::get_if<Printed>(&*cdi)) return print(*printed);
      return run_cdi_request(std::get<CdiRequest>(*cdi));
    }
    if (auto doctor = parse_doctor_command_line(words)) {
      if (const auto* printed = std::get_if<Printed>(&*doctor)) return print(*printed);
      return host::run_doctor(std::get<DoctorRequest>(*std::move(doctor)));
    }
    auto parsed = parse_command_line(words);
    if (const auto* printed = std::get_if<Printed>(&parsed)) return print(*printed);
    return run_request(std::get<Request>(parsed));
  } catch (const std::exception& error) {
    std::cerr << "ctkit: this is a bug: " << error.what() << '\n';
    return static_cast<int>(ExitCode::failed);
  }
}
