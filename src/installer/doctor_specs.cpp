#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "installer/doctor_gates.h"

// CDI specs, and what the operator's validator noted.
namespace ctkit::installer {

namespace {

constexpr std::string_view kManagementKind = "management.nvidia.com/gpu";
constexpr std::string_view kRestartPlugin =
    "start anew who wrote it: the device plugin writes its spec at its start only; for the management spec `ctkit cdi "
    "generate` or the toolkit's pod";

std::string devices_of_nvidia(const CdiFacts& cdi) {
  const auto count = std::ranges::count_if(cdi.folders.devices,
                                           [](const auto& device) { return device.first.contains("nvidia.com/"); });
  return std::to_string(count) + " devices of NVIDIA's";
}

void judge_folders(Gate& gate, const cdi::SpecFolders& folders) {
  if (folders.crash != cdi::Crash::none) {
    gate.fail("'" + folders.crash_file + "' " +
                  (folders.crash == cdi::Crash::panic ? "kills the CDI library, and the daemon with it"
                                                      : "keeps the CDI library waiting for ever"),
              "remove the file; `ctkit cdi validate` tells its line");
  }
  for (const auto& [file, problems] : folders.problems) {
    const std::string first = problems.empty() ? "" : ": " + problems.front().message;
    const bool conflict = !problems.empty() && problems.front().problem == cdi::ProblemClass::conflict;
    const std::string problem = "'" + file + "' " + (conflict ? "clashes with another spec" : "is refused") + first;
    const std::string remedy = "`ctkit cdi validate` has all of them with their lines";
    if (file.contains("nvidia")) {
      gate.fail(problem, remedy);
    } else {
      gate.mention(problem, remedy);
    }
  }
}

void judge_row(Gate& gate, const cdi::Staleness& row) {
  switch (row.state) {
    case cdi::SpecState::current:
    case cdi::SpecState::no_driver:
      return;
    case cdi::SpecState::missing:
      gate.fail("'" + row.file + "' mounts '" + row.missing.front() +
                    "', which is not there: no container with its devices starts",
                std::string(kRestartPlugin));
      return;
    case cdi::SpecState::old_version:
      gate.fail("'" + row.file + "' is for driver " + row.spec_version + ", the loaded module is " + row.module_version,
                std::string(kRestartPlugin));
      return;
  }
}

/// Whether NVIDIA's runtime, as it is configured, asks for the management device.
bool wants_management(const ToolkitFacts& toolkit) {
  return toolkit.config_mode == "cdi" && toolkit.config_kind == kManagementKind;
}

/// The validator's steps, each a file, in their order.
struct Step {
  std::string_view file;
  std::string_view problem;
  std::string_view remedy;
};

constexpr std::array kSteps = {
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
};

}  // namespace

Gate specs_gate(const DoctorFacts& facts) {
  const CdiFacts& cdi = facts.cdi;
  Gate gate{.name = "cdi", .found = devices_of_nvidia(cdi)};
  if (cdi.level) gate.found += ", as CDI library " + std::string(cdi::rules_of(*cdi.level).name) + " reads them";
  judge_folders(gate, cdi.folders);
  for (const cdi::Staleness& row : cdi.rows)
    judge_row(gate, row);
  for (const MissingPath& hook : cdi.missing_hooks) {
    gate.fail("'" + hook.spec + "' calls '" + hook.path +
                  "', which is not there or not executable: no container with its "
                  "devices starts",
              "the toolkit's files bring it: start the toolkit's pod anew");
  }
  for (const MissingPath& node : cdi.missing_nodes) {
    gate.fail("'" + node.spec + "' names '" + node.path + "', which is not there", std::string(kRestartPlugin));
  }
  if (wants_management(facts.toolkit) && !cdi.folders.devices.contains(std::string(kManagementKind) + "=all")) {
    gate.fail("NVIDIA's runtime asks for " + std::string(kManagementKind) +
                  "=all, and no spec has it (\"unresolvable CDI devices\"): /var/run/cdi is empty after a reboot",
              "`ctkit cdi generate`, or start the toolkit's pod anew");
  }
  // The management device is for NVIDIA's runtime, which puts it in by itself.
  const bool plugin = std::ranges::any_of(
      cdi.folders.devices, [](const auto& device) { return !device.first.starts_with(kManagementKind); });
  for (const engine::Finding& finding : facts.daemon.findings) {
    if (plugin && finding.rule == engine::RuleId::cdi_off) gate.mention(finding.message, finding.hint);
  }
  if (cdi.daemon_has_none && plugin) {
    gate.mention(
        "this release of the daemon has no CDI, and somebody writes specs for it: pods start without their GPU",
        "pods need the runtime class, or the daemon an update to 1.7");
  }
  const bool nothing = cdi.folders.devices.empty() && cdi.folders.problems.empty() && gate.state == GateState::passed;
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
