#include "engine/crio/effective.h"

#include <algorithm>
#include <string>
#include <utility>

#include "engine/crio/decode.h"
#include "engine/crio/start_checks.h"
#include "engine/transcript.h"

namespace ctkit::engine::crio {

namespace {

constexpr std::string_view kRunc = "runc";

Value* at(Table& config, std::initializer_list<std::string_view> keys) {
  Table* table = &config;
  Value* value = nullptr;
  for (const std::string_view key : keys) {
    value = table ? find(*table, key) : nullptr;
    if (!value) return nullptr;
    table = value->table();
  }
  return value;
}

/// The last of equal strings stays (pkg/config: removeDupStorageOpts).
Array without_earlier_duplicates(Array list) {
  for (std::size_t i = list.size(); i-- > 0;) {
    const Value kept = list[i];
    const auto end = list.begin() + static_cast<std::ptrdiff_t>(i);
    const auto gone = std::remove(list.begin(), end, kept);
    i -= static_cast<std::size_t>(end - gone);
    list.erase(gone, end);
  }
  return list;
}

/// Lays the files over the built-in values one by one (pkg/config: UpdateFromDropInFile).
class Computation {
 public:
  Computation(const Known& known, EffectiveConfig& result, bool with_events)
      : known_(known), result_(result), transcript_(with_events ? &result.events : nullptr) {}

  Result<void> run(std::vector<Layer> layers, const std::vector<Table>& given) {
    result_.diagnostics = known_.diagnostics;
    result_.config = built_in(known_);
    for (const Layer& layer : layers) {
      const Kept before = kept();
      const DecodeContext context{&known_, &transcript_, &result_.diagnostics};
      if (auto done = decode(document(), layer.table, result_.config, {}, context); !done) return done;
      keep(before);
      drop_runc(layer);
    }
    for (const Table& document_of_one : given) {
      const DecodeContext context{&known_, &transcript_, &result_.diagnostics};
      if (auto done = decode(document(), document_of_one, result_.config, {}, context); !done) return done;
    }
    result_.layers = std::move(layers);
    return {};
  }

 private:
  /// Values of the storage keys, which a file does not simply replace.
  struct Kept {
    std::vector<std::pair<std::string_view, Value>> unless_empty = {};
    Array options = {};
  };

  Kept kept() {
    Kept values;
    for (const std::string_view key : {"root", "runroot", "storage_driver"}) {
      if (const Value* value = at(result_.config, {"crio", key})) values.unless_empty.emplace_back(key, *value);
    }
    const Value* options = at(result_.config, {"crio", "storage_option"});
    if (options && options->array()) values.options = *options->array();
    return values;
  }

  /// An empty storage path or driver leaves the earlier one; storage options add up.
  void keep(const Kept& before) {
    for (const auto& [key, value] : before.unless_empty) {
      Value* now = at(result_.config, {"crio", key});
      if (now && now->string() && now->string()->empty()) *now = value;
    }
    Value* options = at(result_.config, {"crio", "storage_option"});
    if (!options || !options->array()) return;
    Array all = before.options;
    const Array& own = *options->array();
    all.insert(all.end(), own.begin(), own.end());
    options->data = without_earlier_duplicates(std::move(all));
  }

  /// Up to 1.25.0. The library's question whether a file defines a key knows one spelling only.
  void drop_runc(const Layer& layer) {
    if (!known_.regime.drops_runc) return;
    Table file = layer.table;
    const Value* named = at(file, {"crio", "runtime", "default_runtime"});
    const Value* chosen = at(result_.config, {"crio", "runtime", "default_runtime"});
    if (!named || !chosen || !chosen->string() || *chosen->string() == kRunc) return;
    Value* handlers = at(result_.config, {"crio", "runtime", "runtimes"});
    if (!handlers || !handlers->table()) return;
    const auto runc = handlers->table()->find(kRunc);
    if (runc == handlers->table()->end()) return;
    const PathNode top;
    const PathNode crio{&top, "crio"};
    const PathNode runtime{&crio, "runtime"};
    const PathNode runtimes{&runtime, "runtimes"};
    transcript_.erased({&runtimes, kRunc}, runc->second, named->origin);
    handlers->table()->erase(runc);
  }

  const Known& known_;
  EffectiveConfig& result_;
  Transcript transcript_;
};

}  // namespace

Result<EffectiveConfig> effective(const Known& known,
                                  const LoadRequest& request,
                                  const FileReader& files,
                                  bool with_events) {
  auto layers = load(files, request, known);
  if (!layers) return std::unexpected(layers.error());
  EffectiveConfig result;
  if (auto done = Computation(known, result, with_events).run(*std::move(layers), request.values); !done)
    return std::unexpected(done.error());
  for (StartProblem& problem : start_problems(known, result, files)) {
    if (!problem.fatal && !problem.handler.empty()) result.left_out.push_back(problem.handler);
    if (problem.fatal) {
      result.not_serving.push_back(std::move(problem.message));
    } else {
      result.diagnostics.push_back({.message = std::move(problem.message),
                                    .origin = std::move(problem.origin),
                                    .hint = std::move(problem.hint)});
    }
  }
  return result;
}

}  // namespace ctkit::engine::crio
