#include "daemonset/http_answer.h"

#include <fmt/format.h>

#include "daemonset/words.h"

namespace ctkit::daemonset {

namespace {

constexpr std::string_view kText = "text/plain; charset=utf-8";
constexpr std::string_view kPrometheus = "text/plain; version=0.0.4; charset=utf-8";

std::string answer(std::string_view status, std::string_view body, bool with_body, std::string_view type = kText) {
  return fmt::format(
      "HTTP/1.1 {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{}",
      status,
      type,
      body.size(),
      with_body ? body : "");
}

}  // namespace

bool is_whole_request(std::string_view text) {
  return text.size() > kLongestRequest || text.find("\r\n\r\n") != std::string_view::npos ||
         text.find("\n\n") != std::string_view::npos;
}

std::string make_http_answer(std::string_view request, const Pages& pages) {
  constexpr std::size_t kParts = 3;
  if (request.size() > kLongestRequest) return answer("431 Request Header Fields Too Large", "", true);
  const std::string_view line = trimmed(request.substr(0, request.find('\n')));
  const auto parts = split_words(line);
  if (parts.size() != kParts || !parts[2].starts_with("HTTP/1.")) return answer("400 Bad Request", "", true);
  const bool head = parts[0] == "HEAD";
  if (!head && parts[0] != "GET") return answer("405 Method Not Allowed", "", true);
  const std::string_view path = parts[1].substr(0, parts[1].find('?'));
  if (path == "/metrics") return answer("200 OK", pages.metrics, !head, kPrometheus);
  if (path == "/healthz") return answer("200 OK", "ok\n", !head);
  if (path == "/readyz" && pages.ready) return answer("200 OK", "ready\n", !head);
  if (path == "/readyz") return answer("503 Service Unavailable", fmt::format("{}\n", pages.not_ready), !head);
  return answer("404 Not Found", "/metrics, /readyz, /healthz\n", !head);
}

}  // namespace ctkit::daemonset
