#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ctkit::daemonset {

/// Requests are small: a longer one is refused.
inline constexpr std::size_t kLongestRequest = 4096;

/// What is asked for over HTTP.
struct Pages {
  std::string_view metrics = {};
  bool ready = false;
  std::string_view not_ready = {};  ///< why not
};

/// Whether the request's head is there to its end, or is too long to be one.
bool is_whole_request(std::string_view text);

/// The whole answer to an HTTP/1 request, after which the connection is closed: GET and HEAD of /metrics, /readyz (503
/// while not ready) and /healthz.
std::string make_http_answer(std::string_view request, const Pages& pages);

}  // namespace ctkit::daemonset
