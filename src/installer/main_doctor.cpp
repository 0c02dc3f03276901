#include "installer/main_doctor.h"

#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "installer/daemon_build.h"
#include "installer/doctor.h"
#include "installer/exit_code.h"
#include "installer/find_daemon.h"
#include "installer/host/cri_status.h"
#include "installer/host/live_seams.h"
#include "installer/host/posix_file_system.h"
#include "installer/host/toolkit_seams.h"
#include "installer/observe.h"
#include "installer/observe_doctor.h"
#include "installer/report_doctor.h"
#include "installer/report_text.h"
#include "installer/state_place.h"

namespace ctkit::installer {

namespace {

int fail(const engine::Error& error) {
  std::cerr << report_error(error);
  return static_cast<int>(exit_code(error.code));
}

std::string absolute(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

/// A capture is a recorded tree, whatever daemon runs here.
std::optional<FoundDaemon> look_for_daemon(const Request& request,
                                           const HostRoot& root,
                                           const FileSystem& files,
                                           host::LiveSeams& seams) {
  if (!root.capture.empty() || !request.release.empty()) return std::nullopt;
  const auto connect = [&](const std::string& socket) -> engine::Result<std::unique_ptr<DaemonStatus>> {
    return host::CriStatus::open(root.folder, socket);
  };
  return find_daemon(request,
                     state_folder(request),
                     {.files = files,
                      .processes = seams.processes,
                      .runner = *seams.runner,
                      .clock = seams.clock,
                      .connect = connect});
}

}  // namespace

int run_doctor(DoctorRequest request) {
  Request& node_request = request.node;
  const auto here = host::PosixFileSystem::open("/");
  if (!here) return fail(here.error());
  if (node_request.root.empty()) {
    node_request.root = find_doctors_root(**here);
    if (node_request.root != "/") std::cerr << "ctkit: the host's root is " << node_request.root << '\n';
  }
  const HostRoot root = find_host_root(**here, absolute(node_request.root));
  if (!node_request.defaults.empty()) node_request.defaults = absolute(node_request.defaults);
  const auto files = host::PosixFileSystem::open(root.folder);
  if (!files) return fail(files.error());
  const auto seams = host::open_live_seams(root.folder);
  if (!seams) return fail(seams.error());
  const auto toolkit = host::open_toolkit_seams("/", root.folder, root.folder);
  if (!toolkit) return fail(toolkit.error());

  const auto found = look_for_daemon(node_request, root, **files, **seams);
  Host host{.files = **files};
  std::optional<LiveNode> live;
  if (found && found->status) {
    live.emplace(LiveNode{.socket = found->socket,
                          .daemon = found->daemon,
                          .status = *found->status,
                          .services = *(*seams)->services,
                          .runner = *(*seams)->runner,
                          .processes = (*seams)->processes,
                          .clock = (*seams)->clock});
    host.live = &*live;
  }
  const auto kept = found ? read_build(**files, state_folder(node_request)) : std::nullopt;
  const LiveDaemon* daemon = found && found->daemon ? &*found->daemon : nullptr;
  const auto observed = observe(**here, root, node_request, daemon, kept ? &*kept : nullptr);
  if (observed && live) live->check = observed->check.get();

  DoctorView view{.host = host, .tree = *toolkit->tree, .programs = *toolkit->programs};
  if (observed) {
    view.engine = observed->engine.get();
  } else {
    view.engine = std::unexpected(observed.error());
  }
  if (found && !found->daemon) view.unreachable = found->daemon.error();
  const DoctorReport report = make_doctor_report(observe_doctor(request, view));
  std::cout << (node_request.format == Format::json ? report_doctor_json(report) : report_doctor_text(report));
  if (!std::cout.flush()) {
    std::cerr << "ctkit: cannot write the result to standard output\n";
    return static_cast<int>(ExitCode::failed);
  }
  const bool failed = report.first_failed() != nullptr;
  return static_cast<int>(node_request.exit_code && failed ? ExitCode::differences : ExitCode::done);
}

}  // namespace ctkit::installer
