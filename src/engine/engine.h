#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/effective_config.h"
#include "engine/file_reader.h"
#include "engine/finding.h"
#include "engine/key_path.h"
#include "engine/preflight.h"
#include "engine/result.h"
#include "engine/value.h"

namespace ctkit::engine {

/// A named entry under the daemon's runtimes, as it is effective.
struct Handler {
  std::string name = {};
  KeyPath key = {};         ///< where it stands in the effective config
  std::string binary = {};  ///< the OCI program; empty: the daemon's own default
  bool is_default = false;
  Origin origin = {};  ///< who named the binary, else the handler
};

/// A handler that shall be effective.
struct DesiredHandler {
  std::string name = {};
  std::string binary = {};
  std::string type = {};  ///< runtime type; empty: that of the parent
  /// Patterns of container annotations that the runtime gets to see, beside the parent's; nothing is to do where the
  /// daemon passes all of them.
  std::vector<std::string> annotations = {};

  bool operator==(const DesiredHandler&) const = default;
};

/// What to do about settings that other files lose to each other today.
enum class OnConflict {
  restore,  ///< carry them: what their authors meant
  keep,     ///< carry only what is effective today
  refuse,   ///< stop, a person decides
};

/// What shall be effective after the change.
struct Desired {
  std::vector<DesiredHandler> handlers = {};
  std::string default_handler = {};  ///< empty: as it is
  bool enable_cdi = false;  ///< CDI devices in CRI requests; nothing is to do where the daemon always takes them
  OnConflict on_conflict = OnConflict::restore;
  std::string drop_in = {};  ///< folder and first choice of name of our file; empty: the engine's usual place
};

/// One file of a change. `before` is what was read, nothing: the file is new; `after` nothing: it goes.
struct FileChange {
  std::string path = {};
  std::optional<std::string> before = std::nullopt;
  std::optional<std::string> after = std::nullopt;
  std::vector<std::string> sources =
      {};  ///< files whose settings it repeats: a new file is no more readable than they are

  bool operator==(const FileChange&) const = default;
};

/// One way to bring the desired state about; the caller simulates it before it believes it.
struct Candidate {
  std::vector<FileChange> files = {};    ///< in the order they are to be written
  std::vector<KeyPath> may_change = {};  ///< keys, with all below them, that are meant to differ afterwards
  Table carried =
      {};  ///< settings of other files that ours repeats, at their effective keys, with their authors' origins
  std::string approach = {};  ///< in words, for the report
};

/// A container engine as we emulate it. Pure: the same files give the same answer.
class Engine {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  Engine(Engine&&) = delete;
  Engine& operator=(Engine&&) = delete;
  virtual ~Engine() = default;

  /// "containerd 1.7.27".
  [[nodiscard]] virtual std::string name() const = 0;

  /// What the daemon makes of the files; with events on request. `daemon_refuses` and `daemon_crashes` as the daemon
  /// would.
  [[nodiscard]] virtual Result<EffectiveConfig> effective(const FileReader& files, bool with_events) const = 0;

  /// The effective config as the daemon prints it.
  [[nodiscard]] virtual std::string render(const EffectiveConfig& config) const = 0;

  /// The handlers that are effective, by name.
  [[nodiscard]] virtual std::vector<Handler> handlers(const EffectiveConfig& config) const = 0;

  /// Ways to the desired state, the preferred one first. `files` is the host without what we wrote earlier, `bare` what
  /// the daemon makes of that. Fails with `needs_decision` where a person has to choose.
  [[nodiscard]] virtual Result<std::vector<Candidate>> candidates(const FileReader& files,
                                                                  const EffectiveConfig& bare,
                                                                  const Desired& desired) const = 0;

  /// Our change taken back out of a file that others have edited since; nothing: nothing else is left in it.
  [[nodiscard]] virtual Result<std::optional<std::string>> undo(const FileChange& ours,
                                                                const std::string& text) const = 0;

  /// Problems in everyone's files, by place. `effective` is the answer of that name with events; a refusal becomes a
  /// finding.
  [[nodiscard]] virtual std::vector<Finding> lint(const FileReader& files,
                                                  const Result<EffectiveConfig>& effective,
                                                  const FileModes& modes) const = 0;

  /// What another release of the daemon makes of the same files. Fails with `unknown_release`, with `usage` where the
  /// engine has no such comparison.
  [[nodiscard]] virtual Result<Preflight> preflight(const FileReader& files, std::string_view release) const = 0;

  /// The engine's later lines, for what a change will mean after an upgrade; nearest first.
  [[nodiscard]] virtual std::vector<std::unique_ptr<Engine>> successors() const = 0;
};

}  // namespace ctkit::engine
