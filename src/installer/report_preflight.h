#pragma once

#include <string>

#include "engine/preflight.h"

namespace ctkit::installer {

/// The comparison for people: what breaks first, what only differs last. Credentials are replaced.
std::string report_preflight_text(const engine::Preflight& preflight);

/// {"schema": "ctkit/v1/preflight", …}; the whole comparison.
std::string report_preflight_json(const engine::Preflight& preflight);

}  // namespace ctkit::installer
