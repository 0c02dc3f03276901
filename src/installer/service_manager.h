#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/result.h"
#include "installer/clock.h"
#include "installer/unit_state.h"

namespace ctkit::installer {

/// A command that the service manager runs by itself after a time, on the host, whatever becomes of us.
struct DeadMan {
  std::string name = {};  ///< of its units, without their suffix
  std::string description = {};
  std::vector<std::string> argv = {};  ///< the program by its absolute path on the host
  std::chrono::seconds after{0};
};

/// Seam: what supervises the daemon on the host. Each call ends within seconds, `restart` soon
/// after its deadline. All fail with `unreachable` if nobody answers or the connection breaks, and
/// with `permission` if we may not.
class ServiceManager {
 public:
  ServiceManager() = default;
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;
  ServiceManager(ServiceManager&&) = delete;
  ServiceManager& operator=(ServiceManager&&) = delete;
  virtual ~ServiceManager() = default;

  /// The unit the process belongs to: "containerd.service", or a scope if somebody started it by
  /// hand. `not_found` if it is in none or gone.
  [[nodiscard]] virtual engine::Result<std::string> find_unit(std::int64_t pid) = 0;

  /// `not_found` if there is no such unit.
  [[nodiscard]] virtual engine::Result<UnitState> state(const std::string& unit) = 0;

  /// Forgets earlier failures of the unit (its start limit), restarts it, or starts it if it is
  /// down, and waits for that job until the deadline; the job goes on after it. An error means that
  /// nothing was queued (`not_found`, a masked unit, …), but for `unreachable`: then the restart
  /// may have happened, and `state` tells.
  [[nodiscard]] virtual engine::Result<RestartOutcome> restart(const std::string& unit, Moment deadline) = 0;

  /// Sets the dead man's timer; one of the same name that is there goes first.
  [[nodiscard]] virtual engine::Result<void> arm(const DeadMan& dead_man) = 0;

  /// Takes it away; that there is none, or none any more, is no failure.
  [[nodiscard]] virtual engine::Result<void> disarm(const std::string& name) = 0;
};

}  // namespace ctkit::installer
