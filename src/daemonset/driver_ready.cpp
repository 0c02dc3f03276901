#include "daemonset/driver_ready.h"

#include <array>

#include "daemonset/words.h"

namespace ctkit::daemonset {

namespace {

struct Field {
  std::string_view variable = {};
  std::string DriverReady::* value = nullptr;
  std::string_view setting = {};
  std::string Settings::* member = nullptr;  ///< null: nobody asks for it
};

constexpr std::array<Field, 5> kFields = {{
    {"IS_HOST_DRIVER", &DriverReady::is_host_driver, "IS_HOST_DRIVER", nullptr},
    {"NVIDIA_DRIVER_ROOT", &DriverReady::driver_root, "driver-root", &Settings::driver_root},
    {"DRIVER_ROOT_CTR_PATH",
     &DriverReady::driver_root_ctr_path,
     "driver-root-ctr-path",
     &Settings::driver_root_ctr_path},
    {"NVIDIA_DEV_ROOT", &DriverReady::dev_root, "dev-root", &Settings::dev_root},
    {"DEV_ROOT_CTR_PATH", &DriverReady::dev_root_ctr_path, "dev-root-ctr-path", &Settings::dev_root_ctr_path},
}};

std::string_view unquoted(std::string_view value) {
  if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') && value.back() == value.front()) {
    return value.substr(1, value.size() - 2);
  }
  return value;
}

void take_line(std::string_view line, DriverReady& ready) {
  line = trimmed(line);
  constexpr std::string_view kExport = "export ";
  if (line.starts_with(kExport)) line = trimmed(line.substr(kExport.size()));
  const std::size_t equals = line.find('=');
  if (line.starts_with('#') || equals == std::string_view::npos) return;
  for (const Field& field : kFields) {
    if (line.substr(0, equals) == field.variable) ready.*field.value = unquoted(trimmed(line.substr(equals + 1)));
  }
}

bool is_usable(const Field& field, const std::string& value) {
  if (field.value == &DriverReady::is_host_driver) return value == "true" || value == "false";
  return value.starts_with('/');
}

}  // namespace

DriverReady parse_driver_ready(std::string_view text) {
  DriverReady ready;
  while (true) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;
    take_line(text.substr(0, end), ready);
    text.remove_prefix(end + 1);
  }
  for (const Field& field : kFields) {
    if (!is_usable(field, ready.*field.value)) ready.missing.emplace_back(field.variable);
  }
  return ready;
}

bool needs_driver_ready(const ResolvedSettings& resolved) {
  if (resolved.settings.foreground) return false;
  // The variable that nobody sets by hand: the operator's script has read the file, perhaps half of it.
  if (resolved.is_given("IS_HOST_DRIVER")) {
    for (const Field& field : kFields) {
      if (!resolved.is_given(field.setting)) return true;
    }
    return false;
  }
  return !resolved.is_given("driver-root");
}

Settings with_driver_ready(const ResolvedSettings& resolved, const DriverReady& ready) {
  Settings settings = resolved.settings;
  for (const Field& field : kFields) {
    if (field.member != nullptr && !resolved.is_ours(field.setting)) settings.*field.member = ready.*field.value;
  }
  return settings;
}

DriverPlaces driver_places(const Settings& settings) {
  DriverPlaces places{.driver =
                          settings.driver_root_ctr_path.empty() ? settings.driver_root : settings.driver_root_ctr_path};
  places.dev = !settings.dev_root_ctr_path.empty()                                      ? settings.dev_root_ctr_path
               : settings.dev_root.empty() || settings.dev_root == settings.driver_root ? places.driver
                                                                                        : settings.dev_root;
  return places;
}

}  // namespace ctkit::daemonset
