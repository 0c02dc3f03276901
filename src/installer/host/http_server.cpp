#include "installer/host/http_server.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <netinet/in.h>
#include <optional>
#include <sys/socket.h>
#include <unistd.h>

#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using namespace std::literals;

namespace {

constexpr std::size_t kMostClients = 8;
constexpr auto kPatience = 2s;
constexpr int kBacklog = 16;

struct Address {
  sockaddr_storage name{};
  socklen_t size = 0;
};

// By hand, as getaddrinfo of a static program wants the C library's shared parts for names that we don't take anyway.
std::optional<Address> parse_address(const std::string& host, std::string_view port) {
  std::uint16_t number = 0;
  const auto read = std::from_chars(port.data(), port.data() + port.size(), number);
  if (port.empty() || read.ec != std::errc{} || read.ptr != port.data() + port.size()) return std::nullopt;
  Address address;
  auto& four = reinterpret_cast<sockaddr_in&>(address.name);
  if (::inet_pton(AF_INET, host.c_str(), &four.sin_addr) == 1) {
    four.sin_family = AF_INET;
    four.sin_port = htons(number);
    address.size = sizeof four;
    return address;
  }
  auto& six = reinterpret_cast<sockaddr_in6&>(address.name);
  if (::inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) == 1) {
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(number);
    address.size = sizeof six;
    return address;
  }
  return std::nullopt;
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
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  const std::string port = address.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto parsed = parse_address(host, port);
  if (!parsed) {
    return std::unexpected(
        Error{.code = ErrorCode::usage, .message = "listen wants a numeric address and a port, not '" + address + "'"});
  }
  UniqueFd listener(::socket(parsed->name.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (!listener || ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&parsed->name), parsed->size) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    return std::unexpected(make_system_error(errno, "listen", address));
  }
  std::string bound = address.substr(0, colon + 1) + port_of(listener.get());
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
