#include "engine/containerd/effective.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "engine/containerd/cri_service.h"
#include "engine/containerd/decode.h"
#include "engine/containerd/go_path.h"
#include "engine/containerd/merge.h"
#include "engine/containerd/migrate.h"

namespace ctkit::engine::containerd {

namespace {

/// The last part of a plugin id: what version 1 files call it.
std::string_view short_name(std::string_view id) {
  for (std::size_t at = id.find(".v"); at != std::string_view::npos; at = id.find(".v", at + 1)) {
    std::size_t end = at + 2;
    while (end < id.size() && id[end] >= '0' && id[end] <= '9')
      ++end;
    if (end > at + 2 && end < id.size() && id[end] == '.') return id.substr(end + 1);
  }
  return id;
}

bool names(const Table& config, std::string_view list, std::string_view plugin) {
  const Value* value = find(config, list);
  return value && value->array() && std::ranges::any_of(*value->array(), [&](const Value& name) {
           return name.string() && *name.string() == plugin;
         });
}

/// Free-form tables in an array: go-toml 2.2 and 2.3 crash when they decode them onto themselves.
bool has_free_array_of_tables(const Type& type, const Value& value) {
  if (const Array* array = value.array(); array && type.kind == Kind::any) {
    return !array->empty() && std::ranges::all_of(*array, [](const Value& item) { return item.table(); });
  }
  const Table* table = value.table();
  if (!table) return false;
  return std::ranges::any_of(*table, [&](const auto& entry) {
    if (type.kind == Kind::any) return has_free_array_of_tables(type, entry.second);
    if (type.kind == Kind::map) return has_free_array_of_tables(*type.element, entry.second);
    const auto field = std::ranges::find(type.fields, entry.first, &Type::name);
    return field != type.fields.end() && has_free_array_of_tables(*field, entry.second);
  });
}

void forget_origins(Value& value) {
  value.origin = {};
  if (Table* table = value.table()) {
    for (auto& [key, child] : *table)
      forget_origins(child);
  } else if (auto* array = std::get_if<Array>(&value.data)) {
    for (Value& item : *array)
      forget_origins(item);
  }
}

/// The node's own defaults fill a fresh variable; what they say is built in, not written in a file.
Result<void> decode_defaults(const Type& type, const Table& table, Slot& slot, const Regime& regime) {
  const Transcript silent(nullptr);
  Diagnostics unknown;
  const DecodeContext context{&regime, &silent, &unknown};
  Value value{.data = table};
  forget_origins(value);
  return decode(type, value, slot, {}, context);
}

const Table* default_section(const Daemon& daemon, std::string_view id) {
  if (!daemon.defaults) return nullptr;
  const Value* plugins = find(*daemon.defaults, "plugins");
  const Value* section = plugins && plugins->table() ? find(*plugins->table(), id) : nullptr;
  return section ? section->table() : nullptr;
}

/// What a plugin's variable starts from in this daemon; nil and true if the daemon hasn't got the
/// plugin.
Result<Slot> start_of(const Daemon& daemon, const PluginType& plugin, bool& absent) {
  absent = false;
  if (!daemon.defaults) return built_in(*plugin.type);
  const Table* section = default_section(daemon, plugin.id);
  if (!section) {
    absent = true;
    return Slot{};
  }
  Type plain = *plugin.type;
  plain.pointer = false;
  Slot slot = zero(plain);
  if (auto done = decode_defaults(plain, *section, slot, daemon.known.regime); !done) {
    return std::unexpected(done.error());
  }
  return slot;
}

class Computation {
 public:
  Computation(const Daemon& daemon, const LoadRequest& request, EffectiveConfig& result, bool with_events)
      : daemon_(daemon),
        regime_(daemon.known.regime),
        schema_(*daemon.known.schema),
        request_(request),
        result_(result),
        transcript_(with_events ? &result.events : nullptr) {}

  Result<void> run(const FileReader& files) {
    result_.diagnostics = daemon_.known.diagnostics;
    auto loaded = load(files, request_, daemon_.known, transcript_);
    if (!loaded) return std::unexpected(loaded.error());
    std::ranges::move(loaded->diagnostics, std::back_inserter(result_.diagnostics));
    if (auto done = start(); !done) return done;
    if (auto done = lay_over(*loaded); !done) return done;
    if (!loaded->stopped_early) {
      if (auto done = check(); !done) return done;
    }
    if (auto done = migrate_merged(); !done) return done;
    if (auto done = look_for_plugins(files); !done) return done;
    if (auto done = register_proxies(); !done) return done;
    if (auto done = decode_plugins(); !done) return done;
    finish();
    for (LoadedFile& file : loaded->files)
      result_.layers.push_back(std::move(file.layer));
    judge_cri_service(daemon_.known, merged_, result_);
    return {};
  }

