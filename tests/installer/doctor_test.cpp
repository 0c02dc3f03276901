#include "installer/doctor.h"

#include <array>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/cli.h"
#include "installer/doctor_cli.h"
#include "installer/observe_doctor.h"
#include "installer/report_doctor.h"
#include "support/memory_files.h"

namespace ctkit::installer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr auto kToolkitFolder = "/usr/local/nvidia/toolkit";

engine::Handler nvidia_handler(const std::string& name) {
  return {.name = name, .binary = std::string(kToolkitFolder) + "/nvidia-container-runtime"};
}

/// A node of the GPU Operator on which everything is as it should be.
DoctorFacts healthy() {
  DoctorFacts facts;
  facts.driver = {.kernel_seen = true,
                  .module_loaded = true,
                  .module_version = "580.95.05",
                  .root = "/run/nvidia/driver",
                  .root_there = true,
                  .library_version = "580.95.05",
                  .devices_seen = true,
                  .nodes = {"nvidia-uvm", "nvidia0", "nvidia1", "nvidiactl"}};
  facts.toolkit = {.folder = kToolkitFolder,
                   .state = toolkit::ToolkitState::ours,
                   .version = "1.20.0-1",
                   .programs = {{.path = std::string(kToolkitFolder) + "/nvidia-container-runtime"}},
                   .may_run = true,
                   .config_there = true,
                   .config_root = "/run/nvidia/driver",
                   .config_mode = "cdi",
                   .config_kind = "management.nvidia.com/gpu"};
  facts.daemon.engine = "containerd 1.7.27";
  facts.daemon.state.socket = "/run/containerd/containerd.sock";
  facts.daemon.state.dump_differences.emplace();
  facts.daemon.handlers = {nvidia_handler("nvidia"), nvidia_handler("nvidia-cdi"), {.name = "runc"}};
  facts.cdi.level = cdi::Level::v0_8_1;
  facts.cdi.specs.folders.devices = {{"management.nvidia.com/gpu=all", "/var/run/cdi/management.nvidia.com-gpu.yaml"},
                                     {"nvidia.com/gpu=0", "/var/run/cdi/k8s.device-plugin.nvidia.com-gpu.json"}};
  facts.validator = {.there = true,
                     .files = {"driver-ready", "toolkit-ready", "cuda-ready", "plugin-ready"},
                     .driver_ready = daemonset::DriverReady{}};
  return facts;
}

engine::Finding finding(engine::RuleId rule, const std::string& message) {
  return {.rule = rule,
          .severity = engine::rule_of(rule).severity,
          .message = message,
          .origin = {.file = std::make_shared<const std::string>("/etc/containerd/conf.d/registry.toml"), .line = 2},
          .hint = "the hint"};
}

TEST(Doctor, EveryGateOfAHealthyNodePasses) {
  const DoctorReport report = make_doctor_report(healthy());
  for (const Gate& gate : report.gates) {
    EXPECT_EQ(gate.state, GateState::passed) << gate.name;
    EXPECT_THAT(gate.advice, IsEmpty()) << gate.name;
  }
  EXPECT_EQ(report.first_failed(), nullptr);
  EXPECT_EQ(report_doctor_text(report), R"(every gate passes

module     ok      580.95.05
libraries  ok      580.95.05 in '/run/nvidia/driver'
devices    ok      2 GPUs
toolkit    ok      1.20.0-1
handlers   ok      containerd 1.7.27: nvidia, nvidia-cdi
dump       ok      as we predict
loaded     ok      as the files say
cdi        ok      2 devices of NVIDIA's, as CDI library 0.8.1 reads them
validator  ok      all its steps passed
)");
}

/// A spec that loads, of another vendor's device.
cdi::LoadedSpec other_vendors_spec() {
  return {.file = "/etc/cdi/vendor.yaml", .spec = {.kind = "vendor.com/nic"}};
}

