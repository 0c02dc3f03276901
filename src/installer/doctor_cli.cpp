#include "installer/doctor_cli.h"

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

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
  app.add_option("--engine", node.engine, "containerd or crio (default: found)")
      ->envname("CTKIT_ENGINE")
      ->check(CLI::IsMember({"containerd", "crio"}));
  app.add_option("--release", node.release, "The daemon's release, as its `--version` prints it")
      ->envname("CTKIT_RELEASE");
  app.add_option("--config", node.config, "Top-level config, seen from the host root")->envname("CTKIT_CONFIG");
  app.add_option("--defaults", node.defaults, "The node's own `containerd config default`")->envname("CTKIT_DEFAULTS");
  app.add_option("--socket", node.socket, "The running daemon's socket, seen from the host root")
      ->envname("CTKIT_SOCKET");
  app.add_option("--state-dir", node.state_dir, "Where the journal is, seen from the host root")
      ->envname("CTKIT_STATE_DIR");
  app.add_option("--toolkit-folder", node.toolkit_folder, "Where the NVIDIA runtime binaries are on the host")
      ->envname("CTKIT_TOOLKIT_FOLDER")
      ->capture_default_str();
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
