#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/effective_config.h"
#include "engine/own_check.h"
#include "engine/preflight.h"
#include "installer/explain.h"
#include "installer/lint.h"
#include "installer/loaded_state.h"
#include "installer/plan.h"
#include "installer/roll_back.h"
#include "installer/spec_state.h"
#include "installer/take_back.h"
#include "installer/verify.h"

namespace ctkit::installer {

/// What was done to the running daemon, and what came of it.
struct NodeChange {
  enum class Verdict {
    untouched,        ///< nothing to do for it, or it may not be restarted
    verified,         ///< restarted, and it serves what was wanted
    rolled_back,      ///< it didn't: the files and the daemon are as before
    rollback_failed,  ///< and it doesn't serve as before
  };
  Verdict verdict = Verdict::untouched;
  std::string unit = {};
  bool restarted = false;
  std::vector<std::string> reasons = {};            ///< why a restart was, or is, due
  std::vector<std::string> problems = {};           ///< what was wrong after it
  std::vector<std::string> rollback_problems = {};  ///< and after taking it back
  std::vector<std::string> notes = {};
};

/// The node as it is: verify and status.
struct NodeState {
  std::string engine = {};
  std::string socket = {};       ///< empty: no daemon was found
  std::string unreachable = {};  ///< why it doesn't answer; empty: it does
  std::int64_t pid = 0;
  std::int64_t started = 0;  ///< microseconds since the epoch
  std::string unit = {};     ///< empty: not known
  std::string unit_state = {};
  std::string refused = {};  ///< why the daemon would refuse today's files; empty: it loads them
  std::vector<std::string> not_serving = {};
  std::optional<LoadedState> loaded = std::nullopt;  ///< what the daemon has loaded; none: it wasn't to be asked
  std::vector<Difference> differences = {};          ///< files against what the daemon has loaded
  /// Prediction against its own `config dump`; nothing: not compared.
  std::optional<std::vector<engine::Mismatch>> dump_differences = std::nullopt;
  std::string dump_failed = {};  ///< why it has no dump to compare; empty: compared, or not asked for
  std::vector<std::string> newer_files = {};
  std::vector<std::string> missing_binaries = {};  ///< of handlers that the files name
  std::optional<Journal> journal = std::nullopt;
  std::vector<std::string> drifted = {};  ///< files of ours that aren't as we wrote them
  SpecState cdi = {};                     ///< status: everybody's CDI specs

  /// Files, prediction and daemon aren't of one mind.
  [[nodiscard]] bool differs() const {
    return !refused.empty() || !unreachable.empty() || !not_serving.empty() || !differences.empty() ||
           (dump_differences && !dump_differences->empty()) || !dump_failed.empty() || !missing_binaries.empty() ||
           !drifted.empty();
  }
};

/// All that happened on one request; the parts that the verb has.
struct Outcome {
  std::optional<engine::EffectiveConfig> effective = std::nullopt;
  std::string rendered = {};                   ///< effective: as the daemon prints it
  std::vector<Explanation> explanations = {};  ///< explain; point into `effective`
  std::vector<engine::Handler> handlers = {};  ///< explain: those that are effective
  std::optional<Plan> plan = std::nullopt;     ///< plan, apply
  std::optional<Lint> lint = std::nullopt;
  std::optional<engine::Preflight> preflight = std::nullopt;
  bool applied = false;
  std::optional<NodeChange> node = std::nullopt;         ///< plan, apply, uninstall, rollback where a daemon runs
  std::optional<NodeState> state = std::nullopt;         ///< verify, status
  std::optional<RolledBack> rolled_back = std::nullopt;  ///< rollback; none: nothing to take back
  std::optional<std::vector<TakenBack>> removed = std::nullopt;  ///< uninstall; none: nothing was installed
  /// uninstall: what of the toolkit is gone; none: not asked for, or it stays because our files came back
  std::optional<std::vector<std::string>> toolkit_gone = std::nullopt;
};

}  // namespace ctkit::installer
