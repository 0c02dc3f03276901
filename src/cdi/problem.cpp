#include "cdi/problem.h"

#include <cassert>

namespace ctkit::cdi {

std::string_view name_of(ProblemClass problem) {
  switch (problem) {
    case ProblemClass::read:
      return "read";
    case ProblemClass::empty:
      return "empty";
    case ProblemClass::syntax:
      return "syntax";
    case ProblemClass::duplicate_key:
      return "duplicate-key";
    case ProblemClass::unknown_key:
      return "unknown-key";
    case ProblemClass::type:
      return "type";
    case ProblemClass::version:
      return "version";
    case ProblemClass::minimum_version:
      return "minimum-version";
    case ProblemClass::vendor:
      return "vendor";
    case ProblemClass::class_name:
      return "class";
    case ProblemClass::device_name:
      return "device-name";
    case ProblemClass::duplicate_device:
      return "duplicate-device";
    case ProblemClass::no_devices:
      return "no-devices";
    case ProblemClass::empty_edits:
      return "empty-edits";
    case ProblemClass::env:
      return "env";
    case ProblemClass::device_node:
      return "device-node";
    case ProblemClass::mount:
      return "mount";
    case ProblemClass::hook:
      return "hook";
    case ProblemClass::intel_rdt:
      return "intel-rdt";
    case ProblemClass::net_device:
      return "net-device";
    case ProblemClass::conflict:
      return "conflict";
  }
  assert(false);
  return "";
}

}  // namespace ctkit::cdi
