#include "installer/node_options.h"

#include <CLI/CLI.hpp>

namespace ctkit::installer {

void add_daemon_options(CLI::App& command, Request& request) {
  command.add_option("--engine", request.engine, "containerd or crio (default: found)")
      ->envname("CTKIT_ENGINE")
      ->check(CLI::IsMember({"containerd", "crio"}));
  command.add_option("--release", request.release, "The daemon's release, as its `--version` prints it")
      ->envname("CTKIT_RELEASE");
  command.add_option("--config", request.config, "Top-level config, seen from the host root")->envname("CTKIT_CONFIG");
  command
      .add_option(
          "--defaults", request.defaults, "The node's own `containerd config default`, for builds with other defaults")
      ->envname("CTKIT_DEFAULTS");
}

void add_socket(CLI::App& command, Request& request) {
  command
      .add_option(
          "--socket",
          request.socket,
          "The running daemon's socket, seen from the host root (default: the first of the usual ones that serves)")
      ->envname("CTKIT_SOCKET");
}

void add_state_dir(CLI::App& command, Request& request) {
  command.add_option("--state-dir", request.state_dir, "Where the journal is, seen from the host root")
      ->envname("CTKIT_STATE_DIR");
}

void add_toolkit_folder(CLI::App& command, std::string& folder) {
  command.add_option("--toolkit-folder", folder, "Where the NVIDIA runtime binaries are on the host")
      ->envname("CTKIT_TOOLKIT_FOLDER")
      ->capture_default_str();
}

}  // namespace ctkit::installer
