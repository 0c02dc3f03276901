#pragma once

#include <memory>
#include <string>

#include "engine/result.h"
#include "installer/host/posix_command_runner.h"
#include "installer/host/proc_processes.h"
#include "installer/host/system_clock.h"
#include "installer/host/systemd.h"

namespace ctkit::installer::host {

/// The real seams of a host whose daemon may run.
struct LiveSeams {
  SystemClock clock = {};
  ProcProcesses processes = {};
  std::unique_ptr<Systemd> services = {};
  std::unique_ptr<PosixCommandRunner> runner = {};
};

/// On the host root at `folder`.
inline engine::Result<std::unique_ptr<LiveSeams>> open_live_seams(const std::string& folder) {
  auto services = Systemd::open(folder);
  if (!services) return std::unexpected(services.error());
  auto runner = PosixCommandRunner::open(folder);
  if (!runner) return std::unexpected(runner.error());
  auto seams = std::make_unique<LiveSeams>();
  seams->services = *std::move(services);
  seams->runner = *std::move(runner);
  return seams;
}

}  // namespace ctkit::installer::host
