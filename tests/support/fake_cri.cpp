#include "support/fake_cri.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <utility>

#include <nghttp2/nghttp2.h>

namespace ctkit::test {

namespace {

using Manners = CriScript::Manners;

nghttp2_nv header(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(text.data()));
  };
  return {.name = bytes(name),
          .value = bytes(value),
          .namelen = name.size(),
          .valuelen = value.size(),
          .flags = NGHTTP2_NV_FLAG_NONE};
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<unsigned char>(byte) >> 4U];
    text += kDigits[static_cast<unsigned char>(byte) & 15U];
  }
  return text;
}

}  // namespace

struct FakeCri::Session {
  FakeCri& cri;
  int fd = -1;
  std::map<std::string, std::string> headers = {};
  std::string request = {};
  std::string_view rest = {};  // of the answer's body
  bool over = false;

  [[nodiscard]] const CriScript& script() const { return cri.script_; }
  static Session& of(void* user_data) { return *static_cast<Session*>(user_data); }

  static ssize_t on_send(
      nghttp2_session* /*session*/, const std::uint8_t* bytes, std::size_t length, int /*flags*/, void* user_data) {
    const ssize_t sent = ::send(of(user_data).fd, bytes, length, MSG_NOSIGNAL);
    return sent >= 0 ? sent : ssize_t{NGHTTP2_ERR_WOULDBLOCK};
  }

  static ssize_t on_receive(
      nghttp2_session* /*session*/, std::uint8_t* bytes, std::size_t length, int /*flags*/, void* user_data) {
    const ssize_t received = ::recv(of(user_data).fd, bytes, length, 0);
    if (received == 0) return NGHTTP2_ERR_EOF;
    return received > 0 ? received : ssize_t{NGHTTP2_ERR_WOULDBLOCK};
  }

  static int on_header(nghttp2_session* /*session*/,
                       const nghttp2_frame* /*frame*/,
                       const std::uint8_t* name,
                       std::size_t name_length,
                       const std::uint8_t* value,
                       std::size_t value_length,
                       std::uint8_t /*flags*/,
                       void* user_data) {
    of(user_data).headers[std::string(reinterpret_cast<const char*>(name), name_length)] =
        std::string(reinterpret_cast<const char*>(value), value_length);
    return 0;
  }

  static int on_data(nghttp2_session* /*session*/,
                     std::uint8_t /*flags*/,
                     std::int32_t /*stream*/,
                     const std::uint8_t* bytes,
                     std::size_t length,
                     void* user_data) {
    of(user_data).request.append(reinterpret_cast<const char*>(bytes), length);
    return 0;
  }

  static int on_frame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) == 0 || frame->hd.stream_id == 0) return 0;
    of(user_data).answer(session, frame->hd.stream_id);
    return 0;
  }

  static ssize_t give_body(nghttp2_session* session,
                           std::int32_t stream,
                           std::uint8_t* bytes,
                           std::size_t length,
                           std::uint32_t* flags,
                           nghttp2_data_source* /*source*/,
                           void* user_data) {
    Session& self = of(user_data);
    const std::size_t given =
        self.rest.copy(reinterpret_cast<char*>(bytes), std::min(length, self.script().frame_size));
    self.rest.remove_prefix(given);
    if (!self.rest.empty()) return static_cast<ssize_t>(given);
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    if (!self.script().grpc_status.empty()) {
      *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const std::array trailers = {header("grpc-status", self.script().grpc_status),
                                   header("grpc-message", self.script().grpc_message)};
      nghttp2_submit_trailer(session, stream, trailers.data(), trailers.size());
    }
    return static_cast<ssize_t>(given);
  }

  void record() {
    const std::scoped_lock lock(cri.mutex_);
    cri.calls_.push_back(headers[":method"] + " " + headers[":path"] + " " + headers["content-type"] + " " +
                         headers["te"] + " " + hexadecimal(request));
  }

  void answer(nghttp2_session* session, std::int32_t stream) {
    record();
    over = script().manners == Manners::hangs_up;
    if (script().manners == Manners::resets) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, stream, NGHTTP2_INTERNAL_ERROR);
    }
    if (script().manners == Manners::goes_away) {
      nghttp2_submit_goaway(session, NGHTTP2_FLAG_NONE, 0, NGHTTP2_NO_ERROR, nullptr, 0);
    }
    if (script().manners != Manners::usual) return;
    std::vector<nghttp2_nv> headers_out = {header(":status", script().http_status),
                                           header("content-type", script().content_type)};
    if (script().body.empty()) {  // gRPC calls it "trailers only"
      headers_out.push_back(header("grpc-status", script().grpc_status));
      headers_out.push_back(header("grpc-message", script().grpc_message));
      nghttp2_submit_response(session, stream, headers_out.data(), headers_out.size(), nullptr);
      return;
    }
    rest = script().body;
    nghttp2_data_provider body{};
    body.read_callback = give_body;
    nghttp2_submit_response(session, stream, headers_out.data(), headers_out.size(), &body);
  }
};

