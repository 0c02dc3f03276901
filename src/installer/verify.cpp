#include "installer/verify.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace ctkit::installer {

namespace {

using engine::Table;
using engine::Value;

constexpr std::size_t kDeepest = 4;
/// Unused parts are empty.
using Path = std::array<std::string_view, kDeepest>;

/// Where an effective config has the settings that a daemon also tells of itself, by the table that says which kind of
/// config it is.
struct SettingKeys {
  Path there;
  Path sandbox_image;
  Path cni_config_folder;
  Path cni_binary_folders;
  Path cni_binary_folder;
};

constexpr std::string_view kOld = "io.containerd.grpc.v1.cri";
constexpr std::string_view kRuntime = "io.containerd.cri.v1.runtime";
constexpr std::string_view kImages = "io.containerd.cri.v1.images";

constexpr std::array<SettingKeys, 3> kSettingKeys = {
    {{.there = {"plugins", kRuntime, "containerd"},
      .sandbox_image = {"plugins", kImages, "pinned_images", "sandbox"},
      .cni_config_folder = {"plugins", kRuntime, "cni", "conf_dir"},
      .cni_binary_folders = {"plugins", kRuntime, "cni", "bin_dirs"},
      .cni_binary_folder = {"plugins", kRuntime, "cni", "bin_dir"}},
     {.there = {"plugins", kOld},
      .sandbox_image = {"plugins", kOld, "sandbox_image"},
      .cni_config_folder = {"plugins", kOld, "cni", "conf_dir"},
      .cni_binary_folders = {"plugins", kOld, "cni", "bin_dirs"},
      .cni_binary_folder = {"plugins", kOld, "cni", "bin_dir"}},
     {.there = {"crio", "runtime"},
      .sandbox_image = {"crio", "image", "pause_image"},
      .cni_config_folder = {"crio", "network", "network_dir"},
      .cni_binary_folders = {"crio", "network", "plugin_dirs"},
      .cni_binary_folder = {}}}};

const Value* value_at(const Table& table, const Path& path) {
  const Table* at = &table;
  const Value* value = nullptr;
  for (const std::string_view part : path) {
    if (part.empty()) break;
    value = at ? engine::find(*at, part) : nullptr;
    if (!value) return nullptr;
    at = value->table();
  }
  return value;
}

std::string text_at(const Table& table, const Path& path) {
  const Value* value = value_at(table, path);
  return value && value->string() ? *value->string() : std::string();
}

std::vector<std::string> texts_at(const Table& table, const Path& path) {
  std::vector<std::string> texts;
  const Value* value = value_at(table, path);
  if (!value || !value->array()) return texts;
  for (const Value& item : *value->array()) {
    if (item.string()) texts.push_back(*item.string());
  }
  return texts;
}

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts)
    all += (all.empty() ? "" : ", ") + text;
  return all;
}

std::string binary_in_words(const std::string& binary) {
  return binary.empty() ? "the daemon's own runtime" : binary;
}

/// A daemon whose files name no program may have looked the handler's own name up in its PATH.
bool same_binary(const engine::Handler& expected, const LoadedHandler& loaded) {
  return expected.binary == loaded.binary_name ||
         (expected.binary.empty() && loaded.binary_name.ends_with("/" + expected.name));
}

const engine::Handler* find_handler(const Expected& expected, std::string_view name) {
  const auto found = std::ranges::find(expected.handlers, name, &engine::Handler::name);
  return found == expected.handlers.end() ? nullptr : &*found;
}

/// 1.6 keeps what its two oldest settings say under these names, in no table of handlers.
bool is_from_old_setting(std::string_view name) {
  return name == "default" || name == "untrusted";
}

bool is_ready(const LoadedState& state) {
  const auto ready = std::ranges::find(state.conditions, "RuntimeReady", &Condition::type);
  return ready != state.conditions.end() && ready->holds;
}

/// A setting that is known on both sides, by its name.
struct Setting {
  std::string_view what;
  std::string expected;
  std::string loaded;
};

std::vector<Setting> settings(const Expected& expected, const LoadedState& loaded) {
  return {{kDefaultHandler, expected.default_handler, loaded.default_handler},
          {"the pause image", expected.sandbox_image, loaded.sandbox_image},
          {"the CNI binaries' folder", joined(expected.cni_binary_folders), joined(loaded.cni_binary_folders)},
          {"the CNI configs' folder", expected.cni_config_folder, loaded.cni_config_folder}};
}

}  // namespace

