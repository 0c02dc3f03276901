#include "installer/restart_decision.h"

namespace ctkit::installer {

namespace {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

}  // namespace

RestartDecision decide_restart(RestartMode mode, const RestartFacts& facts) {
  RestartDecision decision;
  if (facts.effective_changes) decision.reasons.emplace_back("the effective config changes");
  if (!facts.newer_files.empty()) {
    decision.reasons.push_back("the daemon started before these files were changed: " + listed(facts.newer_files));
  }
  if (!facts.not_loaded.empty()) {
    decision.reasons.push_back("the daemon hasn't loaded these handlers of its files: " + listed(facts.not_loaded));
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
