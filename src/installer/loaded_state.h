#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ctkit::installer {

/// What the daemon says of itself: RuntimeReady, NetworkReady, ….
struct Condition {
  std::string type = {};
  bool holds = false;
  std::string reason = {};
  std::string message = {};
  bool operator==(const Condition&) const = default;
};

/// A runtime handler as the running daemon has it in memory.
struct LoadedHandler {
  std::string name = {};
  std::string runtime_type = {};
  std::string binary_name = {};                                   ///< `BinaryName` of its options
  std::vector<std::pair<std::string, std::string>> options = {};  ///< by name; strings as they are, the rest as JSON
  std::string sandboxer = {};  ///< `sandboxMode` on 1.7; empty: the release has neither
  std::string snapshotter = {};
  std::string base_runtime_spec = {};
  bool operator==(const LoadedHandler&) const = default;
};

/// What the running daemon has loaded, whatever its files say by now. Empty: it doesn't tell, or
/// the setting is empty.
struct LoadedState {
  std::vector<Condition> conditions = {};
  std::vector<LoadedHandler> handlers = {};  ///< by name
  std::string default_handler = {};
  std::string sandbox_image = {};
  std::vector<std::string> cni_binary_folders = {};
  std::string cni_config_folder = {};
  std::optional<bool> enable_cdi = {};  ///< absent: the release has no such setting
  std::vector<std::string> cdi_spec_folders = {};
  std::string json = {};  ///< its CRI config as it came

  [[nodiscard]] const LoadedHandler* find_handler(std::string_view name) const {
    const auto found = std::ranges::find(handlers, name, &LoadedHandler::name);
    return found == handlers.end() ? nullptr : &*found;
  }
  bool operator==(const LoadedState&) const = default;
};

}  // namespace ctkit::installer
