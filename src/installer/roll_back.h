#pragma once

#include <string>
#include <vector>

#include "engine/result.h"
#include "installer/file_system.h"
#include "installer/journal.h"

namespace ctkit::installer {

/// What putting back did.
struct RolledBack {
  std::vector<std::string> put_back = {};  ///< paths whose bytes from before the apply are there again
  std::vector<std::string> left = {};      ///< paths that somebody else has changed since: theirs stays
};

/// Puts the files back to what they were before the last apply, the last written first, and the journal with them;
/// nothing of ours left, the journal goes too. May be repeated after a kill or a failure: it goes on where it was.
/// Fails with `not_found` if there is no apply to take back.
engine::Result<RolledBack> roll_back(FileSystem& files, const std::string& state_folder, Journal journal);

}  // namespace ctkit::installer
