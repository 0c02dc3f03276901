#include <utility>

#include <nlohmann/json.hpp>

#include "installer/capture.h"

namespace ctkit::installer {

namespace {

engine::Error no_record(std::string_view where, const std::string& why) {
  return {.code = engine::ErrorCode::usage,
          .message = "cannot read a capture in '" + std::string(where) + "': " + why,
          .where = std::string(where),
          .hint = "it is a JSON object with the strings release, config, cwd and defaults"};
}

}  // namespace

engine::Result<Capture> parse_capture(std::string_view text, std::string_view where) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return std::unexpected(no_record(where, "it is no JSON object"));
  Capture capture;
  for (const auto& [key, to] : {std::pair("engine", &capture.engine),
                                std::pair("release", &capture.release),
                                std::pair("config", &capture.config),
                                std::pair("cwd", &capture.working_folder),
                                std::pair("defaults", &capture.defaults)}) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) continue;
    if (!found->is_string()) {
      return std::unexpected(no_record(where, "its '" + std::string(key) + "' is no string"));
    }
    *to = found->get<std::string>();
  }
  return capture;
}

}  // namespace ctkit::installer
