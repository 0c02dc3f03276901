#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "daemonset/settings.h"
#include "engine/inline_text.h"

namespace ctkit::daemonset {

/// What is taken for the sake of NVIDIA's installer, and how it is written. Nobody asks for its value.
enum class Unread { text, boolean, list };

/// Where a value goes, which also says how it is written.
using Member = std::variant<std::string Settings::*,               //
                            bool Settings::*,                      // as Go's strconv.ParseBool reads it
                            long Settings::*,                      // not negative
                            std::vector<std::string> Settings::*,  // comma separated, and repeatable
                            Unread>;

/// What an empty environment variable says; an operator may set one.
enum class Empty {
  unset,  ///< nothing, the next name counts
  value,  ///< "", false
};

/// What a text has to be.
enum class Path {
  none,    ///< no path
  file,    ///< absolute, without a slash at its end
  folder,  ///< absolute; slashes at its end are left out
};

/// One setting: all its names, its defaults, what it takes. Names are separated by blanks; of several that are set the
/// first counts, and a flag beats them all.
struct SettingRow {
  engine::InlineText<80> flags = {};  ///< the first one names the setting; "" if there are none
  engine::InlineText<100> environment = {};
  engine::InlineText<40> default_value = {};
  std::optional<engine::InlineText<40>> own_default = {};  ///< of `ctkit run`, where that is another
  Member member = static_cast<std::string Settings::*>(nullptr);
  Path path = Path::none;
  bool wanted = false;                       ///< an empty text is a mistake
  engine::InlineText<40> choices = {};       ///< the only values it takes; none: any
  engine::InlineText<20> own_flags = {};     ///< only of `ctkit run`
  engine::InlineText<20> nvidia_flags = {};  ///< only under NVIDIA's names
  Empty empty = Empty::unset;
  engine::InlineText<100> without_effect = {};  ///< why it is taken and does nothing; "": it does something
  engine::InlineText<140> help = {};
};

/// Every setting, in the order of the log and the documentation.
std::span<const SettingRow> setting_rows();

/// How the log and the messages call it.
std::string_view name_of(const SettingRow& row);

/// All flags of it, without dashes.
std::vector<std::string_view> flags_of(const SettingRow& row, Dialect dialect);

std::string_view default_of(const SettingRow& row, Dialect dialect);

}  // namespace ctkit::daemonset
