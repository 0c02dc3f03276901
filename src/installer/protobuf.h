#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/result.h"

namespace ctkit::installer {

/// One field of a protobuf message: which of the two values counts is the reader's knowledge, as in
/// the format.
struct ProtobufField {
  std::uint64_t number = 0;
  std::uint64_t value = 0;      ///< of a number
  std::string_view bytes = {};  ///< of a string or a message; points into the message
  bool operator==(const ProtobufField&) const = default;
};

/// The fields of a message in their order. `failed` for truncated or malformed bytes.
engine::Result<std::vector<ProtobufField>> parse_protobuf(std::string_view bytes);

}  // namespace ctkit::installer
