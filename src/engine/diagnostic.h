#pragma once

#include <string>
#include <vector>

#include "engine/origin.h"

namespace ctkit::engine {

enum class Severity { note, warning, error };

/// A problem in the user's files that does not stop us: collected, returned beside the result, rendered once at the
/// end.
struct Diagnostic {
  Severity severity = Severity::warning;
  std::string message = {};
  Origin origin = {};
  std::string hint = {};

  bool operator==(const Diagnostic&) const = default;
};

using Diagnostics = std::vector<Diagnostic>;

/// `warning: FILE:LINE: message` and, if there is one, a line `  hint: …`, each with its newline.
std::string render(const Diagnostic& diagnostic);

}  // namespace ctkit::engine
