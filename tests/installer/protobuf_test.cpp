#include "installer/protobuf.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::installer {
namespace {

using namespace std::literals;
using testing::ElementsAre;

TEST(Protobuf, ReadsEachWireType) {
  constexpr auto kMessage =
      "\x08\x96\x01"  // 1: varint 150
      "\x12\x03"
      "abc"                                   // 2: bytes
      "\x19\x01\x02\x03\x04\x05\x06\x07\x08"  // 3: fixed 64
      "\x25\x01\x02\x03\x04"                  // 4: fixed 32
      "\xf8\x01\x01"                          // 31: varint 1
      "\x12\x00"sv;                           // 2 again, empty
  const auto fields = parse_protobuf(kMessage);
  ASSERT_TRUE(fields) << fields.error().message;
  EXPECT_THAT(*fields,
              ElementsAre(ProtobufField{.number = 1, .value = 150},
                          ProtobufField{.number = 2, .bytes = "abc"},
                          ProtobufField{.number = 3, .value = 0x0807060504030201},
                          ProtobufField{.number = 4, .value = 0x04030201},
                          ProtobufField{.number = 31, .value = 1},
                          ProtobufField{.number = 2}));
}

TEST(Protobuf, EmptyMessageHasNoFields) {
  EXPECT_THAT(*parse_protobuf(""), ElementsAre());
}

TEST(Protobuf, ReadsTheLargestNumber) {
  const auto fields = parse_protobuf("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv);
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->front().value, UINT64_MAX);
}

TEST(Protobuf, RefusesMalformedFields) {
  for (const std::string_view bytes : {
           "\x08"sv,                                              // no value
           "\x08\x80"sv,                                          // value cut short
           "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv,  // eleven groups
           "\x12\x03"
           "ab"sv,                                            // bytes cut short
           "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"sv,  // longer than memory
           "\x19\x01\x02"sv,                                  // fixed 64 cut short
           "\x25\x01"sv,                                      // fixed 32 cut short
           "\x0b\x0c"sv,                                      // a group
           "\x0f\x01"sv,                                      // a wire type that isn't
           "\x00\x01"sv,                                      // field 0
       }) {
    EXPECT_FALSE(parse_protobuf(bytes)) << testing::PrintToString(bytes);
  }
  EXPECT_EQ(parse_protobuf("\x08\x01\x08"sv).error().message, "malformed protobuf field at byte 2");
}

}  // namespace
}  // namespace ctkit::installer
