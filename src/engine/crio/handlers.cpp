#include "engine/crio/handlers.h"

#include "engine/crio/schema.h"
#include "engine/nvidia_runtime.h"

namespace ctkit::engine::crio {

namespace {

const Table* below(const Table* table, std::string_view key) {
  const Value* value = table ? find(*table, key) : nullptr;
  return value ? value->table() : nullptr;
}

}  // namespace

const Table* runtime_table(const Table& config) {
  return below(below(&config, "crio"), "runtime");
}

const Table* handlers_table(const Table& config) {
  return below(runtime_table(config), "runtimes");
}

std::string runtime_text(const Table& config, std::string_view key) {
  const Table* runtime = runtime_table(config);
  return runtime ? text_of(*runtime, key) : "";
}

std::string built_in_name(const Known& known) {
  for (const BuiltInHandler& handler : built_in_handlers()) {
    if (known.has(handler.releases)) return std::string(handler.name);
  }
  return "";
}

std::string default_handler(const EffectiveConfig& config, const Known& known) {
  std::string name = runtime_text(config.config, "default_runtime");
  return name.empty() ? built_in_name(known) : name;
}

std::string text_of(const Table& handler, std::string_view key) {
  const Value* value = find(handler, key);
  return value && value->string() ? *value->string() : "";
}

bool inherits_default(const Table& handler) {
  const Value* value = find(handler, "inherit_default_runtime");
  return value && value->boolean() && *value->boolean();
}

std::vector<Handler> effective_handlers(const EffectiveConfig& config, const Known& known) {
  std::vector<Handler> handlers;
  const Table* table = handlers_table(config.config);
  if (!table) return handlers;
  const std::string chosen = default_handler(config, known);
  const Table* default_table = below(table, chosen);
  for (const auto& [name, value] : *table) {
    if (!value.table()) continue;
    Handler handler{.name = name,
                    .key = {{"crio", "runtime", "runtimes", name}},
                    .is_default = name == chosen,
                    .origin = value.origin};
    const bool inherits = inherits_default(*value.table()) && default_table;
    const Table& source = inherits ? *default_table : *value.table();
    if (const Value* path = find(source, "runtime_path"); path && path->string()) {
      handler.binary = *path->string();
      if (!path->origin.built_in() && !inherits) handler.origin = path->origin;
    }
    if (inherits) handler.origin = find(*value.table(), "inherit_default_runtime")->origin;
    handlers.push_back(std::move(handler));
  }
  return handlers;
}

bool is_stock_handler(const Table& handler) {
  return is_nvidia_runtime(text_of(handler, "runtime_path"));
}

}  // namespace ctkit::engine::crio
