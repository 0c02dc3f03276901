#pragma once

#include <span>
#include <string>
#include <vector>

#include "cdi/spec_folders.h"
#include "cdi/staleness.h"
#include "cdi/tree.h"

namespace ctkit::cdi {

enum class FaultKind {
  deadly,        ///< the file kills the daemon that reads it, or keeps it waiting for ever
  invalid,       ///< the file is refused, and its devices are missing
  clash,         ///< a device is in two files of one folder, and nobody gets it
  stale,         ///< the spec names files that are gone, or the libraries of another driver
  shadowed,      ///< another file has the spec of the GPUs' management too, and its folder wins
  missing_hook,  ///< a hook's program is not there: no container starts with the spec
};

/// A fault in somebody's spec file, as lint and doctor tell it.
struct SpecFault {
  FaultKind kind = FaultKind::invalid;
  std::string file = {};
  int line = 0;  ///< 0: the file as a whole
  std::string message = {};
  std::string hint = {};

  bool operator==(const SpecFault&) const = default;
};

/// All faults, the deadly one first: after it nothing else is known. `rows` are judgements of the
/// loaded specs.
std::vector<SpecFault> find_spec_faults(const SpecFolders& folders, std::span<const Staleness> rows);

/// Specs of a management kind that lose their devices to a file in a folder of higher priority.
std::vector<SpecFault> find_shadowed_specs(const SpecFolders& folders);

/// Hooks whose program the host does not have, or cannot execute.
std::vector<SpecFault> find_missing_hooks(const SpecFolders& folders, const Tree& host);

}  // namespace ctkit::cdi
