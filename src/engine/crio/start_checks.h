#pragma once

#include <string>
#include <vector>

#include "engine/crio/known_release.h"
#include "engine/effective_config.h"
#include "engine/file_reader.h"
#include "engine/finding.h"

namespace ctkit::engine::crio {

/// Something that the daemon looks at only when it starts.
struct StartProblem {
  RuleId rule = RuleId::daemon_refuses;
  bool fatal = false;  ///< it does not start; else it leaves the handler out
  std::string handler = {};
  std::string message = {};
  Origin origin = {};  ///< who is to blame
  std::string hint = {};
};

/// What the daemon will find wrong with a configuration that loads (pkg/config: Validate,
/// ValidateRuntimes):
/// 1. log_level must be one, and the default runtime a handler.
/// 2. A handler of an unknown runtime_type, with an allowed annotation that is none of CRI-O's, or
/// whose runtime_path is not
///    there, is left out; the default one stops the daemon.
///    Without a path the handler's own name is looked up in PATH. A relative path is taken from
///    `/`.
/// 3. A handler that stays and is of type oci needs its monitor: monitor_path, or conmon in PATH.
/// Its cgroup must be `pod`
///    or a slice under systemd, `pod` or empty under cgroupfs. Else the daemon does not start.
/// Whether a program is there is judged only in a tree that holds programs.
std::vector<StartProblem> start_problems(const Known& known, const EffectiveConfig& config, const FileReader& files);

/// A recorded tree holds configuration only: what it lacks says nothing.
bool holds_programs(const FileReader& files);

/// Whether a program of this name is where the daemon's PATH leads.
bool in_path(const FileReader& files, const std::string& name);

}  // namespace ctkit::engine::crio
