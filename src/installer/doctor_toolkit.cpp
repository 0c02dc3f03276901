#include <algorithm>
#include <string>
#include <string_view>

#include "engine/nvidia_runtime.h"
#include "installer/doctor_gates.h"

// The toolkit's files.
namespace ctkit::installer {

namespace {

using toolkit::ToolkitState;

constexpr std::string_view kInstall = "start the toolkit's pod anew and read its log: it puts the files back";

std::string name_of(ToolkitState state, const ToolkitFacts& facts) {
  switch (state) {
    case ToolkitState::absent:
      return "no folder '" + facts.folder + "'";
    case ToolkitState::ours:
      return facts.version;
    case ToolkitState::folder:
      return "a stock installer's folder";
    case ToolkitState::foreign:
      return "behind a link of somebody's";
  }
  return "";
}

/// A program of the toolkit that handlers or hooks start can't run.
void judge_program(Gate& gate, const ProgramFact& program) {
  switch (program.state) {
    case ProgramFact::State::runnable:
      return;
    case ProgramFact::State::missing:
      gate.fail("'" + program.path + "' is not there: containers that need it fail with \"no such file or directory\"",
                std::string(kInstall));
      return;
    case ProgramFact::State::not_executable:
      gate.fail("'" + program.path + "' is not executable", std::string(kInstall));
      return;
  }
}

}  // namespace

Gate toolkit_gate(const DoctorFacts& facts) {
  const ToolkitFacts& toolkit = facts.toolkit;
  Gate gate{.name = "toolkit", .found = name_of(toolkit.state, toolkit)};
  const bool elsewhere = std::ranges::any_of(facts.daemon.handlers, [&](const engine::Handler& handler) {
    return engine::is_nvidia_runtime(handler.binary) && !handler.binary.starts_with(toolkit.folder + "/");
  });
  if (toolkit.state == ToolkitState::absent) {
    if (!facts.driver.kernel_seen) {
      gate.state = GateState::unseen;
      gate.found = "this tree has no toolkit folder";
      return gate;
    }
    if (!elsewhere) gate.fail("no toolkit is installed in '" + toolkit.folder + "'", std::string(kInstall));
  }
  if (elsewhere) gate.found += ", handlers start programs elsewhere";
  for (const ProgramFact& program : toolkit.programs)
    judge_program(gate, program);
  for (const ProgramFact& program : facts.daemon.binaries) {
    const bool known = std::ranges::find(toolkit.programs, program.path, &ProgramFact::path) != toolkit.programs.end();
    if (!known) judge_program(gate, program);
  }
  if (toolkit.may_run == false) {
    gate.fail("the file system of '" + toolkit.folder + "' is mounted noexec: no program runs from there",
              "mount it without noexec, or give the toolkit another folder (the operator's toolkit.installDir)");
  }
  if (!toolkit.config_error.empty()) {
    gate.fail("the toolkit can't read its config.toml: " + toolkit.config_error,
              "mend the file, or remove it and start the toolkit's pod anew");
  } else if (toolkit.state != ToolkitState::absent && !toolkit.config_there) {
    gate.mention("there is no config.toml in '" + toolkit.folder + "': the runtimes go by built-in defaults",
                 std::string(kInstall));
  }
  if (!toolkit.config_root.empty() && !facts.driver.library_version.empty() &&
      toolkit.config_root != facts.driver.root) {
    gate.mention(
        "config.toml looks for the driver in '" + toolkit.config_root + "', and it is in '" + facts.driver.root + "'",
        "start the toolkit's pod anew; if the key was set by hand, take it out");
  }
  return gate;
}

}  // namespace ctkit::installer
