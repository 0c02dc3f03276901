#include "installer/recover.h"

#include <algorithm>
#include <utility>

#include "installer/loaded_config.h"
#include "installer/loaded_files.h"
#include "installer/loaded_now.h"
#include "installer/roll_back.h"
#include "installer/state_place.h"
#include "installer/verify.h"

namespace ctkit::installer {

namespace {

using engine::ErrorCode;
using engine::Result;

bool is_as_written(const FileSystem& files, const AppliedFile& file) {
  const auto present = files.read(file.path);
  return present ? file.after == *present : !file.after && present.error().code == ErrorCode::not_found;
}

/// The journal as it is to be if the change holds after all; none: it doesn't, or nobody can say.
std::optional<Journal> proven(const engine::Engine& engine, Host& host, const Journal& journal) {
  LiveNode& node = *host.live;
  const LastApply& last = *journal.last;
  if (!journal.finished || last.loaded.empty() || !node.daemon || !may_have_read(node.daemon->process, last.time))
    return std::nullopt;
  if (!std::ranges::all_of(last.files, [&](const AppliedFile& file) { return is_as_written(host.files, file); }))
    return std::nullopt;
  const auto today = engine.effective(host.files, false);
  if (!today || !newer_files(host.files, *today, node.daemon->process, {}).empty()) return std::nullopt;
  const auto before = read_loaded(last.loaded);
  const auto now = loaded_now(node);
  if (!before || !now) return std::nullopt;
  if (!judge_loaded(make_expected(*today, engine.handlers(*today)), *before, *now).empty()) return std::nullopt;
  Journal holds = journal;
  holds.last->confirmed = true;
  holds.restarts += 1;
  holds.settled = {.start_ticks = node.daemon->process.start_ticks, .up_to = last_change(host.files, *today)};
  return holds;
}

}  // namespace

Result<Recovered> recover(const Request& request, const engine::Engine& engine, Host& host) {
  const std::string folder = state_folder(request);
  auto journal = read_journal(host.files, folder);
  if (!journal) return std::unexpected(journal.error());
  if (!*journal || !(*journal)->last || (*journal)->last->confirmed) return Recovered{.journal = *std::move(journal)};
  if (auto holds = proven(engine, host, **journal)) {
    host.live->say("an earlier apply ended before its verdict: the daemon serves what it wanted");
    if (auto written = write_journal(host.files, folder, *holds); !written) return std::unexpected(written.error());
    return Recovered{.journal = std::move(holds)};
  }
  host.live->say("an earlier apply ended before its verdict: putting back what was there before it");
  const auto done = roll_back(host.files, folder, **std::move(journal));
  if (!done) return std::unexpected(done.error().with_context("taking back an apply that ended before its verdict"));
  auto now = read_journal(host.files, folder);
  if (!now) return std::unexpected(now.error());
  return Recovered{.took_back = true, .journal = *std::move(now)};
}

}  // namespace ctkit::installer