void add_fault(DoctorFacts& facts, cdi::FaultKind kind, const std::string& file) {
  facts.cdi.specs.faults.push_back({.kind = kind, .file = file, .message = "the fault", .hint = "the hint"});
}

/// One thing that is wrong on a node that is well otherwise.
struct Fault {
  const char* name;
  void (*make)(DoctorFacts& facts);
  std::string_view gate;
  GateState state;
  const char* says;  ///< part of what the first advice, or the gate, says
};

void PrintTo(const Fault& fault, std::ostream* out) {
  *out << fault.name;
}

class GateOf : public testing::TestWithParam<Fault> {};

TEST_P(GateOf, IsTheFirstToFailAndSaysWhy) {
  const Fault& fault = GetParam();
  DoctorFacts facts = healthy();
  fault.make(facts);
  const DoctorReport report = make_doctor_report(facts);
  const auto gate = std::ranges::find(report.gates, fault.gate, &Gate::name);
  ASSERT_NE(gate, report.gates.end());
  EXPECT_EQ(word_of(gate->state), word_of(fault.state)) << gate->found;
  if (fault.state == GateState::failed) {
    ASSERT_NE(report.first_failed(), nullptr);
    EXPECT_EQ(report.first_failed()->name, fault.gate);
    ASSERT_THAT(report_doctor_text(report), StartsWith("first gate that fails: " + std::string(fault.gate)));
  } else {
    EXPECT_EQ(report.first_failed(), nullptr) << report.first_failed()->name;
  }
  EXPECT_THAT(gate->advice.empty() ? gate->found : gate->advice.front().problem, HasSubstr(fault.says));
  for (const Advice& advice : gate->advice)
    EXPECT_THAT(advice.remedy, Not(IsEmpty())) << advice.problem;
}

using enum GateState;

INSTANTIATE_TEST_SUITE_P(
    Driver,
    GateOf,
    testing::Values(Fault{"no module",
                          [](DoctorFacts& facts) { facts.driver.module_loaded = false; },
                          "module",
                          failed,
                          "module is not loaded"},
                    Fault{"a record without /proc",
                          [](DoctorFacts& facts) { facts.driver.module_loaded = facts.driver.kernel_seen = false; },
                          "module",
                          unseen,
                          "no /proc"},
                    Fault{"the driver's container is away",
                          [](DoctorFacts& facts) {
                            facts.driver.library_version = "";
                            facts.driver.root_empty = true;
                          },
                          "libraries",
                          failed,
                          "is empty"},
                    Fault{"no driver installed",
                          [](DoctorFacts& facts) { facts.driver.library_version = ""; },
                          "libraries",
                          failed,
                          "no driver libraries"},
                    Fault{"a record without a driver",
                          [](DoctorFacts& facts) {
                            facts.driver = {};
                            facts.validator = {};
                          },
                          "libraries",
                          unseen,
                          "no driver"},
                    Fault{"libraries updated under the module",
                          [](DoctorFacts& facts) { facts.driver.module_version = "570.1.2"; },
                          "libraries",
                          failed,
                          "Driver/library version mismatch"},
                    Fault{"no GPU",
                          [](DoctorFacts& facts) { facts.driver.nodes = {"nvidiactl", "nvidia-uvm"}; },
                          "devices",
                          failed,
                          "/dev/nvidia0"},
                    Fault{"no control node",
                          [](DoctorFacts& facts) { facts.driver.nodes = {"nvidia0", "nvidia-uvm"}; },
                          "devices",
                          failed,
                          "/dev/nvidiactl"},
                    Fault{"no memory node",
                          [](DoctorFacts& facts) { facts.driver.nodes = {"nvidia0", "nvidiactl"}; },
                          "devices",
                          failed,
                          "/dev/nvidia-uvm"},
                    Fault{"no links by number",
                          [](DoctorFacts& facts) { facts.driver.nodes_without_link = {"/dev/nvidiactl"}; },
                          "devices",
                          attention,
                          "daemon-reload"}));

