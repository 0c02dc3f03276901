#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "installer/file_system.h"
#include "installer/journal.h"
#include "installer/plan.h"
#include "installer/take_back.h"

namespace ctkit::installer {

/// Writes the plan's files: journal first, then the files in order, then the journal as finished. If a write fails,
/// what was written is put back and the error says so; what could not be put back is named in it. `last` goes into the
/// journal with what was there before, unless the plan changes no file. Returns the journal as it is then.
engine::Result<Journal> apply(FileSystem& files,
                              const std::string& state_folder,
                              const std::optional<Journal>& journal,
                              const Plan& plan,
                              LastApply last);

/// What has to succeed before the journal may go; else the files are put back.
using Settle = std::function<engine::Result<void>()>;

/// Takes everything of ours off the host, the top-level config before what it imports, then the journal. `settle` may
/// be empty; its error is returned.
engine::Result<std::vector<TakenBack>> uninstall(const engine::Engine& engine,
                                                 FileSystem& files,
                                                 const std::string& state_folder,
                                                 const Journal& journal,
                                                 const Settle& settle = {});

}  // namespace ctkit::installer
