#include <algorithm>

#include <nlohmann/json.hpp>

#include "installer/cri_message.h"

namespace ctkit::installer {

using engine::Error;
using engine::Result;
using Json = nlohmann::json;

namespace {

constexpr int kDeepest = 64;  // the real ones are nested six deep; writing JSON recurses

// Neither keys nor types are promised by anybody: what isn't as expected is as if absent.
const Json& member(const Json& object, std::string_view key) {
  static const Json absent;
  if (!object.is_object()) return absent;
  const auto found = object.find(key);
  return found == object.end() ? absent : *found;
}

std::string text_at(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

std::vector<std::string> texts_at(const Json& object, std::string_view key) {
  std::vector<std::string> texts;
  const Json& list = member(object, key);
  if (!list.is_array()) return texts;
  for (const Json& item : list) {
    if (item.is_string()) texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

const std::string& first_not_empty(const std::string& first, const std::string& second) {
  return first.empty() ? second : first;
}

// The shim decodes its options ignoring case; without the usual spelling another one counts.
std::string binary_of(const Json& options) {
  std::string binary = text_at(options, "BinaryName");
  if (!binary.empty() || !options.is_object()) return binary;
  for (const auto& [key, value] : options.items()) {
    constexpr std::string_view kLower = "binaryname";
    const bool same = std::ranges::equal(key, kLower, [](char a, char b) { return a == b || a + ('a' - 'A') == b; });
    if (same && value.is_string()) binary = value.get<std::string>();
  }
  return binary;
}

LoadedHandler make_handler(const std::string& name, const Json& runtime) {
  const Json& options = member(runtime, "options");
  LoadedHandler handler{.name = name,
                        .runtime_type = text_at(runtime, "runtimeType"),
                        .binary_name = binary_of(options),
                        .sandboxer = first_not_empty(text_at(runtime, "sandboxer"), text_at(runtime, "sandboxMode")),
                        .snapshotter = text_at(runtime, "snapshotter"),
                        .base_runtime_spec = text_at(runtime, "baseRuntimeSpec")};
  if (options.is_object()) {
    for (const auto& [key, value] : options.items())
      handler.options.emplace_back(key, text_of(value));
  }
  return handler;
}

// 2.1 has `binDirs` and leaves `binDir` empty; earlier there is only the latter.
std::vector<std::string> binary_folders(const Json& cni) {
  std::vector<std::string> folders = texts_at(cni, "binDirs");
  const std::string folder = text_at(cni, "binDir");
  if (folders.empty() && !folder.empty()) folders.push_back(folder);
  return folders;
}

void take_config(const Json& config, LoadedState& state) {
  const Json& containerd = member(config, "containerd");
  const Json& runtimes = member(containerd, "runtimes");
  if (runtimes.is_object()) {
    for (const auto& [name, runtime] : runtimes.items())
      state.handlers.push_back(make_handler(name, runtime));
  }
  const Json& cni = member(config, "cni");
  state.default_handler = text_at(containerd, "defaultRuntimeName");
  state.sandbox_image = text_at(config, "sandboxImage");
  state.cni_binary_folders = binary_folders(cni);
  state.cni_config_folder = text_at(cni, "confDir");
  const Json& enable_cdi = member(config, "enableCDI");
  if (enable_cdi.is_boolean()) state.enable_cdi = enable_cdi.get<bool>();
  state.cdi_spec_folders = texts_at(config, "cdiSpecDirs");
}

// Discarded where it is no JSON, or nested too deep.
Json parse_json(std::string_view text) {
  bool too_deep = false;
  const auto look = [&](int depth, Json::parse_event_t, const Json&) {
    too_deep = too_deep || depth > kDeepest;
    return !too_deep;
  };
  Json json = Json::parse(text, look, false);
  return too_deep ? Json(Json::value_t::discarded) : json;
}

}  // namespace

Result<LoadedState> make_loaded_state(const StatusResponse& response) {
  LoadedState state{.conditions = response.conditions};
  const auto config = response.info.find("config");
  if (config == response.info.end()) return state;
  const Json json = parse_json(config->second);
  if (!json.is_object()) {
    return std::unexpected(Error{.message = "cannot read the daemon's status: its configuration is no JSON object"});
  }
  take_config(json, state);
  state.json = config->second;
  return state;
}

}  // namespace ctkit::installer
