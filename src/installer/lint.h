#pragma once

#include <string>
#include <vector>

#include "engine/diagnostic.h"
#include "engine/finding.h"

namespace ctkit::installer {

/// What lint has to say about one tree.
struct Lint {
  std::string engine = {};  ///< "containerd 1.7.27"
  std::vector<engine::Finding> findings = {};
  engine::Diagnostics diagnostics = {};  ///< about the answer itself: a release that is not known exactly

  /// Errors or warnings; notes are no problems.
  [[nodiscard]] bool has_problems() const {
    for (const engine::Finding& finding : findings) {
      if (finding.severity != engine::Severity::note) return true;
    }
    return false;
  }
};

}  // namespace ctkit::installer
