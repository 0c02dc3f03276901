#pragma once

#include <string>

#include "engine/result.h"
#include "installer/outcome.h"
#include "installer/request.h"

namespace ctkit::installer {

/// The result for people, stable enough to diff. Credentials are replaced, except in the effective config itself.
std::string report_text(const Request& request, const Outcome& outcome);

/// `ctkit: message (where)` and the hint.
std::string report_error(const engine::Error& error);

}  // namespace ctkit::installer
