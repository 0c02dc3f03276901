#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "installer/unit_state.h"
#include "support/socket_server.h"

namespace ctkit::test {

/// What a FakeSystemd does.
struct SystemdScript {
  /// Of containerd.service, its only unit; the names of D-Bus errors make calls fail.
  installer::UnitState before = {};
  installer::UnitState after = {};  ///< from RestartUnit on
  std::string load_error = {};
  std::string reset_error = {};
  std::string restart_error = {};
  std::string stop_error = {};

  enum class Answer {
    after_the_reply,   ///< the job ends after RestartUnit is answered
    before_the_reply,  ///< the job is over already when it is
    never,             ///< the job goes on
    hang_up,           ///< RestartUnit is not answered: the connection ends
    hang_up_later,     ///< it is, and then the connection ends
    silent,            ///< RestartUnit is not answered
  };
  Answer answer = Answer::after_the_reply;
  std::string job_result = "done";
  bool other_jobs = false;  ///< end too, before ours, one of them of the same unit

  enum class Manners {
    usual,
    turns_away,  ///< closes each connection at once, as systemd does if it can't see the caller's
                 ///< pid
    mute,        ///< accepts and never says a word
  };
  Manners manners = Manners::usual;
  bool is_bus = false;      ///< knows Hello and AddMatch, as a message bus does
  std::int64_t pid = 4242;  ///< a process of the unit
};

/// systemd on a Unix socket, in a thread: a real sd-bus server.
class FakeSystemd {
 public:
  FakeSystemd(const std::string& socket, SystemdScript script);

  /// The methods called so far with their arguments: "RestartUnit containerd.service replace".
  [[nodiscard]] std::vector<std::string> calls() const;

 private:
  struct Session;

  void serve(const ServedClient& client);

  SystemdScript script_;
  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
  bool restarted_ = false;
  SocketServer server_;  // last: it ends first
};

}  // namespace ctkit::test
