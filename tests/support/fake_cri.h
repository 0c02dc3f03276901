#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <vector>

#include "support/socket_server.h"

namespace ctkit::test {

/// What a FakeCri does with a call.
struct CriScript {
  std::string body = {};          ///< of the answer, with its gRPC frame
  std::string grpc_status = "0";  ///< in the trailers; with an empty body, in the only headers; empty: none
  std::string grpc_message = {};
  std::string http_status = "200";
  std::string content_type = "application/grpc";
  std::size_t frame_size = 16384;  ///< of the answer's DATA frames, at most

  enum class Manners {
    usual,
    hangs_up,   ///< once it has the call
    resets,     ///< the stream, once it has the call
    goes_away,  ///< GOAWAY, without taking the call
    mute,       ///< reads, and never answers
    floods,     ///< the same, and sends pings without end
    speaks_http1,
  };
  Manners manners = Manners::usual;
  std::string config = {};  ///< answer to `GET /config` over HTTP/1, as CRI-O gives it on the same socket; empty: 404
};

/// A daemon's CRI socket, in a thread: a real HTTP/2 server.
class FakeCri {
 public:
  FakeCri(const std::string& socket, CriScript script);

  /// The calls so far: method and path, the headers that gRPC asks for, and the body in
  /// hexadecimal.
  [[nodiscard]] std::vector<std::string> calls() const;

 private:
  struct Session;

  void serve(const ServedClient& client);

  CriScript script_;
  mutable std::mutex mutex_;
  std::vector<std::string> calls_;
  SocketServer server_;  // last: it ends first
};

}  // namespace ctkit::test
