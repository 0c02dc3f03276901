#include "installer/report_lint.h"

#include <algorithm>
#include <cassert>
#include <string_view>

#include <fmt/format.h>

namespace ctkit::installer {

namespace {

using engine::Severity;

std::string_view word(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      return "note";
  }
  assert(false);
  return "";
}

std::string place(const engine::Origin& origin) {
  if (origin.built_in()) return "";
  return (origin.line == 0 ? *origin.file : origin.to_string()) + ": ";
}

std::string count(const Lint& lint, Severity severity) {
  const auto number = std::ranges::count(lint.findings, severity, &engine::Finding::severity);
  return fmt::format("{} {}{}", number, word(severity), number == 1 ? "" : "s");
}

}  // namespace

std::string report_lint_text(const Lint& lint) {
  if (lint.findings.empty()) return lint.engine + ": nothing to say about these files\n";
  std::string text;
  for (const engine::Finding& finding : lint.findings) {
    const engine::Rule& rule = engine::rule_of(finding.rule);
    text += fmt::format(
        "{}{}: {} {}: {}\n", place(finding.origin), word(finding.severity), rule.id, rule.name, finding.message);
    if (!finding.hint.empty()) text += "  hint: " + finding.hint + "\n";
  }
  text += fmt::format("{}: {}, {}, {}\n",
                      lint.engine,
                      count(lint, Severity::error),
                      count(lint, Severity::warning),
                      count(lint, Severity::note));
  return text;
}

}  // namespace ctkit::installer
