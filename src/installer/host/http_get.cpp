#include "installer/host/http_get.h"

#include <array>
#include <cerrno>
#include <cstddef>
#include <poll.h>
#include <sys/socket.h>

#include "installer/host/deadline.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20U;

Result<void> await(int fd, short events, Moment deadline, const std::string& socket) {
  const int left = milliseconds_until(deadline);
  if (left == 0) {
    return std::unexpected(Error{
        .code = ErrorCode::unreachable, .message = "the daemon gave no answer: it takes too long", .where = socket});
  }
  pollfd waiting{.fd = fd, .events = events, .revents = 0};
  if (::poll(&waiting, 1, left) < 0 && errno != EINTR) {
    return std::unexpected(make_system_error(errno, "wait for the daemon", socket));
  }
  return {};
}

Result<void> send_all(int fd, std::string_view text, Moment deadline, const std::string& socket) {
  while (!text.empty()) {
    const ssize_t sent = ::send(fd, text.data(), text.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno != EAGAIN && errno != EINTR) {
      return std::unexpected(make_system_error(errno, "talk to the daemon", socket));
    } else if (auto ready = await(fd, POLLOUT, deadline, socket); !ready) {
      return ready;
    }
  }
  return {};
}

Result<std::string> receive_all(int fd, Moment deadline, const std::string& socket) {
  std::string text;
  std::array<char, 16384> part;  // not cleared on purpose
  while (true) {
    const ssize_t count = ::recv(fd, part.data(), part.size(), 0);
    if (count == 0) return text;
    if (count > 0) {
      text.append(part.data(), static_cast<std::size_t>(count));
      if (text.size() > kMostBytes)
        return std::unexpected(Error{.message = "the daemon's answer is larger than 16 MiB", .where = socket});
    } else if (errno != EAGAIN && errno != EINTR) {
      return std::unexpected(make_system_error(errno, "talk to the daemon", socket));
    } else if (auto ready = await(fd, POLLIN, deadline, socket); !ready) {
      return std::unexpected(ready.error());
    }
  }
}

}  // namespace

Result<std::string> http_get(int fd, std::string_view path, Moment deadline, const std::string& socket) {
  const std::string request = "GET " + std::string(path) + " HTTP/1.0\r\nHost: localhost\r\nUser-Agent: ctkit\r\n\r\n";
  if (auto sent = send_all(fd, request, deadline, socket); !sent) return std::unexpected(sent.error());
  auto answer = receive_all(fd, deadline, socket);
  if (!answer) return answer;
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t end = answer->find(kEnd);
  const std::string status = answer->substr(0, answer->find("\r\n"));
  if (end == std::string::npos || !status.starts_with("HTTP/1.") || !status.contains(" 200")) {
    return std::unexpected(Error{.code = ErrorCode::not_found,
                                 .message = "the daemon doesn't answer '" + std::string(path) + "' on its socket",
                                 .where = socket});
  }
  return answer->substr(end + kEnd.size());
}

}  // namespace ctkit::installer::host
