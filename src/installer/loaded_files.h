#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/effective_config.h"
#include "installer/daemon_status.h"
#include "installer/file_system.h"
#include "installer/journal.h"

namespace ctkit::installer {

/// Whether the process may have read what was written at that time, in microseconds since the epoch; false: it started
/// before.
bool may_have_read(const PeerProcess& process, std::int64_t time);

/// The loaded files that changed after the process started, but for those changes that the journal knows to make no
/// difference to it.
std::vector<std::string> newer_files(const FileSystem& files,
                                     const engine::EffectiveConfig& config,
                                     const PeerProcess& process,
                                     const Settled& settled);

/// Up to when the files have changed by now, in microseconds since the epoch; 0: there are none.
std::int64_t last_change(const FileSystem& files, const engine::EffectiveConfig& config);

}  // namespace ctkit::installer
