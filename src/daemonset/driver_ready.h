#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "daemonset/resolve_settings.h"
#include "daemonset/settings.h"

namespace ctkit::daemonset {

/// Where the driver is, as the operator's validator says it in `driver-ready`: five shell assignments. Before 26.7 it
/// writes them one by one, so a reader may meet half of them.
struct DriverReady {
  std::string is_host_driver = {};        ///< IS_HOST_DRIVER: true, false
  std::string driver_root = {};           ///< NVIDIA_DRIVER_ROOT: on the host
  std::string driver_root_ctr_path = {};  ///< DRIVER_ROOT_CTR_PATH: where we see it
  std::string dev_root = {};              ///< NVIDIA_DEV_ROOT
  std::string dev_root_ctr_path = {};     ///< DEV_ROOT_CTR_PATH
  std::vector<std::string> missing = {};  ///< names that have no value, or not yet

  [[nodiscard]] bool whole() const { return missing.empty(); }
  bool operator==(const DriverReady&) const = default;
};

/// Blank lines, comments, `export`, quotes, CRLF and names of others are passed over. A last line without its end may
/// be half written, so it doesn't count.
DriverReady parse_driver_ready(std::string_view text);

/// Whether the driver's place has to come out of the file, because nobody said it, or only a part of what is in the
/// file has reached us through the environment.
bool needs_driver_ready(const ResolvedSettings& resolved);

/// The settings with what the file says. Flags stay, and our own CTKIT_* names; the rest of the environment doesn't:
/// the operator's own script lets the file win over it.
Settings with_driver_ready(const ResolvedSettings& resolved, const DriverReady& ready);

/// Where we see the driver, and the devices.
struct DriverPlaces {
  std::string driver = {};
  std::string dev = {};
  bool operator==(const DriverPlaces&) const = default;
};

/// As the settings say it, each with what it follows from where it isn't said.
DriverPlaces driver_places(const Settings& settings);

}  // namespace ctkit::daemonset
