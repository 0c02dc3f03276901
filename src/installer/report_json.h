#pragma once

#include <string>

#include "installer/outcome.h"
#include "installer/request.h"

namespace ctkit::installer {

/// The result as JSON with a top-level "schema": "ctkit/v1/<verb>". `effective` is the daemon's document and nothing
/// else, with origins {schema, config, origins, diagnostics}. What JSON lacks is {"$float": …} and {"$datetime": …}.
/// Credentials are replaced, except in the effective config.
std::string report_json(const Request& request, const Outcome& outcome);

}  // namespace ctkit::installer
