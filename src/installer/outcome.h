#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/effective_config.h"
#include "engine/preflight.h"
#include "installer/explain.h"
#include "installer/lint.h"
#include "installer/plan.h"
#include "installer/take_back.h"

namespace ctkit::installer {

/// All that happened on one request; the parts that the verb has.
struct Outcome {
  std::optional<engine::EffectiveConfig> effective = std::nullopt;
  std::string rendered = {};                      ///< effective: as the daemon prints it
  std::vector<Explanation> explanations = {};     ///< explain; point into `effective`
  std::vector<engine::Handler> handlers = {};     ///< explain: those that are effective
  std::optional<Plan> plan = std::nullopt;        ///< plan, apply
  std::optional<Lint> lint = std::nullopt;
  std::optional<engine::Preflight> preflight = std::nullopt;
  bool applied = false;
  std::optional<std::vector<TakenBack>> removed = std::nullopt;  ///< uninstall; none: nothing was installed
};

}  // namespace ctkit::installer
