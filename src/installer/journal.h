#pragma once

#include <cstdint>
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
  std::optional<std::string> earlier =
      std::nullopt;  ///< while unfinished: an earlier text of ours that may still be there
};

/// A file that the last apply changed, and how it was before.
struct AppliedFile {
  std::string path = {};
  std::optional<std::string> before = std::nullopt;
  std::optional<std::string> after = std::nullopt;
  std::optional<unsigned> mode = std::nullopt;  ///< its permission bits before
  bool was_ours = false;                        ///< before, too
};

/// The last apply that changed files.
struct LastApply {
  bool confirmed = false;               ///< false: files that no running daemon has proven are on the host, or may be
  std::string token = {};               ///< names it, for who has to take it back by itself
  std::int64_t time = 0;                ///< microseconds since the epoch; 0: not told
  std::string unit = {};                ///< the daemon's; empty: none was to be restarted
  std::string loaded = {};              ///< its CRI config from before, JSON as it came
  std::vector<AppliedFile> files = {};  ///< in writing order
};

/// Changes of files up to a time that make no difference to a running process.
struct Settled {
  std::int64_t start_ticks = 0;  ///< which process: when it started
  std::int64_t up_to = 0;        ///< microseconds since the epoch
  bool operator==(const Settled&) const = default;
};

/// What we have done to the host.
struct Journal {
  std::vector<JournalEntry> files = {};          ///< in the order they were written
  std::vector<std::string> folders = {};         ///< that we made, outer before inner
  bool finished = false;                         ///< false: a run ended between its first write and its last
  long generation = 0;                           ///< of the kept contents, so that an old list never names new ones
  std::optional<LastApply> last = std::nullopt;  ///< what `rollback` takes back
  long restarts = 0;                             ///< of the daemon that we asked for since we are on this host
  Settled settled = {};
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

/// The daemon's own answers, kept beside the journal; they go with it.
inline constexpr std::string_view kBuildName = "daemon.json";
/// A copy of our program, while a timer may have to run it.
inline constexpr std::string_view kProgramName = "ctkit";

/// Contents that no list names, left by a run that ended before it wrote one, and their folder if nothing else is in
/// it.
engine::Result<void> remove_orphans(FileSystem& files, const std::string& folder);

}  // namespace ctkit::installer
