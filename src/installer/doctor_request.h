#pragma once

#include <string>

#include "installer/request.h"

namespace ctkit::installer {

/// What the user asked of `ctkit doctor`.
struct DoctorRequest {
  Request node = {.verb = Verb::verify, .root = ""};  ///< tree, daemon and output as for verify; no root: found
  std::string runtime_class = "nvidia";               ///< the handler that pods ask for
  std::string driver_root = {};  ///< on the host; empty: where the validator or the driver's container has it
};

}  // namespace ctkit::installer
