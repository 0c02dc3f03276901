#include "installer/spec_state.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "cdi/inventory.h"
#include "cdi/spec_folders.h"
#include "engine/leaf.h"

namespace ctkit::installer {

namespace {

constexpr std::string_view kDriverContainer = "/run/nvidia/driver";

std::string libraries_of(const cdi::Tree& host) {
  std::string version = cdi::find_library_version(host);
  if (!version.empty()) return version;
  const auto driver = host.below(kDriverContainer);
  return driver ? cdi::find_library_version(**driver) : "";
}

bool holds_programs(const cdi::Tree& host) {
  return host.follow("/usr/bin/true").has_value() || host.follow("/bin/true").has_value();
}

engine::RuleId rule_of(cdi::FaultKind kind) {
  switch (kind) {
    case cdi::FaultKind::deadly:
      return engine::RuleId::cdi_deadly_spec;
    case cdi::FaultKind::invalid:
      return engine::RuleId::cdi_refused_spec;
    case cdi::FaultKind::clash:
      return engine::RuleId::cdi_device_twice;
    case cdi::FaultKind::stale:
      return engine::RuleId::cdi_stale_spec;
    case cdi::FaultKind::shadowed:
      return engine::RuleId::cdi_management_twice;
    case cdi::FaultKind::missing_hook:
      return engine::RuleId::cdi_missing_hook;
  }
  assert(false);
  return engine::RuleId::cdi_refused_spec;
}

}  // namespace

std::vector<std::string> spec_folders_of(const engine::EffectiveConfig* config) {
  std::vector<std::string> folders;
  if (!config) return cdi::usual_spec_folders();
  const engine::Value* list = engine::find_anywhere(config->config, "cdi_spec_dirs");
  if (list && list->array()) {
    for (const engine::Value& item : *list->array()) {
      if (item.string()) folders.push_back(*item.string());
    }
  }
  return folders.empty() ? cdi::usual_spec_folders() : folders;
}

std::vector<cdi::Staleness> judge_specs(const cdi::SpecFolders& folders,
                                        const cdi::Tree& host,
                                        const engine::FileReader& files) {
  std::vector<cdi::Staleness> rows;
  if (folders.specs.empty()) return rows;
  const auto text = files.read(cdi::kModuleVersionFile);
  const std::string module = text ? cdi::parse_module_version(*text) : "";
  const std::string libraries = libraries_of(host);
  for (const cdi::LoadedSpec& spec : folders.specs)
    rows.push_back(cdi::judge(spec, host, libraries, module));
  return rows;
}

SpecState look_at_specs(const cdi::Tree& host,
                        const engine::FileReader& files,
                        const std::vector<std::string>& folders,
                        cdi::Level level) {
  SpecState state{.folders = cdi::read_spec_folders(host, folders, level)};
  const cdi::SpecFolders& read = state.folders;
  state.specs = judge_specs(read, host, files);
  state.faults = cdi::find_spec_faults(read, state.specs);
  auto shadowed = cdi::find_shadowed_specs(read);
  std::ranges::move(shadowed, std::back_inserter(state.faults));
  if (holds_programs(host)) {
    auto hooks = cdi::find_missing_hooks(read, host);
    std::ranges::move(hooks, std::back_inserter(state.faults));
  }
  return state;
}

std::vector<engine::Finding> find_spec_problems(const SpecState& state) {
  std::vector<engine::Finding> findings;
  for (const cdi::SpecFault& fault : state.faults) {
    const engine::Rule& rule = engine::rule_of(rule_of(fault.kind));
    engine::Finding finding;
    finding.rule = rule.number;
    finding.severity = rule.severity;
    finding.message = fault.message;
    finding.origin = engine::parse_place(fault.line == 0 ? fault.file : fault.file + ":" + std::to_string(fault.line));
    finding.hint = fault.hint;
    findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace ctkit::installer
