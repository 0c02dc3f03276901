#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/diagnostic.h"
#include "engine/finding.h"
#include "engine/key_path.h"
#include "engine/origin.h"
#include "engine/result.h"
#include "engine/value.h"

namespace ctkit::engine {

struct Handler;

/// A setting of somebody's file that another release treats differently.
struct SettingChange {
  enum class Kind {
    ignored,  ///< nothing reads it there
    lost,     ///< it is read, and does not become effective
    changed,  ///< another value is effective there
    revived,  ///< without effect today, effective there
    held,     ///< repeats today's built-in value and keeps the other release's out
  };

  Kind kind = Kind::ignored;
  KeyPath key = {};  ///< where it is effective today; without effect today: where it would be
  KeyPath to = {};   ///< where the other release has the key
  std::optional<Value> before = std::nullopt;
  std::optional<Value> after = std::nullopt;  ///< effective there
  Origin origin = {};                         ///< who wrote the setting
  Origin by = {};                             ///< who makes it so; built-in: the release
  bool already = false;                       ///< it has no effect today either
};

/// A built-in value that the releases differ in and that no file sets.
struct DefaultChange {
  KeyPath key = {};  ///< in the newer one's spelling
  std::optional<Value> before = std::nullopt;
  std::optional<Value> after = std::nullopt;
};

/// A handler that is another one there; nothing: it isn't there.
struct HandlerChange {
  std::string name = {};
  std::optional<std::string> before = std::nullopt;  ///< its binary; empty: the daemon's own
  std::optional<std::string> after = std::nullopt;
  Origin origin = {};  ///< who names it, today if it is there today
  bool default_before = false;
  bool default_after = false;
};

/// The same files under two releases of a daemon.
struct Preflight {
  std::string from = {};  ///< "containerd 1.7.27"
  std::string to = {};
  std::optional<Error> refused_today = std::nullopt;
  std::optional<Error> refused = std::nullopt;  ///< the other release does not start with these files
  std::vector<std::string> not_serving_today = {};
  std::vector<std::string> not_serving = {};
  std::vector<HandlerChange> handlers = {};
  std::vector<SettingChange> settings = {};
  std::vector<DefaultChange> defaults = {};
  std::size_t new_keys = 0;            ///< built-in keys that only the other release has
  std::size_t gone_keys = 0;           ///< and only today's
  std::vector<Finding> findings = {};  ///< of lint, for the other release and not for today's
  Diagnostics diagnostics = {};        ///< about the other release itself

  /// It does not start there, serves nothing, or loses handlers or settings.
  [[nodiscard]] bool breaks() const;

  /// Anything that files set comes out differently; the release's own built-in values don't count.
  [[nodiscard]] bool changes() const;
};

/// Adds the handlers that the two sides don't have alike.
void compare_handlers(const std::vector<Handler>& today, const std::vector<Handler>& target, Preflight& result);

/// What is found on the target's side only; notes count nothing.
std::vector<Finding> new_findings(const std::vector<Finding>& today, std::vector<Finding> target);

}  // namespace ctkit::engine
