#include "installer/report_json.h"

#include <array>
#include <cassert>
#include <utility>

#include <nlohmann/json.hpp>

#include "installer/redact.h"
#include "installer/report_lint.h"
#include "installer/report_node.h"
#include "installer/report_preflight.h"
#include "installer/value_json.h"

namespace ctkit::installer {

namespace {

using installer::to_json;
using nlohmann::ordered_json;

void add_origins(ordered_json& list, const engine::KeyPath& path, const engine::Value& value) {
  if (const engine::Table* table = value.table(); table && !table->empty()) {
    for (const auto& [key, child] : *table)
      add_origins(list, path.child(key), child);
    return;
  }
  list.push_back({{"key", path.to_string()}, {"origin", to_json(value.origin)}});
}

ordered_json to_json(const engine::Diagnostics& diagnostics) {
  ordered_json list = ordered_json::array();
  for (const engine::Diagnostic& item : diagnostics) {
    const char* severity = item.severity == engine::Severity::error     ? "error"
                           : item.severity == engine::Severity::warning ? "warning"
                                                                        : "note";
    list.push_back({{"severity", severity},
                    {"message", item.message},
                    {"origin", to_json(item.origin)},
                    {"hint", item.hint.empty() ? ordered_json(nullptr) : ordered_json(item.hint)}});
  }
  return list;
}

ordered_json with_origins(const engine::EffectiveConfig& config) {
  ordered_json origins = ordered_json::array();
  for (const auto& [key, value] : config.config)
    add_origins(origins, {{key}}, value);
  return {{"schema", "ctkit/v1/effective"},
          {"config", to_json(config.config)},
          {"origins", std::move(origins)},
          {"diagnostics", to_json(config.diagnostics)}};
}

ordered_json to_json(const engine::Event& event) {
  constexpr auto kKinds = std::to_array({"overridden", "erased", "moved", "unread"});
  return {
      {"kind", kKinds.at(static_cast<std::size_t>(event.kind))},
      {"key", event.key.to_string()},
      {"value", shown_value(event.key, event.value)},
      {"origin", to_json(event.value.origin)},
      {"by", to_json(event.by)},
      {"to", event.kind == engine::Event::Kind::moved ? ordered_json(event.to.to_string()) : ordered_json(nullptr)}};
}

ordered_json to_json(const std::vector<engine::Handler>& handlers) {
  ordered_json list = ordered_json::array();
  for (const engine::Handler& handler : handlers) {
    list.push_back({{"name", handler.name},
                    {"key", handler.key.to_string()},
                    {"binary", handler.binary.empty() ? ordered_json(nullptr) : ordered_json(handler.binary)},
                    {"default", handler.is_default},
                    {"origin", to_json(handler.origin)}});
  }
  return list;
}

ordered_json layers(const engine::EffectiveConfig& config) {
  ordered_json list = ordered_json::array();
  for (const engine::Layer& layer : config.layers) {
    list.push_back(
        {{"path", layer.path},
         {"version", layer.schema_version <= 0 ? ordered_json(nullptr) : ordered_json(layer.schema_version)}});
  }
  return list;
}

ordered_json explain_json(const Outcome& outcome) {
  ordered_json keys = ordered_json::array();
  for (const Explanation& item : outcome.explanations) {
    ordered_json effective = ordered_json::array();
    for (const Winner& winner : item.winners) {
      effective.push_back({{"key", winner.key.to_string()},
                           {"value", shown_value(winner.key, *winner.value)},
                           {"origin", to_json(winner.value->origin)}});
    }
    ordered_json events = ordered_json::array();
    for (const engine::Event* event : item.events)
      events.push_back(to_json(*event));
    keys.push_back(
        {{"asked", item.asked.to_string()}, {"effective", std::move(effective)}, {"events", std::move(events)}});
  }
  ordered_json gone = ordered_json::array();
  for (const engine::Event* event : lost(*outcome.effective))
    gone.push_back(to_json(*event));
  return {{"schema", "ctkit/v1/explain"},
          {"keys", std::move(keys)},
          {"layers", layers(*outcome.effective)},
          {"handlers", to_json(outcome.handlers)},
          {"lost", std::move(gone)},
          {"not_serving", outcome.effective->not_serving},
          {"diagnostics", to_json(outcome.effective->diagnostics)}};
}

ordered_json to_json(const EffectiveChange& change) {
  const auto value = [&](const std::optional<engine::Value>& item) {
    return item ? shown_value(change.key, *item) : ordered_json(nullptr);
  };
  return {{"key", change.key.to_string()}, {"before", value(change.before)}, {"after", value(change.after)}};
}

ordered_json plan_json(const Plan& plan, std::string_view schema) {
  ordered_json files = ordered_json::array();
  for (const engine::FileChange& file : plan.files) {
    const auto text = [](const std::optional<std::string>& content) {
      return content ? ordered_json(redact_lines(*content)) : ordered_json(nullptr);
    };
    files.push_back({{"path", file.path}, {"before", text(file.before)}, {"after", text(file.after)}});
  }
  ordered_json changes = ordered_json::array();
  ordered_json restored = ordered_json::array();
  for (const EffectiveChange& change : plan.changes) {
    ordered_json item = to_json(change);
    if (!change.restored) {
      changes.push_back(std::move(item));
      continue;
    }
    item["author"] = to_json(change.author);
    restored.push_back(std::move(item));
  }
  ordered_json outlook = ordered_json::array();
  for (const Outlook& item : plan.outlook) {
    outlook.push_back({{"engine", item.engine},
                       {"holds", item.holds},
                       {"reason", item.reason.empty() ? ordered_json(nullptr) : ordered_json(item.reason)}});
  }
  return {{"schema", schema},
          {"engine", plan.engine},
          {"files", std::move(files)},
          {"changes", std::move(changes)},
          {"restored", std::move(restored)},
          {"handlers", to_json(plan.handlers)},
          {"restart", plan.restart_due()},
          {"approach", plan.approach},
          {"outlook", std::move(outlook)},
          {"diagnostics", to_json(plan.diagnostics)}};
}

ordered_json uninstall_json(const Outcome& outcome) {
  constexpr auto kHow = std::to_array({"restored", "already", "edited", "left"});
  ordered_json files = ordered_json::array();
  if (outcome.removed) {
    for (const TakenBack& file : *outcome.removed) {
      files.push_back({{"path", file.path},
                       {"how", kHow.at(static_cast<std::size_t>(file.how))},
                       {"there", file.left.has_value()}});
    }
  }
  return {{"schema", "ctkit/v1/uninstall"},
          {"installed", outcome.removed.has_value()},
          {"files", std::move(files)},
          {"toolkit_gone", outcome.toolkit_gone ? ordered_json(*outcome.toolkit_gone) : ordered_json(nullptr)}};
}

/// On a node also what was done to the daemon.
ordered_json with_node(ordered_json document, const Outcome& outcome) {
  document["node"] = ordered_json::parse(change_json_text(outcome.node));
  return document;
}

ordered_json document(const Request& request, const Outcome& outcome) {
  switch (request.verb) {
    case Verb::effective:
      return request.show_origin ? with_origins(*outcome.effective) : to_json(outcome.effective->config);
    case Verb::explain:
      return explain_json(outcome);
    case Verb::plan:
      return with_node(plan_json(*outcome.plan, "ctkit/v1/plan"), outcome);
    case Verb::apply:
      return with_node(plan_json(*outcome.plan, "ctkit/v1/apply"), outcome);
    case Verb::uninstall:
      return with_node(uninstall_json(outcome), outcome);
    case Verb::verify:
    case Verb::status:
    case Verb::rollback:
    case Verb::lint:
    case Verb::preflight:
      break;  // documents of their own, see below
  }
  assert(false);
  return nullptr;
}

}  // namespace

std::string report_json(const Request& request, const Outcome& outcome) {
  if (outcome.state) return report_state_json(*outcome.state, request.verb == Verb::verify);
  if (request.verb == Verb::rollback) return report_rollback_json(outcome);
  if (outcome.preflight) return report_preflight_json(*outcome.preflight);
  if (outcome.lint && request.format == Format::sarif) return report_lint_sarif(*outcome.lint);
  if (outcome.lint) return report_lint_json(*outcome.lint);
  return render_json(document(request, outcome));
}

}  // namespace ctkit::installer
