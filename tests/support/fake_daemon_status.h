#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "installer/daemon_status.h"

namespace ctkit::test {

/// Fake of the running daemon: answers one after the other, the last for ever, or whatever
/// `on_status` says.
class FakeDaemonStatus : public installer::DaemonStatus {
 public:
  std::vector<engine::Result<installer::LoadedState>> answers = {installer::LoadedState{}};
  std::function<engine::Result<installer::LoadedState>()> on_status = {};
  engine::Result<installer::PeerProcess> process = installer::PeerProcess{.pid = 100, .start_ticks = 1, .started = 1};

  /// The deadlines of the questions so far.
  [[nodiscard]] const std::vector<installer::Moment>& deadlines() const { return deadlines_; }

  [[nodiscard]] engine::Result<installer::LoadedState> status(installer::Moment deadline) override {
    deadlines_.push_back(deadline);
    if (on_status) return on_status();
    return answers.at(next_ + 1 < answers.size() ? next_++ : next_);
  }

  [[nodiscard]] engine::Result<installer::PeerProcess> peer() override { return process; }

 private:
  std::size_t next_ = 0;
  std::vector<installer::Moment> deadlines_;
};

}  // namespace ctkit::test
