#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace ctkit::engine {

/// One file of a copy of the daemon's configuration.
struct StagedFile {
  std::string path = {};
  std::string text = {};
  bool operator==(const StagedFile&) const = default;
};

/// A key of which the daemon's own program says something else than we predict; nothing: it isn't there.
struct Mismatch {
  KeyPath key = {};
  std::optional<Value> predicted = std::nullopt;
  std::optional<Value> answered = std::nullopt;
};

/// How the daemon's own program is asked what it would make of files that aren't in place yet, and how its answer
/// compares with ours. Pure.
class OwnCheck {
 public:
  OwnCheck() = default;
  OwnCheck(const OwnCheck&) = delete;
  OwnCheck& operator=(const OwnCheck&) = delete;
  OwnCheck(OwnCheck&&) = delete;
  OwnCheck& operator=(OwnCheck&&) = delete;
  virtual ~OwnCheck() = default;

  /// The top-level config.
  [[nodiscard]] virtual const std::string& config_path() const = 0;

  /// A copy of all that the daemon would read of `files`, each below `folder` at its own path, importing from there;
  /// the top-level config first. Fails as the daemon would with these files.
  [[nodiscard]] virtual Result<std::vector<StagedFile>> stage(const FileReader& files,
                                                              const std::string& folder) const = 0;

  /// Where the daemon's answer about the copy differs from what we predict for `files`; empty: they agree. Fails where
  /// the answer can't be read.
  [[nodiscard]] virtual Result<std::vector<Mismatch>> compare(const FileReader& files,
                                                              std::string_view answer) const = 0;
};

}  // namespace ctkit::engine
