#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "engine/containerd/migrate.h"

namespace ctkit::engine::containerd {

namespace {

constexpr std::array<std::string_view, 6> kImageKeys = {"registry",
                                                        "image_decryption",
                                                        "max_concurrent_downloads",
                                                        "image_pull_progress_timeout",
                                                        "image_pull_with_sync_fs",
                                                        "stats_collect_period"};
constexpr std::array<std::string_view, 6> kServerKeys = {"disable_tcp_service",
                                                         "stream_server_address",
                                                         "stream_server_port",
                                                         "stream_idle_timeout",
                                                         "enable_tls_streaming",
                                                         "x509_key_pair_streaming"};
constexpr std::array<std::string_view, 3> kSnapshotKeys = {
    "snapshotter", "disable_snapshot_annotations", "discard_unpacked_layers"};

bool is_one_of(std::string_view key, std::span<const std::string_view> keys) {
  return std::ranges::find(keys, key) != keys.end();
}

/// One plugin's migration: reads and rewrites the sections, says what went where.
class Sections {
 public:
  Sections(Table& plugins, const MigrationContext& context) : plugins_(plugins), context_(context) {}

  Result<void> run(std::string_view plugin) {
    if (plugin == "io.containerd.monitor.task.v1.cgroups") {
      rename("io.containerd.monitor.v1.cgroups", plugin);
    } else if (plugin == "io.containerd.monitor.container.v1.restart") {
      rename("io.containerd.internal.v1.restart", plugin);
    } else if (plugin == "io.containerd.shim.v1.manager") {
      return shim_manager();
    } else if (plugin == kImages) {
      return images();
    } else if (plugin == kRuntime) {
      return runtime();
    } else if (plugin == kCri) {
      keep_server_keys();
    }
    return {};
  }

 private:
  using Keys = std::initializer_list<std::string_view>;

  static KeyPath key_path(Keys keys) {
    KeyPath path{{"plugins"}};
    for (const std::string_view key : keys)
      path.parts.emplace_back(key);
    return path;
  }

  void moved(Keys from, const Value& value, Keys to) const {
    if (context_.transcript->wanted()) {
      context_.transcript->moved(key_path(from), value, key_path(to));
    }
  }

  static Error crash(const Value& value, Keys keys) {
    return {.code = ErrorCode::daemon_crashes,
            .message = "'" + key_path(keys).to_string() + "' is " + std::string(type_name(value)) +
                       ", and this containerd crashes on it while migrating",
            .where = value.origin.to_string()};
  }

  void put(Table& to, std::string_view key, const Value& value, Keys from, Keys destination) const {
    if (const Value* old = find(to, key); old && context_.transcript->wanted()) {
      const KeyPath path = key_path(destination);
      overwritten(path, *old, value);
    }
    moved(from, value, destination);
    to.insert_or_assign(std::string(key), value);
  }

  void overwritten(const KeyPath& path, const Value& old, const Value& value) const {
    std::vector<PathNode> nodes(path.parts.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      nodes[i] = {.parent = i == 0 ? nullptr : &nodes[i - 1], .part = path.parts[i]};
    }
    context_.transcript->replaced(nodes.back(), old, value);
  }

  void rename(std::string_view from, std::string_view to) {
    const auto old = plugins_.find(from);
    if (old == plugins_.end()) return;
    Value section = std::move(old->second);
    plugins_.erase(old);
    put(plugins_, to, section, {from}, {to});
  }

  Result<void> shim_manager() {
    constexpr std::string_view kTask = "io.containerd.runtime.v2.task";
    constexpr std::string_view kManager = "io.containerd.shim.v1.manager";
    Value* task = find(plugins_, kTask);
    if (!task) return {};
    if (!task->table()) return std::unexpected(crash(*task, {kTask}));
    Value section{.data = Table{}, .origin = task->origin};
    if (const auto sched = task->table()->find("sched_core"); sched != task->table()->end()) {
      if (const bool* on = sched->second.boolean(); on && *on) {
        const Origin origin = sched->second.origin;
        moved({kTask, "sched_core"}, sched->second, {kManager, "env"});
        section.table()->emplace(
            "env", Value{.data = Array{{.data = std::string("SCHED_CORE=1"), .origin = origin}}, .origin = origin});
      }
      task->table()->erase(sched);
    }
    if (const Value* old = find(plugins_, kManager); old && context_.transcript->wanted()) {
      overwritten(key_path({kManager}), *old, section);
    }
    plugins_.insert_or_assign(std::string(kManager), std::move(section));
    return {};
  }

