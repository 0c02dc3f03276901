#include "installer/cri_message.h"

#include <expected>
#include <utility>

#include "installer/protobuf.h"

namespace ctkit::installer {

using engine::Result;

namespace {

// Field numbers of runtime.v1, in cri-api's pkg/apis/runtime/v1/api.proto.
namespace status_request {
constexpr char kVerbose = 1;
}
namespace status_response {
constexpr std::uint64_t kStatus = 1;
constexpr std::uint64_t kInfo = 2;
}  // namespace status_response
namespace runtime_status {
constexpr std::uint64_t kConditions = 1;
}
namespace runtime_condition {
constexpr std::uint64_t kType = 1;
constexpr std::uint64_t kStatus = 2;
constexpr std::uint64_t kReason = 3;
constexpr std::uint64_t kMessage = 4;
}  // namespace runtime_condition
namespace map_entry {
constexpr std::uint64_t kKey = 1;
constexpr std::uint64_t kValue = 2;
}  // namespace map_entry

// Calls `take` for each field of the message.
template <typename Take>
Result<void> read_fields(std::string_view bytes, Take take) {
  const auto fields = parse_protobuf(bytes);
  if (!fields) return std::unexpected(fields.error());
  for (const ProtobufField& field : *fields) {
    if (Result<void> taken = take(field); !taken) return taken;
  }
  return {};
}

Result<void> read_condition(std::string_view bytes, std::vector<Condition>& conditions) {
  using namespace runtime_condition;
  Condition condition;
  const auto read = read_fields(bytes, [&](const ProtobufField& field) -> Result<void> {
    if (field.number == kType) condition.type = field.bytes;
    if (field.number == kStatus) condition.holds = field.value != 0;
    if (field.number == kReason) condition.reason = field.bytes;
    if (field.number == kMessage) condition.message = field.bytes;
    return {};
  });
  if (read) conditions.push_back(std::move(condition));
  return read;
}

Result<void> read_status(std::string_view bytes, std::vector<Condition>& conditions) {
  return read_fields(bytes, [&](const ProtobufField& field) -> Result<void> {
    if (field.number != runtime_status::kConditions) return {};
    return read_condition(field.bytes, conditions);
  });
}

Result<void> read_info(std::string_view bytes, StatusResponse& response) {
  std::string key;
  std::string value;
  const auto read = read_fields(bytes, [&](const ProtobufField& field) -> Result<void> {
    if (field.number == map_entry::kKey) key = field.bytes;
    if (field.number == map_entry::kValue) value = field.bytes;
    return {};
  });
  if (read) response.info.insert_or_assign(std::move(key), std::move(value));
  return read;
}

}  // namespace

std::string make_status_request() {
  return {static_cast<char>(status_request::kVerbose << 3), 1};
}

Result<StatusResponse> parse_status_response(std::string_view bytes) {
  using namespace status_response;
  StatusResponse response;
  const auto read = read_fields(bytes, [&](const ProtobufField& field) -> Result<void> {
    if (field.number == kStatus) return read_status(field.bytes, response.conditions);
    if (field.number == kInfo) return read_info(field.bytes, response);
    return {};
  });
  if (!read) return std::unexpected(read.error().with_context("cannot read the daemon's status"));
  return response;
}

}  // namespace ctkit::installer
