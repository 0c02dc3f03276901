#pragma once

#include <string>

#include "installer/request.h"

namespace CLI {
class App;
}

// Options that several commands have, each with one name, one variable and one explanation.
namespace ctkit::installer {

/// Which daemon with which files: --engine, --release, --config, --defaults.
void add_daemon_options(CLI::App& command, Request& request);

void add_socket(CLI::App& command, Request& request);

void add_state_dir(CLI::App& command, Request& request);

void add_toolkit_folder(CLI::App& command, std::string& folder);

}  // namespace ctkit::installer
