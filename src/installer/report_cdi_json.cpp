#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "installer/report_cdi.h"
#include "installer/value_json.h"

namespace ctkit::installer {

using nlohmann::ordered_json;

std::string report_cdi_json(const cdi::SpecFolders& folders, cdi::Level level) {
  ordered_json report = {{"schema", "ctkit/v1/cdi-validate"}, {"level", cdi::rules_of(level).name}};
  if (folders.crash != cdi::Crash::none) {
    report["crash"] = folders.crash == cdi::Crash::panic ? "panic" : "hang";
    report["crash_file"] = folders.crash_file;
    return render_json(report);
  }
  report["devices"] = ordered_json::object();
  for (const auto& [device, file] : folders.devices)
    report["devices"][device] = file;
  report["why"] = ordered_json::object();
  report["problems"] = ordered_json::array();
  for (const auto& [file, problems] : folders.problems) {
    std::set<std::string_view> classes;
    for (const cdi::Problem& problem : problems) {
      classes.insert(cdi::name_of(problem.problem));
      report["problems"].push_back({{"file", file},
                                    {"line", problem.line == 0 ? ordered_json() : ordered_json(problem.line)},
                                    {"class", cdi::name_of(problem.problem)},
                                    {"message", problem.message}});
    }
    report["why"][file] = classes;
  }
  return render_json(report);
}

std::string report_cdi_list_json(const cdi::SpecFolders& folders,
                                 std::span<const cdi::Staleness> rows,
                                 cdi::Level level) {
  ordered_json report = {{"schema", "ctkit/v1/cdi-list"}, {"level", cdi::rules_of(level).name}};
  report["crash"] = folders.crash == cdi::Crash::none    ? ordered_json()
                    : folders.crash == cdi::Crash::panic ? ordered_json("panic")
                                                         : ordered_json("hang");
  report["devices"] = ordered_json::array();
  if (folders.crash == cdi::Crash::none) {
    for (const auto& [device, file] : folders.devices) {
      const auto spec = std::ranges::find(folders.specs, file, &cdi::LoadedSpec::file);
      report["devices"].push_back(
          {{"name", device}, {"file", file}, {"priority", spec == folders.specs.end() ? 0 : spec->priority}});
    }
  }
  report["specs"] = ordered_json::array();
  for (const cdi::Staleness& row : rows) {
    const auto or_null = [](const std::string& text) { return text.empty() ? ordered_json() : ordered_json(text); };
    report["specs"].push_back({{"file", row.file},
                               {"kind", row.kind},
                               {"state", name_of(row.state)},
                               {"spec_version", or_null(row.spec_version)},
                               {"library_version", or_null(row.library_version)},
                               {"module_version", or_null(row.module_version)},
                               {"missing", row.missing}});
  }
  report["problems"] = ordered_json::array();
  for (const auto& [file, problems] : folders.problems) {
    for (const cdi::Problem& problem : problems) {
      report["problems"].push_back(
          {{"file", file}, {"class", cdi::name_of(problem.problem)}, {"message", problem.message}});
    }
  }
  return render_json(report);
}

}  // namespace ctkit::installer
