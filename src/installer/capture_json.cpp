#include <nlohmann/json.hpp>

#include "installer/capture.h"

namespace ctkit::installer {

engine::Result<Capture> parse_capture(std::string_view text, std::string_view where) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    return std::unexpected(engine::Error{.code = engine::ErrorCode::usage,
                                         .message = "cannot read a capture in '" + std::string(where) + "'",
                                         .where = std::string(where),
                                         .hint = "it is a JSON object with release, config, cwd and defaults"});
  }
  Capture capture;
  const auto take = [&](const char* key, std::string& to) {
    const auto found = json.find(key);
    if (found != json.end() && found->is_string()) to = found->get<std::string>();
  };
  take("engine", capture.engine);
  take("release", capture.release);
  take("config", capture.config);
  take("cwd", capture.working_folder);
  take("defaults", capture.defaults);
  return capture;
}

}  // namespace ctkit::installer
