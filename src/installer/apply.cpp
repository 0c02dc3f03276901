#include "installer/apply.h"

#include <algorithm>
#include <utility>

#include "cdi/path.h"
#include "installer/set_file.h"

namespace ctkit::installer {

namespace {

using engine::Error;
using engine::ErrorCode;
using engine::FileChange;
using engine::Result;

constexpr unsigned kReadableByAll = 0644;

/// No wider than the strictest of the files it repeats.
unsigned mode_limit(const FileSystem& files, const FileChange& change) {
  unsigned limit = kReadableByAll;
  for (const std::string& source : change.sources) {
    if (const auto theirs = files.mode_of(source)) limit &= *theirs;
  }
  return limit | 0600;
}

/// The mode that a written file shall have; none: the one it has.
std::optional<unsigned> wanted_mode(const FileSystem& files, const FileChange& change) {
  if (change.sources.empty()) return std::nullopt;
  const unsigned limit = mode_limit(files, change);
  const auto present = present_mode(files, change.path);
  return present ? *present & (limit | ~0777U) : limit;
}

/// What it takes to undo the plan.
std::vector<AppliedFile> applied_files(const FileSystem& files,
                                       const std::vector<JournalEntry>& known,
                                       const Plan& plan) {
  std::vector<AppliedFile> list;
  for (const FileChange& change : plan.files) {
    const bool was_ours =
        std::ranges::any_of(known, [&](const JournalEntry& entry) { return entry.change.path == change.path; });
    list.push_back({.path = change.path,
                    .before = change.before,
                    .after = change.after,
                    .mode = present_mode(files, change.path),
                    .was_ours = was_ours});
  }
  return list;
}

/// The journal while the plan is carried out. A file that the plan gives up stays in it until it is given up.
Journal next_journal(const FileSystem& files, const std::optional<Journal>& journal, const Plan& plan, LastApply last) {
  Journal next = journal.value_or(Journal{});
  const std::vector<JournalEntry> known = std::exchange(next.files, {});
  if (!plan.files.empty()) {
    last.files = applied_files(files, known, plan);
    next.last = std::move(last);
  }
  const auto at = [](const JournalEntry& entry) -> const std::string& { return entry.change.path; };
  for (const JournalEntry& old : known) {
    if (std::ranges::find(plan.desired, old.change.path, &FileChange::path) == plan.desired.end()) {
      next.files.push_back(old);
    }
  }
  for (const FileChange& file : plan.desired) {
    JournalEntry entry{.change = file};
    const auto old = std::ranges::find(known, file.path, at);
    entry.mode = old != known.end() ? old->mode : present_mode(files, file.path);
    const auto present = std::ranges::find(plan.files, file.path, &FileChange::path);
    if (old != known.end() && present != plan.files.end()) entry.earlier = present->before;
    next.files.push_back(std::move(entry));
  }
  for (const FileChange& file : plan.files) {
    if (file.after) note_missing_folders(files, std::string(cdi::folder_of(file.path)), next);
  }
  next.finished = false;
  return next;
}

/// Everything is written: what only the way there needed goes.
void finish(Journal& journal, const Plan& plan) {
  std::erase_if(journal.files, [&](const JournalEntry& entry) {
    return std::ranges::find(plan.desired, entry.change.path, &FileChange::path) == plan.desired.end();
  });
  for (JournalEntry& entry : journal.files)
    entry.earlier = std::nullopt;
  journal.finished = true;
}

/// A replace that was killed leaves no more than these; that they stay is nothing to fail for.
void remove_leftovers(FileSystem& files, const Journal& journal) {
  for (const JournalEntry& entry : journal.files) {
    const std::string_view folder = cdi::folder_of(entry.change.path);
    for (const std::string_view place : {folder, cdi::folder_of(folder)}) {
      const auto names = files.list(place);
      if (!names) continue;
      for (const std::string& name : *names) {
        if (is_leftover_name(name)) static_cast<void>(files.remove(cdi::join(place, name)));
      }
    }
  }
}

/// A write and what it takes to put back what was there.
struct Written {
  const FileChange* change = nullptr;
  std::optional<unsigned> mode = std::nullopt;
};

/// Puts back what was written, last first; returns what could not be.
std::string put_back(FileSystem& files, const std::vector<Written>& written) {
  std::string failed;
  for (auto item = written.rbegin(); item != written.rend(); ++item) {
    // A write that failed has mostly not taken place.
    const auto present = files.read(item->change->path);
    if (present ? item->change->before == *present
                : !item->change->before && present.error().code == ErrorCode::not_found) {
      continue;
    }
    // Somebody else's by now.
    if (present ? item->change->after != *present
                : item->change->after && present.error().code == ErrorCode::not_found) {
      continue;
    }
    const auto done = set_file(files, item->change->path, item->change->before, item->mode, item->change->after);
    if (!done) failed += (failed.empty() ? "" : ", ") + item->change->path + " (" + done.error().message + ")";
  }
  return failed;
}

Error after_failure(Error error, const std::string& not_put_back) {
  error.hint += (error.hint.empty() ? "" : "; ");
  error.hint += not_put_back.empty() ? "the files are as before" : "these files could not be put back: " + not_put_back;
  return error;
}

}  // namespace

Result<Journal> apply(FileSystem& files,
                      const std::string& state_folder,
                      const std::optional<Journal>& journal,
                      const Plan& plan,
                      LastApply last) {
  if (plan.files.empty() && journal && journal->finished) return *journal;
  if (journal && !journal->finished) remove_leftovers(files, *journal);
  Journal next = next_journal(files, journal, plan, std::move(last));
  const auto abandon = [&](const Error& error, const std::vector<Written>& written) {
    const std::string failed = put_back(files, written);
    if (failed.empty()) {
      Journal before = journal.value_or(Journal{});
      static_cast<void>(journal ? write_journal(files, state_folder, before)
                                : remove_journal(files, state_folder, next));
    }
    return std::unexpected(after_failure(error, failed));
  };
  if (auto done = write_journal(files, state_folder, next); !done) return abandon(done.error(), {});
  std::vector<Written> written;
  for (const FileChange& change : plan.files) {
    if (change.after) {
      if (auto made = files.make_folders(cdi::folder_of(change.path)); !made) return abandon(made.error(), written);
    }
    // A replace that fails may have taken place all the same, if only the folder's sync failed.
    written.push_back({&change, present_mode(files, change.path)});
    if (auto done = set_file(files, change.path, change.after, wanted_mode(files, change), change.before); !done) {
      return abandon(done.error(), written);
    }
  }
  finish(next, plan);
  // All is done, and the list that stands says enough to take it back: the next run finishes it.
  static_cast<void>(write_journal(files, state_folder, next));
  return next;
}

Result<std::vector<TakenBack>> uninstall(const engine::Engine& engine,
                                         FileSystem& files,
                                         const std::string& state_folder,
                                         const Journal& journal,
                                         const Settle& settle) {
  auto list = take_back(engine, files, journal);
  if (!list) return list;
  remove_leftovers(files, journal);
  // The changes are kept together: what is put back points to them.
  std::vector<FileChange> changes;
  for (const TakenBack& file : *list)
    changes.push_back({.path = file.path, .before = file.present, .after = file.left});
  std::vector<Written> written;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    const FileChange& change = changes[i];
    if (change.before == change.after) continue;
    written.push_back({&change, present_mode(files, change.path)});
    if (auto done = set_file(files, change.path, change.after, (*list)[i].mode, change.before); !done) {
      return std::unexpected(after_failure(done.error(), put_back(files, written)));
    }
  }
  if (settle) {
    if (auto settled = settle(); !settled) {
      return std::unexpected(after_failure(settled.error(), put_back(files, written)));
    }
  }
  if (auto done = remove_journal(files, state_folder, journal); !done) {
    Error error = done.error();
    error.hint += (error.hint.empty() ? "" : "; ");
    error.hint +=
        "the daemon's files are as without us; `ctkit uninstall` again removes what is left of the "
        "state folder '" +
        state_folder + "'";
    return std::unexpected(error);
  }
  return list;
}

}  // namespace ctkit::installer
