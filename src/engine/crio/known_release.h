#pragma once

#include <cstddef>
#include <vector>

#include "engine/crio/schema.h"
#include "engine/diagnostic.h"
#include "engine/release.h"
#include "engine/result.h"
#include "engine/toml_dialect.h"

namespace ctkit::engine::crio {

/// What differs between releases besides their keys: data, so that a test can name any mix.
struct Regime {
  const TomlDialect* dialect = nullptr;
  /// A file that names another default_runtime than `runc` loses the handler `runc` once it is
  /// read, its own included.
  bool drops_runc = false;
  /// An empty monitor_cgroup becomes `system.slice` whatever the cgroup manager, and cgroupfs then
  /// refuses it.
  bool slices_for_cgroupfs = false;
};

/// The release as we know it.
struct Known {
  Release release = {};
  Regime regime = {};
  std::size_t recorded = 0;      ///< whose keys and built-in values it has: recorded_releases()[recorded]
  Diagnostics diagnostics = {};  ///< a note when they are a neighbour's

  [[nodiscard]] bool has(Releases releases) const { return (releases >> recorded & 1) != 0; }
};

/// Fails with `unknown_release` below 1.24. A release that isn't recorded takes the keys of its
/// line, else those of the nearest older line, with a warning.
Result<Known> find_release(const Release& release);

/// The recorded releases of the lines after this one's, oldest first; none that are not released
/// yet.
std::vector<Release> later_lines(const Release& release);

}  // namespace ctkit::engine::crio
