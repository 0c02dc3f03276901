#pragma once

#include <string>
#include <string_view>

namespace ctkit::cdi {

/// Why a library refuses a spec file; each has a name that is the same at every level.
enum class ProblemClass {
  read,
  empty,
  syntax,
  duplicate_key,
  unknown_key,
  type,
  version,
  minimum_version,
  vendor,
  class_name,
  device_name,
  duplicate_device,
  no_devices,
  empty_edits,
  env,
  device_node,
  mount,
  hook,
  intel_rdt,
  net_device,
  conflict,  ///< the file is loaded, the devices that clash are gone
};

/// "duplicate-key"
std::string_view name_of(ProblemClass problem);

/// One reason; `line` 0: the file as a whole.
struct Problem {
  ProblemClass problem = ProblemClass::read;
  std::string message = {};
  int line = 0;

  bool operator==(const Problem&) const = default;
};

/// What becomes of the library on a folder that it can't survive: nothing, it dies and takes its
/// caller along, or it never comes back.
enum class Crash { none, panic, hang };

}  // namespace ctkit::cdi
