#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "daemonset/pass_report.h"
#include "daemonset/settings.h"

namespace ctkit::daemonset {

/// Milliseconds on some clock that never goes back.
using Time = std::int64_t;

/// What a pass may do.
enum class PassMode {
  install,  ///< set the node up
  repair,   ///< the same, afterwards
  look,     ///< compare and report; only the CDI spec still follows the driver
};

/// The verb for it.
std::string_view name_of(PassMode mode);

/// What to do now.
struct Step {
  enum class Kind { pass, wait, end };
  Kind kind = Kind::wait;
  PassMode mode = PassMode::install;
  std::optional<Time> until = {};  ///< wait: ask again then, or when something happens; none: when something happens
  int exit_code = 0;               ///< end
  bool operator==(const Step&) const = default;
};

/// When to look at the node, what a look may do, and when to end. Knows no clock and starts nothing: it is told what
/// happened and says what is next.
///
/// 1. The first pass starts at once. One that waits for the driver is repeated at each change and every second, until
///    `driver_timeout`. One that fails ends the program, with its exit code, so that the pod's restarts show it.
/// 2. After a pass that settled: hold (`no_daemon`: end). A change starts a pass after `debounce` of quiet, at most
///    `kMostDebounces` times that after the first change. So do the end of the daemon's process and the resync time.
/// 3. That pass may repair, if `on_drift` says so and fewer than `repair_limit` passes changed something within
///    `repair_window`; else it looks. It repairs as soon as the window allows it again.
/// 4. What changed while a pass ran is looked at after it: it was mostly the pass itself, and the next finds nothing.
/// 5. A later pass that fails is repeated, at first after `kFirstRetry`, then after twice the time, up to `kLastRetry`.
/// 6. After a change that didn't hold what happened meanwhile was that change; the next look is `kLastRetry` later. It
///    knows the change again and leaves it.
class Lifecycle {
 public:
  Lifecycle(const Settings& settings, Time now);

  /// Something that is watched changed, or the daemon's process ended.
  void change(Time now);
  void pass_started();
  void pass_ended(Time now, const PassReport& report);
  /// Somebody wants us to end.
  void stop() { stopped_ = true; }

  [[nodiscard]] Step next(Time now) const;

  /// A pass has set the node up.
  [[nodiscard]] bool settled() const { return settled_; }
  /// Drift is only reported by now, because it was repaired too often.
  [[nodiscard]] bool limited(Time now) const;
  [[nodiscard]] long repairs() const { return repairs_; }

 private:
  [[nodiscard]] PassMode mode(Time now) const;
  [[nodiscard]] Step wait_or_pass(Time now) const;

  Time debounce_ = 0;
  Time resync_ = 0;
  Time repair_window_ = 0;
  std::size_t repair_limit_ = 0;
  Time driver_limit_ = 0;  ///< when waiting for the driver ends
  bool repairs_allowed_ = true;
  bool ends_ = false;  ///< after the first pass
  bool ignores_errors_ = false;

  bool stopped_ = false;
  bool running_ = false;
  bool settled_ = false;
  std::optional<int> exit_code_ = {};
  std::optional<Time> due_ = Time{};       ///< when the next pass starts, change or not
  std::optional<Time> first_change_ = {};  ///< since the last pass
  std::optional<Time> last_change_ = {};
  std::vector<Time> recent_repairs_ = {};  ///< and attempts
  long repairs_ = 0;                       ///< those that held
  Time retry_ = 0;
};

}  // namespace ctkit::daemonset
