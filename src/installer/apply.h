#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "installer/file_system.h"
#include "installer/journal.h"
#include "installer/plan.h"
#include "installer/take_back.h"

namespace ctkit::installer {

/// Writes the plan's files: journal first, then the files in order, then the journal as finished. If a write fails, what was
/// written is put back and the error says so; what could not be put back is named in it.
engine::Result<void> apply(FileSystem& files, const std::string& state_folder,
                           const std::optional<Journal>& journal, const Plan& plan);

/// Takes everything of ours off the host, the top-level config before what it imports, then the journal.
engine::Result<std::vector<TakenBack>> uninstall(const engine::Engine& engine, FileSystem& files,
                                               const std::string& state_folder, const Journal& journal);

}  // namespace ctkit::installer
