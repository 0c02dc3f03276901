#include "installer/restart_decision.h"

#include "engine/quoted_list.h"

namespace ctkit::installer {

RestartDecision decide_restart(RestartMode mode, const RestartFacts& facts) {
  RestartDecision decision;
  if (facts.effective_changes) decision.reasons.emplace_back("the effective config changes");
  if (!facts.newer_files.empty()) {
    decision.reasons.push_back("the daemon started before these files were changed: " +
                               engine::quoted_list(facts.newer_files));
  }
  if (!facts.not_loaded.empty()) {
    decision.reasons.push_back("the daemon hasn't loaded these handlers of its files: " +
                               engine::quoted_list(facts.not_loaded));
  }
  if (!facts.default_handler.empty()) {
    decision.reasons.push_back("the daemon's default handler is still '" + facts.default_handler + "'");
  }
  switch (mode) {
    case RestartMode::automatic:
      decision.restart = !decision.reasons.empty();
      break;
    case RestartMode::unserved:
      decision.restart = !facts.not_loaded.empty() || !facts.default_handler.empty();
      break;
    case RestartMode::always:
      if (decision.reasons.empty()) decision.reasons.emplace_back("it was asked for");
      decision.restart = true;
      break;
    case RestartMode::none:
      break;
  }
  return decision;
}

}  // namespace ctkit::installer
