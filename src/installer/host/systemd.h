#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>

#include "engine/result.h"
#include "installer/host/root_folder.h"
#include "installer/service_manager.h"

namespace ctkit::installer::host {

/// The host's systemd, by D-Bus over the sockets below the host root: the system bus (from any
/// namespace), else systemd's own (root only; works without a bus daemon, and only if systemd can
/// see our pid). A new connection for each call, so a broken one is not kept. In the static build,
/// which has no D-Bus, every call fails.
class Systemd : public ServiceManager {
 public:
  /// How long to wait for an answer; systemd gives it within milliseconds, or is in trouble.
  struct Patience {
    std::chrono::milliseconds sign_in{5'000};  ///< for each of the two sockets
    std::chrono::milliseconds call{10'000};
  };

  Systemd(RootFolder root, Patience patience) : root_(std::move(root)), patience_(patience) {}

  /// On the host root at `folder`. Systemd need not be there.
  static engine::Result<std::unique_ptr<Systemd>> open(const std::string& folder, Patience patience);
  static engine::Result<std::unique_ptr<Systemd>> open(const std::string& folder) { return open(folder, Patience{}); }

  [[nodiscard]] engine::Result<std::string> find_unit(std::int64_t pid) override;
  [[nodiscard]] engine::Result<UnitState> state(const std::string& unit) override;
  [[nodiscard]] engine::Result<RestartOutcome> restart(const std::string& unit, Moment deadline) override;
  [[nodiscard]] engine::Result<void> arm(const DeadMan& dead_man) override;
  [[nodiscard]] engine::Result<void> disarm(const std::string& name) override;

 private:
  RootFolder root_;
  Patience patience_;
};

}  // namespace ctkit::installer::host
