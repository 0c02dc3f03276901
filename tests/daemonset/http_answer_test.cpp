#include "daemonset/http_answer.h"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::daemonset {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

struct Asked {
  std::string request = {};
  std::string status = {};
  std::string body = {};
};

void PrintTo(const Asked& asked, std::ostream* out) {
  *out << asked.request;
}

class Answers : public testing::TestWithParam<Asked> {};

TEST_P(Answers, HaveStatusLengthAndBody) {
  const std::string answer =
      make_http_answer(GetParam().request, {.metrics = "m 1\n", .ready = false, .not_ready = "no driver"});
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 " + GetParam().status + "\r\n"));
  EXPECT_THAT(answer, HasSubstr("\r\nConnection: close\r\n"));
  EXPECT_THAT(answer, EndsWith("\r\n\r\n" + GetParam().body));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Answers,
    testing::Values(Asked{"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK", "m 1\n"},
                    Asked{"GET /metrics?x=y HTTP/1.0\r\n\r\n", "200 OK", "m 1\n"},
                    Asked{"HEAD /metrics HTTP/1.1\r\n\r\n", "200 OK", ""},
                    Asked{"GET /healthz HTTP/1.1\n\n", "200 OK", "ok\n"},
                    Asked{"GET /readyz HTTP/1.1\r\n\r\n", "503 Service Unavailable", "no driver\n"},
                    Asked{"GET / HTTP/1.1\r\n\r\n", "404 Not Found", "/metrics, /readyz, /healthz\n"},
                    Asked{"POST /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed", ""},
                    Asked{"GET /metrics\r\n\r\n", "400 Bad Request", ""},
                    Asked{"GET /metrics HTTP/2\r\n\r\n", "400 Bad Request", ""},
                    Asked{"\r\n\r\n", "400 Bad Request", ""},
                    Asked{std::string(kLongestRequest + 1, 'x'), "431 Request Header Fields Too Large", ""}));

TEST(HttpAnswer, AHeadCountsTheBodyItLeavesOut) {
  EXPECT_THAT(make_http_answer("HEAD /metrics HTTP/1.1\r\n\r\n", {.metrics = "m 1\n"}),
              HasSubstr("\r\nContent-Length: 4\r\n"));
}

TEST(HttpAnswer, ReadySaysSo) {
  EXPECT_THAT(make_http_answer("GET /readyz HTTP/1.1\r\n\r\n", {.ready = true}), StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST(HttpAnswer, ARequestIsWholeAtItsEmptyLineOrWhenItIsTooLong) {
  EXPECT_FALSE(is_whole_request(""));
  EXPECT_FALSE(is_whole_request("GET / HTTP/1.1\r\nHost: x\r\n"));
  EXPECT_TRUE(is_whole_request("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_TRUE(is_whole_request(std::string(kLongestRequest + 1, 'x')));
}

}  // namespace
}  // namespace ctkit::daemonset
