#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "installer/loaded_state.h"

namespace ctkit::installer {

/// CRI's StatusResponse (runtime.v1), as far as we read it.
struct StatusResponse {
  std::vector<Condition> conditions = {};
  std::map<std::string, std::string, std::less<>> info = {};  ///< `config` holds the CRI config as JSON
  bool operator==(const StatusResponse&) const = default;
};

/// A StatusRequest that asks for `info` too.
std::string make_status_request();

/// From protobuf; fields we don't know are skipped. `failed` if the bytes are no such message.
engine::Result<StatusResponse> parse_status_response(std::string_view bytes);

/// What the response says about the configuration. `failed` if `info["config"]` is there and no
/// JSON object.
engine::Result<LoadedState> make_loaded_state(const StatusResponse& response);

}  // namespace ctkit::installer
