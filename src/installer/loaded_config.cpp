#include "installer/loaded_config.h"

#include <initializer_list>
#include <string_view>
#include <utility>

#include "engine/toml_reader.h"
#include "engine/value.h"
#include "installer/cri_message.h"

namespace ctkit::installer {

namespace {

using engine::Table;
using engine::Value;

const Table* table_at(const Table& document, std::initializer_list<std::string_view> keys) {
  const Table* table = &document;
  for (const std::string_view key : keys) {
    const Value* value = table ? engine::find(*table, key) : nullptr;
    table = value ? value->table() : nullptr;
  }
  return table;
}

std::string text_at(const Table* table, std::string_view key) {
  const Value* value = table ? engine::find(*table, key) : nullptr;
  return value && value->string() ? *value->string() : std::string();
}

std::vector<std::string> texts_at(const Table* table, std::string_view key) {
  std::vector<std::string> texts;
  const Value* value = table ? engine::find(*table, key) : nullptr;
  if (!value || !value->array()) return texts;
  for (const Value& item : *value->array()) {
    if (item.string()) texts.push_back(*item.string());
  }
  return texts;
}

}  // namespace

bool lacks_handlers(const LoadedState& state) {
  return !state.json.empty() && state.handlers.empty();
}

engine::Result<LoadedState> with_whole_config(LoadedState state, const std::string& toml) {
  const auto document = engine::read_toml(toml, "the daemon's configuration", engine::kBurntSushi16);
  if (!document) return std::unexpected(document.error().with_context("cannot read the daemon's configuration"));
  const Table* runtime = table_at(*document, {"crio", "runtime"});
  const Table* network = table_at(*document, {"crio", "network"});
  if (const Table* handlers = table_at(*document, {"crio", "runtime", "runtimes"})) {
    for (const auto& [name, value] : *handlers) {
      if (!value.table()) continue;
      state.handlers.push_back({.name = name,
                                .runtime_type = text_at(value.table(), "runtime_type"),
                                .binary_name = text_at(value.table(), "runtime_path")});
    }
  }
  state.default_handler = text_at(runtime, "default_runtime");
  state.sandbox_image = text_at(table_at(*document, {"crio", "image"}), "pause_image");
  state.cni_binary_folders = texts_at(network, "plugin_dirs");
  state.cni_config_folder = text_at(network, "network_dir");
  state.cdi_spec_folders = texts_at(runtime, "cdi_spec_dirs");
  state.json = toml;
  return state;
}

engine::Result<LoadedState> read_loaded(const std::string& text) {
  if (text.starts_with('{')) return make_loaded_state({.info = {{"config", text}}});
  return with_whole_config({}, text);
}

}  // namespace ctkit::installer