  Result<void> images() {
    Value* old = find(plugins_, kCri);
    if (!old) return {};
    if (!old->table()) return std::unexpected(crash(*old, {kCri}));
    Table& from = *old->table();
    Value section{.data = Table{}, .origin = old->origin};
    if (const Value* present = find(plugins_, kImages)) {
      if (!present->table()) return std::unexpected(crash(*present, {kImages}));
      section = *present;
    }
    Table& to = *section.table();
    if (auto done = pinned_sandbox(from, to); !done) return done;
    for (const std::string_view key : kImageKeys) {
      if (const Value* value = find(from, key)) {
        put(to, key, *value, {kCri, key}, {kImages, key});
      }
    }
    if (auto done = fill_config_path(to); !done) return done;
    // The moved table still is the old one.
    if (auto done = fill_config_path(from); !done) return done;
    if (auto done = snapshot_keys(from, to); !done) return done;
    plugins_.insert_or_assign(std::string(kImages), std::move(section));
    return {};
  }

  Result<void> pinned_sandbox(const Table& from, Table& to) {
    const Value* present = find(to, "pinned_images");
    if (present && !present->table()) {
      return std::unexpected(crash(*present, {kImages, "pinned_images"}));
    }
    const Value* sandbox = find(from, "sandbox_image");
    if (!sandbox) return {};
    if (!present) {
      present = &to.insert_or_assign("pinned_images", Value{.data = Table{}, .origin = sandbox->origin}).first->second;
    }
    put(*find(to, "pinned_images")->table(),
        "sandbox",
        *sandbox,
        {kCri, "sandbox_image"},
        {kImages, "pinned_images", "sandbox"});
    return {};
  }

  /// 2.2.0 and 2.2.1 only.
  Result<void> fill_config_path(Table& to) const {
    Value* registry = find(to, "registry");
    if (!context_.regime->fills_config_path || !registry) return {};
    if (!registry->table()) return std::unexpected(crash(*registry, {kImages, "registry"}));
    Value* path = find(*registry->table(), "config_path");
    if (path && path->string() && path->string()->empty()) {
      path->data = std::string("/etc/containerd/certs.d:/etc/docker/certs.d");
    }
    return {};
  }

  /// The three snapshot settings go along only when the old table also has runtimes.
  Result<void> snapshot_keys(const Table& from, Table& to) const {
    const Value* containerd = find(from, "containerd");
    if (!containerd) return {};
    if (!containerd->table()) return std::unexpected(crash(*containerd, {kCri, "containerd"}));
    const Value* runtimes = find(*containerd->table(), "runtimes");
    if (!runtimes) return {};
    if (!runtimes->table()) {
      return std::unexpected(crash(*runtimes, {kCri, "containerd", "runtimes"}));
    }
    for (const auto& [name, runtime] : *runtimes->table()) {
      if (!runtime.table()) {
        return std::unexpected(crash(runtime, {kCri, "containerd", "runtimes", name}));
      }
    }
    for (const std::string_view key : kSnapshotKeys) {
      if (const Value* value = find(*containerd->table(), key)) {
        put(to, key, *value, {kCri, "containerd", key}, {kImages, key});
      }
    }
    return {};
  }

  Result<void> runtime() {
    Value* old = find(plugins_, kCri);
    if (!old || !old->table()) return {};
    Table& from = *old->table();
    Value section{.data = Table{}, .origin = old->origin};
    if (context_.regime->cri_migration != CriMigration::key_by_key) {
      section = *old;
      if (const Value* present = find(plugins_, kRuntime); present && context_.transcript->wanted()) {
        overwritten(key_path({kRuntime}), *present, section);
      }
      moved({kCri}, *old, {kRuntime});
      plugins_.insert_or_assign(std::string(kRuntime), std::move(section));
      return {};
    }
    if (const Value* present = find(plugins_, kRuntime); present && present->table()) {
      section = *present;
    }
    Table& to = *section.table();
    for (const auto& [key, value] : from) {
      const bool elsewhere = key == "containerd" || key == "sandbox_image" ||
                             (key == "cni" && context_.regime->moves_bin_dir) || is_one_of(key, kImageKeys) ||
                             is_one_of(key, kServerKeys);
      if (!elsewhere) take(to, key, value, {kCri, key}, {kRuntime, key});
    }
    if (auto done = cni(from, to); !done) return done;
    if (auto done = containerd(from, to); !done) return done;
    plugins_.insert_or_assign(std::string(kRuntime), std::move(section));
    return {};
  }

