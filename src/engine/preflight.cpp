#include "engine/preflight.h"

#include <algorithm>

namespace ctkit::engine {

bool Preflight::breaks() const {
  using enum SettingChange::Kind;
  const bool loses_setting = std::ranges::any_of(settings, [](const SettingChange& change) {
    return !change.already && (change.kind == ignored || change.kind == lost);
  });
  const bool loses_handler = std::ranges::any_of(
      handlers, [](const HandlerChange& change) { return change.before && !change.after; });
  const bool errors = std::ranges::any_of(
      findings, [](const Finding& finding) { return finding.severity == Severity::error; });
  return refused || (!not_serving.empty() && not_serving_today.empty()) || loses_setting ||
         loses_handler || errors;
}

bool Preflight::changes() const {
  return breaks() || refused_today || not_serving != not_serving_today || !handlers.empty() ||
         std::ranges::any_of(settings, [](const SettingChange& change) { return !change.already; });
}

}  // namespace ctkit::engine
