#pragma once

#include <string>
#include <string_view>

#include "engine/result.h"

namespace ctkit::installer {

/// What an HTTP/2 stream brought for one gRPC call; header values as they came, empty: absent.
struct GrpcAnswer {
  std::string http_status = {};
  std::string content_type = {};
  std::string grpc_status = {};   ///< a number
  std::string grpc_message = {};  ///< percent-encoded
  std::string body = {};
};

/// A message with its frame, as the body of a request.
std::string frame_grpc_message(std::string_view message);

/// The message inside the answer, or the failure it tells: `unreachable` if the server isn't ready,
/// `not_found` if it doesn't serve the call, `permission`, `failed`.
engine::Result<std::string> read_grpc_answer(const GrpcAnswer& answer);

}  // namespace ctkit::installer
