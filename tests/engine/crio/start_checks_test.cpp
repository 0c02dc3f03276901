#include "engine/crio/start_checks.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/crio/crio_node.h"
#include "engine/crio/effective.h"

// Starts of real daemons are in testdata/crio/starts.jsonl (tests/crio_parity.py).

namespace ctkit::engine::crio {
namespace {

using test::CrioHost;
using test::MemoryFiles;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kNvidia = "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/nv\"\n";

/// "fatal nvidia", "nvidia": what is found, in order.
std::vector<std::string> found(std::string_view release, const MemoryFiles& host) {
  const Known known = test::crio_of(release);
  const auto config = effective(known, {}, host, false);
  std::vector<std::string> problems;
  for (const StartProblem& problem : start_problems(known, config.value(), host))
    problems.push_back((problem.fatal ? "fatal " : "") + std::string(rule_of(problem.rule).name) + " " +
                       problem.handler);
  return problems;
}

TEST(StartProblems, AreFewInATreeWithoutPrograms) {
  EXPECT_THAT(found("1.34.11", CrioHost({{"1", std::string(kNvidia)}})), IsEmpty());
  EXPECT_THAT(found("1.34.11", CrioHost({{"1", "[crio.runtime]\ndefault_runtime = \"x\"\n"}})),
              ElementsAre("fatal daemon-refuses x"));
  EXPECT_THAT(found("1.34.11", CrioHost({{"1", "[crio.runtime]\nlog_level = \"loud\"\n"}})),
              ElementsAre("fatal daemon-refuses "));
  EXPECT_THAT(found("1.34.11", CrioHost({{"1", std::string(kNvidia) + "runtime_type = \"io.containerd.runc.v2\"\n"}})),
              ElementsAre("handler-dropped nvidia"));
}

TEST(StartProblems, AMonitorIsNeededByEachHandlerThatStays) {
  CrioHost host({{"1", std::string(kNvidia)}, {"/usr/bin/crun", ""}, {"/usr/bin/true", ""}, {"/nv", ""}});
  EXPECT_THAT(found("1.34.11", host), ElementsAre("fatal no-monitor crun", "fatal no-monitor nvidia"));
  host.add_file("/usr/local/bin/conmon", "");
  EXPECT_THAT(found("1.34.11", host), IsEmpty());
  host.add_file(test::kDropIns + "2", std::string(kNvidia) + "monitor_path = \"/gone\"\n");
  EXPECT_THAT(found("1.34.11", host), ElementsAre("fatal no-monitor nvidia"));
  host.add_file(test::kDropIns + "3", std::string(kNvidia) + "runtime_type = \"vm\"\nmonitor_path = \"/gone\"\n");
  EXPECT_THAT(found("1.34.11", host), IsEmpty());
}

TEST(StartProblems, AMissingProgramStopsTheDaemonOnlyForTheDefault) {
  CrioHost host({{"1", std::string(kNvidia)}, {"/usr/bin/conmon", ""}, {"/usr/bin/crun", ""}});
  EXPECT_THAT(found("1.34.11", host), ElementsAre("handler-dropped nvidia"));
  host.add_file(test::kDropIns + "2", "[crio.runtime]\ndefault_runtime = \"nvidia\"\n");
  EXPECT_THAT(found("1.34.11", host), ElementsAre("fatal default-binary-missing nvidia"));
}

TEST(StartProblems, CgroupsOfMonitorsFitTheManager) {
  const auto with = [](const std::string& manager, const std::string& cgroup) {
    return CrioHost({{"1",
                      "[crio.runtime]\ncgroup_manager = \"" + manager +
                          "\"\n[crio.runtime.runtimes.crun]\nmonitor_cgroup = \"" + cgroup + "\"\n"}});
  };
  EXPECT_THAT(found("1.34.11", with("systemd", "pod")), IsEmpty());
  EXPECT_THAT(found("1.34.11", with("systemd", "x.slice")), IsEmpty());
  EXPECT_THAT(found("1.34.11", with("systemd", "/foo")), ElementsAre("fatal monitor-cgroup crun"));
  EXPECT_THAT(found("1.34.11", with("cgroupfs", "system.slice")), IsEmpty());
  EXPECT_THAT(found("1.32.13", with("cgroupfs", "system.slice")), ElementsAre("fatal monitor-cgroup crun"));
  EXPECT_THAT(found("1.32.13", with("cgroupfs", "pod")), IsEmpty());
}

}  // namespace
}  // namespace ctkit::engine::crio
