#include "engine/containerd/regime.h"

#include <array>
#include <functional>
#include <span>
#include <string>
#include <utility>

namespace ctkit::engine::containerd {

namespace {

/// From this release of its line on, the regime holds. `types`: the recorded release whose types it already has, where
/// the nearest older one lacks what came in between.
struct Row {
  std::string_view since;
  Regime regime;
  std::string_view types = {};
};

constexpr Regime with(Regime base, auto change) {
  change(base);
  return base;
}

// Each row says what changed against the one it starts from; sources: reference releases' tags named in
// docs/containerd-config-merging.md.
constexpr Regime k15 = {.dialect = &kGoToml18};
constexpr Regime k16 = with(k15, [](Regime& r) { r.dialect = &kGoToml19OfGo119; });
constexpr Regime k1624 = with(k16, [](Regime& r) { r.dialect = &kGoToml19; });
constexpr Regime k1629 = with(k1624, [](Regime& r) { r.globs_from_importer = true; });
constexpr Regime k1632 = with(k1629, [](Regime& r) { r.rejects_newer = true; });
constexpr Regime k17 = with(k1624, [](Regime& r) { r.containerd_prefix = true; });
constexpr Regime k174 = with(k17, [](Regime& r) { r.diff_proxies = true; });
constexpr Regime k1716 = with(k174, [](Regime& r) { r.globs_from_importer = true; });
constexpr Regime k1717 = with(k1716, [](Regime& r) { r.rejects_newer = true; });
constexpr Regime k20 = {.schema_version = 3,
                        .keyed_plugins = true,
                        .unique_lists = true,
                        .rejects_newer = true,
                        .globs_from_importer = true,
                        .migration = Migration::after_merge,
                        .dump_migrates = false,
                        .cri_migration = CriMigration::whole_table,
                        .decoding = Decoding::go_toml_2,
                        .crashes_on_second_decode = true,
                        .diff_proxies = true,
                        .sandbox_proxies = true,
                        .dialect = &kGoToml22};
constexpr Regime k201 = with(k20, [](Regime& r) { r.cri_migration = CriMigration::server_keys; });
constexpr Regime k202 = with(k20, [](Regime& r) { r.cri_migration = CriMigration::key_by_key; });
constexpr Regime k206 = with(k202, [](Regime& r) { r.dump_migrates = true; });
constexpr Regime k21 = with(k206, [](Regime& r) { r.moves_bin_dir = true; });
constexpr Regime k22 = with(k21, [](Regime& r) { r.fills_config_path = true; });
constexpr Regime k222 = with(k22, [](Regime& r) { r.fills_config_path = false; });
constexpr Regime k23 = with(k222, [](Regime& r) {
  r.schema_version = 4;
  r.migration = Migration::per_file;
  r.root_caps_version = true;
  r.dialect = &kGoToml23;
});
constexpr Regime k235 = with(k23, [](Regime& r) { r.root_caps_version = false; });
constexpr void use_go_toml_2_4(Regime& r) {
  r.integer_durations = true;
  r.replaces_held_values = true;
  r.empty_tables_allocate = true;
  r.crashes_on_second_decode = false;
  r.spaced_headers = true;
  r.dialect = &kGoToml24;
}
constexpr Regime k24beta = with(k23, use_go_toml_2_4);
constexpr Regime k24 = with(k24beta, [](Regime& r) { r.root_caps_version = false; });

constexpr auto kRows = std::to_array({
    Row{"1.5.0", k15},
    Row{"1.6.0", k16},
    Row{"1.6.24", k1624},
    Row{"1.6.29", k1629},
    Row{"1.6.32", k1632, "1.6.39"},
    Row{"1.7.0", k17},
    Row{"1.7.4", k174},
    Row{"1.7.16", k1716, "1.7.27"},
    Row{"1.7.17", k1717, "1.7.27"},
    Row{"2.0.0", k20},
    Row{"2.0.1", k201},
    Row{"2.0.2", k202},
    Row{"2.0.6", k206},
    Row{"2.0.7", k206, "2.0.11"},
    Row{"2.1.0", k21},
    Row{"2.1.5", k21, "2.1.9"},
    Row{"2.2.0", k22},
    Row{"2.2.2", k222},
    Row{"2.3.0", k23},
    Row{"2.3.5", k235},
    Row{"2.4.0-beta.0", k24beta},
    Row{"2.4.0", k24},
});

/// What Debian's builds of a line do otherwise: it has one library of its own for all programs.
struct Repacking {
  Release first = {};
  Release beyond = {};  ///< the first line that is as released again
  void (*change)(Regime&) = nullptr;
};

const std::array kRepackings = {
    Repacking{{.major = 1, .minor = 6}, {.major = 1, .minor = 7}, [](Regime& r) { r.dialect = &kGoToml194; }},
    Repacking{{.major = 2, .minor = 1, .patch = 9}, {.major = 3}, use_go_toml_2_4},
};

void apply_repacking(const Release& release, Regime& regime) {
  if (!release.repacked()) return;
  for (const Repacking& row : kRepackings) {
    if (compare(release, row.first) >= 0 && compare(release, row.beyond) < 0) row.change(regime);
  }
}

/// The last of `items` whose release is not above `release`, else the first; `release_of` gives an item's text.
template <typename Item, typename ReleaseOf>
const Item& at_or_below(std::span<const Item> items, const Release& release, ReleaseOf release_of) {
  const Item* found = &items.front();
  for (const Item& item : items) {
    const auto since = Release::parse(release_of(item));
    if (since && compare(*since, release) <= 0) found = &item;
  }
  return *found;
}

/// The recorded release of the same line nearest to `release`, an older one first; empty if the line isn't recorded.
std::string_view nearest_in_line(const Release& release, std::string_view types) {
  std::string_view nearest;
  for (const std::string_view name : recorded_releases()) {
    const auto recorded = Release::parse(name);
    if (!recorded || recorded->major != release.major || recorded->minor != release.minor) continue;
    if (nearest.empty() || compare(*recorded, release) <= 0 || name == types) nearest = name;
  }
  return nearest;
}

}  // namespace

Result<Known> find_release(const Release& release) {
  if (compare(release, {.major = 1, .minor = 5}) < 0) {
    return std::unexpected(Error{.code = ErrorCode::unknown_release,
                                 .message = "containerd " + release.to_string() + " is older than any release we know",
                                 .hint = "1.5 and later are known"});
  }
  Known known{.release = release};
  const Row& row = at_or_below<Row>(kRows, release, [](const Row& item) { return item.since; });
  known.regime = row.regime;
  apply_repacking(release, known.regime);
  std::string_view recorded = nearest_in_line(release, row.types);
  if (recorded.empty()) {
    const std::vector<std::string_view> releases = recorded_releases();
    recorded = at_or_below<std::string_view>(releases, release, std::identity());
    Diagnostic unknown;
    unknown.message = "containerd " + release.to_string() + " is not known; treated as " + std::string(recorded);
    unknown.hint = "compare with the node's own `containerd config dump`, or give its `config default` with --defaults";
    known.diagnostics.push_back(std::move(unknown));
  }
  known.schema = &recorded_schema(recorded);
  return known;
}

std::vector<Release> later_lines(const Release& release) {
  std::vector<Release> lines;
  for (const std::string_view name : recorded_releases()) {
    const auto recorded = Release::parse(name);
    if (!recorded || std::pair(recorded->major, recorded->minor) <= std::pair(release.major, release.minor)) continue;
    if (!lines.empty() && lines.back().major == recorded->major && lines.back().minor == recorded->minor) {
      lines.back() = *recorded;
    } else {
      lines.push_back(*recorded);
    }
  }
  return lines;
}

}  // namespace ctkit::engine::containerd
