#pragma once

#include <string>
#include <vector>

#include "engine/engine.h"

namespace ctkit::installer {

enum class Verb { effective, explain, lint, plan, preflight, apply, uninstall };

enum class Format { text, json, sarif };

/// When apply may restart the daemon.
enum class RestartMode {
  none,  ///< never: files only
};

/// What the user asked for.
struct Request {
  Verb verb = Verb::effective;
  std::string root = "/";        ///< host root, or a capture's folder
  std::string engine = {};       ///< "containerd", "crio"; empty: found
  std::string release = {};      ///< empty: the capture's
  std::string config = {};       ///< top-level config; empty: the capture's, else the engine's usual place
  std::string defaults = {};     ///< a file with the node's own `config default`; empty: recorded ones
  std::string state_dir = {};    ///< under the host root; empty: the usual place
  Format format = Format::text;
  bool show_origin = false;
  bool as_dump = false;
  bool exit_code = false;        ///< plan, lint, preflight: 2 if there are changes or problems
  std::string target = {};       ///< preflight: the other release
  std::vector<std::string> keys = {};
  engine::Desired desired = {};
  RestartMode restart = RestartMode::none;
};

}  // namespace ctkit::installer
