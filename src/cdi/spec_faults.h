#pragma once

#include <span>
#include <string>
#include <vector>

#include "cdi/spec_folders.h"
#include "cdi/staleness.h"

namespace ctkit::cdi {

enum class FaultKind {
  deadly,   ///< the file kills the daemon that reads it, or keeps it waiting for ever
  invalid,  ///< the file is refused, and its devices are missing
  clash,    ///< a device is in two files of one folder, and nobody gets it
  stale,    ///< the spec names files that are gone, or the libraries of another driver
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

}  // namespace ctkit::cdi
