#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "cdi/management.h"
#include "cdi/path.h"
#include "installer/doctor_gates.h"

// CDI specs, and what the operator's validator noted.
namespace ctkit::installer {

namespace {

constexpr std::string_view kRestartPlugin =
    "start anew who wrote it: the device plugin writes its spec at its start only; for the management spec `ctkit cdi "
    "generate` or the toolkit's pod";

std::string devices_of_nvidia(const cdi::SpecFolders& folders) {
  const auto count =
      std::ranges::count_if(folders.devices, [](const auto& device) { return device.first.contains("nvidia.com/"); });
  return std::to_string(count) + " devices of NVIDIA's";
}

bool is_kind_of_nvidia(std::string_view kind) {
  const std::string_view vendor = kind.substr(0, kind.find('/'));
  return vendor == "nvidia.com" || vendor.ends_with(".nvidia.com");
}

/// Whether the spec is of NVIDIA's devices: by its kind, or by the file's name where it doesn't load.
bool is_of_nvidia(const cdi::SpecFolders& folders, const std::string& file) {
  const auto loaded = std::ranges::find(folders.specs, file, &cdi::LoadedSpec::file);
  if (loaded != folders.specs.end()) return is_kind_of_nvidia(loaded->spec.kind);
  return cdi::base_name(file).contains("nvidia");
}

/// What is wrong with a spec of another vendor's is no fault of the chain that is judged here.
void tell(Gate& gate, bool of_nvidia, const std::string& problem, std::string_view remedy) {
  if (of_nvidia) {
    gate.fail(problem, std::string(remedy));
  } else {
    gate.mention(problem, std::string(remedy));
  }
}

/// Without a driver or a kernel the tree is a record, and has none of the files that specs name.
bool can_be_seen(const cdi::SpecFault& fault, const DriverFacts& driver) {
  if (fault.kind == cdi::FaultKind::stale) return driver.kernel_seen || !driver.library_version.empty();
  return fault.kind != cdi::FaultKind::missing_hook || driver.kernel_seen;
}

void judge_fault(Gate& gate, const cdi::SpecFault& fault, const cdi::SpecFolders& folders) {
  const std::string place = fault.line == 0 ? fault.file : fault.file + ":" + std::to_string(fault.line);
  const std::string problem = "'" + place + "': " + fault.message;
  switch (fault.kind) {
    case cdi::FaultKind::deadly:  // whosever it is
      gate.fail(problem, fault.hint);
      return;
    case cdi::FaultKind::invalid:
    case cdi::FaultKind::clash:
    case cdi::FaultKind::stale:
    case cdi::FaultKind::missing_hook:
      tell(gate, is_of_nvidia(folders, fault.file), problem, fault.hint);
      return;
    case cdi::FaultKind::shadowed:
      gate.mention(problem, fault.hint);
      return;
  }
}

/// Whether NVIDIA's runtime, as it is configured, asks for the management device.
bool wants_management(const ToolkitFacts& toolkit) {
  return toolkit.config_mode == "cdi" && toolkit.config_kind == cdi::kManagementKind;
}

/// The validator's steps, each a file, in their order.
struct Step {
  std::string_view file;
  std::string_view problem;
  std::string_view remedy;
};

constexpr auto kSteps = std::to_array({
    Step{"driver-ready",
         "driver-ready is not there: the operator's validator has not passed the driver, and the toolkit's pod waits "
         "for it",
         "look at the init container driver-validation; if every gate of the driver passes here and the toolkit's "
         "container was restarted alone, delete its pod: only a new one validates the driver again"},
    Step{"toolkit-ready",
         "toolkit-ready is not there: nvidia-smi has not run in a pod with the runtime class",
         "the gates before this one tell why; if they all pass, read the log of the validator's container "
         "toolkit-validation"},
    Step{"cuda-ready",
         "cuda-ready is not there: the validator's CUDA program has not run",
         "read the log of the pod nvidia-cuda-validator; the image needs a driver that is new enough"},
    Step{"plugin-ready",
         "plugin-ready is not there: the node does not offer nvidia.com/gpu",
         "look at the device plugin's pod: it tells why it registers no device"},
});

}  // namespace

Gate specs_gate(const DoctorFacts& facts) {
  const CdiFacts& found = facts.cdi;
  const cdi::SpecFolders& folders = found.specs.folders;
  Gate gate{.name = "cdi", .found = devices_of_nvidia(folders)};
  if (found.level) gate.found += ", as CDI library " + std::string(cdi::rules_of(*found.level).name) + " reads them";
  for (const cdi::SpecFault& fault : found.specs.faults) {
    if (can_be_seen(fault, facts.driver)) judge_fault(gate, fault, folders);
  }
  for (const MissingPath& node : found.missing_nodes) {
    tell(gate,
         is_of_nvidia(folders, node.spec),
         "'" + node.spec + "' names '" + node.path + "', which is not there",
         kRestartPlugin);
  }
  if (wants_management(facts.toolkit) && !folders.devices.contains(std::string(cdi::kManagementKind) + "=all")) {
    gate.fail("NVIDIA's runtime asks for " + std::string(cdi::kManagementKind) +
                  "=all, and no spec has it (\"unresolvable CDI devices\"): /var/run/cdi is empty after a reboot",
              "`ctkit cdi generate`, or start the toolkit's pod anew");
  }
  // The management device is for NVIDIA's runtime, which puts it in by itself.
  const bool plugin = std::ranges::any_of(
      folders.devices, [](const auto& device) { return !device.first.starts_with(cdi::kManagementKind); });
  for (const engine::Finding& finding : facts.daemon.findings) {
    if (plugin && finding.rule == engine::RuleId::cdi_off) gate.mention(finding.message, finding.hint);
  }
  if (found.daemon_has_none && plugin) {
    gate.mention(
        "this release of the daemon has no CDI, and somebody writes specs for it: pods start without their GPU",
        "pods need the runtime class, or the daemon an update to 1.7");
  }
  const bool nothing = folders.devices.empty() && folders.problems.empty() && gate.state == GateState::passed;
  if (nothing && !facts.driver.kernel_seen) {
    gate.state = GateState::unseen;
    gate.found = "this tree has no specs";
  }
  return gate;
}

Gate validator_gate(const DoctorFacts& facts) {
  const ValidatorFacts& validator = facts.validator;
  Gate gate{.name = "validator", .found = "all its steps passed"};
  if (!validator.there) {
    gate.state = GateState::unseen;
    gate.found = "no /run/nvidia/validations: the GPU Operator's validator has not been here";
    return gate;
  }
  for (const Step& step : kSteps) {
    if (validator.files.contains(step.file)) continue;
    if (gate.state == GateState::passed) gate.found = std::string(step.file) + " is missing";
    gate.fail(std::string(step.problem), std::string(step.remedy));
    break;  // the later ones wait for it
  }
  if (validator.driver_ready && !validator.driver_ready->missing.empty()) {
    gate.found = "driver-ready is not whole";
    gate.fail(
        "driver-ready has no " + validator.driver_ready->missing.front() + ": it is being written, or was cut off",
        "wait a second and look again; if it stays so, delete the toolkit's pod, which has it written anew");
  }
  return gate;
}

}  // namespace ctkit::installer
