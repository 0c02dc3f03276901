#include "installer/protobuf.h"

#include <cstddef>
#include <limits>
#include <optional>

namespace ctkit::installer {

using engine::Result;

namespace {

// The wire types of the format. Groups (3 and 4) went out of use before CRI was.
constexpr std::uint64_t kVarint = 0;
constexpr std::uint64_t kFixed64 = 1;
constexpr std::uint64_t kBytes = 2;
constexpr std::uint64_t kFixed32 = 5;

constexpr unsigned kLastShift = 63;  // ten groups of seven bits

std::optional<std::string_view> take_bytes(std::string_view& rest, std::uint64_t count) {
  if (count > rest.size()) return std::nullopt;
  const std::string_view taken = rest.substr(0, count);
  rest.remove_prefix(taken.size());
  return taken;
}

std::optional<std::uint64_t> take_varint(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift <= kLastShift && !rest.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
    if (byte < 0x80U) return value;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> take_fixed(std::string_view& rest, unsigned size) {
  const auto bytes = take_bytes(rest, size);
  if (!bytes) return std::nullopt;
  std::uint64_t value = 0;
  for (unsigned i = 0; i < size; ++i) {
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>((*bytes)[i])) << (8 * i);
  }
  return value;
}

std::optional<ProtobufField> take_field(std::string_view& rest) {
  const auto key = take_varint(rest);
  if (!key || *key >> 3U == 0) return std::nullopt;
  ProtobufField field{.number = *key >> 3U};
  const std::uint64_t type = *key & 7U;
  if (type == kBytes) {
    const auto length = take_varint(rest);
    const auto bytes = length ? take_bytes(rest, *length) : std::nullopt;
    if (!bytes) return std::nullopt;
    field.bytes = *bytes;
    return field;
  }
  std::optional<std::uint64_t> value;
  if (type == kVarint) value = take_varint(rest);
  if (type == kFixed64) value = take_fixed(rest, 8);
  if (type == kFixed32) value = take_fixed(rest, 4);
  if (!value) return std::nullopt;
  field.value = *value;
  return field;
}

}  // namespace

Result<std::vector<ProtobufField>> parse_protobuf(std::string_view bytes) {
  std::vector<ProtobufField> fields;
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const std::size_t at = bytes.size() - rest.size();
    const auto field = take_field(rest);
    if (!field) {
      return std::unexpected(engine::Error{.message = "malformed protobuf field at byte " + std::to_string(at)});
    }
    fields.push_back(*field);
  }
  return fields;
}

}  // namespace ctkit::installer
