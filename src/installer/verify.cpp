#include "installer/verify.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

#include "engine/find_key.h"

namespace ctkit::installer {

namespace {

using engine::Table;
using engine::Value;

using Path = std::initializer_list<std::string_view>;

std::string text_at(const Table& table, Path path) {
  const Value* value = engine::find_key(table, path);
  return value && value->string() ? *value->string() : std::string();
}

std::vector<std::string> texts_at(const Table& table, Path path) {
  std::vector<std::string> texts;
  const Value* value = engine::find_key(table, path);
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
  constexpr std::string_view kOld = "io.containerd.grpc.v1.cri";
  constexpr std::string_view kRuntime = "io.containerd.cri.v1.runtime";
  constexpr std::string_view kImages = "io.containerd.cri.v1.images";
  Expected expected{.handlers = handlers};
  const auto chosen = std::ranges::find(handlers, true, &engine::Handler::is_default);
  if (chosen != handlers.end()) expected.default_handler = chosen->name;
  const Value* runtime = engine::find_key(config.config, Path{"plugins", kRuntime, "containerd"});
  const std::string_view id = runtime ? kRuntime : kOld;
  expected.sandbox_image = runtime ? text_at(config.config, {"plugins", kImages, "pinned_images", "sandbox"})
                                   : text_at(config.config, {"plugins", kOld, "sandbox_image"});
  expected.cni_config_folder = text_at(config.config, {"plugins", id, "cni", "conf_dir"});
  expected.cni_binary_folders = texts_at(config.config, {"plugins", id, "cni", "bin_dirs"});
  if (expected.cni_binary_folders.empty()) {
    const std::string folder = text_at(config.config, {"plugins", id, "cni", "bin_dir"});
    if (!folder.empty()) expected.cni_binary_folders.push_back(folder);
  }
  return expected;
}

std::vector<Difference> compare_loaded(const Expected& expected, const LoadedState& loaded) {
  std::vector<Difference> list;
  if (loaded.json.empty() && loaded.handlers.empty()) return list;
  for (const engine::Handler& handler : expected.handlers) {
    const LoadedHandler* there = loaded.find_handler(handler.name);
    if (there && there->binary_name == handler.binary) continue;
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
    } else if (there->binary_name != handler.binary) {
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
