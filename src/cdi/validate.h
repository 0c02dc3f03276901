#pragma once

#include <optional>
#include <string_view>

#include "cdi/level.h"
#include "cdi/problem.h"
#include "cdi/spec.h"

namespace ctkit::cdi {

/// What a library makes of one spec: it loads it, refuses it, or dies.
struct Verdict {
  Crash crash = Crash::none;
  std::optional<Problem> problem = {};

  [[nodiscard]] bool loads() const { return crash == Crash::none && !problem; }
  bool operator==(const Verdict&) const = default;
};

/// The library's checks in its order; the first that fails counts (pkg/cdi/spec.go, device.go,
/// container-edits.go; version.go).
Verdict validate(const Spec& spec, Level level);

/// Reads the file's text and validates it.
Verdict validate_text(std::string_view text, Level level);

/// The smallest cdiVersion that has every field the spec uses, at least 0.3.0. `nullopt`: the
/// library looks into a `null` entry while finding out, and dies. Versions after `newest` are not
/// thought of.
std::optional<std::string_view> minimum_version(const Spec& spec, std::string_view newest = "1.1.0");

}  // namespace ctkit::cdi
