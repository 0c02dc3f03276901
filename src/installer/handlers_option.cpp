#include "installer/handlers_option.h"

namespace ctkit::installer {

std::vector<engine::DesiredHandler> usual_handlers(const std::string& folder) {
  return {{.name = "nvidia", .binary = folder + "/nvidia-container-runtime"},
          {.name = "nvidia-cdi", .binary = folder + "/nvidia-container-runtime.cdi"},
          {.name = "nvidia-legacy", .binary = folder + "/nvidia-container-runtime.legacy"}};
}

bool parse_handler(std::string_view text, engine::DesiredHandler& handler) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  handler.name = text.substr(0, equals);
  text.remove_prefix(equals + 1);
  const std::size_t comma = text.find(',');
  handler.binary = text.substr(0, comma);
  if (comma != std::string_view::npos) {
    constexpr std::string_view kType = "type=";
    text.remove_prefix(comma + 1);
    if (!text.starts_with(kType)) return false;
    handler.type = text.substr(kType.size());
    if (handler.type.empty()) return false;
  }
  return handler.binary.starts_with('/');
}

}  // namespace ctkit::installer
