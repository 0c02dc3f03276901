#include "installer/grpc_answer.h"

#include <string>

#include <gtest/gtest.h>

namespace ctkit::installer {
namespace {

using namespace std::literals;
using engine::ErrorCode;

GrpcAnswer answer(std::string body) {
  return {.http_status = "200", .content_type = "application/grpc", .grpc_status = "0", .body = std::move(body)};
}

engine::Error failure(std::string status, std::string message = "") {
  const auto result = read_grpc_answer({.http_status = "200",
                                        .content_type = "application/grpc",
                                        .grpc_status = std::move(status),
                                        .grpc_message = std::move(message)});
  EXPECT_FALSE(result);
  return result ? engine::Error{} : result.error();
}

TEST(GrpcAnswer, FramingAndReadingAreInverse) {
  EXPECT_EQ(frame_grpc_message("abc"), "\0\0\0\0\3abc"s);
  for (const std::string& message : {""s, "abc"s, std::string(70'000, 'x')}) {
    EXPECT_EQ(read_grpc_answer(answer(frame_grpc_message(message))), message);
  }
}

TEST(GrpcAnswer, RefusesBrokenFrames) {
  for (const std::string& body :
       {""s, "\0\0\0\0"s, "\1\0\0\0\0"s, "\0\0\0\0\1"s, "\0\0\0\0\0x"s, "\0\xff\xff\xff\xffx"s}) {
    EXPECT_FALSE(read_grpc_answer(answer(body)));
  }
}

TEST(GrpcAnswer, CodesSayWhatToDo) {
  EXPECT_EQ(failure("12").code, ErrorCode::not_found);
  EXPECT_EQ(failure("14").code, ErrorCode::unreachable);
  EXPECT_EQ(failure("4").code, ErrorCode::unreachable);
  EXPECT_EQ(failure("7").code, ErrorCode::permission);
  EXPECT_EQ(failure("16").code, ErrorCode::permission);
  EXPECT_EQ(failure("13").code, ErrorCode::failed);
  EXPECT_EQ(failure("2", "server is not initialized yet").code, ErrorCode::unreachable);
  EXPECT_EQ(failure("2", "boom").code, ErrorCode::failed);
  EXPECT_EQ(failure("2", "boom").message, "the daemon can't answer: boom (gRPC status 2)");
  EXPECT_EQ(failure("x").message, "the daemon's answer has no gRPC status");
}

TEST(GrpcAnswer, DecodesTheMessage) {
  EXPECT_EQ(failure("14", "a%20b%3A %C3%A4 100% %zz %4").message, "the daemon isn't ready: a b: \xc3\xa4 100% %zz %4");
}

TEST(GrpcAnswer, OtherServersAreNamedAsSuch) {
  const auto web = read_grpc_answer({.http_status = "404", .content_type = "text/html", .body = "<html>"});
  ASSERT_FALSE(web);
  EXPECT_EQ(web.error().message, "whoever listens doesn't speak gRPC (HTTP status '404', content type 'text/html')");
}

}  // namespace
}  // namespace ctkit::installer
