#include "installer/roll_back.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "installer/set_file.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::Result;

Result<std::optional<std::string>> read_present(const FileSystem& files, const std::string& path) {
  auto text = files.read(path);
  if (text) return *std::move(text);
  if (text.error().code == ErrorCode::not_found) return std::nullopt;
  return std::unexpected(text.error());
}

/// The journal as it was before the apply, as far as it is about the file.
void forget(Journal& journal, const AppliedFile& file) {
  const auto at = [](const JournalEntry& entry) -> const std::string& { return entry.change.path; };
  const auto entry = std::ranges::find(journal.files, file.path, at);
  if (!file.was_ours) {
    if (entry != journal.files.end()) journal.files.erase(entry);
    return;
  }
  if (entry != journal.files.end()) {
    entry->change.after = file.before;
    entry->earlier = std::nullopt;
    return;
  }
  // The apply had given it up: what it wrote then is what was there before us.
  journal.files.push_back({.change = {.path = file.path, .before = file.after, .after = file.before}});
}

}  // namespace

Result<RolledBack> roll_back(FileSystem& files, const std::string& state_folder, Journal journal) {
  if (!journal.last) {
    return std::unexpected(Error{.code = ErrorCode::not_found, .message = "there is no apply to take back"});
  }
  RolledBack done;
  for (const AppliedFile& file : std::views::reverse(journal.last->files)) {
    const auto present = read_present(files, file.path);
    if (!present) return std::unexpected(present.error());
    if (*present == file.before) {
      forget(journal, file);
      continue;
    }
    if (*present != file.after) {
      done.left.push_back(file.path);
      continue;
    }
    if (auto put = set_file(files, file.path, file.before, file.mode, file.after); !put)
      return std::unexpected(put.error());
    done.put_back.push_back(file.path);
    forget(journal, file);
  }
  journal.last = std::nullopt;
  journal.finished = true;
  for (JournalEntry& entry : journal.files)
    entry.earlier = std::nullopt;
  const auto kept = journal.files.empty() ? remove_journal(files, state_folder, journal)
                                          : write_journal(files, state_folder, journal);
  if (!kept) return std::unexpected(kept.error());
  return done;
}

}  // namespace ctkit::installer