INSTANTIATE_TEST_SUITE_P(
    Toolkit,
    GateOf,
    testing::Values(
        Fault{"not installed",
              [](DoctorFacts& facts) { facts.toolkit = {.folder = kToolkitFolder}; },
              "toolkit",
              failed,
              "no toolkit is installed"},
        Fault{"a stock installer removed it",
              [](DoctorFacts& facts) { facts.toolkit.programs.front().state = ProgramFact::State::missing; },
              "toolkit",
              failed,
              "no such file or directory"},
        Fault{"not executable",
              [](DoctorFacts& facts) { facts.toolkit.programs.front().state = ProgramFact::State::not_executable; },
              "toolkit",
              failed,
              "not executable"},
        Fault{"a handler's binary elsewhere",
              [](DoctorFacts& facts) {
                facts.daemon.binaries = {
                    {.path = "/usr/bin/nvidia-container-runtime", .state = ProgramFact::State::missing}};
              },
              "toolkit",
              failed,
              "/usr/bin/nvidia-container-runtime"},
        Fault{"noexec", [](DoctorFacts& facts) { facts.toolkit.may_run = false; }, "toolkit", failed, "noexec"},
        Fault{"a config that can't be read",
              [](DoctorFacts& facts) { facts.toolkit.config_error = "config.toml:3: no value"; },
              "toolkit",
              failed,
              "config.toml:3: no value"},
        Fault{"no config",
              [](DoctorFacts& facts) { facts.toolkit.config_there = false; },
              "toolkit",
              attention,
              "no config.toml"},
        Fault{"another driver root",
              [](DoctorFacts& facts) { facts.toolkit.config_root = "/"; },
              "toolkit",
              attention,
              "looks for the driver in '/'"}));

INSTANTIATE_TEST_SUITE_P(
    Daemon,
    GateOf,
    testing::Values(
        Fault{"unknown release",
              [](DoctorFacts& facts) {
                facts.daemon.unknown = engine::Error{.message = "the release is not known", .hint = "--release"};
              },
              "handlers",
              unseen,
              "not known (--release)"},
        Fault{"refuses its files",
              [](DoctorFacts& facts) { facts.daemon.state.refused = "version 4 is above 2 (x.toml:1)"; },
              "handlers",
              failed,
              "version 4 is above 2"},
        Fault{"no runtime for Kubernetes",
              [](DoctorFacts& facts) { facts.daemon.state.not_serving = {"the default handler is not there"}; },
              "handlers",
              failed,
              "finds no runtime"},
        Fault{"no handler",
              [](DoctorFacts& facts) { facts.daemon.handlers = {{.name = "runc"}}; },
              "handlers",
              failed,
              "no handler 'nvidia' is effective"},
        Fault{"a handler of another name only",
              [](DoctorFacts& facts) { facts.runtime_class = "gpu"; },
              "handlers",
              failed,
              "no handler 'gpu'"},
        Fault{"runc under NVIDIA's name",
              [](DoctorFacts& facts) { facts.daemon.handlers.front().binary = "/usr/bin/runc"; },
              "handlers",
              failed,
              "'/usr/bin/runc'"},
        Fault{
            "runc in a folder of NVIDIA's name",
            [](DoctorFacts& facts) { facts.daemon.handlers.front().binary = "/opt/nvidia-container-runtime/bin/runc"; },
            "handlers",
            failed,
            "none of NVIDIA's runtimes"},
        Fault{"an error that leaves the handlers",
              [](DoctorFacts& facts) { facts.daemon.findings = {finding(engine::RuleId::erases_others, "it erases")}; },
              "handlers",
              attention,
              "/etc/containerd/conf.d/registry.toml:2: it erases (CTK001)"},
        Fault{"our file was edited",
              [](DoctorFacts& facts) { facts.daemon.state.drifted = {"/etc/containerd/conf.d/99-nvidia.toml"}; },
              "handlers",
              attention,
              "not as we wrote it"},
        Fault{"an apply that was killed",
              [](DoctorFacts& facts) { facts.daemon.state.journal = Journal{.last = LastApply{}}; },
              "handlers",
              attention,
              "before its verdict"},
        Fault{
            "another dump",
            [](DoctorFacts& facts) { facts.daemon.state.dump_differences = {{{.key = {.parts = {"plugins", "x"}}}}}; },
            "dump",
            attention,
            "first in plugins.x"},
        Fault{"a daemon without a dump",
              [](DoctorFacts& facts) { facts.daemon.state.dump_differences.reset(); },
              "dump",
              unseen,
              "nothing of this daemon's to compare"},
        Fault{"no dump",
              [](DoctorFacts& facts) { facts.daemon.state.dump_failed = "it hangs"; },
              "dump",
              attention,
              "it hangs"},
        Fault{"not loaded",
              [](DoctorFacts& facts) {
                facts.daemon.state.differences = {{.what = "handler 'nvidia'", .files = "/x", .loaded = ""}};
                facts.daemon.state.newer_files = {"/etc/containerd/config.toml"};
              },
              "loaded",
              failed,
              "has loaded nothing, and it was started before '/etc/containerd/config.toml' changed"},
        Fault{"another pause image",
              [](DoctorFacts& facts) {
                facts.daemon.state.differences = {{.what = "the pause image", .files = "a", .loaded = "b"}};
              },
              "loaded",
              attention,
              "the pause image"},
        Fault{"down",
              [](DoctorFacts& facts) { facts.daemon.state.unreachable = "connection refused"; },
              "loaded",
              failed,
              "connection refused"},
        Fault{"a record",
              [](DoctorFacts& facts) { facts.daemon.state.socket = ""; },
              "loaded",
              unseen,
              "no daemon runs"}));

