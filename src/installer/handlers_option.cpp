#include "installer/handlers_option.h"

#include <algorithm>
#include <utility>

#include "cdi/path.h"

namespace ctkit::installer {

namespace {

using engine::DesiredHandler;
using engine::Error;
using engine::ErrorCode;
using engine::Result;

constexpr std::string_view kType = "type=";

bool parse_handler(std::string_view text, DesiredHandler& handler) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  handler.name = text.substr(0, equals);
  text.remove_prefix(equals + 1);
  const std::size_t comma = text.find(',');
  handler.binary = text.substr(0, comma);
  if (comma != std::string_view::npos) {
    text.remove_prefix(comma + 1);
    if (!text.starts_with(kType)) return false;
    handler.type = text.substr(kType.size());
    if (handler.type.empty() || handler.type.contains(',')) return false;
  }
  return cdi::is_file_path(handler.binary);
}

}  // namespace

std::vector<DesiredHandler> usual_handlers(const std::string& folder) {
  return {{.name = "nvidia", .binary = folder + "/nvidia-container-runtime"},
          {.name = "nvidia-cdi", .binary = folder + "/nvidia-container-runtime.cdi"},
          {.name = "nvidia-legacy", .binary = folder + "/nvidia-container-runtime.legacy"}};
}

Result<std::vector<DesiredHandler>> parse_handlers(std::span<const std::string> texts) {
  std::vector<DesiredHandler> handlers;
  for (const std::string& text : texts) {
    DesiredHandler handler;
    if (!parse_handler(text, handler)) {
      return std::unexpected(
          Error{.code = ErrorCode::usage,
                .message = "handler wants name=/path/of/binary[,type=runtime type], not '" + text + "'"});
    }
    if (std::ranges::find(handlers, handler.name, &DesiredHandler::name) != handlers.end()) {
      return std::unexpected(Error{.code = ErrorCode::usage, .message = "handler names '" + handler.name + "' twice"});
    }
    handlers.push_back(std::move(handler));
  }
  return handlers;
}

void pass_annotations(std::span<const std::string> prefixes, std::vector<DesiredHandler>& handlers) {
  for (DesiredHandler& handler : handlers) {
    for (const std::string& prefix : prefixes) {
      if (!prefix.empty()) handler.annotations.push_back(prefix + "*");
    }
  }
}

bool is_hook_name(std::string_view name) {
  return name.ends_with(".json") && !name.contains('/');
}

std::vector<std::string> join_types(std::span<const std::string> words) {
  std::vector<std::string> texts;
  for (const std::string& word : words) {
    // A handler may be called so; its binary is a path, and no type is.
    const bool is_type = word.starts_with(kType) && !word.substr(kType.size()).starts_with('/');
    if (is_type && !texts.empty()) {
      texts.back() += ',' + word;
    } else {
      texts.push_back(word);
    }
  }
  return texts;
}

}  // namespace ctkit::installer
