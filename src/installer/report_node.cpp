#include "installer/report_node.h"

#include <ctime>

#include <fmt/format.h>

#include "installer/redact.h"
#include "installer/report_cdi.h"

namespace ctkit::installer {

namespace {

using Verdict = NodeChange::Verdict;

std::string lines(const std::vector<std::string>& texts, std::string_view before) {
  std::string all;
  for (const std::string& text : texts)
    all += fmt::format("{}{}\n", before, text);
  return all;
}

/// UTC, to the second.
std::string moment(std::int64_t microseconds) {
  constexpr std::int64_t kMicroseconds = 1'000'000;
  const std::time_t seconds = microseconds / kMicroseconds;
  std::tm parts{};
  if (gmtime_r(&seconds, &parts) == nullptr) return "?";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC",
                     parts.tm_year + 1900,
                     parts.tm_mon + 1,
                     parts.tm_mday,
                     parts.tm_hour,
                     parts.tm_min,
                     parts.tm_sec);
}

std::string or_none(const std::string& text) {
  return text.empty() ? "nothing" : text;
}

std::string differences(const NodeState& state) {
  std::string text;
  if (!state.refused.empty()) text += "the daemon would refuse today's files: " + state.refused + "\n";
  for (const std::string& reason : state.not_serving)
    text += "with today's files Kubernetes finds no runtime: " + reason + "\n";
  if (!state.unreachable.empty()) text += "the daemon doesn't answer: " + state.unreachable + "\n";
  for (const Difference& difference : state.differences) {
    text += fmt::format("{}: the files say {}, the daemon has loaded {}\n",
                        difference.what,
                        or_none(difference.files),
                        or_none(difference.loaded));
  }
  for (const engine::Mismatch& item : state.dump_differences.value_or(std::vector<engine::Mismatch>{})) {
    const auto value = [&](const std::optional<engine::Value>& of) {
      return of ? shown(item.key, *of) : std::string("nothing");
    };
    text += fmt::format("{}: we predict {}, its `config dump` says {}\n",
                        item.key.to_string(),
                        value(item.predicted),
                        value(item.answered));
  }
  if (!state.dump_failed.empty()) text += "its `config dump` is no help: " + state.dump_failed + "\n";
  for (const std::string& binary : state.missing_binaries)
    text += "no program is at '" + binary + "', which a handler starts\n";
  for (const std::string& path : state.drifted)
    text += "'" + path + "' is not as we wrote it\n";
  return text;
}

std::string why_newer(const NodeState& state) {
  if (state.newer_files.empty()) return "";
  return "the daemon started before these files changed:\n" + lines(state.newer_files, "  ");
}

}  // namespace

std::string report_verdict(const NodeChange& change) {
  std::string text = lines(change.problems, "ctkit: ");
  if (change.verdict == Verdict::rolled_back) text += "ctkit: the change was taken back, the node is as before\n";
  if (change.verdict == Verdict::rollback_failed) {
    text += lines(change.rollback_problems, "ctkit: after taking it back: ");
    text += "ctkit: the node is not as before";
    if (!change.unit.empty()) text += ": look at '" + change.unit + "'";
    text += "\n";
  }
  return text + lines(change.notes, "ctkit: ");
}

std::string report_change_text(const NodeChange& change) {
  switch (change.verdict) {
    case Verdict::untouched:
      return change.reasons.empty() ? "" : "a restart of the daemon is due:\n" + lines(change.reasons, "  ");
    case Verdict::verified:
      return "restarted " + change.unit + ", and it serves what the files say\n" + lines(change.reasons, "  ");
    case Verdict::rolled_back:
      return "taken back: " + change.unit + " didn't serve what was wanted\n";
    case Verdict::rollback_failed:
      return "NOT as before: " + change.unit + "\n";
  }
  return "";
}

std::string report_verify_text(const NodeState& state) {
  std::string text = differences(state);
  if (text.empty()) {
    return state.socket.empty() ? "no daemon runs on these files; they load, and serve\n"
                                : "the running daemon serves what the files say\n";
  }
  return text + why_newer(state);
}

std::string report_status_text(const NodeState& state) {
  std::string text = state.engine + "\n";
  if (state.socket.empty()) {
    text += "no daemon runs on these files\n";
  } else {
    text += fmt::format("socket   {}\n", state.socket);
    if (state.pid != 0) text += fmt::format("process  {}, since {}\n", state.pid, moment(state.started));
    if (!state.unit.empty()) text += fmt::format("unit     {}, {}\n", state.unit, state.unit_state);
  }
  if (!state.journal) {
    text += "nothing of ours is installed\n";
  } else {
    text += "files of ours:\n";
    for (const JournalEntry& entry : state.journal->files)
      text += "  " + entry.change.path + "\n";
    if (!state.journal->finished) text += "an apply ended before its last write: the next one finishes it\n";
    if (const auto& last = state.journal->last) {
      text += "last apply";
      if (last->time != 0) text += " " + moment(last->time);
      text += last->confirmed ? "" : ", which ended before its verdict: the next one takes it back";
      text += "\n";
    }
    text += fmt::format("restarts caused: {}\n", state.journal->restarts);
  }
  return text + report_spec_state_text(state.cdi) + differences(state) + why_newer(state);
}

std::string report_rollback_text(const Outcome& outcome) {
  if (!outcome.rolled_back) return "nothing to take back\n";
  std::string text;
  for (const std::string& path : outcome.rolled_back->put_back)
    text += "put back " + path + "\n";
  for (const std::string& path : outcome.rolled_back->left)
    text += "left " + path + ", which was edited since\n";
  if (outcome.node) text += report_change_text(*outcome.node);
  return text;
}

}  // namespace ctkit::installer
