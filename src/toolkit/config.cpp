#include "toolkit/config.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <utility>

#include "cdi/path.h"
#include "engine/toml_dialect.h"
#include "engine/toml_reader.h"
#include "engine/toml_writer.h"
#include "toolkit/toml_edit.h"

namespace ctkit::toolkit {

using engine::Array;
using engine::Table;
using engine::Value;

namespace {

// The toolkit reads its config with pelletier/go-toml 1.9.5.
constexpr const engine::TomlDialect& kDialect = engine::kGoToml19;

constexpr std::string_view kHeading = "# Written by ctkit. Keys that you change here, add or take out stay that way.\n";

constexpr std::array<std::string_view, 7> kFeatures = {"allow-cuda-compat-libs-from-container",
                                                       "allow-ldconfig-from-container",
                                                       "allow-unknown-oci-spec-fields",
                                                       "disable-cuda-compat-lib-hook",
                                                       "disable-imex-channel-creation",
                                                       "ignore-imex-channel-requests",
                                                       "no-additional-gids-for-device-nodes"};

Value text(std::string value) {
  return {.data = std::move(value)};
}

Value flag(bool value) {
  return {.data = value};
}

Value list(const std::vector<std::string>& items) {
  Array array;
  for (const std::string& item : items)
    array.push_back(text(item));
  return {.data = std::move(array)};
}

Value section(std::initializer_list<std::pair<const std::string, Value>> entries) {
  return {.data = Table(entries)};
}

}  // namespace

Table make_config(const ConfigSettings& settings, const std::string& toolkit_folder) {
  const auto tool = [&](std::string_view name) { return text(cdi::join(toolkit_folder, name)); };
  // With the `@` it is the host's, without it would be looked for in the container.
  const std::string ldconfig =
      "@" + (settings.ldconfig.empty() ? cdi::join(settings.driver_root, "sbin/ldconfig") : settings.ldconfig);
  Table config = {
      {"disable-require", flag(false)},
      {"swarm-resource", text("")},
      {"supported-driver-capabilities", text("compat32,compute,display,graphics,ngx,utility,video")},
      {"accept-nvidia-visible-devices-envvar-when-unprivileged", flag(settings.accept_envvar_when_unprivileged)},
      {"accept-nvidia-visible-devices-as-volume-mounts", flag(settings.accept_volume_mounts)},
      {"nvidia-container-cli",
       section({{"root", text(settings.driver_root)},
                {"path", tool("nvidia-container-cli")},
                {"ldconfig", text(ldconfig)},
                {"debug", text(settings.cli_debug)},
                {"environment", list({})},
                {"ldcache", text("")},
                {"load-kmods", flag(true)},
                {"no-cgroups", flag(false)},
                {"user", text(settings.cli_user)}})},
      {"nvidia-container-runtime",
       section({{"debug", text(settings.runtime_debug)},
                {"log-level", text(settings.log_level)},
                {"mode", text(settings.mode)},
                {"runtimes", list(settings.runtimes)},
                {"modes",
                 section({{"cdi",
                           section({{"default-kind", text(settings.default_kind)},
                                    {"annotation-prefixes", list(settings.annotation_prefixes)},
                                    {"spec-dirs", list({"/etc/cdi", "/var/run/cdi"})}})},
                          {"csv",
                           section({{"mount-spec-path",
                                     text("/etc/nvidia-container-runtime/host-files-for-container.d")}})},
                          {"legacy", section({{"cuda-compat-mode", text("ldconfig")}})}})}})},
      {"nvidia-container-runtime-hook",
       section({{"path", tool("nvidia-container-runtime-hook")},
                {"skip-mode-detection", flag(settings.skip_mode_detection)}})},
      {"nvidia-ctk", section({{"path", tool("nvidia-ctk")}})},
  };
  if (!settings.features.empty()) {
    Table features;
    for (const std::string& feature : settings.features)
      features.emplace(feature, flag(true));
    config.emplace("features", Value{.data = std::move(features)});
  }
  return config;
}

bool is_known_feature(std::string_view name) {
  return std::ranges::find(kFeatures, name) != kFeatures.end();
}

std::string render_config(const Table& config) {
  return std::string(kHeading) + engine::render_toml(config);
}

engine::Result<Table> parse_config(std::string_view text, std::string_view file) {
  return engine::read_toml(text, file, kDialect);
}

MergedConfig merge_config(const Table& wanted,
                          const std::optional<std::string>& present,
                          const Table& written,
                          std::string_view file) {
  MergedConfig merged;
  if (!present) return {.text = render_config(wanted)};
  const auto there = parse_config(*present, file);
  if (!there) {
    return {.text = render_config(wanted),
            .warnings = {"the toolkit can't read " + there.error().where + " (" + there.error().message +
                         "), and no container with a GPU would start: written anew"}};
  }
  const Leaves want = leaves_of(wanted);
  const Leaves had = leaves_of(written);
  Leaves have = leaves_of(*there);
  std::vector<KeyChange> changes;
  const auto same = [](const Leaves& left, const Leaves& right, const engine::KeyPath& key) {
    const auto one = left.find(key);
    const auto other = right.find(key);
    if (one == left.end() || other == right.end()) return one == left.end() && other == right.end();
    return one->second == other->second;
  };
  for (const auto& [key, value] : want) {
    if (same(want, have, key)) continue;
    if (same(have, had, key)) {
      changes.push_back({.key = key, .value = value});
    } else {
      merged.kept.push_back(key.to_string());
    }
  }
  for (const auto& [key, value] : had) {
    if (!want.contains(key) && have.contains(key) && same(have, had, key)) changes.push_back({.key = key});
  }
  auto edited = edit_toml(*present, file, changes, kDialect);
  if (edited) {
    merged.text = *std::move(edited);
    return merged;
  }
  merged.warnings.push_back(edited.error().message + " (" + edited.error().where + "): its comments are lost");
  Table whole = *there;
  for (const KeyChange& change : changes)
    set_key(whole, change);
  merged.text = render_config(whole);
  return merged;
}

}  // namespace ctkit::toolkit