INSTANTIATE_TEST_SUITE_P(
    Specs,
    GateOf,
    testing::Values(
        Fault{"after a reboot",
              [](DoctorFacts& facts) { facts.cdi.specs.folders.devices.clear(); },
              "cdi",
              failed,
              "unresolvable CDI devices"},
        Fault{"a spec of ours that is refused",
              [](DoctorFacts& facts) { add_fault(facts, cdi::FaultKind::invalid, "/var/run/cdi/nvidia.yaml"); },
              "cdi",
              failed,
              "'/var/run/cdi/nvidia.yaml': the fault"},
        Fault{"somebody else's that is refused",
              [](DoctorFacts& facts) { add_fault(facts, cdi::FaultKind::invalid, "/opt/nvidia/cdi/vendor.json"); },
              "cdi",
              attention,
              "vendor.json"},
        Fault{"a file that kills the library",
              [](DoctorFacts& facts) { add_fault(facts, cdi::FaultKind::deadly, "/etc/cdi/x.json"); },
              "cdi",
              failed,
              "/etc/cdi/x.json"},
        Fault{"libraries that are gone, or of the former driver",
              [](DoctorFacts& facts) {
                facts.cdi.specs.folders.specs = {{.file = "/x.yaml", .spec = {.kind = "management.nvidia.com/gpu"}}};
                add_fault(facts, cdi::FaultKind::stale, "/x.yaml");
              },
              "cdi",
              failed,
              "/x.yaml"},
        Fault{"no hooks",
              [](DoctorFacts& facts) { add_fault(facts, cdi::FaultKind::missing_hook, "/nvidia.yaml"); },
              "cdi",
              failed,
              "/nvidia.yaml"},
        Fault{"two specs for the management device",
              [](DoctorFacts& facts) { add_fault(facts, cdi::FaultKind::shadowed, "/nvidia.yaml"); },
              "cdi",
              attention,
              "/nvidia.yaml"},
        Fault{"nodes of a GPU that is gone",
              [](DoctorFacts& facts) { facts.cdi.missing_nodes = {{.spec = "/nvidia.yaml", .path = "/dev/nvidia7"}}; },
              "cdi",
              failed,
              "/dev/nvidia7"},
        Fault{"libraries of another vendor's spec that are gone",
              [](DoctorFacts& facts) {
                facts.cdi.specs.folders.specs = {{.file = "/nvidia-like.yaml", .spec = {.kind = "vendor.com/nvidia"}}};
                add_fault(facts, cdi::FaultKind::stale, "/nvidia-like.yaml");
              },
              "cdi",
              attention,
              "/nvidia-like.yaml"},
        Fault{"hooks of another vendor's spec",
              [](DoctorFacts& facts) { add_fault(facts, cdi::FaultKind::missing_hook, "/etc/cdi/vendor.yaml"); },
              "cdi",
              attention,
              "/etc/cdi/vendor.yaml"},
        Fault{"nodes of another vendor's spec",
              [](DoctorFacts& facts) {
                facts.cdi.specs.folders.specs = {other_vendors_spec()};
                facts.cdi.missing_nodes = {{.spec = "/etc/cdi/vendor.yaml", .path = "/dev/nic0"}};
              },
              "cdi",
              attention,
              "/dev/nic0"},
        Fault{"CDI off in the daemon",
              [](DoctorFacts& facts) {
                facts.daemon.findings = {finding(engine::RuleId::cdi_off, "enable_cdi is false")};
              },
              "cdi",
              attention,
              "enable_cdi is false"},
        Fault{"a daemon from before CDI",
              [](DoctorFacts& facts) { facts.cdi.daemon_has_none = true; },
              "cdi",
              attention,
              "pods start without their GPU"}));