 private:
  [[nodiscard]] bool one() const { return regime_.decoding == Decoding::go_toml_1; }

  [[nodiscard]] long version() const {
    const Value* value = find(merged_, "version");
    return value && value->integer() ? static_cast<long>(*value->integer()) : 0;
  }

  [[nodiscard]] bool short_names() const { return one() && version() < 2 && version() >= 0; }

  [[nodiscard]] MigrationContext migration() const { return {&regime_, &transcript_}; }

  /// The built-in configuration that the first file is laid over.
  Result<void> start() {
    if (daemon_.defaults) {
      Slot slot = zero(*schema_.top);
      if (auto done = decode_defaults(*schema_.top, *daemon_.defaults, slot, regime_); !done) return done;
      merged_ = std::move(*slot->table());
    } else {
      merged_ = std::move(*built_in(*schema_.top)->table());
    }
    if (const Value* timeouts = find(merged_, "timeouts")) built_in_timeouts_ = *timeouts->table();
    merged_.erase("timeouts");
    merged_.erase("plugins");
    merged_.erase("proxy_plugins");
    merged_["version"].data = std::int64_t{one() ? 1 : regime_.schema_version};
    if (regime_.migration == Migration::per_file) {
      merged_["plugins"].data =
          Table{{"io.containerd.server.v1.grpc",
                 {.data = Table{{"address", {.data = std::string("/run/containerd/containerd.sock")}},
                                {"max_recv_message_size", {.data = std::int64_t{16} << 20}},
                                {"max_send_message_size", {.data = std::int64_t{16} << 20}}}}}};
    }
    return {};
  }

  Result<void> lay_over(Loaded& loaded) {
    long root_version = 0;
    for (LoadedFile& file : loaded.files) {
      if (auto done = check_against_root(file.layer, root_version); !done) return done;
      if (auto done = migrate_file(file); !done) return done;
      merge(*schema_.top, merged_, file.config, regime_, transcript_);
      if (file.layer.schema_version != 0) version_origin_ = file.layer.version_origin;
    }
    if (one()) {
      Array imports;
      for (const LoadedFile& file : loaded.files)
        imports.push_back({.data = file.layer.path});
      merged_["imports"] = {.data = std::move(imports)};
    }
    return {};
  }

  /// containerd 2.3.0 to 2.3.4: the first file that has a version caps all others.
  Result<void> check_against_root(const Layer& layer, long& root_version) const {
    if (!regime_.root_caps_version) return {};
    if (root_version == 0) root_version = layer.schema_version;
    if (layer.schema_version <= root_version) return {};
    return std::unexpected(
        Error{.code = ErrorCode::daemon_refuses,
              .message = "version " + std::to_string(layer.schema_version) + " is above the version " +
                         std::to_string(root_version) + " of the top-level config, which this containerd refuses",
              .where = layer.version_origin.to_string(),
              .hint = "give this file the top-level config's version, or bring that one to version " +
                      std::to_string(layer.schema_version)});
  }

  Result<void> migrate_file(LoadedFile& file) {
    const long declared = file.layer.schema_version;
    if (regime_.migration == Migration::after_merge && (declared == 0 || declared == 1)) {
      return migrate_to(file.config, version(), migration());
    }
    if (regime_.migration != Migration::per_file) return {};
    for (long at = declared; at < version(); ++at) {
      if (auto done = migrate_to(file.config, at + 1, migration()); !done) return done;
      Value* plugins = find(file.config, "plugins");
      if (!plugins) continue;
      if (auto done = migrate_plugins(*plugins->table(), schema_.migrations, {}, migration()); !done) {
        return done;
      }
    }
    return {};
  }

  Result<void> migrate_merged() {
    if (regime_.migration != Migration::after_merge || version() >= 3) return {};
    if (request_.as_dump && !regime_.dump_migrates) return {};
    Value* plugins = find(merged_, "plugins");
    if (!plugins) return {};
    const Value* disabled = find(merged_, "disabled_plugins");
    return migrate_plugins(*plugins->table(), schema_.migrations, disabled ? *disabled->array() : Array{}, migration());
  }

