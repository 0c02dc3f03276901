#include "engine/containerd/build_types.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/containerd/schema.h"

namespace ctkit::engine::containerd {

namespace {

/// A schema of one build and the arrays it points into.
struct BuildTypes {
  Schema schema = {};
  std::deque<std::vector<Type>> fields;
  std::deque<Type> types;
  std::vector<PluginType> plugins;
  std::vector<std::string_view> plugin_ids;
};

Kind kind_of(const Value& value) {
  if (value.boolean()) return Kind::boolean;
  if (value.integer()) return Kind::integer;
  if (std::holds_alternative<double>(value.data)) return Kind::floating;
  if (value.string()) return Kind::string;
  if (value.array()) return Kind::array;
  if (const Table* table = value.table()) return table->empty() ? Kind::map : Kind::table;
  return Kind::any;
}

class Fitter {
 public:
  Fitter(BuildTypes& build, const Regime& regime) : build_(build), regime_(regime) {}

  /// The recorded type as this build has it, judged by what it prints.
  Type fit(const Type& recorded, const Value& printed) {
    Type type = recorded;
    const Table* table = printed.table();
    if (!table) return type;
    if (type.kind == Kind::table) {
      type = fit_struct(recorded, *table);
    } else if (type.kind == Kind::map && type.element->kind == Kind::table) {
      if (const Value* entry = any_table(*table)) {
        build_.types.push_back(fit(*type.element, *entry));
        type.element = &build_.types.back();
      }
    }
    return type;
  }

  /// Types keep views of the keys of `printed`.
  Type fit_struct(const Type& recorded, const Table& printed) {
    Type type = recorded;
    type.fields = fit_fields(recorded, printed);
    return type;
  }

  /// A type for a key that no record has.
  Type guess(std::string_view name, const Value& printed) {
    static constexpr Type kAnything{.kind = Kind::any};
    Type type{.name = name, .kind = kind_of(printed)};
    if (type.kind == Kind::array || type.kind == Kind::map) type.element = &kAnything;
    if (type.kind == Kind::table) {
      std::vector<Type> fields;
      for (const auto& [key, value] : *printed.table())
        fields.push_back(guess(key, value));
      type.fields = keep(std::move(fields));
    }
    return type;
  }

 private:
  std::span<const Type> fit_fields(const Type& recorded, const Table& printed) {
    std::vector<Type> fields;
    for (const Type& field : recorded.fields) {
      const Value* value = find(printed, field.name);
      if (value) {
        fields.push_back(fit(field, *value));
      } else if (!always_printed(field)) {
        fields.push_back(field);
      }
    }
    for (const auto& [key, value] : printed) {
      if (std::ranges::find(recorded.fields, key, &Type::name) == recorded.fields.end()) {
        fields.push_back(guess(key, value));
      }
    }
    return keep(std::move(fields));
  }

  [[nodiscard]] bool always_printed(const Type& type) const {
    if (type.pointer || type.omit_empty) return false;
    return type.kind != Kind::any && (type.kind != Kind::map || regime_.decoding == Decoding::go_toml_1);
  }

  static const Value* any_table(const Table& table) {
    for (const auto& [key, value] : table) {
      if (value.table()) return &value;
    }
    return nullptr;
  }

  std::span<const Type> keep(std::vector<Type> fields) {
    build_.fields.push_back(std::move(fields));
    return build_.fields.back();
  }

  BuildTypes& build_;
  const Regime& regime_;
};

}  // namespace

Daemon make_daemon(Known known, Table defaults) {
  Daemon daemon{.known = std::move(known), .defaults = std::make_shared<const Table>(std::move(defaults))};
  const Schema& recorded = *daemon.known.schema;
  auto build = std::make_shared<BuildTypes>();
  Fitter fitter(*build, daemon.known.regime);
  build->schema = recorded;
  build->types.push_back(fitter.fit_struct(*recorded.top, *daemon.defaults));
  build->schema.top = &build->types.back();
  const Value* plugins = find(*daemon.defaults, "plugins");
  const Table* sections = plugins ? plugins->table() : nullptr;
  std::vector<std::string_view> ids(recorded.plugin_ids.begin(), recorded.plugin_ids.end());
  for (const PluginType& plugin : recorded.plugins) {
    const Value* section = sections ? find(*sections, plugin.id) : nullptr;
    if (!section) continue;
    build->types.push_back(fitter.fit(*plugin.type, *section));
    build->plugins.push_back({plugin.id, &build->types.back()});
  }
  if (sections) {
    for (const auto& [id, section] : *sections) {
      if (std::ranges::find(recorded.plugins, id, &PluginType::id) != recorded.plugins.end()) continue;
      if (!section.table()) continue;
      Type type = fitter.guess("", section);
      type.kind = Kind::table;
      build->types.push_back(type);
      build->plugins.push_back({id, &build->types.back()});
      if (!std::ranges::binary_search(ids, id)) ids.insert(std::ranges::lower_bound(ids, id), id);
    }
  }
  build->plugin_ids = std::move(ids);
  build->schema.plugins = build->plugins;
  build->schema.plugin_ids = build->plugin_ids;
  daemon.known.schema = &build->schema;
  daemon.types = std::move(build);
  return daemon;
}

}  // namespace ctkit::engine::containerd
