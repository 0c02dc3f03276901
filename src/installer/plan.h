#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "installer/journal.h"

namespace ctkit::installer {

/// A key of the effective config that will be another one.
struct EffectiveChange {
  engine::KeyPath key = {};
  std::optional<engine::Value> before = std::nullopt;
  std::optional<engine::Value> after = std::nullopt;
  bool restored = false;       ///< comes back to life: its author's file lost it
  engine::Origin author = {};  ///< restored: who wrote it
};

/// Whether the files will still do after an upgrade of the daemon.
struct Outlook {
  std::string engine = {};
  bool holds = false;
  std::string reason = {};  ///< why not
};

/// What would be done, and what the daemon would then make of it.
struct Plan {
  std::string engine = {};
  std::vector<engine::FileChange> files = {};    ///< only those that differ from what is there, in writing order
  std::vector<engine::FileChange> desired = {};  ///< all files of ours, as the journal will hold them
  std::vector<EffectiveChange> changes = {};     ///< today against predicted
  std::vector<engine::Handler> handlers = {};    ///< predicted
  engine::Diagnostics diagnostics = {};
  std::vector<Outlook> outlook = {};
  std::string approach = {};
  std::optional<engine::EffectiveConfig> today = std::nullopt;  ///< none: the daemon refuses today's files
  engine::EffectiveConfig predicted = {};

  /// A restart has something to do.
  [[nodiscard]] bool restart_due() const { return !changes.empty(); }
};

/// Whether the plan says what becomes of it after an upgrade of the daemon: that is most of a plan's time.
enum class Outlooks { made, left_out };

/// Observes nothing and touches nothing: `files` is the host as it is, `journal` what we did to it earlier.
/// The first candidate is taken whose simulation serves the desired handlers, keeps everything that is effective
/// without us and still loads. Fails with `daemon_refuses` where the daemon refuses today's files whatever we add, with
/// `needs_decision` where no candidate holds.
engine::Result<Plan> make_plan(const engine::Engine& engine,
                               const engine::FileReader& files,
                               const std::optional<Journal>& journal,
                               const engine::Desired& desired,
                               Outlooks outlooks = Outlooks::made);

}  // namespace ctkit::installer
