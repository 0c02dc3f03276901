#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/result.h"
#include "installer/file_system.h"

namespace ctkit::installer {

/// One file: what it would be without us, and what we wrote.
struct JournalEntry {
  engine::FileChange change = {};
  std::optional<unsigned> mode = std::nullopt;  ///< its permission bits before us
  std::optional<std::string> earlier = std::nullopt;  ///< while unfinished: an earlier text of ours that may still be there
};

/// What we have done to the host.
struct Journal {
  std::vector<JournalEntry> files = {};        ///< in the order they were written
  std::vector<std::string> folders = {};       ///< that we made, outer before inner
  bool finished = false;                       ///< false: a run ended between its first write and its last
  long generation = 0;                         ///< of the kept contents, so that an old list never names new ones
};

inline constexpr std::string_view kStateFolder = "/usr/local/nvidia/.ctkit";

/// The journal in the state folder; none if there is no journal. Fails with `failed` if it can't be understood.
engine::Result<std::optional<Journal>> read_journal(const FileSystem& files, const std::string& folder);

/// Writes it, contents first, the list that refers to them last: a reader sees the old journal or the new one.
/// The folder is made if need be.
engine::Result<void> write_journal(FileSystem& files, const std::string& folder, Journal& journal);

/// Removes the journal, its folder and the folders we made, as far as they are empty.
engine::Result<void> remove_journal(FileSystem& files, const std::string& folder, const Journal& journal);

/// Notes the folder and those above it that are not there, before they are made: a run that is cut off knows of them.
void note_missing_folders(const FileSystem& files, const std::string& folder, Journal& journal);

/// Contents that no list names, left by a run that ended before it wrote one, and their folder if nothing else is in it.
engine::Result<void> remove_orphans(FileSystem& files, const std::string& folder);

}  // namespace ctkit::installer
