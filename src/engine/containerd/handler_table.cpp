#include "engine/containerd/handler_table.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "engine/containerd/handlers.h"

namespace ctkit::engine::containerd {

namespace {

constexpr std::string_view kRunc = "io.containerd.runc.v2";

bool is_desired(const Desired& desired, std::string_view name) {
  return std::ranges::any_of(desired.handlers, [&](const DesiredHandler& handler) { return handler.name == name; });
}

const Table* table_of(const Table& runtimes, std::string_view name) {
  const Value* value = find(runtimes, name);
  return value ? value->table() : nullptr;
}

void pass_annotations(const std::vector<std::string>& patterns, Table& table) {
  if (patterns.empty()) return;
  Array all;
  for (const std::string& pattern : patterns)
    all.push_back({.data = pattern});
  Value& passed = table["container_annotations"];
  if (const Array* inherited = passed.array()) {
    std::ranges::copy_if(*inherited, std::back_inserter(all), [&](const Value& one) {
      return !one.string() || std::ranges::find(patterns, *one.string()) == patterns.end();
    });
  }
  passed = {.data = std::move(all)};
}

}  // namespace

Table make_handler(const DesiredHandler& handler, const Table& parent) {
  std::string type = handler.type;
  if (type.empty()) {
    const Value* inherited = find(parent, "runtime_type");
    type =
        inherited && inherited->string() && !inherited->string()->empty() ? *inherited->string() : std::string(kRunc);
  }
  const Value runtime_type{.data = type};
  if (!is_runc_type({{"runtime_type", runtime_type}})) {
    Table table{{"runtime_type", runtime_type}, {"runtime_path", {.data = handler.binary}}};
    pass_annotations(handler.annotations, table);
    return table;
  }
  Table table = parent;
  table.insert_or_assign("runtime_type", runtime_type);
  Value& options = table["options"];
  if (!options.table()) options.data = Table{};
  for (const std::string& spelling : binary_name_spellings(*options.table())) {
    options.table()->erase(spelling);
  }
  options.table()->insert_or_assign("BinaryName", Value{.data = handler.binary});
  pass_annotations(handler.annotations, table);
  return table;
}

const Table* find_parent(const Table& runtimes, std::string_view default_name, const Desired& desired) {
  const Table* chosen = table_of(runtimes, default_name);
  if (chosen && !is_desired(desired, default_name) && is_runc_type(*chosen) && !is_stock_handler(*chosen)) {
    return chosen;
  }
  const Table* runc = table_of(runtimes, "runc");
  return runc && (is_runc_type(*runc) || !find(*runc, "runtime_type")) ? runc : nullptr;
}

}  // namespace ctkit::engine::containerd
