#include "installer/host/run_doctor.h"

#include <iostream>

#include "installer/doctor.h"
#include "installer/exit_code.h"
#include "installer/host/open_node.h"
#include "installer/host/posix_file_system.h"
#include "installer/host/toolkit_seams.h"
#include "installer/observe_doctor.h"
#include "installer/report_doctor.h"
#include "installer/report_text.h"

namespace ctkit::installer::host {

namespace {

int fail(const engine::Error& error) {
  std::cerr << report_error(error);
  return static_cast<int>(exit_code(error.code));
}

}  // namespace

int run_doctor(DoctorRequest request) {
  Request& node_request = request.node;
  if (node_request.root.empty()) {
    const auto here = PosixFileSystem::open("/");
    if (!here) return fail(here.error());
    node_request.root = find_doctors_root(**here);
    if (node_request.root != "/") std::cerr << "ctkit: the host's root is " << node_request.root << '\n';
  }
  const auto node = OpenNode::open(node_request);
  if (!node) return fail(node.error());
  const auto toolkit = open_toolkit_seams("/", (*node)->root().folder, (*node)->root().folder);
  if (!toolkit) return fail(toolkit.error());
  const auto known = (*node)->observe(node_request);

  DoctorView view{.host = (*node)->host(), .tree = *toolkit->tree, .programs = *toolkit->programs};
  if (known) {
    view.engine = (*node)->engine();
  } else {
    view.engine = std::unexpected(known.error());
  }
  if (const auto* error = (*node)->unreachable()) view.unreachable = *error;
  const DoctorReport report = make_doctor_report(observe_doctor(request, view));
  std::cout << (node_request.format == Format::json ? report_doctor_json(report) : report_doctor_text(report));
  if (!std::cout.flush()) {
    std::cerr << "ctkit: cannot write the result to standard output\n";
    return static_cast<int>(ExitCode::failed);
  }
  const bool failed = report.first_failed() != nullptr;
  return static_cast<int>(node_request.exit_code && failed ? ExitCode::differences : ExitCode::done);
}

}  // namespace ctkit::installer::host