  /// containerd: ValidateV2, ValidateVersion and the plugin URI checks.
  Result<void> check() const {
    if (one()) {
      if (version() < 2) return {};
      if (regime_.rejects_newer && version() > 2) return std::unexpected(too_new());
      return check_names_1();
    }
    if (version() > regime_.schema_version) return std::unexpected(too_new());
    for (const std::string_view list : {"disabled_plugins", "required_plugins"}) {
      for (const Value& name : *find(merged_, list)->array()) {
        if (!name.string()->contains('.')) return std::unexpected(bad_name(name.origin, *name.string()));
      }
    }
    return {};
  }

  [[nodiscard]] Error too_new() const {
    return {.code = ErrorCode::daemon_refuses,
            .message = "version " + std::to_string(version()) + " is above " +
                       std::to_string(one() ? 2 : regime_.schema_version) + ", the highest that containerd " +
                       daemon_.known.release.to_string() + " reads",
            .where = version_origin_.to_string()};
  }

  static Error bad_name(const Origin& origin, const std::string& name) {
    return {.code = ErrorCode::daemon_refuses,
            .message = "'" + name + "' is no plugin id",
            .where = origin.to_string(),
            .hint = "version 2 and later name plugins in full: io.containerd.grpc.v1.cri"};
  }

  [[nodiscard]] Result<void> check_names_1() const {
    const auto valid = [&](std::string_view name) {
      return std::ranges::count(name, '.') >= 3 && (!regime_.containerd_prefix || name.starts_with("io.containerd."));
    };
    for (const std::string_view list : {"disabled_plugins", "required_plugins"}) {
      for (const Value& name : *find(merged_, list)->array()) {
        if (!valid(*name.string())) return std::unexpected(bad_name(name.origin, *name.string()));
      }
    }
    if (const Value* plugins = find(merged_, "plugins")) {
      for (const auto& [name, section] : *plugins->table()) {
        if (!valid(name)) return std::unexpected(bad_name(section.origin, name));
      }
    }
    return {};
  }

  /// containerd 1.x services/server LoadPlugins, 2.0 cmd/containerd/server LoadPlugins: shared
  /// objects are looked for with a pattern made of `plugin_dir`, else of `root`, as it stands.
  Result<void> look_for_plugins(const FileReader& files) const {
    const Value* named = find(merged_, "plugin_dir");
    const Value* root = find(merged_, "root");
    if (!named || !named->string() || !root || !root->string()) return {};
    const bool is_named = !named->string()->empty();
    const std::string folder = is_named ? *named->string() : join(*root->string(), "plugins");
    if (folder.find_first_of("*?[\\") == std::string::npos) return {};
    const auto found = glob(join(folder, "*.so"), files, request_.working_folder);
    if (found || found.error().code != ErrorCode::daemon_refuses) return {};
    return std::unexpected(Error{.code = ErrorCode::daemon_refuses,
                                 .message = "'" + folder + "' is no pattern: " + found.error().message,
                                 .where = (is_named ? named : root)->origin.to_string(),
                                 .hint = "containerd looks for plugins there; take brackets and backslashes out"});
  }

  /// containerd: LoadPlugins registers proxies; an unknown type, no name or a taken one panics.
  Result<void> register_proxies() {
    Value* proxies = find(merged_, "proxy_plugins");
    if (!proxies) return {};
    for (auto& [name, proxy] : *proxies->table()) {
      Table& fields = *proxy.table();
      const std::string_view type = proxy_type(*find(fields, "type")->string());
      if (type.empty()) {
        return std::unexpected(Error{.code = ErrorCode::daemon_crashes,
                                     .message = "proxy plugin '" + name + "' has no type that containerd " +
                                                daemon_.known.release.to_string() + " knows, and it crashes on that",
                                     .where = proxy.origin.to_string()});
      }
      if (name.empty()) {
        return std::unexpected(Error{.code = ErrorCode::daemon_crashes,
                                     .message = "a proxy plugin has an empty name, and containerd crashes on that",
                                     .where = proxy.origin.to_string()});
      }
      if (std::ranges::binary_search(schema_.plugin_ids, std::string(type) + "." + name)) {
        return std::unexpected(Error{.code = ErrorCode::daemon_crashes,
                                     .message = "proxy plugin '" + name +
                                                "' has the name of a built-in one, and containerd "
                                                "crashes on that",
                                     .where = proxy.origin.to_string()});
      }
      if (Value* exports = find(fields, "exports")) {
        exports->table()->insert_or_assign("address", *find(fields, "address"));
      }
    }
    return {};
  }

