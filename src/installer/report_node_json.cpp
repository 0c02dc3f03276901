#include <array>

#include <nlohmann/json.hpp>

#include "installer/redact.h"
#include "installer/report_cdi.h"
#include "installer/report_node.h"
#include "installer/value_json.h"

namespace ctkit::installer {

namespace {

using installer::to_json;
using nlohmann::ordered_json;

ordered_json or_null(const std::string& text) {
  return text.empty() ? ordered_json(nullptr) : ordered_json(text);
}

ordered_json change_json(const std::optional<NodeChange>& change) {
  if (!change) return nullptr;
  constexpr auto kVerdicts = std::to_array({"untouched", "verified", "rolled_back", "rollback_failed"});
  return {{"verdict", kVerdicts.at(static_cast<std::size_t>(change->verdict))},
          {"unit", or_null(change->unit)},
          {"restarted", change->restarted},
          {"reasons", change->reasons},
          {"problems", change->problems},
          {"rollback_problems", change->rollback_problems},
          {"notes", change->notes}};
}

ordered_json last_json(const Journal& journal) {
  if (!journal.last) return nullptr;
  ordered_json files = ordered_json::array();
  for (const AppliedFile& file : journal.last->files)
    files.push_back({{"path", file.path}, {"there", file.after.has_value()}});
  return {{"time", journal.last->time == 0 ? ordered_json(nullptr) : ordered_json(journal.last->time)},
          {"confirmed", journal.last->confirmed},
          {"token", or_null(journal.last->token)},
          {"unit", or_null(journal.last->unit)},
          {"files", std::move(files)}};
}

ordered_json journal_json(const std::optional<Journal>& journal) {
  if (!journal) return nullptr;
  ordered_json files = ordered_json::array();
  for (const JournalEntry& entry : journal->files)
    files.push_back(entry.change.path);
  return {{"finished", journal->finished},
          {"files", std::move(files)},
          {"restarts", journal->restarts},
          {"last_apply", last_json(*journal)}};
}

}  // namespace

std::string report_state_json(const NodeState& state, bool verify) {
  ordered_json differences = ordered_json::array();
  for (const Difference& item : state.differences) {
    differences.push_back({{"what", item.what}, {"files", or_null(item.files)}, {"loaded", or_null(item.loaded)}});
  }
  // Null where nothing was compared: an empty list is a comparison without a difference.
  ordered_json dump = state.dump_differences ? ordered_json::array() : ordered_json(nullptr);
  for (const engine::Mismatch& item : state.dump_differences.value_or(std::vector<engine::Mismatch>{})) {
    const auto value = [&](const std::optional<engine::Value>& of) {
      return of ? shown_value(item.key, *of) : ordered_json(nullptr);
    };
    dump.push_back(
        {{"key", item.key.to_string()}, {"predicted", value(item.predicted)}, {"dump", value(item.answered)}});
  }
  ordered_json specs = ordered_json::array();
  for (const cdi::Staleness& row : state.cdi.specs) {
    specs.push_back({{"file", row.file},
                     {"kind", row.kind},
                     {"spec", or_null(row.spec_version)},
                     {"libraries", or_null(row.library_version)},
                     {"module", or_null(row.module_version)},
                     {"state", name_of(row.state)},
                     {"missing", row.missing}});
  }
  ordered_json faults = ordered_json::array();
  for (const cdi::SpecFault& fault : state.cdi.faults) {
    faults.push_back({{"file", fault.file},
                      {"line", fault.line == 0 ? ordered_json(nullptr) : ordered_json(fault.line)},
                      {"message", fault.message},
                      {"hint", or_null(fault.hint)}});
  }
  ordered_json document = {{"schema", verify ? "ctkit/v1/verify" : "ctkit/v1/status"},
                           {"engine", state.engine},
                           {"socket", or_null(state.socket)},
                           {"unreachable", or_null(state.unreachable)},
                           {"pid", state.pid == 0 ? ordered_json(nullptr) : ordered_json(state.pid)},
                           {"started", state.started == 0 ? ordered_json(nullptr) : ordered_json(state.started)},
                           {"unit", or_null(state.unit)},
                           {"unit_state", or_null(state.unit_state)},
                           {"differs", state.differs()},
                           {"refused", or_null(state.refused)},
                           {"not_serving", state.not_serving},
                           {"differences", std::move(differences)},
                           {"dump_differences", std::move(dump)},
                           {"dump_failed", or_null(state.dump_failed)},
                           {"newer_files", state.newer_files},
                           {"missing_binaries", state.missing_binaries},
                           {"drifted", state.drifted},
                           {"cdi_specs", std::move(specs)},
                           {"cdi_faults", std::move(faults)},
                           {"journal", journal_json(state.journal)}};
  return render_json(document);
}

std::string report_rollback_json(const Outcome& outcome) {
  ordered_json files = ordered_json::array();
  if (outcome.rolled_back) {
    for (const std::string& path : outcome.rolled_back->put_back)
      files.push_back({{"path", path}, {"put_back", true}});
    for (const std::string& path : outcome.rolled_back->left)
      files.push_back({{"path", path}, {"put_back", false}});
  }
  return render_json({{"schema", "ctkit/v1/rollback"},
                      {"taken_back", outcome.rolled_back.has_value()},
                      {"files", std::move(files)},
                      {"node", change_json(outcome.node)}});
}

std::string change_json_text(const std::optional<NodeChange>& change) {
  return change_json(change).dump();
}

}  // namespace ctkit::installer
