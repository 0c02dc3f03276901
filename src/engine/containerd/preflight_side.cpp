#include "engine/containerd/preflight_side.h"

#include <algorithm>

#include "engine/containerd/migrate.h"

namespace ctkit::engine::containerd {

namespace {

class NoFiles : public FileReader {
 public:
  [[nodiscard]] Result<std::string> read(std::string_view path) const override {
    return std::unexpected(Error{.code = ErrorCode::not_found, .where = std::string(path)});
  }
  [[nodiscard]] Result<std::vector<std::string>> list(std::string_view folder) const override {
    return std::unexpected(Error{.code = ErrorCode::not_found, .where = std::string(folder)});
  }
  [[nodiscard]] bool exists(std::string_view) const override { return false; }
  [[nodiscard]] std::optional<std::string> link_target(std::string_view) const override { return std::nullopt; }
};

/// The printed config without what the daemon only passes through.
Table read_part(const Table& config, const Daemon& daemon) {
  Table table = config;
  table.erase("version");
  table.erase("imports");
  if (Value* plugins = find(table, "plugins"); plugins && plugins->table()) {
    std::erase_if(*plugins->table(), [&](const auto& entry) {
      return std::ranges::find(daemon.known.schema->plugins, entry.first, [](const PluginType& type) {
               return type.id;
             }) == daemon.known.schema->plugins.end();
    });
  }
  return table;
}

/// An older release's config at the keys that `newer` has for the same settings: the daemon's own
/// migration, but that none of its gaps count.
Table translated(Table config, const Daemon& older, const Daemon& newer) {
  const long from = older.known.regime.schema_version;
  const long to = newer.known.regime.schema_version;
  if (from >= to) return config;
  Regime regime = newer.known.regime;
  regime.cri_migration = CriMigration::key_by_key;
  regime.fills_config_path = false;
  const Transcript silent(nullptr);
  const MigrationContext context{&regime, &silent};
  Table whole = config;
  whole["version"] = {.data = std::int64_t{from}};
  if (!migrate_to(whole, to, context)) return config;
  Value* plugins = find(whole, "plugins");
  if (from < 3 && plugins && plugins->table() &&
      !migrate_plugins(*plugins->table(), newer.known.schema->migrations, {}, context)) {
    return config;
  }
  whole.erase("version");
  return whole;
}

}  // namespace

Side make_side(const Daemon& daemon,
               const Daemon& other,
               const EffectiveConfig& effective,
               const LoadRequest& request) {
  Side side{.effective = &effective};
  const Table own = read_part(effective.config, daemon);
  each_leaf(own, {}, [&](const KeyPath& key, const Value& value) {
    if (!value.origin.built_in()) side.authors.emplace(place_of(value.origin), key);
  });
  side.comparable = translated(own, daemon, other);
  LoadRequest bare = request;
  bare.config_given = false;
  if (const auto built_in = containerd::effective(daemon, NoFiles(), bare, false)) {
    side.built_in = translated(read_part(built_in->config, daemon), daemon, other);
  }
  return side;
}

}  // namespace ctkit::engine::containerd
