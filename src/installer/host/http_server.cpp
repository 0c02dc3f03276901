#include "installer/host/http_server.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemonset/listen_address.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Result;
using namespace std::literals;

namespace {

constexpr std::size_t kMostClients = 8;
constexpr auto kPatience = 2s;
constexpr int kBacklog = 16;

struct SocketName {
  sockaddr_storage name{};
  socklen_t size = 0;
};

SocketName name_of(const daemonset::ListenAddress& address) {
  SocketName socket;
  if (address.is_six) {
    auto& six = reinterpret_cast<sockaddr_in6&>(socket.name);
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(address.port);
    std::memcpy(&six.sin6_addr, address.bytes.data(), sizeof six.sin6_addr);
    socket.size = sizeof six;
  } else {
    auto& four = reinterpret_cast<sockaddr_in&>(socket.name);
    four.sin_family = AF_INET;
    four.sin_port = htons(address.port);
    std::memcpy(&four.sin_addr, address.bytes.data(), sizeof four.sin_addr);
    socket.size = sizeof four;
  }
  return socket;
}

std::string port_of(int fd) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&name), &size) != 0) return "0";
  const auto port = name.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(name).sin6_port
                                               : reinterpret_cast<const sockaddr_in&>(name).sin_port;
  return std::to_string(ntohs(port));
}

// False: it is over with this client.
bool receive(int fd, std::string& request) {
  std::array<char, 1024> buffer{};
  while (!daemonset::is_whole_request(request)) {
    const ssize_t length = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN;
    if (length == 0) return false;
    request.append(buffer.data(), static_cast<std::size_t>(length));
  }
  return true;
}

bool send(int fd, std::string_view answer, std::size_t& sent) {
  while (sent < answer.size()) {
    const ssize_t length = ::send(fd, answer.data() + sent, answer.size() - sent, MSG_NOSIGNAL);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) return errno == EAGAIN;
    sent += static_cast<std::size_t>(length);
  }
  return true;
}

}  // namespace

Result<HttpServer> HttpServer::open(const std::string& address) {
  const auto parsed = daemonset::parse_listen(address);
  if (!parsed) return std::unexpected(parsed.error());
  const SocketName socket = name_of(*parsed);
  UniqueFd listener(::socket(socket.name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!listener || ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&socket.name), socket.size) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    return std::unexpected(make_system_error(errno, "listen", address));
  }
  std::string bound = parsed->host + ":" + port_of(listener.get());
  return HttpServer(std::move(listener), std::move(bound));
}

void HttpServer::add_to(std::vector<pollfd>& polled) const {
  if (clients_.size() < kMostClients) polled.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
  for (const Client& client : clients_) {
    const short events = client.answer.empty() ? POLLIN : POLLOUT;
    polled.push_back({.fd = client.fd.get(), .events = events, .revents = 0});
  }
}

void HttpServer::accept_some(Moment now) {
  while (clients_.size() < kMostClients) {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd) return;
    clients_.push_back({.fd = std::move(fd), .deadline = now + kPatience});
  }
}

void HttpServer::serve(Moment now, const std::function<daemonset::Pages()>& pages) {
  accept_some(now);
  std::erase_if(clients_, [&](Client& client) {
    if (client.deadline <= now) return true;
    if (client.answer.empty()) {
      if (!receive(client.fd.get(), client.request)) return true;
      if (!daemonset::is_whole_request(client.request)) return false;
      client.answer = daemonset::make_http_answer(client.request, pages());
    }
    return !send(client.fd.get(), client.answer, client.sent) || client.sent == client.answer.size();
  });
}

Moment HttpServer::deadline() const {
  Moment first = Moment::max();
  for (const Client& client : clients_)
    first = std::min(first, client.deadline);
  return first;
}

}  // namespace ctkit::installer::host
