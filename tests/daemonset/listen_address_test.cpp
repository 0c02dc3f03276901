#include "daemonset/listen_address.h"

#include <ostream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::daemonset {
namespace {

using testing::HasSubstr;

struct Good {
  std::string text = {};
  bool is_six = false;
  std::string host = {};
  std::uint16_t port = 0;
};

void PrintTo(const Good& good, std::ostream* out) {
  *out << good.text;
}

class OneAddress : public testing::TestWithParam<Good> {};

TEST_P(OneAddress, IsReadAndWrittenTheUsualWay) {
  const Good& good = GetParam();
  const auto address = parse_listen(good.text);
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_EQ(address->is_six, good.is_six);
  EXPECT_EQ(address->host, good.host);
  EXPECT_EQ(address->port, good.port);
  EXPECT_EQ(parse_listen(address->host + ":" + std::to_string(address->port)).value(), *address);
}

INSTANTIATE_TEST_SUITE_P(Listen,
                         OneAddress,
                         testing::Values(Good{"127.0.0.1:9402", false, "127.0.0.1", 9402},
                                         Good{"10.1.2.3:65535", false, "10.1.2.3", 65535},
                                         Good{"127.0.0.1:0", false, "127.0.0.1", 0},
                                         Good{"[::1]:9402", true, "[::1]", 9402},
                                         Good{"[FD00:0:0::1]:1", true, "[fd00::1]", 1},
                                         Good{"[::ffff:127.0.0.1]:1", false, "127.0.0.1", 1}));

TEST(Listen, FourBytesAreThoseOfTheAddress) {
  const ListenAddress four = parse_listen("[::ffff:1.2.3.4]:1").value();
  EXPECT_EQ(four, parse_listen("1.2.3.4:1").value());
  EXPECT_EQ(four.bytes, (std::array<unsigned char, 16>{1, 2, 3, 4}));
}

class EveryAddress : public testing::TestWithParam<std::string> {};

TEST_P(EveryAddress, IsRefusedHoweverItIsWritten) {
  const auto address = parse_listen(GetParam());
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().code, engine::ErrorCode::usage);
  EXPECT_THAT(address.error().message, HasSubstr("one address"));
}

INSTANTIATE_TEST_SUITE_P(Listen,
                         EveryAddress,
                         testing::Values(":9402",
                                         "*:9402",
                                         "0.0.0.0:9402",
                                         "[::]:9402",
                                         "[::0]:9402",
                                         "[0:0:0:0:0:0:0:0]:9402",
                                         "[::0.0.0.0]:9402",
                                         "[::ffff:0.0.0.0]:9402",
                                         "[::ffff:0:0]:9402"));

class NoAddress : public testing::TestWithParam<std::string> {};

TEST_P(NoAddress, IsRefused) {
  const auto address = parse_listen(GetParam());
  ASSERT_FALSE(address);
  EXPECT_EQ(address.error().code, engine::ErrorCode::usage);
  EXPECT_THAT(address.error().message, HasSubstr("address:port, not '" + GetParam() + "'"));
}

INSTANTIATE_TEST_SUITE_P(Listen,
                         NoAddress,
                         testing::Values("",
                                         "9402",
                                         "127.0.0.1",
                                         "127.0.0.1:",
                                         "127.0.0.1:x",
                                         "127.0.0.1:-1",
                                         "127.0.0.1:+1",
                                         "127.0.0.1:65536",
                                         "127.1:9402",
                                         "localhost:9402",
                                         ":::9402",
                                         "::1:9402",
                                         "::ffff:0.0.0.0:9402",
                                         "[127.0.0.1]:9402",
                                         "[::1:9402",
                                         "[::1]",
                                         "[]:9402",
                                         "[fe80::1%eth0]:9402"));

}  // namespace
}  // namespace ctkit::daemonset
