#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "cdi/level.h"
#include "daemonset/driver_ready.h"
#include "engine/engine.h"
#include "engine/finding.h"
#include "engine/result.h"
#include "installer/outcome.h"
#include "installer/spec_state.h"
#include "toolkit/versions.h"

namespace ctkit::installer {

/// The NVIDIA driver as a tree shows it.
struct DriverFacts {
  bool kernel_seen = false;  ///< the tree has the kernel's own files: it is a host, no record
  bool module_loaded = false;
  std::string module_version = {};  ///< "": it doesn't say
  std::string root = "/";           ///< on the host
  bool root_there = false;
  bool root_empty = false;
  std::string library_version = {};                  ///< "": no libraries in the root
  bool devices_seen = false;                         ///< the tree has device nodes at all
  std::vector<std::string> nodes = {};               ///< names in its /dev that begin with `nvidia`
  std::vector<std::string> nodes_without_link = {};  ///< of those, that /dev/char doesn't lead to
};

/// A program that something on the node starts.
struct ProgramFact {
  std::string path = {};
  enum class State { runnable, missing, not_executable } state = State::runnable;
};

/// The toolkit's files.
struct ToolkitFacts {
  std::string folder = {};
  toolkit::ToolkitState state = toolkit::ToolkitState::absent;
  std::string version = {};                    ///< ours: its name
  std::vector<ProgramFact> programs = {};      ///< of the folder, if it is there
  std::optional<bool> may_run = std::nullopt;  ///< nothing: a record doesn't tell
  bool config_there = false;
  std::string config_error = {};  ///< why the toolkit can't read it; "": it can
  std::string config_root = {};   ///< the driver root in it
  std::string config_mode = {};
  std::string config_kind = {};  ///< of the devices that the mode cdi asks for
};

/// What the daemon's files say, what it has loaded.
struct DaemonFacts {
  std::optional<engine::Error> unknown = std::nullopt;  ///< why nothing can be said about its files
  std::string engine = {};                              ///< "containerd 1.7.27"
  NodeState state = {};
  std::vector<engine::Handler> handlers = {};
  std::vector<ProgramFact> binaries = {};  ///< of the handlers, where a host shows them
  std::vector<engine::Finding> findings = {};
};

/// A path that a spec names and that isn't there.
struct MissingPath {
  std::string spec = {};
  std::string path = {};
};

struct CdiFacts {
  std::optional<cdi::Level> level = std::nullopt;  ///< of the daemon; nothing: not known, or it has no CDI
  bool daemon_has_none = false;                    ///< a release from before CDI
  SpecState specs = {};
  std::vector<MissingPath> missing_nodes = {};  ///< devices that specs name
};

struct ValidatorFacts {
  bool there = false;
  std::set<std::string, std::less<>> files = {};
  std::optional<daemonset::DriverReady> driver_ready = std::nullopt;
};

/// All that doctor looked at, before anything is judged.
struct DoctorFacts {
  std::string runtime_class = "nvidia";  ///< the handler that the operator's pods ask for
  DriverFacts driver = {};
  ToolkitFacts toolkit = {};
  DaemonFacts daemon = {};
  CdiFacts cdi = {};
  ValidatorFacts validator = {};
};

}  // namespace ctkit::installer
