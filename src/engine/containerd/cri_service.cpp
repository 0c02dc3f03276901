#include "engine/containerd/cri_service.h"

#include <algorithm>
#include <string>

#include "engine/containerd/duration.h"
#include "engine/containerd/migrate.h"

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
  const Value* runtime =
      runtimes && runtimes->table() ? find(*runtimes->table(), *name->string()) : nullptr;
  if (!runtime) {
    reasons.push_back("the default runtime '" + *name->string() + "' has no handler: the runtimes are those of " +
                      (runtimes ? runtimes->origin.to_string() : "no file"));
  }
}

/// 1.x: the old `default_runtime` table, where it names a type, is the default handler.
bool has_old_default(const Table& containerd) {
  const Table* runtime = table_at(containerd, {"default_runtime"});
  const Value* type = runtime ? find(*runtime, "runtime_type") : nullptr;
  return type && type->string() && !type->string()->empty();
}

/// 1.x: two keys of a handler belong to the oldest runtime only.
void judge_runtime_keys(const Table& containerd, std::vector<std::string>& reasons) {
  constexpr std::string_view kLinux = "io.containerd.runtime.v1.linux";
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
  const bool short_names =
      one && version && version->integer() && *version->integer() >= 0 && *version->integer() < 2;
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
      result.diagnostics.push_back({.severity = Severity::error,
                                    .message = "the daemon will not start: required plugin '" +
                                               *name.string() + "' is not in this release",
                                    .origin = name.origin});
    } else if (!result.not_serving.empty() && (name.string()->contains("cri"))) {
      result.diagnostics.push_back({.severity = Severity::error,
                                    .message = "the daemon will not start: required plugin '" +
                                               *name.string() + "' cannot load",
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
  if (result.not_serving.empty() && runtime) {
    if (const Table* containerd = table_at(*runtime, {"containerd"})) {
      if (!one || !has_old_default(*containerd)) judge_default_runtime(*containerd, result.not_serving);
      if (one) judge_runtime_keys(*containerd, result.not_serving);
    }
    if (!one) judge_cni(*runtime, result.not_serving);
  }
  if (result.not_serving.empty() && images) judge_registry(*images, result.not_serving);
  judge_required(known, merged, result);
  judge_timeouts(result);
}

}  // namespace ctkit::engine::containerd
