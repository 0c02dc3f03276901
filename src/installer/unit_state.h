#pragma once

#include <cstdint>
#include <string>

namespace ctkit::installer {

/// A systemd unit as the service manager sees it at one moment, in systemd's own words.
struct UnitState {
  std::string load_state = {};          ///< loaded, masked, bad-setting, …
  std::string active_state = {};        ///< active, inactive, failed, activating, …
  std::string sub_state = {};           ///< running, dead, auto-restart, …
  std::string result = {};              ///< success, exit-code, start-limit-hit, timeout, …
  std::int64_t main_pid = 0;            ///< 0: none; in the service manager's pid namespace
  std::string invocation_id = {};       ///< hexadecimal, new with each start; empty: never started
  std::int64_t active_since = 0;        ///< microseconds since the epoch; 0: not since boot
  std::int64_t main_started = 0;        ///< when the main process did; the same
  bool needs_daemon_reload = false;     ///< unit files changed since systemd read them
  std::int64_t automatic_restarts = 0;  ///< systemd's NRestarts: those nobody asked for
  bool operator==(const UnitState&) const = default;
};

/// What came of asking for a restart. A job `done` alone proves little: it also is when a condition
/// kept the unit from starting, and before a simple service dies.
struct RestartOutcome {
  std::string job = {};  ///< done, failed, canceled, dependency, timeout, skipped, …; empty: not
                         ///< over by the deadline
  UnitState before = {};
  UnitState after = {};  ///< right after the job, or at the deadline

  /// The unit runs, in an invocation that was not there before.
  [[nodiscard]] bool runs_anew() const {
    return after.active_state == "active" && !after.invocation_id.empty() &&
           after.invocation_id != before.invocation_id;
  }
  bool operator==(const RestartOutcome&) const = default;
};

}  // namespace ctkit::installer
