#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "daemonset/settings.h"
#include "engine/result.h"

namespace ctkit::daemonset {

using Environment = std::map<std::string, std::string, std::less<>>;

/// A row of the resolved table: a setting, its value and who said it.
struct ResolvedValue {
  std::string name = {};
  std::string value = {};
  std::string source = {};                   ///< a flag, an environment variable, "default", "driver-ready"
  std::vector<std::string> overridden = {};  ///< others that said something else, as NAME=value
  bool operator==(const ResolvedValue&) const = default;
};

struct ResolvedSettings {
  Settings settings = {};
  std::vector<ResolvedValue> table = {};
  std::vector<std::string> warnings = {};

  [[nodiscard]] const ResolvedValue* find(std::string_view name) const;
  /// Somebody said it: a flag or the environment.
  [[nodiscard]] bool is_given(std::string_view name) const;
  /// By a flag, or a name of ours in the environment: no word of the operator's.
  [[nodiscard]] bool is_ours(std::string_view name) const;
};

/// The names that make the program NVIDIA's installer: the last part of argv[0].
bool is_nvidia_name(std::string_view program);

/// From the words after the program's name (and the verb) and the environment. `usage` for a word that nobody knows, or
/// a value that can't be. Under NVIDIA's names further words are passed over with a warning, as NVIDIA's installer
/// does.
engine::Result<ResolvedSettings> resolve_settings(Dialect dialect,
                                                  std::span<const std::string> words,
                                                  const Environment& environment);

/// The table for the log, one line a setting; those that nobody set only on request.
std::string render_settings(const ResolvedSettings& resolved, bool all);

/// The flags, their environment, defaults and what they do, for --help.
std::string settings_help(Dialect dialect);

}  // namespace ctkit::daemonset
