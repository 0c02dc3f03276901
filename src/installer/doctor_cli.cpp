#include "installer/doctor_cli.h"

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "installer/node_options.h"

namespace ctkit::installer {

std::optional<std::variant<DoctorRequest, Printed>> parse_doctor_command_line(std::span<const char* const> argv) {
  if (argv.size() < 2 || std::string_view(argv[1]) != "doctor") return std::nullopt;
  DoctorRequest request;
  request.node.toolkit_folder = "/usr/local/nvidia/toolkit";
  Request& node = request.node;
  std::string format = "table";
  CLI::App app("One page for the person on call: which gate between driver and container fails first, and what to do.",
               "ctkit doctor");
  app.add_option("--root",
                 node.root,
                 "Host root, a recorded tree or a capture's folder (default: /, in a pod /host if it is there)")
      ->envname("CTKIT_ROOT");
  add_daemon_options(app, node);
  add_socket(app, node);
  add_state_dir(app, node);
  add_toolkit_folder(app, node.toolkit_folder);
  app.add_option("--driver-root",
                 request.driver_root,
                 "Where the driver is on the host (default: what driver-ready says, else /run/nvidia/driver or /)")
      ->envname("CTKIT_DRIVER_ROOT");
  app.add_option("--runtime-class", request.runtime_class, "The handler that the operator's pods ask for")
      ->envname("CTKIT_RUNTIME_CLASS")
      ->capture_default_str();
  app.add_option("-o,--output", format, "Output format")
      ->check(CLI::IsMember({"table", "json"}))
      ->capture_default_str();
  app.add_flag("--exit-code", node.exit_code, "Exit 2 if a gate fails");
  try {
    const auto words = argv.subspan(1);
    app.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::Success&) {
    return Printed{.text = app.help()};
  } catch (const CLI::ParseError& error) {
    return Printed{.text = std::string("ctkit: ") + error.what() + "\nRun `ctkit doctor --help` for its options.\n",
                   .mistake = true};
  }
  node.format = format == "json" ? Format::json : Format::text;
  return request;
}

}  // namespace ctkit::installer
