#include "engine/diagnostic.h"

#include <cassert>
#include <string_view>

namespace ctkit::engine {

namespace {

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::note:
      return "note";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  assert(false);
  return "error";
}

}  // namespace

std::string render(const Diagnostic& diagnostic) {
  std::string text(severity_name(diagnostic.severity));
  if (!diagnostic.origin.built_in()) text += ": " + diagnostic.origin.to_string();
  text += ": " + diagnostic.message + '\n';
  if (!diagnostic.hint.empty()) text += "  hint: " + diagnostic.hint + '\n';
  return text;
}

}  // namespace ctkit::engine
