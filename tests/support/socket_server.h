#pragma once

#include <functional>
#include <string>
#include <thread>

#include "installer/host/unique_fd.h"

namespace ctkit::test {

/// One client of a SocketServer, served in the server's thread.
struct ServedClient {
  int fd = -1;    ///< doesn't block; closed for it after serving
  int stop = -1;  ///< readable once the server is to end

  /// Waits for poll's events, or at most `timeout` milliseconds (-1: for ever). False if the server
  /// is to end.
  [[nodiscard]] bool wait(short events, int timeout = -1) const;
};

/// Listens on a Unix socket and serves one client after the other in a thread, until it goes out of
/// scope.
class SocketServer {
 public:
  SocketServer(const std::string& path, std::function<void(const ServedClient&)> serve);
  SocketServer(const SocketServer&) = delete;
  SocketServer& operator=(const SocketServer&) = delete;
  SocketServer(SocketServer&&) = delete;
  SocketServer& operator=(SocketServer&&) = delete;
  ~SocketServer();

 private:
  installer::host::UniqueFd listener_;
  installer::host::UniqueFd stop_;
  std::jthread thread_;
};

/// A socket that listens at the path; its queue takes one more than `backlog`.
installer::host::UniqueFd listen_at(const std::string& path, int backlog = 16);

}  // namespace ctkit::test
