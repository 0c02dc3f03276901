#include "installer/host/systemd.h"

// The static build's Systemd: libsystemd is a shared library only.

namespace ctkit::installer::host {

using engine::Error;
using engine::Result;

namespace {

Error absent() {
  return {.code = engine::ErrorCode::unreachable,
          .message = "this static build can't talk to systemd",
          .hint = "use the full build, or --restart none and restart the daemon yourself"};
}

}  // namespace

Result<std::unique_ptr<Systemd>> Systemd::open(const std::string& folder, Patience patience) {
  auto root = RootFolder::open(folder);
  if (!root) return std::unexpected(root.error());
  return std::make_unique<Systemd>(std::move(*root), patience);
}

Result<std::string> Systemd::find_unit(std::int64_t /*pid*/) {
  return std::unexpected(absent());
}

Result<UnitState> Systemd::state(const std::string& /*unit*/) {
  return std::unexpected(absent());
}

Result<RestartOutcome> Systemd::restart(const std::string& /*unit*/, Moment /*deadline*/) {
  return std::unexpected(absent());
}

Result<void> Systemd::arm(const DeadMan& /*dead_man*/) {
  return std::unexpected(absent());
}

Result<void> Systemd::disarm(const std::string& /*name*/) {
  return std::unexpected(absent());
}

}  // namespace ctkit::installer::host
