#include "support/socket_server.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>

namespace ctkit::test {

using installer::host::UniqueFd;

bool ServedClient::wait(short events, int timeout) const {
  std::array waiting = {pollfd{.fd = fd, .events = events, .revents = 0},
                        pollfd{.fd = stop, .events = POLLIN, .revents = 0}};
  ::poll(waiting.data(), waiting.size(), timeout);
  return waiting[1].revents == 0;
}

UniqueFd listen_at(const std::string& path, int backlog) {
  UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::length_error(path);
  std::memcpy(address.sun_path, path.data(), path.size());
  ::unlink(path.c_str());  // of the server before
  if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), backlog) != 0) {
    throw std::runtime_error("cannot listen at " + path);
  }
  return listener;
}

SocketServer::SocketServer(const std::string& path, std::function<void(const ServedClient&)> serve)
    : listener_(listen_at(path)), stop_(::eventfd(0, EFD_CLOEXEC)), thread_([this, serve = std::move(serve)] {
        while (ServedClient{.fd = listener_.get(), .stop = stop_.get()}.wait(POLLIN)) {
          const UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
          if (client) serve({.fd = client.get(), .stop = stop_.get()});
        }
      }) {}

SocketServer::~SocketServer() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(stop_.get(), &one, sizeof one) == sizeof one);
}

}  // namespace ctkit::test
