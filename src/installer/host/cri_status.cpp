#include "installer/host/cri_status.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>

#include <nghttp2/nghttp2.h>

#include "installer/cri_message.h"
#include "installer/grpc_answer.h"
#include "installer/host/deadline.h"
#include "installer/host/http_get.h"
#include "installer/host/process_start.h"
#include "installer/host/system_error.h"
#include "installer/host/unique_fd.h"
#include "installer/host/unix_socket.h"
#include "installer/loaded_config.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

using namespace std::literals;

constexpr std::string_view kStatusMethod = "/runtime.v1.RuntimeService/Status";
constexpr std::string_view kConfigPath = "/config";         // CRI-O's (server/inspect.go)
constexpr std::size_t kMostBytes = std::size_t{16} << 20U;  // containerd's own limit on a message
constexpr auto kConnectTime = 5s;

struct DeleteSession {
  void operator()(nghttp2_session* session) const { nghttp2_session_del(session); }
};
struct DeleteCallbacks {
  void operator()(nghttp2_session_callbacks* callbacks) const { nghttp2_session_callbacks_del(callbacks); }
};
using Session = std::unique_ptr<nghttp2_session, DeleteSession>;
using Callbacks = std::unique_ptr<nghttp2_session_callbacks, DeleteCallbacks>;

// One call in flight.
struct Exchange {
  int fd = -1;
  std::string_view request = {};  // what is still to be sent
  GrpcAnswer answer = {};
  Moment deadline = {};
  bool closed = false;             // the stream is
  std::uint32_t stream_error = 0;  // with this HTTP/2 error
  int system_error = 0;            // of the socket
  std::string complaint = {};      // of the library, about what it got
  bool too_large = false;
};

Exchange& exchange_of(void* user_data) {
  return *static_cast<Exchange*>(user_data);
}

std::string_view view(const std::uint8_t* bytes, std::size_t length) {
  return {reinterpret_cast<const char*>(bytes), length};
}

