#pragma once

#include <string>

#include "cdi/tree.h"
#include "engine/result.h"
#include "installer/cdi_request.h"
#include "installer/file_system.h"
#include "installer/observe.h"

namespace ctkit::installer {

/// What a verb of `ctkit cdi` has to say: its result, what to tell besides, and whether there are
/// problems.
struct CdiOutcome {
  std::string text = {};      ///< standard output
  std::string messages = {};  ///< standard error, lines with their ends
  bool problems = false;      ///< validate: a file is refused, a device lost, or the library dies
};

/// Runs the verb. `here` are the files of our machine (the capture), `files` and `tree` those below
/// the host root.
engine::Result<CdiOutcome> run_cdi(const CdiRequest& request,
                                   const HostRoot& root,
                                   const engine::FileReader& here,
                                   FileSystem& files,
                                   const cdi::Tree& tree);

}  // namespace ctkit::installer