  /// Moves unless the new place has a value already.
  void take(Table& to, const std::string& key, const Value& value, Keys from, Keys destination) const {
    const auto [entry, fresh] = to.try_emplace(key, value);
    if (fresh) {
      moved(from, value, destination);
    } else if (context_.transcript->wanted()) {
      overwritten(key_path(from), value, entry->second);
    }
  }

  static Table& subtable(Table& to, const std::string& key, const Origin& origin) {
    Value* present = find(to, key);
    if (!present || !present->table()) {
      present = &to.insert_or_assign(key, Value{.data = Table{}, .origin = origin}).first->second;
    }
    return *present->table();
  }

  Result<void> cni(const Table& from, Table& to) const {
    const Value* old = find(from, "cni");
    if (!context_.regime->moves_bin_dir || !old || !old->table()) return {};
    Table& section = subtable(to, "cni", old->origin);
    for (const auto& [key, value] : *old->table()) {
      if (key != "bin_dir") {
        take(section, key, value, {kCri, "cni", key}, {kRuntime, "cni", key});
      }
    }
    if (const Value* bin_dir = find(*old->table(), "bin_dir")) {
      if (!bin_dir->string()) return std::unexpected(crash(*bin_dir, {kCri, "cni", "bin_dir"}));
      put(section,
          "bin_dirs",
          {.data = Array{*bin_dir}, .origin = bin_dir->origin},
          {kCri, "cni", "bin_dir"},
          {kRuntime, "cni", "bin_dirs"});
    }
    return {};
  }

  Result<void> containerd(Table& from, Table& to) const {
    Value* old = find(from, "containerd");
    if (!old || !old->table()) return {};
    Table& section = subtable(to, "containerd", old->origin);
    const bool shared = !section.contains("runtimes");
    for (const auto& [key, value] : *old->table()) {
      if (!is_one_of(key, kSnapshotKeys)) {
        take(section, key, value, {kCri, "containerd", key}, {kRuntime, "containerd", key});
      }
    }
    if (auto done = rename_sandbox_mode(section, kRuntime); !done) return done;
    // In containerd the moved table still is the old one: where the old section stays (its migration disabled), it
    // changes too.
    return shared ? rename_sandbox_mode(*old->table(), kCri) : Result<void>{};
  }

  Result<void> rename_sandbox_mode(Table& containerd, std::string_view plugin) const {
    Value* runtimes = find(containerd, "runtimes");
    if (!runtimes) return {};
    if (!runtimes->table()) {
      return std::unexpected(crash(*runtimes, {plugin, "containerd", "runtimes"}));
    }
    for (auto& [name, handler] : *runtimes->table()) {
      Table* table = handler.table();
      if (!table) return std::unexpected(crash(handler, {plugin, "containerd", "runtimes", name}));
      const auto mode = table->find("sandbox_mode");
      if (mode == table->end() || table->contains("sandboxer")) continue;
      if (plugin == kRuntime) {
        moved({kRuntime, "containerd", "runtimes", name, "sandbox_mode"},
              mode->second,
              {kRuntime, "containerd", "runtimes", name, "sandboxer"});
      }
      table->emplace("sandboxer", std::move(mode->second));
      table->erase(mode);
    }
    return {};
  }

  void keep_server_keys() {
    Value* section = find(plugins_, kCri);
    if (!section || !section->table()) return;
    if (context_.regime->cri_migration == CriMigration::whole_table) {
      std::erase_if(*section->table(), [](const auto& entry) { return entry.first != "disable_tcp_service"; });
      return;
    }
    std::erase_if(*section->table(), [](const auto& entry) { return !is_one_of(entry.first, kServerKeys); });
  }

  Table& plugins_;
  const MigrationContext& context_;
};

}  // namespace

Result<void> migrate_plugins(Table& plugins,
                             std::span<const std::string_view> order,
                             const Array& skipped,
                             const MigrationContext& context) {
  Sections sections(plugins, context);
  for (const std::string_view plugin : order) {
    const bool skip =
        std::ranges::any_of(skipped, [&](const Value& name) { return name.string() && *name.string() == plugin; });
    if (skip) continue;
    if (auto done = sections.run(plugin); !done) return done;
  }
  return {};
}

}  // namespace ctkit::engine::containerd
