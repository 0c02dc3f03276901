#pragma once

#include <string>
#include <vector>

#include "cdi/level.h"
#include "cdi/spec_faults.h"
#include "cdi/spec_folders.h"
#include "cdi/staleness.h"
#include "cdi/tree.h"
#include "engine/effective_config.h"
#include "engine/file_reader.h"
#include "engine/finding.h"

namespace ctkit::installer {

/// The node's CDI specs, everybody's: how each stands to the driver, and what is wrong with them.
struct SpecState {
  std::vector<cdi::Staleness> specs = {};  ///< those that the daemon's library loads
  std::vector<cdi::SpecFault> faults = {};
  cdi::SpecFolders folders = {};  ///< as the library reads them
};

/// Where the daemon looks for specs: its own `cdi_spec_dirs`, else the usual folders; `config` may be null.
std::vector<std::string> spec_folders_of(const engine::EffectiveConfig* config);

/// How the specs stand to the driver: the libraries of the host's root, else of the usual driver container's, and the
/// loaded module.
std::vector<cdi::Staleness> judge_specs(const cdi::SpecFolders& folders,
                                        const cdi::Tree& host,
                                        const engine::FileReader& files);

/// Reads the folders as a library of this level does, and judges what is there. Programs that hooks name are looked for
/// only in a tree that holds programs.
SpecState look_at_specs(const cdi::Tree& host,
                        const engine::FileReader& files,
                        const std::vector<std::string>& folders,
                        cdi::Level level);

/// The faults as lint tells them.
std::vector<engine::Finding> find_spec_problems(const SpecState& state);

}  // namespace ctkit::installer
