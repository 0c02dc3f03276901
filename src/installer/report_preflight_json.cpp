#include <array>
#include <optional>
#include <string_view>

#include <nlohmann/json.hpp>

#include "installer/report_preflight.h"
#include "installer/value_json.h"

namespace ctkit::installer {

namespace {

using engine::Preflight;
using nlohmann::ordered_json;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json refusal(const std::optional<engine::Error>& error) {
  if (!error) return nullptr;
  return {{"message", error->message}, {"where", text_or_null(error->where)}, {"hint", text_or_null(error->hint)}};
}

ordered_json value(const engine::KeyPath& key, const std::optional<engine::Value>& item) {
  return item ? shown_value(key, *item) : ordered_json(nullptr);
}

ordered_json handlers(const Preflight& preflight) {
  const auto side = [](const std::optional<std::string>& binary, bool is_default) -> ordered_json {
    if (!binary) return nullptr;
    return {{"binary", text_or_null(*binary)}, {"default", is_default}};
  };
  ordered_json list = ordered_json::array();
  for (const engine::HandlerChange& change : preflight.handlers) {
    list.push_back({{"name", change.name},
                    {"before", side(change.before, change.default_before)},
                    {"after", side(change.after, change.default_after)},
                    {"origin", to_json(change.origin)}});
  }
  return list;
}

ordered_json settings(const Preflight& preflight) {
  constexpr auto kKinds = std::to_array({"ignored", "lost", "changed", "revived", "held"});
  ordered_json list = ordered_json::array();
  for (const engine::SettingChange& change : preflight.settings) {
    list.push_back({{"kind", kKinds.at(static_cast<std::size_t>(change.kind))},
                    {"key", change.key.to_string()},
                    {"to", change.to.to_string()},
                    {"before", value(change.key, change.before)},
                    {"after", value(change.to, change.after)},
                    {"origin", to_json(change.origin)},
                    {"by", to_json(change.by)},
                    {"already", change.already}});
  }
  return list;
}

ordered_json defaults(const Preflight& preflight) {
  ordered_json list = ordered_json::array();
  for (const engine::DefaultChange& change : preflight.defaults) {
    list.push_back({{"key", change.key.to_string()},
                    {"before", value(change.key, change.before)},
                    {"after", value(change.key, change.after)}});
  }
  return list;
}

ordered_json findings(const Preflight& preflight) {
  constexpr auto kWords = std::to_array({"note", "warning", "error"});
  ordered_json list = ordered_json::array();
  for (const engine::Finding& finding : preflight.findings) {
    const engine::Rule& rule = engine::rule_of(finding.rule);
    list.push_back({{"rule", rule.id},
                    {"name", rule.name},
                    {"severity", kWords.at(static_cast<std::size_t>(finding.severity))},
                    {"message", finding.message},
                    {"origin", to_json(finding.origin)},
                    {"hint", text_or_null(finding.hint)}});
  }
  return list;
}

}  // namespace

std::string report_preflight_json(const Preflight& preflight) {
  return render_json({{"schema", "ctkit/v1/preflight"},
                      {"from", preflight.from},
                      {"to", preflight.to},
                      {"breaks", preflight.breaks()},
                      {"changes", preflight.changes()},
                      {"refused_today", refusal(preflight.refused_today)},
                      {"refused", refusal(preflight.refused)},
                      {"not_serving_today", preflight.not_serving_today},
                      {"not_serving", preflight.not_serving},
                      {"findings", findings(preflight)},
                      {"handlers", handlers(preflight)},
                      {"settings", settings(preflight)},
                      {"defaults", defaults(preflight)},
                      {"new_keys", preflight.new_keys},
                      {"gone_keys", preflight.gone_keys}});
}

}  // namespace ctkit::installer
