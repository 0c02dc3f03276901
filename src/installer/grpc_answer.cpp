#include "installer/grpc_answer.h"

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace ctkit::installer {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

namespace {

constexpr std::size_t kFrameHead = 5;  // a flag, and the length in four bytes

// gRPC's status codes, https://grpc.github.io/grpc/core/md_doc_statuscodes.html.
constexpr int kOk = 0;
constexpr int kUnknown = 2;
constexpr int kDeadlineExceeded = 4;
constexpr int kPermissionDenied = 7;
constexpr int kUnimplemented = 12;
constexpr int kUnavailable = 14;
constexpr int kUnauthenticated = 16;

// containerd's CRI service says this while it starts, as a plain Go error, so with the code UNKNOWN
// (internal/cri/instrument, checkInitialized; 1.6: pkg/cri/server).
constexpr std::string_view kNotYet = "server is not initialized yet";

constexpr auto kCriIsDead =
    "its CRI plugin is disabled or failed to load, and no pod can start; its log says why: look "
    "for "
    "'failed to load plugin'";

template <typename Number>
std::optional<Number> parse_number(std::string_view text, int base = 10) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// "%XX" is a byte; a percent sign that isn't followed by two hexadecimal digits stands for itself.
std::string decode_percents(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte =
        text[i] == '%' && i + 2 < text.size() ? parse_number<std::uint8_t>(text.substr(i + 1, 2), 16) : std::nullopt;
    decoded += byte ? static_cast<char>(*byte) : text[i];
    if (byte) i += 2;
  }
  return decoded;
}

Error not_grpc(const GrpcAnswer& answer) {
  return {.message = "whoever listens doesn't speak gRPC (HTTP status '" + answer.http_status + "', content type '" +
                     answer.content_type + "')",
          .hint = "give the socket of containerd or CRI-O"};
}

Error make_status_error(int status, const std::string& message) {
  switch (status) {
    case kUnimplemented:
      return {.code = ErrorCode::not_found,
              .message = "the daemon answers but doesn't serve the CRI: " + message,
              .hint = kCriIsDead};
    case kUnavailable:
    case kDeadlineExceeded:
      return {.code = ErrorCode::unreachable, .message = "the daemon isn't ready: " + message};
    case kPermissionDenied:
    case kUnauthenticated:
      return {.code = ErrorCode::permission, .message = "the daemon won't tell us: " + message};
    default:
      break;
  }
  if (status == kUnknown && message.contains(kNotYet)) {
    return {.code = ErrorCode::unreachable, .message = "the daemon isn't ready: " + message};
  }
  return {.message = "the daemon can't answer: " + message + " (gRPC status " + std::to_string(status) + ")"};
}

Result<std::string> unframe(std::string_view body) {
  if (body.size() < kFrameHead) {
    return std::unexpected(Error{.message = "the daemon's answer is cut short"});
  }
  if (body.front() != 0) {
    return std::unexpected(Error{.message = "the daemon's answer is compressed, which we didn't ask for"});
  }
  std::uint32_t length = 0;
  for (const char byte : body.substr(1, kFrameHead - 1)) {
    length = length << 8U | static_cast<unsigned char>(byte);
  }
  if (body.size() - kFrameHead != length) {
    return std::unexpected(Error{.message = "the daemon's answer isn't as long as it says"});
  }
  return std::string(body.substr(kFrameHead));
}

}  // namespace

std::string frame_grpc_message(std::string_view message) {
  std::string framed(1, '\0');
  for (const unsigned shift : {24U, 16U, 8U, 0U}) {
    framed += static_cast<char>(message.size() >> shift & 0xffU);
  }
  return framed.append(message);
}

Result<std::string> read_grpc_answer(const GrpcAnswer& answer) {
  const auto status = parse_number<int>(answer.grpc_status);
  if (!status && (answer.http_status != "200" || !answer.content_type.starts_with("application/grpc"))) {
    return std::unexpected(not_grpc(answer));
  }
  if (!status) return std::unexpected(Error{.message = "the daemon's answer has no gRPC status"});
  if (*status != kOk) {
    return std::unexpected(make_status_error(*status, decode_percents(answer.grpc_message)));
  }
  return unframe(answer.body);
}

}  // namespace ctkit::installer