  /// The full type of a proxy plugin; empty if the release has none of that name.
  [[nodiscard]] std::string_view proxy_type(std::string_view type) const {
    struct Row {
      std::string_view name;
      std::string_view type;
      bool known;
    };
    const std::array rows = {Row{"snapshot", "io.containerd.snapshotter.v1", true},
                             Row{"content", "io.containerd.content.v1", true},
                             Row{"diff", "io.containerd.differ.v1", regime_.diff_proxies},
                             Row{"sandbox", "io.containerd.sandbox.controller.v1", regime_.sandbox_proxies}};
    for (const Row& row : rows) {
      if (row.known && (type == row.name || type == row.type)) return row.type;
    }
    return {};
  }

  /// Each plugin's section over its built-in values. 1.x prints decoded sections only, 2.x
  /// everything.
  Result<void> decode_plugins() {
    Table raw;
    if (Value* plugins = find(merged_, "plugins")) raw = std::move(*plugins->table());
    Table shown;
    const PathNode top{nullptr, "plugins"};
    for (const PluginType& plugin : schema_.plugins) {
      const std::string_view name = short_names() ? short_name(plugin.id) : plugin.id;
      if (names(merged_, "disabled_plugins", name)) continue;
      bool absent = false;
      auto slot = start_of(daemon_, plugin, absent);
      if (!slot) return std::unexpected(slot.error());
      if (absent) continue;
      const PathNode path{&top, name};
      if (const auto section = raw.find(name); section != raw.end()) {
        if (auto done = decode_section(plugin, section->second, *slot, path); !done) return done;
        raw.erase(section);
      }
      if (Slot out = printed(*plugin.type, *slot, regime_)) shown.emplace(plugin.id, *std::move(out));
    }
    for (auto& [id, section] : raw) {
      if (!one()) {
        shown.emplace(id, std::move(section));
      } else if (transcript_.wanted()) {
        transcript_.unread({&top, id}, section);
      }
    }
    plugins_ = std::move(shown);
    return {};
  }

  Result<void> decode_section(const PluginType& plugin, const Value& section, Slot& slot, const PathNode& path) {
    const std::size_t before = result_.diagnostics.size();
    const DecodeContext context{&regime_, &transcript_, &result_.diagnostics};
    if (auto done = decode(*plugin.type, section, slot, path, context); !done) return done;
    const bool twice = result_.diagnostics.size() != before;
    if (twice && regime_.crashes_on_second_decode && has_free_array_of_tables(*plugin.type, section)) {
      return std::unexpected(
          Error{.code = ErrorCode::daemon_crashes,
                .message = "containerd " + daemon_.known.release.to_string() +
                           " crashes on an array of tables in free-form options when the same section has a "
                           "key that nothing reads",
                .where = result_.diagnostics[before].origin.to_string(),
                .hint = "remove the key that nothing reads"});
    }
    return {};
  }

  void finish() {
    Value* timeouts = find(merged_, "timeouts");
    if (!timeouts) timeouts = &merged_.try_emplace("timeouts", Value{.data = Table{}}).first->second;
    for (const auto& [name, value] : built_in_timeouts_) {
      const auto [entry, fresh] = timeouts->table()->try_emplace(name, value);
      if (!fresh && entry->second.string()->empty()) entry->second = value;
    }
    Slot shown = Value{.data = merged_};
    (*shown->table())["version"].data = std::int64_t{regime_.schema_version};
    Slot top = printed(*schema_.top, shown, regime_);
    result_.config = std::move(*top->table());
    result_.config.insert_or_assign("plugins", Value{.data = std::move(plugins_)});
  }

  const Daemon& daemon_;
  const Regime& regime_;
  const Schema& schema_;
  const LoadRequest& request_;
  EffectiveConfig& result_;
  Transcript transcript_;
  Table merged_;  ///< the top-level struct so far, `plugins` raw
  Table built_in_timeouts_;
  Table plugins_;
  Origin version_origin_;
};

}  // namespace

Result<EffectiveConfig> effective(const Daemon& daemon,
                                  const FileReader& files,
                                  const LoadRequest& request,
                                  bool with_events) {
  EffectiveConfig result;
  if (auto done = Computation(daemon, request, result, with_events).run(files); !done) {
    return std::unexpected(done.error());
  }
  return result;
}

Table built_in_section(const Daemon& daemon, std::string_view plugin) {
  for (const PluginType& type : daemon.known.schema->plugins) {
    if (type.id != plugin) continue;
    bool absent = false;
    auto slot = start_of(daemon, type, absent);
    if (slot && *slot && (*slot)->table()) return std::move(*(*slot)->table());
  }
  return {};
}

}  // namespace ctkit::engine::containerd