void FakeCri::serve(const ServedClient& client) {
  if (script_.manners == Manners::speaks_http1) {
    std::array<char, 4096> request{};
    if (!client.wait(POLLIN) || ::recv(client.fd, request.data(), request.size(), 0) <= 0) return;
    constexpr std::string_view kAnswer = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request";
    ::send(client.fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
    return;
  }
  std::array<char, 4> first{};
  if (!client.wait(POLLIN)) return;
  if (::recv(client.fd, first.data(), first.size(), MSG_PEEK) == 4 && std::string_view(first.data(), 4) == "GET ") {
    const std::string answer = (script_.config.empty() ? "HTTP/1.0 404 Not Found" : "HTTP/1.0 200 OK") +
                               std::string("\r\nContent-Type: application/toml\r\n\r\n") + script_.config;
    // What is left unread would end the connection with a reset.
    std::array<char, 4096> request{};
    static_cast<void>(::recv(client.fd, request.data(), request.size(), 0));
    ::send(client.fd, answer.data(), answer.size(), MSG_NOSIGNAL);
    return;
  }
  Session state{.cri = *this, .fd = client.fd};
  nghttp2_session_callbacks* callbacks = nullptr;
  nghttp2_session_callbacks_new(&callbacks);
  const std::unique_ptr<nghttp2_session_callbacks, decltype(&nghttp2_session_callbacks_del)> callbacks_owner(
      callbacks, &nghttp2_session_callbacks_del);
  nghttp2_session_callbacks_set_send_callback(callbacks, Session::on_send);
  nghttp2_session_callbacks_set_recv_callback(callbacks, Session::on_receive);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, Session::on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, Session::on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, Session::on_frame);
  nghttp2_session* session = nullptr;
  nghttp2_session_server_new(&session, callbacks, &state);
  const std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)> session_owner(session, &nghttp2_session_del);
  nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, nullptr, 0);
  const bool floods = script_.manners == Manners::floods;
  int result = 0;
  while (result == 0 && !state.over) {
    result = nghttp2_session_recv(session);
    if (floods && result == 0) result = nghttp2_submit_ping(session, NGHTTP2_FLAG_NONE, nullptr);
    if (result == 0) result = nghttp2_session_send(session);
    if (state.over || !client.wait(nghttp2_session_want_write(session) != 0 || floods ? POLLIN | POLLOUT : POLLIN))
      return;
  }
}

FakeCri::FakeCri(const std::string& socket, CriScript script)
    : script_(std::move(script)), server_(socket, [this](const ServedClient& client) { serve(client); }) {}

std::vector<std::string> FakeCri::calls() const {
  const std::scoped_lock lock(mutex_);
  return calls_;
}

}  // namespace ctkit::test