INSTANTIATE_TEST_SUITE_P(Validator,
                         GateOf,
                         testing::Values(Fault{"no operator",
                                               [](DoctorFacts& facts) { facts.validator = {}; },
                                               "validator",
                                               unseen,
                                               "has not been here"},
                                         Fault{"nothing validated",
                                               [](DoctorFacts& facts) { facts.validator = {.there = true}; },
                                               "validator",
                                               failed,
                                               "driver-ready is not there"},
                                         Fault{"half a file",
                                               [](DoctorFacts& facts) {
                                                 facts.validator.driver_ready =
                                                     daemonset::parse_driver_ready("IS_HOST_DRIVER=true\n");
                                               },
                                               "validator",
                                               failed,
                                               "driver-ready has no NVIDIA_DRIVER_ROOT"},
                                         Fault{"no toolkit-ready",
                                               [](DoctorFacts& facts) { facts.validator.files.erase("toolkit-ready"); },
                                               "validator",
                                               failed,
                                               "toolkit-ready is not there"},
                                         Fault{"no device plugin",
                                               [](DoctorFacts& facts) { facts.validator.files.erase("plugin-ready"); },
                                               "validator",
                                               failed,
                                               "nvidia.com/gpu"}));

TEST(Doctor, FindingsExplainAHandlerThatIsGone) {
  DoctorFacts facts = healthy();
  facts.daemon.handlers.clear();
  facts.daemon.findings = {finding(engine::RuleId::erases_others, "it erases"),
                           finding(engine::RuleId::readable_secret, "a secret")};
  const DoctorReport report = make_doctor_report(facts);
  const std::string text = report_doctor_text(report);
  EXPECT_THAT(text, HasSubstr("registry.toml:2: it erases (CTK001)\n    do: the hint\n"));
  EXPECT_THAT(text, Not(HasSubstr("a secret")));
}

TEST(Doctor, AnOldToolkitReadyIsNotBelieved) {
  DoctorFacts facts = healthy();
  facts.daemon.handlers.clear();
  const DoctorReport report = make_doctor_report(facts);
  EXPECT_EQ(report.gates.back().state, GateState::attention);
  EXPECT_THAT(report.gates.back().advice.front().problem, HasSubstr("although the gate 'handlers' fails"));
}

