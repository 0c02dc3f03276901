#include "engine/preflight.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "engine/engine.h"

namespace ctkit::engine {

bool Preflight::breaks() const {
  using enum SettingChange::Kind;
  const bool loses_setting = std::ranges::any_of(settings, [](const SettingChange& change) {
    return !change.already && (change.kind == ignored || change.kind == lost);
  });
  const bool loses_handler =
      std::ranges::any_of(handlers, [](const HandlerChange& change) { return change.before && !change.after; });
  const bool errors =
      std::ranges::any_of(findings, [](const Finding& finding) { return finding.severity == Severity::error; });
  return refused || (!not_serving.empty() && not_serving_today.empty()) || loses_setting || loses_handler || errors;
}

bool Preflight::changes() const {
  return breaks() || refused_today || not_serving != not_serving_today || !handlers.empty() ||
         std::ranges::any_of(settings, [](const SettingChange& change) { return !change.already; });
}

void compare_handlers(const std::vector<Handler>& today, const std::vector<Handler>& target, Preflight& result) {
  std::map<std::string, HandlerChange> changes;
  for (const Handler& handler : today) {
    changes[handler.name] = {
        .name = handler.name, .before = handler.binary, .origin = handler.origin, .default_before = handler.is_default};
  }
  for (const Handler& handler : target) {
    HandlerChange& change = changes[handler.name];
    change.name = handler.name;
    change.after = handler.binary;
    change.default_after = handler.is_default;
    if (!change.before) change.origin = handler.origin;
  }
  for (auto& [name, change] : changes) {
    const bool same = change.before == change.after && change.default_before == change.default_after;
    if (!same) result.handlers.push_back(std::move(change));
  }
}

std::vector<Finding> new_findings(const std::vector<Finding>& today, std::vector<Finding> target) {
  using Problem = std::tuple<RuleId, Place, Severity>;
  std::set<Problem> known;
  for (const Finding& finding : today) {
    known.emplace(finding.rule, place_of(finding.origin), finding.severity);
  }
  std::erase_if(target, [&](const Finding& finding) {
    return finding.severity == Severity::note ||
           known.contains({finding.rule, place_of(finding.origin), finding.severity});
  });
  return target;
}

}  // namespace ctkit::engine
