#pragma once

#include <string>

#include "installer/lint.h"

namespace ctkit::installer {

/// A line a finding, `FILE:LINE: severity: ID name: message`, its hint, and the count.
std::string report_lint_text(const Lint& lint);

/// {"schema": "ctkit/v1/lint", "engine", "findings": [{rule, name, severity, message, origin,
/// hint}], "errors", "warnings"}.
std::string report_lint_json(const Lint& lint);

/// SARIF 2.1.0 with all rules; paths are relative to the host root.
std::string report_lint_sarif(const Lint& lint);

}  // namespace ctkit::installer
