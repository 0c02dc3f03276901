#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "installer/service_manager.h"

namespace ctkit::test {

/// Fake of the service manager: units in memory, each restart as `on_restart` says.
class FakeServiceManager : public installer::ServiceManager {
 public:
  using Restart = std::function<engine::Result<installer::RestartOutcome>(const std::string& unit, installer::Moment)>;

  std::map<std::string, installer::UnitState> units = {};
  std::map<std::int64_t, std::string> units_of_processes = {};
  std::map<std::string, installer::DeadMan> armed = {};
  /// Answers in place of a good restart; it may change `units`.
  Restart on_restart = {};
  /// What find_unit and state fail with, if that is set (its message is not empty).
  engine::Error failure = {};

  /// What was asked: "find_unit 42", "state x.service", "restart x.service".
  [[nodiscard]] const std::vector<std::string>& log() const { return log_; }

  [[nodiscard]] engine::Result<std::string> find_unit(std::int64_t pid) override {
    log_.push_back("find_unit " + std::to_string(pid));
    if (!failure.message.empty()) return std::unexpected(failure);
    const auto found = units_of_processes.find(pid);
    if (found == units_of_processes.end()) return std::unexpected(missing("it belongs to no unit"));
    return found->second;
  }

  [[nodiscard]] engine::Result<installer::UnitState> state(const std::string& unit) override {
    log_.push_back("state " + unit);
    if (!failure.message.empty()) return std::unexpected(failure);
    const auto found = units.find(unit);
    if (found == units.end()) return std::unexpected(missing("there is no such unit"));
    return found->second;
  }

  /// Unless `on_restart` says otherwise, the unit runs afterwards, in a new invocation with the
  /// next pid.
  [[nodiscard]] engine::Result<installer::RestartOutcome> restart(const std::string& unit,
                                                                  installer::Moment deadline) override {
    log_.push_back("restart " + unit);
    if (on_restart) return on_restart(unit, deadline);
    return restart_well(unit);
  }

  [[nodiscard]] engine::Result<void> arm(const installer::DeadMan& dead_man) override {
    log_.push_back("arm " + dead_man.name);
    if (!failure.message.empty()) return std::unexpected(failure);
    armed.insert_or_assign(dead_man.name, dead_man);
    return {};
  }

  [[nodiscard]] engine::Result<void> disarm(const std::string& name) override {
    log_.push_back("disarm " + name);
    if (!failure.message.empty()) return std::unexpected(failure);
    armed.erase(name);
    return {};
  }

  /// What a good restart does; for an `on_restart` that does more than that.
  engine::Result<installer::RestartOutcome> restart_well(const std::string& unit) {
    const auto found = units.find(unit);
    if (found == units.end()) return std::unexpected(missing("there is no such unit"));
    const installer::UnitState before = found->second;
    installer::UnitState& after = found->second;
    after.active_state = "active";
    after.sub_state = "running";
    after.result = "success";
    after.main_pid += 1;
    after.invocation_id = "restart " + std::to_string(++restarts_);
    return installer::RestartOutcome{.job = "done", .before = before, .after = after};
  }

 private:
  static engine::Error missing(std::string message) {
    return {.code = engine::ErrorCode::not_found, .message = std::move(message)};
  }

  int restarts_ = 0;
  std::vector<std::string> log_;
};

}  // namespace ctkit::test