ssize_t send_bytes(
    nghttp2_session* /*session*/, const std::uint8_t* bytes, std::size_t length, int /*flags*/, void* user_data) {
  Exchange& exchange = exchange_of(user_data);
  const ssize_t sent = ::send(exchange.fd, bytes, length, MSG_NOSIGNAL);
  if (sent >= 0) return sent;
  if (errno == EAGAIN || errno == EINTR) return NGHTTP2_ERR_WOULDBLOCK;
  // Whoever hung up may have said why: go on to reading, which comes to the end too.
  if (errno == EPIPE) return static_cast<ssize_t>(length);
  exchange.system_error = errno;
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

ssize_t receive_bytes(
    nghttp2_session* /*session*/, std::uint8_t* bytes, std::size_t length, int /*flags*/, void* user_data) {
  Exchange& exchange = exchange_of(user_data);
  // The library reads on while there is something: a flood of pings would keep it here.
  if (Moment::clock::now() >= exchange.deadline) return NGHTTP2_ERR_WOULDBLOCK;
  const ssize_t received = ::recv(exchange.fd, bytes, length, 0);
  if (received > 0) return received;
  if (received == 0) return NGHTTP2_ERR_EOF;
  if (errno == EAGAIN || errno == EINTR) return NGHTTP2_ERR_WOULDBLOCK;
  exchange.system_error = errno;
  return NGHTTP2_ERR_CALLBACK_FAILURE;
}

ssize_t give_request(nghttp2_session* /*session*/,
                     std::int32_t /*stream*/,
                     std::uint8_t* bytes,
                     std::size_t length,
                     std::uint32_t* flags,
                     nghttp2_data_source* /*source*/,
                     void* user_data) {
  std::string_view& request = exchange_of(user_data).request;
  const std::size_t given = request.copy(reinterpret_cast<char*>(bytes), length);
  request.remove_prefix(given);
  if (request.empty()) *flags |= NGHTTP2_DATA_FLAG_EOF;
  return static_cast<ssize_t>(given);
}

int take_header(nghttp2_session* /*session*/,
                const nghttp2_frame* /*frame*/,
                const std::uint8_t* name,
                std::size_t name_length,
                const std::uint8_t* value,
                std::size_t value_length,
                std::uint8_t /*flags*/,
                void* user_data) {
  GrpcAnswer& answer = exchange_of(user_data).answer;
  const std::string_view key = view(name, name_length);
  const std::string_view text = view(value, value_length);
  if (key == ":status") answer.http_status = text;
  if (key == "content-type") answer.content_type = text;
  if (key == "grpc-status") answer.grpc_status = text;
  if (key == "grpc-message") answer.grpc_message = text;
  return 0;
}

int take_data(nghttp2_session* /*session*/,
              std::uint8_t /*flags*/,
              std::int32_t /*stream*/,
              const std::uint8_t* bytes,
              std::size_t length,
              void* user_data) {
  Exchange& exchange = exchange_of(user_data);
  exchange.too_large = exchange.answer.body.size() + length > kMostBytes;
  if (exchange.too_large) return NGHTTP2_ERR_CALLBACK_FAILURE;
  exchange.answer.body += view(bytes, length);
  return 0;
}

int take_end(nghttp2_session* /*session*/, std::int32_t /*stream*/, std::uint32_t error, void* user_data) {
  Exchange& exchange = exchange_of(user_data);
  exchange.closed = true;
  exchange.stream_error = error;
  return 0;
}

int take_complaint(
    nghttp2_session* /*session*/, int /*code*/, const char* message, std::size_t length, void* user_data) {
  exchange_of(user_data).complaint.assign(message, length);
  return 0;
}

Session make_session(Exchange& exchange) {
  nghttp2_session_callbacks* made = nullptr;
  if (nghttp2_session_callbacks_new(&made) != 0) return {};
  const Callbacks callbacks(made);
  nghttp2_session_callbacks_set_send_callback(made, send_bytes);
  nghttp2_session_callbacks_set_recv_callback(made, receive_bytes);
  nghttp2_session_callbacks_set_on_header_callback(made, take_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, take_data);
  nghttp2_session_callbacks_set_on_stream_close_callback(made, take_end);
  nghttp2_session_callbacks_set_error_callback2(made, take_complaint);
  nghttp2_session* session = nullptr;
  if (nghttp2_session_client_new(&session, made, &exchange) != 0) return {};
  return Session(session);
}

nghttp2_nv header(std::string_view name, std::string_view value) {
  // The library takes them as not const, and copies them.
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {.name = bytes(name),
          .value = bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

bool submit(nghttp2_session* session, std::string_view method) {
  const std::array headers = {header(":method", "POST"),
                              header(":scheme", "http"),
                              header(":path", method),
                              header(":authority", "localhost"),
                              header("content-type", "application/grpc"),
                              header("te", "trailers"),
                              header("user-agent", "ctkit")};
  nghttp2_data_provider body{};
  body.read_callback = give_request;
  return nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0) == 0 &&
         nghttp2_submit_request(session, nullptr, headers.data(), headers.size(), &body, nullptr) > 0;
}

Error unreachable(std::string message) {
  return {.code = ErrorCode::unreachable, .message = "the daemon gave no answer: " + std::move(message)};
}

// Why the library gave up.
Error transport_error(const Exchange& exchange, int code, const std::string& socket) {
  if (exchange.too_large) return {.message = "the daemon's answer is larger than 16 MiB"};
  if (!exchange.complaint.empty() || (code != NGHTTP2_ERR_EOF && exchange.system_error == 0)) {
    return {.message = "whoever listens doesn't speak HTTP/2: " +
                       (exchange.complaint.empty() ? nghttp2_strerror(code) : exchange.complaint),
            .hint = "give the socket of containerd or CRI-O"};
  }
  // With something of ours unread it is a reset.
  if (code == NGHTTP2_ERR_EOF || exchange.system_error == ECONNRESET) {
    return unreachable("it closed the connection");
  }
  Error error = make_system_error(exchange.system_error, "talk to the daemon", socket);
  error.code = ErrorCode::unreachable;
  return error;
}

// Until the stream is closed, from either side.
Result<void> converse(nghttp2_session* session, Exchange& exchange, const std::string& socket) {
  while (true) {
    int code = nghttp2_session_send(session);
    if (code == 0) code = nghttp2_session_recv(session);
    if (exchange.closed) return {};
    if (code != 0) return std::unexpected(transport_error(exchange, code, socket));
    // The library hangs up in silence after a protocol error; it has told the other side already.
    if (nghttp2_session_want_read(session) == 0 && nghttp2_session_want_write(session) == 0) {
      return std::unexpected(transport_error(exchange, NGHTTP2_ERR_PROTO, socket));
    }
    const int left = milliseconds_until(exchange.deadline);
    if (left == 0) return std::unexpected(unreachable("it takes too long"));
    const bool writing = nghttp2_session_want_write(session) != 0;
    pollfd waiting{.fd = exchange.fd, .events = static_cast<short>(writing ? POLLIN | POLLOUT : POLLIN), .revents = 0};
    if (::poll(&waiting, 1, left) < 0 && errno != EINTR) {
      return std::unexpected(make_system_error(errno, "wait for the daemon", socket));
    }
  }
}

// One unary call on a connection of its own.
Result<std::string> call(
    int fd, std::string_view method, std::string_view message, Moment deadline, const std::string& socket) {
  const std::string request = frame_grpc_message(message);
  Exchange exchange{.fd = fd, .request = request, .deadline = deadline};
  const Session session = make_session(exchange);
  if (!session || !submit(session.get(), method)) {
    return std::unexpected(Error{.message = "cannot make an HTTP/2 request"});
  }
  if (auto done = converse(session.get(), exchange, socket); !done) return std::unexpected(done.error());
  // Servers may end a stream early with NO_ERROR once all is said.
  if (exchange.stream_error != NGHTTP2_NO_ERROR) {
    return std::unexpected(
        unreachable("it ended the call with HTTP/2's "s + nghttp2_http2_strerror(exchange.stream_error)));
  }
  return read_grpc_answer(exchange.answer);
}

Error at(const std::string& socket, Error error) {
  if (error.where.empty()) error.where = socket;
  return error;
}

Result<LoadedState> read_status(std::string_view message) {
  const auto response = parse_status_response(message);
  if (!response) return std::unexpected(response.error());
  return make_loaded_state(*response);
}

}  // namespace

Result<std::unique_ptr<CriStatus>> CriStatus::open(const std::string& folder, std::string socket) {
  auto root = RootFolder::open(folder);
  if (!root) return std::unexpected(root.error());
  return std::make_unique<CriStatus>(std::move(*root), std::move(socket));
}

Result<LoadedState> CriStatus::status(Moment deadline) {
  const auto ask = [&]() -> Result<std::string> {
    const auto fd = connect_below(root_, socket_, deadline);
    if (!fd) return std::unexpected(fd.error());
    auto message = call(fd->get(), kStatusMethod, make_status_request(), deadline, socket_);
    if (!message) return std::unexpected(at(socket_, message.error()));
    return message;
  };
  const auto message = ask();
  if (!message) return std::unexpected(message.error());
  auto state = read_status(*message);
  if (!state) return std::unexpected(at(socket_, state.error()));
  if (!lacks_handlers(*state)) return state;
  // Without that nobody can say what it serves, which is no "nothing".
  const auto fd = connect_below(root_, socket_, deadline);
  if (!fd) return std::unexpected(fd.error());
  const auto whole = http_get(fd->get(), kConfigPath, deadline, socket_);
  if (!whole) return std::unexpected(at(socket_, whole.error()));
  state = with_whole_config(*std::move(state), *whole);
  if (!state) return std::unexpected(at(socket_, state.error()));
  return state;
}

Result<PeerProcess> CriStatus::peer() {
  const auto fd = connect_below(root_, socket_, Moment::clock::now() + kConnectTime);
  if (!fd) return std::unexpected(fd.error());
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(fd->get(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return std::unexpected(make_system_error(errno, "ask who serves the socket", socket_));
  }
  if (peer.pid <= 0) {
    return std::unexpected(Error{.code = ErrorCode::unreachable,
                                 .message = "cannot see the process that serves the socket",
                                 .where = socket_,
                                 .hint = "it is in another pid namespace: run with the host's (hostPID: true)"});
  }
  const auto start = read_process_start(peer.pid);
  if (!start) {
    Error error = at(socket_, start.error());
    if (error.code == ErrorCode::not_found) error.code = ErrorCode::unreachable;
    return std::unexpected(error);
  }
  return PeerProcess{.pid = peer.pid, .start_ticks = start->ticks, .started = start->time};
}

}  // namespace ctkit::installer::host
