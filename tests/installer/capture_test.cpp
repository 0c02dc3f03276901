#include "installer/capture.h"

#include <string>

#include <gtest/gtest.h>

namespace ctkit::installer {
namespace {

TEST(Capture, SaysWhichDaemonRanAndHow) {
  const auto capture = parse_capture(
      R"({"engine": "containerd", "release": "1.7.27", "config": "/etc/c.toml", "cwd": "/run",
          "defaults": "defaults.toml", "taken": "by hand"})",
      "/x/capture.json");
  ASSERT_TRUE(capture);
  EXPECT_EQ(capture->engine, "containerd");
  EXPECT_EQ(capture->release, "1.7.27");
  EXPECT_EQ(capture->config, "/etc/c.toml");
  EXPECT_EQ(capture->working_folder, "/run");
  EXPECT_EQ(capture->defaults, "defaults.toml");
}

TEST(Capture, SaysNothingWhereItHasNoKey) {
  const auto capture = parse_capture("{}", "/x/capture.json");
  ASSERT_TRUE(capture);
  EXPECT_EQ(capture->release, "");
  EXPECT_EQ(capture->config, "");
}

TEST(Capture, IsAUsageErrorWhereItIsNoRecord) {
  for (const std::string text : {"", "{", "[]", "7", "\"1.7.27\"", "{\"release\": }", "\xff"}) {
    const auto capture = parse_capture(text, "/x/capture.json");
    ASSERT_FALSE(capture) << text;
    EXPECT_EQ(capture.error().code, engine::ErrorCode::usage);
    EXPECT_EQ(capture.error().where, "/x/capture.json");
    EXPECT_NE(capture.error().hint, "");
  }
}

TEST(Capture, IsAUsageErrorWhereAKeyIsNoString) {
  EXPECT_FALSE(parse_capture(R"({"release": 1.7})", "/x/capture.json"));
  EXPECT_FALSE(parse_capture(R"({"release": "1.7.27", "config": ["/etc/c.toml"]})", "/x/capture.json"));
}

}  // namespace
}  // namespace ctkit::installer