TEST(Doctor, GatesBehindTheFirstAreSaidToFollowFromIt) {
  DoctorFacts facts = healthy();
  facts.driver.module_loaded = false;
  facts.driver.nodes.clear();
  const std::string text = report_doctor_text(make_doctor_report(facts));
  EXPECT_THAT(text, StartsWith("first gate that fails: module\n"));
  EXPECT_THAT(text, HasSubstr("\ndevices, maybe because of the first:\n"));
}

TEST(Doctor, ARecordSaysWhatIsNotSeen) {
  DoctorFacts facts = healthy();
  facts.driver = {};
  facts.validator = {};
  facts.toolkit = {.folder = kToolkitFolder};
  facts.daemon.state.socket = "";
  facts.cdi = {};
  EXPECT_THAT(report_doctor_text(make_doctor_report(facts)),
              StartsWith("no gate fails that can be seen here; not seen: module, libraries, devices, toolkit, dump, "
                         "loaded, cdi, validator\n"));
}

TEST(Doctor, FilesThatSpecsOfARecordNameAreNotMissed) {
  DoctorFacts facts = healthy();
  facts.driver = {};
  add_fault(facts, cdi::FaultKind::stale, "/nvidia.yaml");
  add_fault(facts, cdi::FaultKind::missing_hook, "/nvidia.yaml");
  const DoctorReport report = make_doctor_report(facts);
  const auto gate = std::ranges::find(report.gates, "cdi", &Gate::name);
  EXPECT_THAT(gate->advice, IsEmpty());
}

TEST(Doctor, JsonHasTheGatesWithTheirProblems) {
  DoctorFacts facts = healthy();
  facts.validator.files.erase("plugin-ready");
  const std::string json = report_doctor_json(make_doctor_report(facts));
  EXPECT_THAT(json, StartsWith("{\n  \"schema\": \"ctkit/v1/doctor\",\n  \"first_failed\": \"validator\",\n"));
  EXPECT_THAT(json, HasSubstr(R"("gate": "module",
      "state": "passed",
      "found": "580.95.05",
      "problems": [])"));
}

/// What `--help` says of an option, up to the next one.
std::string help_of(std::string_view option, const std::string& help) {
  const std::size_t start = help.find("  " + std::string(option) + " ");
  if (start == std::string::npos) return "";
  return help.substr(start, help.find("\n  -", start) - start);
}

TEST(DoctorCommandLine, ExplainsOptionsThatOtherVerbsHaveAsTheyDo) {
  const auto doctor = parse_doctor_command_line(std::array{"ctkit", "doctor", "--help"});
  const auto verify = parse_command_line(std::array{"ctkit", "verify", "--help"});
  const auto apply = parse_command_line(std::array{"ctkit", "apply", "--help"});
  ASSERT_TRUE(doctor);
  const std::string& text = std::get<Printed>(*doctor).text;
  for (const std::string_view option : {"--engine", "--release", "--config", "--defaults", "--socket", "--state-dir"}) {
    EXPECT_THAT(help_of(option, text), Not(IsEmpty())) << option;
    EXPECT_EQ(help_of(option, text), help_of(option, std::get<Printed>(verify).text)) << option;
  }
  EXPECT_EQ(help_of("--toolkit-folder", text), help_of("--toolkit-folder", std::get<Printed>(apply).text));
}

TEST(Doctor, LooksAtTheHostThatAPodHas) {
  const std::string kernel = "/proc/sys/kernel/osrelease";
  EXPECT_EQ(find_doctors_root(test::MemoryFiles{{kernel, ""}}), "/");
  EXPECT_EQ(find_doctors_root(test::MemoryFiles{{kernel, ""}, {"/host" + kernel, ""}}), "/host");
  // Somebody's folder of that name on the host.
  EXPECT_EQ(find_doctors_root(test::MemoryFiles{{"/run/systemd/private", ""}, {"/host" + kernel, ""}}), "/");
}

}  // namespace
}  // namespace ctkit::installer
