#include <nlohmann/json.hpp>

#include "cdi/oci_state.h"
#include "cdi/path.h"

namespace ctkit::cdi {

using engine::Error;
using engine::ErrorCode;
using engine::Result;
using nlohmann::json;

namespace {

// The first JSON value of the text, as encoding/json's Decoder reads it.
Result<json> parse_first(std::string_view text, const char* what) {
  json value;
  nlohmann::detail::json_sax_dom_parser<json> reader(value, false);
  json::sax_parse(text, &reader, json::input_format_t::json, false);
  if (reader.is_errored() || !value.is_object()) {
    return std::unexpected(Error{.code = ErrorCode::usage, .message = std::string(what) + " is no JSON object"});
  }
  return value;
}

std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

}  // namespace

Result<ContainerState> parse_container_state(std::string_view text) {
  const auto state = parse_first(text, "the container's state");
  if (!state) return std::unexpected(state.error());
  return ContainerState{.bundle = text_in(*state, "bundle"), .root = text_in(*state, "root")};
}

Result<std::string> parse_root_path(std::string_view config) {
  const auto spec = parse_first(config, "config.json");
  if (!spec) return std::unexpected(spec.error());
  const auto root = spec->find("root");
  return root != spec->end() && root->is_object() ? text_in(*root, "path") : "";
}

Result<std::string> container_root(const ContainerState& state, std::string_view root_path) {
  std::string path(root_path);
  if (!path.empty() && !path.starts_with('/')) path = join(state.bundle, path);
  if (path.empty() || clean(path) == "/") {
    return std::unexpected(
        Error{.code = ErrorCode::usage, .message = "the container has no root of its own", .where = path});
  }
  return path;
}

}  // namespace ctkit::cdi
