#pragma once

#include <cstddef>
#include <functional>
#include <poll.h>
#include <string>
#include <vector>

#include "daemonset/http_answer.h"
#include "engine/result.h"
#include "installer/clock.h"
#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {

/// Answers few small HTTP requests, each on a connection of its own, from somebody else's poll loop. Who is slow, or
/// more than a few, is cut off.
class HttpServer {
 public:
  /// On what `parse_listen` takes.
  static engine::Result<HttpServer> open(const std::string& address);

  /// Adds what to poll for.
  void add_to(std::vector<pollfd>& polled) const;

  /// Does what can be done now, whatever was polled; `pages` is asked when there is somebody to answer.
  void serve(Moment now, const std::function<daemonset::Pages()>& pages);

  /// When the next one that is too slow has to go; far away if there is none.
  [[nodiscard]] Moment deadline() const;

  /// `address:port` as it is: port 0 gets one.
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  struct Client {
    UniqueFd fd = {};
    Moment deadline = {};
    std::string request = {};
    std::string answer = {};
    std::size_t sent = 0;
  };

  HttpServer(UniqueFd listener, std::string address) : listener_(std::move(listener)), address_(std::move(address)) {}

  void accept_some(Moment now);

  UniqueFd listener_;
  std::string address_;
  std::vector<Client> clients_ = {};
};

}  // namespace ctkit::installer::host
