#include "installer/await_status.h"

#include <chrono>
#include <utility>

namespace ctkit::installer {

using engine::ErrorCode;

namespace {

using namespace std::literals;

// A restarting containerd has no socket for about 200 ms.
constexpr auto kPause = 30ms;

bool may_pass(ErrorCode code) {
  return code == ErrorCode::unreachable || code == ErrorCode::not_found;
}

}  // namespace

engine::Result<LoadedState> await_status(DaemonStatus& daemon, Clock& clock, Moment deadline) {
  auto status = daemon.status(deadline);
  while (!status && may_pass(status.error().code) && clock.now() + kPause < deadline) {
    clock.sleep(kPause);
    auto next = daemon.status(deadline);
    // That the time was up in the middle of the last question says less than the answer before.
    if (!next && clock.now() >= deadline) break;
    status = std::move(next);
  }
  return status;
}

}  // namespace ctkit::installer
