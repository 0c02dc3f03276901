#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "engine/containerd/migrate.h"

namespace ctkit::engine::containerd {

namespace {

std::string text_of(const Table& table, std::string_view key) {
  const Value* value = find(table, key);
  return value && value->string() ? *value->string() : std::string();
}

bool is_set(const Table& table, std::string_view key) {
  const Value* value = find(table, key);
  if (!value) return false;
  if (const auto* number = value->integer()) return *number != 0;
  if (const auto* text = value->string()) return !text->empty();
  if (const auto* flag = value->boolean()) return *flag;
  return false;
}

/// Back to the type's zero, as assigning a fresh struct does.
void clear(Table& table, std::string_view key) {
  Value* value = find(table, key);
  if (!value) return;
  if (value->integer()) {
    *value = {.data = std::int64_t{0}};
  } else if (value->string()) {
    *value = {.data = std::string()};
  } else if (value->boolean()) {
    *value = {.data = false};
  }
}

Table* server_table(Table& config, std::string_view key) {
  Value* value = find(config, key);
  return value ? value->table() : nullptr;
}

/// The server tables of one config on their way to plugin sections.
class ServerTables {
 public:
  ServerTables(Table& config, const MigrationContext& context) : plugins_(plugins_of(config)), context_(context) {}

  void debug(Table& table) {
    if (text_of(table, "address").empty() || has("io.containerd.server.v1.debug")) return;
    Value section = start(table, "address");
    for (const std::string_view key : {"address", "uid", "gid"}) {
      copy(table, key, section, key, "debug", "io.containerd.server.v1.debug");
      clear(table, key);
    }
    plugins_.emplace("io.containerd.server.v1.debug", std::move(section));
  }

  void grpc(Table& table) {
    const bool local = std::ranges::any_of(
        std::array<std::string_view, 5>{"address", "uid", "gid", "max_recv_message_size", "max_send_message_size"},
        [&](std::string_view key) { return is_set(table, key); });
    const bool tcp = is_set(table, "tcp_address");
    if (local && !has("io.containerd.server.v1.grpc")) {
      Value section = start(table, first_set(table));
      const bool whole = is_set(table, "address");
      for (const std::string_view key : {"address", "uid", "gid"}) {
        if (whole || is_set(table, key)) {
          copy(table, key, section, key, "grpc", "io.containerd.server.v1.grpc");
        }
      }
      sizes(table, section, "io.containerd.server.v1.grpc");
      plugins_.emplace("io.containerd.server.v1.grpc", std::move(section));
    }
    if (tcp && !has("io.containerd.server.v1.grpc-tcp")) {
      Value section = start(table, "tcp_address");
      constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kNames = {
          {{"tcp_address", "address"},
           {"tcp_tls_ca", "tls_ca"},
           {"tcp_tls_cert", "tls_cert"},
           {"tcp_tls_key", "tls_key"},
           {"tcp_tls_common_name", "tls_common_name"}}};
      for (const auto& [key, to] : kNames) {
        if (is_set(table, key)) {
          copy(table, key, section, to, "grpc", "io.containerd.server.v1.grpc-tcp");
        }
      }
      sizes(table, section, "io.containerd.server.v1.grpc-tcp");
      plugins_.emplace("io.containerd.server.v1.grpc-tcp", std::move(section));
    }
    if (!local && !tcp) return;
    for (auto& [key, value] : table)
      clear(table, key);
  }

  /// `grpc` as it was before it was cleared: an unset address is derived from it.
  void ttrpc(Table& table, const Table& grpc) {
    if (has("io.containerd.server.v1.ttrpc")) return;
    Table source = table;
    if (!is_set(table, "address") && is_set(grpc, "address")) {
      source["address"] = *find(grpc, "address");
      source["address"].data = text_of(grpc, "address") + ".ttrpc";
      for (const std::string_view key : {"uid", "gid"}) {
        if (!is_set(table, key) && grpc.contains(key)) source[std::string(key)] = *find(grpc, key);
      }
    }
    if (!is_set(source, "address") && !is_set(source, "uid") && !is_set(source, "gid")) return;
    Value section = start(source, first_set(source));
    for (const std::string_view key : {"address", "uid", "gid"}) {
      copy(source, key, section, key, "ttrpc", "io.containerd.server.v1.ttrpc");
      clear(table, key);
    }
    plugins_.emplace("io.containerd.server.v1.ttrpc", std::move(section));
  }

  void metrics(Table& table) {
    constexpr std::string_view kPrometheus = "io.containerd.metrics.v1.grpc-prometheus";
    if (is_set(table, "grpc_histogram") && !has(kPrometheus)) {
      Value section = start(table, "grpc_histogram");
      copy(table, "grpc_histogram", section, "grpc_histogram", "metrics", kPrometheus);
      clear(table, "grpc_histogram");
      plugins_.emplace(kPrometheus, std::move(section));
    }
    if (is_set(table, "address") && !has("io.containerd.server.v1.metrics")) {
      Value section = start(table, "address");
      copy(table, "address", section, "address", "metrics", "io.containerd.server.v1.metrics");
      clear(table, "address");
      plugins_.emplace("io.containerd.server.v1.metrics", std::move(section));
    }
  }

 private:
  static Table& plugins_of(Table& config) {
    Value& plugins = config.try_emplace("plugins", Value{.data = Table{}}).first->second;
    return *plugins.table();
  }

  [[nodiscard]] bool has(std::string_view plugin) const { return plugins_.contains(plugin); }

  static Value start(const Table& table, std::string_view key) {
    const Value* value = find(table, key);
    return {.data = Table{}, .origin = value ? value->origin : Origin{}};
  }

  static std::string_view first_set(const Table& table) {
    for (const auto& [key, value] : table) {
      if (is_set(table, key)) return key;
    }
    return "address";
  }

  void copy(const Table& from,
            std::string_view key,
            Value& section,
            std::string_view to,
            std::string_view top,
            std::string_view plugin) const {
    const Value* value = find(from, key);
    if (!value) return;
    if (context_.transcript->wanted() && !value->origin.built_in()) {
      context_.transcript->moved(
          {{std::string(top), std::string(key)}}, *value, {{"plugins", std::string(plugin), std::string(to)}});
    }
    section.table()->emplace(to, *value);
  }

  void sizes(const Table& table, Value& section, std::string_view plugin) const {
    for (const std::string_view key : {"max_recv_message_size", "max_send_message_size"}) {
      if (is_set(table, key)) copy(table, key, section, key, "grpc", plugin);
    }
  }

  Table& plugins_;
  const MigrationContext& context_;
};

}  // namespace

void move_server_tables(Table& config, const MigrationContext& context) {
  Table* debug = server_table(config, "debug");
  Table* grpc = server_table(config, "grpc");
  Table* ttrpc = server_table(config, "ttrpc");
  Table* metrics = server_table(config, "metrics");
  ServerTables tables(config, context);
  if (debug) tables.debug(*debug);
  const Table grpc_before = grpc ? *grpc : Table{};
  if (grpc) tables.grpc(*grpc);
  if (ttrpc) tables.ttrpc(*ttrpc, grpc_before);
  if (metrics) tables.metrics(*metrics);
}

}  // namespace ctkit::engine::containerd
