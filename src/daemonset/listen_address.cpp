#include "daemonset/listen_address.h"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>
#include <netinet/in.h>
#include <optional>
#include <utility>

namespace ctkit::daemonset {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

Error no_address(std::string_view text) {
  return {.code = ErrorCode::usage,
          .message = "listen wants a numeric address:port, not '" + std::string(text) + "'",
          .hint = "as in 127.0.0.1:9402 or [::1]:9402"};
}

Error every_address(std::string_view text) {
  return {.code = ErrorCode::usage,
          .message = "listen wants one address, not every one of this machine: '" + std::string(text) + "'",
          .hint = "127.0.0.1, or the pod's own address"};
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

// getaddrinfo of a static program wants the C library's shared parts, for names that we don't take anyway.
bool read_four(const std::string& host, ListenAddress& address) {
  return ::inet_pton(AF_INET, host.c_str(), address.bytes.data()) == 1;
}

bool read_six(const std::string& host, ListenAddress& address) {
  if (::inet_pton(AF_INET6, host.c_str(), address.bytes.data()) != 1) return false;
  address.is_six = true;
  in6_addr six{};
  std::ranges::copy(address.bytes, std::begin(six.s6_addr));
  if (!IN6_IS_ADDR_V4MAPPED(&six)) return true;
  // An address of IPv4, written otherwise.
  address.is_six = false;
  std::ranges::copy_n(address.bytes.begin() + 12, 4, address.bytes.begin());
  std::ranges::fill(address.bytes.begin() + 4, address.bytes.end(), static_cast<unsigned char>(0));
  return true;
}

std::string render_host(const ListenAddress& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(address.is_six ? AF_INET6 : AF_INET, address.bytes.data(), text.data(), text.size());
  return address.is_six ? "[" + std::string(text.data()) + "]" : std::string(text.data());
}

}  // namespace

Result<ListenAddress> parse_listen(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::unexpected(no_address(text));
  const auto port = parse_port(text.substr(colon + 1));
  if (!port) return std::unexpected(no_address(text));
  std::string host(text.substr(0, colon));
  if (host.empty() || host == "*") return std::unexpected(every_address(text));
  ListenAddress address{.port = *port};
  const bool in_brackets = host.starts_with('[') && host.ends_with(']');
  if (in_brackets) host = host.substr(1, host.size() - 2);
  // Outside of brackets nobody can tell where an IPv6 address ends.
  const bool is_one = in_brackets ? read_six(host, address) : read_four(host, address);
  if (!is_one) return std::unexpected(no_address(text));
  if (std::ranges::all_of(address.bytes, [](unsigned char byte) { return byte == 0; })) {
    return std::unexpected(every_address(text));
  }
  address.host = render_host(address);
  return address;
}

}  // namespace ctkit::daemonset
