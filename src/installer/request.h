#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "installer/kept_plan.h"

namespace ctkit::installer {

enum class Verb { effective, explain, lint, plan, preflight, apply, uninstall, verify, status, rollback };

enum class Format { text, json, sarif };

/// When apply may restart the daemon.
enum class RestartMode {
  automatic,  ///< if the effective result or the daemon's age asks for it
  unserved,   ///< only if the daemon doesn't serve what is wanted; what others changed is theirs to make effective
  always,
  none,  ///< never: files only
};

/// Whom to believe where the daemon's own `config dump` and our prediction differ.
enum class Trust { neither, dump, prediction };

/// What the user asked for.
struct Request {
  Verb verb = Verb::effective;
  std::string root = "/";        ///< host root, or a capture's folder
  std::string engine = {};       ///< "containerd", "crio"; empty: found
  std::string release = {};      ///< empty: the capture's
  std::string config = {};       ///< top-level config; empty: the capture's, else the engine's usual place
  bool config_is_guess = false;  ///< what a running daemon itself reads counts for more
  std::string defaults = {};     ///< a file with the node's own `config default`; empty: recorded ones
  std::string state_dir = {};    ///< under the host root; empty: the usual place
  Format format = Format::text;
  bool show_origin = false;
  bool as_dump = false;
  bool exit_code = false;   ///< plan, lint, preflight: 2 if there are changes or problems
  std::string target = {};  ///< preflight: the other release
  std::vector<std::string> keys = {};
  engine::Desired desired = {};
  bool hook_mode = false;         ///< NVIDIA's OCI hook instead of handlers, where the daemon has such hooks
  std::string hooks_folder = {};  ///< empty: one that the daemon reads
  std::string hook_name = "oci-nvidia-hook.json";
  std::string toolkit_folder = {};  ///< where the runtime binaries are on the host
  bool with_toolkit = false;        ///< uninstall: the toolkit's files too
  RestartMode restart = RestartMode::automatic;
  Trust trust = Trust::neither;
  std::string socket = {};     ///< of the running daemon, seen from the host root; empty: the usual ones
  std::string unit = {};       ///< empty: the one that the daemon's process belongs to
  std::string lock = {};       ///< the file that the stock image locks too, seen from the host root
  std::string plan_out = {};   ///< plan: where to keep it, on our own machine
  std::string plan_file = {};  ///< apply: a plan that was kept, on our own machine
  std::optional<KeptPlan> kept_plan = std::nullopt;  ///< what is in it
  bool ready = false;                                ///< status: only whether `ctkit run` has verified everything
  std::string ready_file = {};                       ///< status: where it says so, seen from the host root
  long confirm_timeout = 0;         ///< seconds until the host takes an apply back that nobody confirmed; 0: never
  std::string if_unconfirmed = {};  ///< rollback: only this apply, and only while it is unconfirmed
};

}  // namespace ctkit::installer
