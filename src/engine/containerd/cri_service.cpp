#include "engine/containerd/cri_service.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/containerd/migrate.h"
#include "engine/go_duration.h"

namespace ctkit::engine::containerd {

namespace {

const Table* table_at(const Table& table, std::initializer_list<std::string_view> keys) {
  const Table* at = &table;
  for (const std::string_view key : keys) {
    const Value* value = find(*at, key);
    at = value ? value->table() : nullptr;
    if (!at) return nullptr;
  }
  return at;
}

/// Where `key` was written, as a suffix for a reason.
std::string written(const Value* value) {
  return value && !value->origin.built_in() ? " (" + value->origin.to_string() + ")" : "";
}

void judge_default_runtime(const Table& containerd, std::vector<std::string>& reasons) {
  const Value* name = find(containerd, "default_runtime_name");
  if (!name || !name->string()) return;
  if (name->string()->empty()) {
    reasons.push_back("default_runtime_name is empty" + written(name));
    return;
  }
  const Value* runtimes = find(containerd, "runtimes");
  const Value* runtime = runtimes && runtimes->table() ? find(*runtimes->table(), *name->string()) : nullptr;
  if (!runtime) {
    reasons.push_back("the default runtime '" + *name->string() + "' has no handler: the runtimes are those of " +
                      (runtimes ? runtimes->origin.to_string() : "no file"));
  }
}

std::string_view text_at(const Table& table, std::string_view key) {
  const Value* value = find(table, key);
  return value && value->string() ? std::string_view(*value->string()) : std::string_view();
}

bool is_true(const Value* value) {
  return value && value->boolean() && *value->boolean();
}

/// 1.x: an old handler table of its own, `default_runtime` or `untrusted_workload_runtime`, counts
/// where it names a type.
bool has_old_handler(const Table& containerd, std::string_view name) {
  const Table* runtime = table_at(containerd, {name});
  return runtime && !text_at(*runtime, "runtime_type").empty();
}

bool has_old_default(const Table& containerd) {
  return has_old_handler(containerd, "default_runtime") ||
         (text_at(containerd, "default_runtime_name") == "untrusted" &&
          has_old_handler(containerd, "untrusted_workload_runtime"));
}

void judge_untrusted(const Table& containerd, std::vector<std::string>& reasons) {
  const Table* runtimes = table_at(containerd, {"runtimes"});
  const Value* named = runtimes ? find(*runtimes, "untrusted") : nullptr;
  if (!named || !has_old_handler(containerd, "untrusted_workload_runtime")) return;
  reasons.push_back("untrusted_workload_runtime" + written(find(containerd, "untrusted_workload_runtime")) +
                    " and the runtime 'untrusted'" + written(named) + " are the same handler twice");
}

constexpr std::string_view kLinux = "io.containerd.runtime.v1.linux";

/// 1.x: two switches that the oldest runtime alone knows.
void judge_old_switches(const Table& section, const Table& containerd, std::vector<std::string>& reasons) {
  const Table* runtime = table_at(containerd, {"runtimes", text_at(containerd, "default_runtime_name")});
  if (runtime && text_at(*runtime, "runtime_type") == kLinux) return;
  for (const auto& [table, key] : {std::pair(&section, "systemd_cgroup"), std::pair(&containerd, "no_pivot")}) {
    const Value* value = find(*table, key);
    if (!is_true(value)) continue;
    reasons.push_back(std::string(key) + written(value) + " needs a default runtime of the type " +
                      std::string(kLinux));
  }
}

/// 1.x: an unknown snapshotter. 2.x finds out only when an image is unpacked.
void judge_snapshotter(const Known& known,
                       const Table& merged,
                       const Table& containerd,
                       std::vector<std::string>& reasons) {
  const std::string name(text_at(containerd, "snapshotter"));
  const Table* proxies = table_at(merged, {"proxy_plugins"});
  const bool is_proxy = proxies && proxies->contains(name);
  if (is_proxy || std::ranges::binary_search(known.schema->plugin_ids, "io.containerd.snapshotter.v1." + name)) return;
  reasons.push_back("there is no snapshotter '" + name + "'" + written(find(containerd, "snapshotter")));
}

/// containerd internal/cri/config ValidateRuntimeConfig, 1.7 pkg/cri/config ValidatePluginConfig.
void judge_runtimes(const Table& containerd, std::vector<std::string>& reasons) {
  const Table* runtimes = table_at(containerd, {"runtimes"});
  if (!runtimes) return;
  for (const auto& [name, runtime] : *runtimes) {
    const Table* keys = runtime.table();
    if (!keys) continue;
    const Value* all = find(*keys, "privileged_without_host_devices_all_devices_allowed");
    if (is_true(all) && !is_true(find(*keys, "privileged_without_host_devices"))) {
      reasons.push_back("privileged_without_host_devices_all_devices_allowed of runtime '" + name + "'" + written(all) +
                        " needs privileged_without_host_devices");
    }
    const std::string_view io = text_at(*keys, "io_type");
    if (!io.empty() && io != "streaming" && io != "named_pipe") {
      reasons.push_back("io_type of runtime '" + name + "'" + written(find(*keys, "io_type")) +
                        " is neither \"streaming\" nor \"named_pipe\"");
    }
  }
}

/// Durations that are text to the decoder: an empty one is none.
void judge_durations(const Table& section, std::vector<std::string>& reasons) {
  for (const std::string_view key :
       {"stream_idle_timeout", "drain_exec_sync_io_timeout", "image_pull_progress_timeout"}) {
    const std::string_view text = text_at(section, key);
    if (text.empty() || parse_duration(text)) continue;
    reasons.push_back(std::string(key) + " = '" + std::string(text) + "'" + written(find(section, key)) +
                      " is no duration");
  }
}

/// Key and certificate of the stream server without the switch that turns them on.
void judge_streaming(const Table& section, std::vector<std::string>& reasons) {
  const Table* pair = table_at(section, {"x509_key_pair_streaming"});
  if (!pair || is_true(find(section, "enable_tls_streaming"))) return;
  for (const std::string_view key : {"tls_cert_file", "tls_key_file"}) {
    if (text_at(*pair, key).empty()) continue;
    reasons.push_back("x509_key_pair_streaming." + std::string(key) + written(find(*pair, key)) +
                      " needs enable_tls_streaming");
  }
}

/// 1.x: two keys of a handler belong to the oldest runtime only.
void judge_runtime_keys(const Table& containerd, std::vector<std::string>& reasons) {
  const Table* runtimes = table_at(containerd, {"runtimes"});
  if (!runtimes) return;
  for (const auto& [name, runtime] : *runtimes) {
    if (!runtime.table()) continue;
    const Value* type = find(*runtime.table(), "runtime_type");
    if (type && type->string() && *type->string() == kLinux) continue;
    for (const std::string_view key : {"runtime_engine", "runtime_root"}) {
      const Value* value = find(*runtime.table(), key);
      if (!value || !value->string() || value->string()->empty()) continue;
      reasons.push_back(std::string(key) + " of runtime '" + name + "'" + written(value) + " needs the runtime type " +
                        std::string(kLinux));
    }
  }
}

void judge_registry(const Table& section, std::vector<std::string>& reasons) {
  const Table* registry = table_at(section, {"registry"});
  if (!registry) return;
  const Value* path = find(*registry, "config_path");
  const Value* mirrors = find(*registry, "mirrors");
  const bool has_mirrors = mirrors && mirrors->table() && !mirrors->table()->empty();
  if (path && path->string() && !path->string()->empty() && has_mirrors) {
    reasons.push_back("registry.mirrors" + written(mirrors) + " and registry.config_path" + written(path) +
                      " exclude each other");
  }
  const Table* configs = table_at(*registry, {"configs"});
  if (!configs || text_at(*registry, "config_path").empty()) return;
  for (const auto& [host, config] : *configs) {
    const Value* tls = config.table() ? find(*config.table(), "tls") : nullptr;
    if (!tls || !tls->table()) continue;
    reasons.push_back("registry.configs.\"" + host + "\".tls" + written(tls) + " and registry.config_path" +
                      written(path) + " exclude each other");
  }
}

void judge_cni(const Table& section, std::vector<std::string>& reasons) {
  const Table* cni = table_at(section, {"cni"});
  if (!cni) return;
  const Value* dir = find(*cni, "bin_dir");
  const Value* dirs = find(*cni, "bin_dirs");
  if (!dir || !dirs || !dir->string() || dir->string()->empty() || dirs->origin.built_in()) return;
  reasons.push_back("cni.bin_dir" + written(dir) + " and cni.bin_dirs" + written(dirs) + " exclude each other");
}

void judge_disabled(const Known& known, const Table& merged, std::vector<std::string>& reasons) {
  const Value* disabled = find(merged, "disabled_plugins");
  const Value* version = find(merged, "version");
  if (!disabled || !disabled->array()) return;
  const bool one = known.regime.decoding == Decoding::go_toml_1;
  const bool short_names = one && version && version->integer() && *version->integer() >= 0 && *version->integer() < 2;
  for (const Value& name : *disabled->array()) {
    if (!name.string()) continue;
    const bool is_cri = *name.string() == (short_names ? "cri" : kCri) ||
                        (!one && (*name.string() == kRuntime || *name.string() == kImages));
    if (is_cri) reasons.push_back("disabled_plugins names '" + *name.string() + "'" + written(&name));
  }
}

void judge_required(const Known& known, const Table& merged, EffectiveConfig& result) {
  const Value* required = find(merged, "required_plugins");
  if (!required || !required->array()) return;
  for (const Value& name : *required->array()) {
    if (!name.string()) continue;
    const bool registered = std::ranges::any_of(known.schema->plugin_ids, [&](std::string_view id) {
      return id == *name.string() || id.ends_with("." + *name.string());
    });
    if (!registered) {
      result.diagnostics.push_back(
          {.severity = Severity::error,
           .message = "the daemon will not start: required plugin '" + *name.string() + "' is not in this release",
           .origin = name.origin});
    } else if (!result.not_serving.empty() && (name.string()->contains("cri"))) {
      result.diagnostics.push_back(
          {.severity = Severity::error,
           .message = "the daemon will not start: required plugin '" + *name.string() + "' cannot load",
           .origin = name.origin,
           .hint = result.not_serving.front()});
    }
  }
}

void judge_timeouts(EffectiveConfig& result) {
  const Table* timeouts = table_at(result.config, {"timeouts"});
  if (!timeouts) return;
  for (const auto& [name, value] : *timeouts) {
    if (!value.string() || parse_duration(*value.string())) continue;
    result.diagnostics.push_back(
        {.severity = Severity::error,
         .message = "the daemon will not start: timeout '" + name + "' is no duration: '" + *value.string() + "'",
         .origin = value.origin,
         .hint = "a number with a unit, such as \"10s\""});
  }
}

}  // namespace

void judge_cri_service(const Known& known, const Table& merged, EffectiveConfig& result) {
  judge_disabled(known, merged, result.not_serving);
  const bool one = known.regime.decoding == Decoding::go_toml_1;
  const Table* runtime = table_at(result.config, {"plugins", one ? kCri : kRuntime});
  const Table* images = table_at(result.config, {"plugins", one ? kCri : kImages});
  if (!result.not_serving.empty()) runtime = images = nullptr;
  if (runtime) {
    if (const Table* containerd = table_at(*runtime, {"containerd"})) {
      if (!one || !has_old_default(*containerd)) judge_default_runtime(*containerd, result.not_serving);
      if (one) {
        judge_untrusted(*containerd, result.not_serving);
        judge_old_switches(*runtime, *containerd, result.not_serving);
        judge_runtime_keys(*containerd, result.not_serving);
        judge_snapshotter(known, merged, *containerd, result.not_serving);
      }
      judge_runtimes(*containerd, result.not_serving);
    }
    judge_durations(*runtime, result.not_serving);
    if (!one) judge_cni(*runtime, result.not_serving);
  }
  if (images) {
    if (!one) judge_durations(*images, result.not_serving);
    judge_registry(*images, result.not_serving);
  }
  const Table* streaming = table_at(result.config, {"plugins", kCri});
  if (streaming && result.not_serving.empty()) {
    if (!one) judge_durations(*streaming, result.not_serving);
    judge_streaming(*streaming, result.not_serving);
  }
  judge_required(known, merged, result);
  judge_timeouts(result);
}

}  // namespace ctkit::engine::containerd
