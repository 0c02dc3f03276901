#include "cdi/level.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace ctkit::cdi {

namespace {

using enum Level;

constexpr std::array<LevelRules, 8> kLevels = {{
    {.level = v0_5_4, .name = "0.5.4", .newest_version = "0.5.0", .dot_in_class = false},
    {.level = v0_6_1, .name = "0.6.1", .newest_version = "0.6.0"},
    {.level = v0_7_2, .name = "0.7.2", .newest_version = "0.7.0"},
    {.level = v0_8_1, .name = "0.8.1", .newest_version = "0.8.0"},
    {.level = v1_0_0, .name = "1.0.0", .newest_version = "1.0.0", .wants_devices = true},
    {.level = v1_0_1, .name = "1.0.1", .newest_version = "1.0.0", .wants_devices = true},
    {.level = v1_1_0, .name = "1.1.0", .newest_version = "1.1.0", .wants_devices = true, .root_clos = true},
    {.level = v1_1_1_pre,
     .name = "1.1.1-pre",
     .newest_version = "1.1.0",
     .one_letter_name_crashes = false,
     .wants_devices = true,
     .root_clos = true,
     .no_permissions = true,
     .no_folders_means_usual = true},
}};

/// From this release on, up to the next row. go.mod of each tag; within a row no recorded case
/// differs.
struct Row {
  int major = 0;
  int minor = 0;
  int patch = 0;
  Level level = v0_5_4;
};

constexpr std::array<Row, 11> kReleases = {{
    {1, 7, 0, v0_5_4},
    {1, 7, 12, v0_6_1},
    {1, 7, 16, v0_7_2},
    {1, 7, 27, v0_8_1},
    {2, 0, 0, v0_8_1},
    {2, 0, 5, v1_0_0},
    {2, 1, 0, v1_0_1},
    {2, 2, 0, v1_0_1},
    {2, 2, 1, v1_1_0},
    {2, 3, 0, v1_1_0},
    {2, 4, 0, v1_1_1_pre},
}};
constexpr std::tuple kNewest(2, 4);

}  // namespace

std::span<const LevelRules> levels() {
  return kLevels;
}

const LevelRules& rules_of(Level level) {
  return kLevels[static_cast<std::size_t>(level)];
}

std::optional<Level> find_level(std::string_view name) {
  const auto found = std::ranges::find(kLevels, name, &LevelRules::name);
  if (found == kLevels.end()) return std::nullopt;
  return found->level;
}

std::optional<Level> level_of_containerd(int major, int minor, int patch) {
  if (std::tuple(major, minor) > kNewest) return std::nullopt;
  std::optional<Level> level;
  for (const Row& row : kReleases) {
    if (std::tuple(row.major, row.minor, row.patch) <= std::tuple(major, minor, patch)) level = row.level;
  }
  return level;
}

}  // namespace ctkit::cdi
