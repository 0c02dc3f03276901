#include "engine/containerd/handlers.h"

#include <algorithm>
#include <string>

#include "engine/containerd/migrate.h"
#include "engine/nvidia_runtime.h"

namespace ctkit::engine::containerd {

namespace {

const Table* below(const Table* table, std::string_view key) {
  const Value* value = table ? find(*table, key) : nullptr;
  return value ? value->table() : nullptr;
}

bool equal_ignoring_case(std::string_view left, std::string_view right) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(left, right, {}, lower, lower);
}

/// The value the shim would take: of several spellings the last in byte order.
const Value* binary_name(const Table& handler) {
  const Table* options = below(&handler, "options");
  if (!options) return nullptr;
  const Value* found = nullptr;
  for (const std::string& key : binary_name_spellings(*options))
    found = find(*options, key);
  return found;
}

}  // namespace

std::string_view runtimes_section(const Regime& regime) {
  return regime.decoding == Decoding::go_toml_1 ? kCri : kRuntime;
}

const Table* containerd_table(const EffectiveConfig& config, const Regime& regime) {
  return below(below(below(&config.config, "plugins"), runtimes_section(regime)), "containerd");
}

const Table* find_handler(const EffectiveConfig& config, const Regime& regime, std::string_view name) {
  return below(below(containerd_table(config, regime), "runtimes"), name);
}

std::vector<Handler> effective_handlers(const EffectiveConfig& config, const Regime& regime) {
  std::vector<Handler> handlers;
  const Table* runtimes = below(containerd_table(config, regime), "runtimes");
  if (!runtimes) return handlers;
  const std::string chosen = default_handler(config, regime);
  for (const auto& [name, value] : *runtimes) {
    if (!value.table()) continue;
    Handler handler{.name = name,
                    .key = {{"plugins", std::string(runtimes_section(regime)), "containerd", "runtimes", name}},
                    .is_default = name == chosen,
                    .origin = value.origin};
    if (const Value* binary = binary_name(*value.table()); binary && binary->string()) {
      handler.binary = *binary->string();
      if (!binary->origin.built_in()) handler.origin = binary->origin;
    }
    handlers.push_back(std::move(handler));
  }
  return handlers;
}

std::vector<std::string> binary_name_spellings(const Table& options) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : options) {
    if (equal_ignoring_case(key, "BinaryName")) keys.push_back(key);
  }
  return keys;
}

bool is_runc_type(const Table& handler) {
  const Value* type = find(handler, "runtime_type");
  if (!type || !type->string()) return false;
  return type->string()->starts_with("io.containerd.runc.") || *type->string() == "io.containerd.runtime.v1.linux";
}

std::string default_handler(const EffectiveConfig& config, const Regime& regime) {
  const Table* containerd = containerd_table(config, regime);
  const Value* name = containerd ? find(*containerd, "default_runtime_name") : nullptr;
  return name && name->string() ? *name->string() : "";
}

bool is_stock_handler(const Table& handler) {
  const Value* binary = binary_name(handler);
  return binary && binary->string() && is_nvidia_runtime(*binary->string());
}

}  // namespace ctkit::engine::containerd
