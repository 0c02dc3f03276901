#include "installer/host/http_server.h"

#include <arpa/inet.h>
#include <array>
#include <chrono>
#include <memory>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/host/unique_fd.h"

namespace ctkit::installer::host {
namespace {

using namespace std::literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

constexpr auto kLimit = 20s;

class HttpServerTest : public testing::Test {
 protected:
  UniqueFd connect() {
    UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    address.sin_port = ::htons(static_cast<std::uint16_t>(std::stoi(server.address().substr(10))));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  /// Polls as the loop does, once, for at most this long.
  void step(std::chrono::milliseconds patience = 100ms) {
    std::vector<pollfd> polled;
    server.add_to(polled);
    ::poll(polled.data(), polled.size(), static_cast<int>(patience.count()));
    server.serve(now, [&] {
      ++asked;
      return daemonset::Pages{.metrics = metrics, .ready = true};
    });
  }

  /// What comes until the connection is closed.
  std::string answer_on(const UniqueFd& fd) {
    std::string text;
    const auto deadline = std::chrono::steady_clock::now() + kLimit;
    while (std::chrono::steady_clock::now() < deadline) {
      step(1ms);
      std::array<char, 4096> buffer{};
      const ssize_t length = ::recv(fd.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      if (length == 0) return text;
      if (length > 0) text.append(buffer.data(), static_cast<std::size_t>(length));
    }
    ADD_FAILURE() << "no end of the answer: " << text;
    return text;
  }

  static void send(const UniqueFd& fd, std::string_view text) {
    EXPECT_EQ(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
  }

  HttpServer server = HttpServer::open("127.0.0.1:0").value();
  Moment now = Moment() + 1h;
  std::string metrics = "m 1\n";
  int asked = 0;
};

TEST_F(HttpServerTest, Answers) {
  const UniqueFd client = connect();
  send(client, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_THAT(answer_on(client), testing::AllOf(StartsWith("HTTP/1.1 200 OK\r\n"), EndsWith("\r\n\r\nm 1\n")));
  EXPECT_EQ(asked, 1);
}

TEST_F(HttpServerTest, WaitsForTheRestOfARequest) {
  const UniqueFd client = connect();
  send(client, "GET /healthz HT");
  step();
  step();
  send(client, "TP/1.1\r\n\r\n");
  EXPECT_THAT(answer_on(client), EndsWith("ok\n"));
}

TEST_F(HttpServerTest, SendsALongAnswerInPieces) {
  metrics = std::string(std::size_t{8} << 20U, 'x');
  const UniqueFd client = connect();
  send(client, "GET /metrics HTTP/1.1\r\n\r\n");
  const std::string answer = answer_on(client);
  EXPECT_EQ(answer.size() - answer.find("\r\n\r\n") - 4, metrics.size());
}

TEST_F(HttpServerTest, CutsOffWhoIsSlow) {
  const UniqueFd client = connect();
  step();
  EXPECT_EQ(server.deadline(), now + 2s);
  now += 2s;
  EXPECT_EQ(answer_on(client), "");
  EXPECT_EQ(server.deadline(), Moment::max());
}

TEST_F(HttpServerTest, RefusesARequestWithoutEnd) {
  const UniqueFd client = connect();
  send(client, std::string(daemonset::kLongestRequest + 1, 'x'));
  EXPECT_THAT(answer_on(client), HasSubstr("431"));
}

TEST_F(HttpServerTest, HasPlacesForFewAndTheOthersWait) {
  std::vector<UniqueFd> silent;
  for (int i = 0; i < 10; ++i)
    silent.push_back(connect());
  const UniqueFd client = connect();
  send(client, "GET /healthz HTTP/1.1\r\n\r\n");
  step();
  std::vector<pollfd> polled;
  server.add_to(polled);
  EXPECT_EQ(polled.size(), 8U);  // and not the listener
  now += 2s;
  EXPECT_THAT(answer_on(client), EndsWith("ok\n"));
}

TEST(HttpServer, WantsANumericAddress) {
  for (const std::string address :
       {"localhost:80", "127.0.0.1:http", "nonsense", "256.0.0.1:1", "[::]:0", "[::ffff:0:0]:0"}) {
    const auto server = HttpServer::open(address);
    ASSERT_FALSE(server) << address;
    EXPECT_EQ(server.error().code, engine::ErrorCode::usage) << address;
  }
}

TEST(HttpServer, AnAddressOfIPv4IsOneHoweverItIsWritten) {
  const auto server = HttpServer::open("[::ffff:127.0.0.1]:0");
  ASSERT_TRUE(server) << server.error().message;
  EXPECT_THAT(server->address(), StartsWith("127.0.0.1:"));
}

TEST(HttpServer, AnAddressThatIsTakenIsAnError) {
  const auto first = HttpServer::open("127.0.0.1:0");
  ASSERT_TRUE(first);
  const auto second = HttpServer::open(first->address());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().where, first->address());
}

}  // namespace
}  // namespace ctkit::installer::host
