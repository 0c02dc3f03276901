#include "installer/host/unix_socket.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include "installer/host/deadline.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

Error connect_error(int error_number, const std::string& path) {
  Error error = make_system_error(error_number, "connect to the socket", path);
  if (error.code != ErrorCode::permission) error.code = ErrorCode::unreachable;
  return error;
}

// By way of /proc the address stays short, and what is connected to is what was found below the
// root.
sockaddr_un address_of(int socket_file) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = "/proc/self/fd/" + std::to_string(socket_file);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

// While the listener's queue is full connect(2) waits, as long as sending may take.
bool bound_connecting(int fd, Moment deadline) {
  const long left = std::max(milliseconds_until(deadline), 1);  // 0 would be for ever
  const timeval time{.tv_sec = left / 1000, .tv_usec = left % 1000 * 1000};
  return ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time) == 0;
}

bool connect_to(int fd, const sockaddr_un& address) {
  int connected = -1;
  do {
    connected = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (connected != 0 && errno == EINTR);
  return connected == 0;
}

}  // namespace

Result<UniqueFd> connect_below(const RootFolder& root, const std::string& path, Moment deadline) {
  auto file = root.open(path, O_PATH);
  if (!file) {
    if (file.error().code != ErrorCode::permission) file.error().code = ErrorCode::unreachable;
    return std::unexpected(file.error());
  }
  UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd || !bound_connecting(fd.get(), deadline)) {
    return std::unexpected(make_system_error(errno, "make a socket", path));
  }
  if (!connect_to(fd.get(), address_of(file->get()))) {
    return std::unexpected(connect_error(errno == EAGAIN ? ETIMEDOUT : errno, path));
  }
  if (::fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(make_system_error(errno, "use the socket", path));
  }
  return fd;
}

}  // namespace ctkit::installer::host
