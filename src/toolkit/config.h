#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/result.h"
#include "engine/value.h"
#include "toolkit/config_settings.h"

namespace ctkit::toolkit {

/// The toolkit's config with every key that NVIDIA's installer writes (v1.20.0).
engine::Table make_config(const ConfigSettings& settings, const std::string& toolkit_folder);

/// Features that NVIDIA's runtime knows; another name in `features` has no effect.
bool is_known_feature(std::string_view name);

/// A config brought up to what we want.
struct MergedConfig {
  std::string text = {};
  std::vector<std::string> kept = {};      ///< keys that somebody set to other values than ours, or took out
  std::vector<std::string> warnings = {};  ///< the file was not as a file should be
};

/// The config that is there, each key of it brought from what we wrote last (`written`) to what we want, but for those
/// that somebody changed since: they stay. Without a file there, or with one that the toolkit couldn't read, the wanted
/// one alone.
MergedConfig merge_config(const engine::Table& wanted,
                          const std::optional<std::string>& present,
                          const engine::Table& written,
                          std::string_view file);

/// As the toolkit reads it. Fails as its library does.
engine::Result<engine::Table> parse_config(std::string_view text, std::string_view file);

/// The whole file as we write it where there is none.
std::string render_config(const engine::Table& config);

}  // namespace ctkit::toolkit
