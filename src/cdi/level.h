#pragma once

#include <optional>
#include <span>
#include <string_view>

namespace ctkit::cdi {

/// The CDI libraries that containerd releases hold, oldest first. Levels not named behave like the
/// one before them.
enum class Level { v0_5_4, v0_6_1, v0_7_2, v0_8_1, v1_0_0, v1_0_1, v1_1_0, v1_1_1_pre };

/// What differs between the libraries, apart from the fields they know (spec_fields.h).
struct LevelRules {
  Level level = Level::v0_5_4;
  std::string_view name = {};
  std::string_view newest_version = {};  ///< the newest cdiVersion it takes
  bool dot_in_class = true;              ///< a class may have dots inside
  bool one_letter_name_crashes = true;   ///< vendor or class of one letter: index past the end
  bool wants_devices = false;            ///< a spec without devices is invalid
  bool root_clos = false;                ///< closID "/" is allowed
  bool no_permissions = false;           ///< device node permission "none" is allowed
  bool no_folders_means_usual = false;   ///< an empty list of spec folders stands for the default ones
};

/// All levels, oldest first.
std::span<const LevelRules> levels();

const LevelRules& rules_of(Level level);

/// "0.8.1"; nothing if it is none of them.
std::optional<Level> find_level(std::string_view name);

/// The level inside a containerd release; nothing before 1.7, which has no CDI, and for releases
/// nobody has looked at.
std::optional<Level> level_of_containerd(int major, int minor, int patch);

}  // namespace ctkit::cdi
