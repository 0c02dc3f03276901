#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "cdi/level.h"
#include "cdi/problem.h"
#include "cdi/spec.h"

namespace ctkit::cdi {

/// Reads a spec file as the library of this level does: sigs.k8s.io/yaml, so go-yaml v2, a detour
/// over JSON with sorted keys, and encoding/json with unknown keys forbidden. YAML and JSON are one
/// here. The problem is the first the library reports
/// (`syntax`, `duplicate_key`, `empty`, `unknown_key` or `type`).
std::expected<Spec, Problem> read_spec(std::string_view text, Level level);

/// As the stock installer writes it: `---`, 4 spaces, fields in the order of specs-go, empty ones
/// left out.
std::string render_yaml(const Spec& spec);

/// The same as JSON, with a line feed at its end.
std::string render_json(const Spec& spec);

}  // namespace ctkit::cdi
