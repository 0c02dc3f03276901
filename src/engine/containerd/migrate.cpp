#include "engine/containerd/migrate.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace ctkit::engine::containerd {

namespace {

struct ShortName {
  std::string_view name;
  std::string_view prefix;
};

constexpr std::array<ShortName, 16> kShortNames = {{
    {"cri", "io.containerd.grpc.v1."},
    {"cgroups", "io.containerd.monitor.v1."},
    {"linux", "io.containerd.runtime.v1."},
    {"scheduler", "io.containerd.gc.v1."},
    {"bolt", "io.containerd.metadata.v1."},
    {"task", "io.containerd.runtime.v2."},
    {"opt", "io.containerd.internal.v1."},
    {"restart", "io.containerd.internal.v1."},
    {"tracing", "io.containerd.internal.v1."},
    {"otlp", "io.containerd.tracing.processor.v1."},
    {"aufs", "io.containerd.snapshotter.v1."},
    {"btrfs", "io.containerd.snapshotter.v1."},
    {"devmapper", "io.containerd.snapshotter.v1."},
    {"native", "io.containerd.snapshotter.v1."},
    {"overlayfs", "io.containerd.snapshotter.v1."},
    {"zfs", "io.containerd.snapshotter.v1."},
}};

std::string full_id(std::string_view name) {
  if (name.contains('.')) return std::string(name);
  for (const ShortName& known : kShortNames) {
    if (known.name == name) return std::string(known.prefix) + std::string(name);
  }
  std::string_view prefix = "io.containerd.grpc.v1.";
  if (name == "windows" || name == "windows-lcow") prefix = "io.containerd.snapshotter.v1.";
  if (name.ends_with("-service")) prefix = "io.containerd.service.v1.";
  return std::string(prefix) + std::string(name);
}

}  // namespace

void expand_short_names(Table& config, const MigrationContext& context) {
  if (Value* plugins = find(config, "plugins"); plugins && plugins->table()) {
    Table renamed;
    for (auto& [key, value] : *plugins->table()) {
      const std::string id = full_id(key);
      if (id != key && context.transcript->wanted()) {
        context.transcript->moved({{"plugins", key}}, value, {{"plugins", id}});
      }
      renamed.insert_or_assign(id, std::move(value));
    }
    *plugins->table() = std::move(renamed);
  }
  for (const std::string_view list : {"disabled_plugins", "required_plugins"}) {
    Value* names = find(config, list);
    if (!names || !names->array()) continue;
    for (Value& name : std::get<Array>(names->data)) {
      if (name.string()) name.data = full_id(*name.string());
    }
  }
}

Result<void> migrate_to(Table& config, long target, const MigrationContext& context) {
  Value& version = config["version"];
  for (long at = version.integer() ? *version.integer() : 0; at < target; ++at) {
    if (at < 0 || at >= context.regime->schema_version) {
      return std::unexpected(Error{.code = ErrorCode::daemon_crashes,
                                   .message = "this containerd crashes migrating from version " + std::to_string(at),
                                   .where = version.origin.to_string(),
                                   .hint = "give every file the same version"});
    }
    if (at == 1) expand_short_names(config, context);
    if (at == 3) move_server_tables(config, context);
    version.data = std::int64_t{at + 1};
  }
  return {};
}

}  // namespace ctkit::engine::containerd
