#include "installer/report_cdi.h"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace ctkit::installer {

std::string_view name_of(cdi::SpecState state) {
  switch (state) {
    case cdi::SpecState::current:
      return "current";
    case cdi::SpecState::no_driver:
      return "unknown";
    case cdi::SpecState::missing:
      return "missing-files";
    case cdi::SpecState::old_version:
      return "old-version";
  }
  assert(false);
  return "";
}

std::string report_cdi_list_text(const cdi::SpecFolders& folders,
                                 std::span<const cdi::Staleness> rows,
                                 cdi::Level level) {
  if (folders.crash != cdi::Crash::none) return report_cdi_text(folders, level);
  std::string text;
  for (const auto& [device, file] : folders.devices) {
    const auto spec = std::ranges::find(folders.specs, file, &cdi::LoadedSpec::file);
    const auto row = std::ranges::find(rows, file, &cdi::Staleness::file);
    text += fmt::format("{}  {}  priority {}  {}\n",
                        device,
                        file,
                        spec == folders.specs.end() ? 0 : spec->priority,
                        row == rows.end() ? "unknown" : name_of(row->state));
  }
  for (const cdi::Staleness& row : rows) {
    if (!row.stale()) continue;
    text += fmt::format("{}: stale: spec {}, libraries {}, module {}\n",
                        row.file,
                        row.spec_version.empty() ? "-" : row.spec_version,
                        row.library_version.empty() ? "-" : row.library_version,
                        row.module_version.empty() ? "-" : row.module_version);
    for (const std::string& path : row.missing)
      text += fmt::format("  missing: {}\n", path);
  }
  for (const auto& [file, problems] : folders.problems) {
    for (const cdi::Problem& problem : problems) {
      text += fmt::format("{}: {}: {}\n", file, cdi::name_of(problem.problem), problem.message);
    }
  }
  return text.empty() ? "no devices\n" : text;
}

std::string report_cdi_text(const cdi::SpecFolders& folders, cdi::Level level) {
  const std::string_view library = cdi::rules_of(level).name;
  if (folders.crash != cdi::Crash::none) {
    return fmt::format("{}: error: CDI library {} {} and containerd with it; no device can be had\n",
                       folders.crash_file,
                       library,
                       folders.crash == cdi::Crash::panic ? "dies of this file," : "waits for this file for ever,");
  }
  std::string text;
  for (const auto& [device, file] : folders.devices)
    text += fmt::format("{}  {}\n", device, file);
  for (const auto& [file, problems] : folders.problems) {
    for (const cdi::Problem& problem : problems) {
      const std::string place = problem.line == 0 ? file : fmt::format("{}:{}", file, problem.line);
      text += fmt::format("{}: error: {}: {}\n", place, cdi::name_of(problem.problem), problem.message);
    }
  }
  text += fmt::format("CDI library {}: {} device{}, {} file{} loaded, {} with problems\n",
                      library,
                      folders.devices.size(),
                      folders.devices.size() == 1 ? "" : "s",
                      folders.specs.size(),
                      folders.specs.size() == 1 ? "" : "s",
                      folders.problems.size());
  return text;
}

std::string report_spec_state_text(const SpecState& state) {
  std::string text;
  if (!state.specs.empty()) {
    constexpr std::string_view kRow = "  {:<14} {:<14} {:<14} {:<13} {}\n";
    const auto or_dash = [](const std::string& version) { return version.empty() ? std::string("-") : version; };
    text = "CDI specs:\n" + fmt::format(kRow, "spec says", "on disk", "module", "state", "file");
    for (const cdi::Staleness& row : state.specs) {
      text += fmt::format(kRow,
                          or_dash(row.spec_version),
                          or_dash(row.library_version),
                          or_dash(row.module_version),
                          name_of(row.state),
                          row.file);
    }
  }
  for (const cdi::SpecFault& fault : state.faults) {
    const std::string place = fault.line == 0 ? fault.file : fmt::format("{}:{}", fault.file, fault.line);
    text += fmt::format("{}: {}\n  hint: {}\n", place, fault.message, fault.hint);
  }
  return text;
}

}  // namespace ctkit::installer