Expected make_expected(const engine::EffectiveConfig& config, const std::vector<engine::Handler>& handlers) {
  Expected expected{.handlers = handlers};
  std::erase_if(expected.handlers, [&](const engine::Handler& handler) {
    return std::ranges::find(config.left_out, handler.name) != config.left_out.end();
  });
  const auto chosen = std::ranges::find(handlers, true, &engine::Handler::is_default);
  if (chosen != handlers.end()) expected.default_handler = chosen->name;
  for (const SettingKeys& keys : kSettingKeys) {
    if (!value_at(config.config, keys.there)) continue;
    expected.sandbox_image = text_at(config.config, keys.sandbox_image);
    expected.cni_config_folder = text_at(config.config, keys.cni_config_folder);
    expected.cni_binary_folders = texts_at(config.config, keys.cni_binary_folders);
    const std::string folder = text_at(config.config, keys.cni_binary_folder);
    if (expected.cni_binary_folders.empty() && !folder.empty()) expected.cni_binary_folders.push_back(folder);
    break;
  }
  return expected;
}

std::vector<Difference> compare_loaded(const Expected& expected, const LoadedState& loaded) {
  std::vector<Difference> list;
  if (loaded.json.empty() && loaded.handlers.empty()) return list;
  for (const engine::Handler& handler : expected.handlers) {
    const LoadedHandler* there = loaded.find_handler(handler.name);
    if (there && same_binary(handler, *there)) continue;
    list.push_back({.what = "handler '" + handler.name + "'",
                    .files = binary_in_words(handler.binary),
                    .loaded = there ? binary_in_words(there->binary_name) : ""});
  }
  for (const LoadedHandler& handler : loaded.handlers) {
    if (find_handler(expected, handler.name) || is_from_old_setting(handler.name)) continue;
    list.push_back({.what = "handler '" + handler.name + "'", .loaded = binary_in_words(handler.binary_name)});
  }
  for (const Setting& setting : settings(expected, loaded)) {
    if (setting.expected.empty() || setting.loaded.empty() || setting.expected == setting.loaded) continue;
    list.push_back({.what = std::string(setting.what), .files = setting.expected, .loaded = setting.loaded});
  }
  return list;
}

std::vector<std::string> handlers_to_lose(const Expected& expected, const LoadedState& loaded) {
  std::vector<std::string> names;
  for (const LoadedHandler& handler : loaded.handlers) {
    if (!find_handler(expected, handler.name) && !is_from_old_setting(handler.name)) names.push_back(handler.name);
  }
  return names;
}

std::vector<std::string> judge_restart(const std::string& unit, const RestartOutcome& outcome) {
  const UnitState& after = outcome.after;
  const std::string state =
      "it is " + after.active_state + " (" + after.sub_state + "), its result '" + after.result + "'";
  if (outcome.job.empty()) return {"restarting '" + unit + "' takes too long: " + state};
  if (outcome.job != "done") return {"restarting '" + unit + "' ended with '" + outcome.job + "': " + state};
  if (!outcome.runs_anew()) return {"'" + unit + "' doesn't run after its restart: " + state};
  return {};
}

std::vector<std::string> judge_loaded(const Expected& expected,
                                      const std::optional<LoadedState>& before,
                                      const LoadedState& after) {
  std::vector<std::string> problems;
  for (const engine::Handler& handler : expected.handlers) {
    const LoadedHandler* there = after.find_handler(handler.name);
    if (!there) {
      problems.push_back("the daemon has no handler '" + handler.name + "'");
    } else if (!same_binary(handler, *there)) {
      problems.push_back("handler '" + handler.name + "' starts " + binary_in_words(there->binary_name) + ", not " +
                         binary_in_words(handler.binary));
    }
  }
  if (!before) return problems;
  for (const LoadedHandler& handler : before->handlers) {
    // With expectations, a handler that isn't among them was given up knowingly.
    if (!expected.handlers.empty() && !find_handler(expected, handler.name)) continue;
    const LoadedHandler* there = after.find_handler(handler.name);
    if (!there) {
      problems.push_back("handler '" + handler.name + "', which was there before, is gone");
    } else if (expected.handlers.empty() && there->binary_name != handler.binary_name) {
      problems.push_back("handler '" + handler.name + "' starts " + binary_in_words(there->binary_name) + ", and " +
                         binary_in_words(handler.binary_name) + " before");
    }
  }
  const std::vector<Setting> earlier = settings(expected, *before);
  const std::vector<Setting> now = settings(expected, after);
  for (std::size_t i = 0; i < now.size(); ++i) {
    const Setting& setting = now[i];
    // Before, it may not have told.
    if (earlier[i].loaded.empty() || setting.loaded == earlier[i].loaded) continue;
    if (!setting.expected.empty() && setting.loaded == setting.expected) continue;
    problems.push_back(std::string(setting.what) + " is '" + setting.loaded + "', and was '" + earlier[i].loaded + "'");
  }
  if (is_ready(*before) && !is_ready(after)) problems.emplace_back("the daemon says that its runtime isn't ready");
  return problems;
}

}  // namespace ctkit::installer
