#include "engine/containerd/effective.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/change.h"
#include "engine/containerd/merge.h"
#include "support/containerd_fixture.h"

// From files to what the daemon runs with. Values are what real releases printed; comments name the
// recorded cases.
namespace ctkit::engine::containerd {
namespace {

using test::expect_printed;
using test::Host;
using test::kDump;
using test::loaded;
using test::printed_by;
using test::Texts;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kRoot2 = "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n";
constexpr std::string_view kRoot3 = "version = 3\nimports = ['/etc/containerd/conf.d/*.toml']\n";
constexpr std::string_view kNvidia2 =
    "version = 2\n[OLD.containerd.runtimes.nvidia]\nruntime_type = 'io.containerd.runc.v2'\n";
constexpr std::string_view kNvidia3 =
    "version = 3\n[RUNTIME.containerd.runtimes.nvidia]\nruntime_type = 'io.containerd.runc.v2'\n";
constexpr std::string_view kAll1 = "1.5.18 1.6.20 1.6.28 1.6.39 1.7.0 1.7.15 1.7.27 1.7.34";
constexpr std::string_view kAll20To22 = "2.0.6 2.0.11 2.1.0 2.1.9 2.2.0 2.2.1 2.2.2 2.2.7";
constexpr std::string_view kAll23 = "2.3.0 2.3.4 2.4.0-beta.0";

std::string runtimes_of(std::string_view release, Texts texts, const LoadRequest& request = {}) {
  const auto result = test::effective_of(release, texts, request);
  if (!result) return test::verdict_of(result);
  const auto known = test::daemon_of(release).known;
  return test::keys_at(result->config,
                       known.regime.keyed_plugins ? "RUNTIME.containerd.runtimes" : "OLD.containerd.runtimes");
}

void expect_runtimes(Texts texts, std::initializer_list<test::Printed> expected, const LoadRequest& request = {}) {
  for (const auto& [releases, names] : expected) {
    std::string_view rest = releases;
    while (!rest.empty()) {
      const std::string_view release = rest.substr(0, rest.find(' '));
      EXPECT_EQ(runtimes_of(release, texts, request), names) << "containerd " << release;
      rest.remove_prefix(std::min(rest.size(), release.size() + 1));
    }
  }
}

// Section 1: the surprising things.

TEST(Effective, FollowsNoBuiltInImport) {  // a12, a13, a14
  constexpr std::string_view kDropIn = "version = 2\noom_score = -77";
  expect_printed({{"config.toml", "version = 2"}, {"conf.d/99.toml", kDropIn}},
                 "oom_score",
                 {{kAll1, "0"}, {kAll20To22, "0"}, {kAll23, "0"}});
  expect_printed({{"conf.d/99.toml", kDropIn}}, "oom_score", {{"2.2.0 2.3.4", "0"}});
  expect_printed({{"config.toml", kRoot2}, {"conf.d/99.toml", kDropIn}},
                 "oom_score",
                 {{kAll1, "-77"}, {kAll20To22, "-77"}, {kAll23, "-77"}});
}

TEST(Effective, LosesTheRootsCriSettingsToADropInIn1x) {  // c01, d05
  const Texts texts = {
      {"config.toml", "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n[OLD]\nenable_selinux = true"},
      {"conf.d/10.toml", kNvidia2}};
  expect_printed(texts, "OLD.enable_selinux", {{kAll1, "false"}});
  expect_printed(texts, "RUNTIME.enable_selinux", {{kAll20To22, "true"}, {kAll23, "true"}});
}

TEST(Effective, KeepsOnlyTheLastOfTwoDropInsIn1x) {  // d06, d07
  expect_runtimes({{"config.toml", kRoot2},
                   {"conf.d/10.toml", "version = 2\n[OLD.containerd.runtimes.one]\nruntime_type = 'r'"},
                   {"conf.d/20.toml", "version = 2\n[OLD.containerd.runtimes.two]\nruntime_type = 'r'"}},
                  {{kAll1, "two"}, {kAll20To22, "one runc two"}, {kAll23, "one runc two"}});
}

TEST(Effective, LosesTheBuiltInRuncIn1x) {  // d01, d02
  expect_runtimes({{"config.toml", kNvidia2}},
                  {{kAll1, "nvidia"}, {kAll20To22, "nvidia runc"}, {kAll23, "nvidia runc"}});
}

TEST(Effective, LeavesNoRuntimeTypeBehindAPartialRuncIn1x) {  // d03
  const Texts texts = {{"config.toml", "version = 2\n[OLD.containerd.runtimes.runc.options]\nSystemdCgroup = true"}};
  expect_printed(texts, "OLD.containerd.runtimes.runc.runtime_type", {{kAll1, "\"\""}});
  expect_printed(texts,
                 "RUNTIME.containerd.runtimes.runc.runtime_type",
                 {{kAll20To22, "\"io.containerd.runc.v2\""}, {kAll23, "\"io.containerd.runc.v2\""}});
}

TEST(Effective, ResetsAPluginByAnEmptySectionIn1x) {  // d16
  const Texts texts = {
      {"config.toml", "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n[OLD]\nenable_selinux = true"},
      {"conf.d/10.toml", "version = 2\n[OLD]"}};
  expect_printed(texts, "OLD.enable_selinux", {{kAll1, "false"}});
  expect_printed(texts, "RUNTIME.enable_selinux", {{kAll20To22, "true"}, {kAll23, "true"}});
}

TEST(Effective, SwitchesMigrationOffByAVersion3DropInOn20To22) {  // c02, c05
  const Texts texts = {
      {"config.toml", "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n[OLD]\nenable_selinux = true"},
      {"conf.d/10.toml", kNvidia3}};
  expect_printed(texts, "RUNTIME.enable_selinux", {{kAll20To22, "false"}});
  expect_runtimes(texts, {{kAll20To22, "nvidia runc"}});
}

TEST(Effective, SwitchesMigrationOnByAVersion2DropInOn20To22) {  // c03, c24
  expect_runtimes({{"config.toml", kRoot3}, {"conf.d/10.toml", kNvidia2}},
                  {{kAll20To22, "nvidia runc"}, {kAll23, "nvidia runc"}});
}

TEST(Effective, LosesAVersion2DropInsRuntimesUnderAVersion3RootWithRuntimesOn20To22) {  // c28
  const Texts texts = {{"config.toml",
                        "version = 3\nimports = "
                        "['/etc/containerd/conf.d/"
                        "*.toml']\n[RUNTIME.containerd.runtimes.runc.options]\nSystemdCgroup = true"},
                       {"conf.d/10.toml",
                        "version = 2\n[OLD.containerd]\ndefault_runtime_name = "
                        "'nvidia'\n[OLD.containerd.runtimes.nvidia]\nruntime_type = 'r'"}};
  expect_runtimes(texts, {{kAll20To22, "runc"}, {kAll23, "nvidia runc"}});
  expect_printed(
      texts, "RUNTIME.containerd.default_runtime_name", {{kAll20To22, "\"nvidia\""}, {kAll23, "\"nvidia\""}});
  EXPECT_THAT(loaded("2.2.7", texts).not_serving,
              ElementsAre(HasSubstr("the default runtime 'nvidia' has no handler")));
}

TEST(Effective, IgnoresOldSectionsOfAVersionlessRootOn20To22) {  // a08, a09, c16
  for (const std::string_view root : {"[OLD]\nenable_selinux = true",
                                      "version = 1\n[plugins.cri]\nenable_selinux = true",
                                      "version = 0\n[OLD]\nenable_selinux = true"})
    expect_printed({{"config.toml", root}}, "RUNTIME.enable_selinux", {{kAll20To22, "false"}, {kAll23, "true"}});
}

TEST(Effective, PicksNamesByTheVersionLeftAtTheEndIn1x) {  // a08, a09, c14
  expect_printed(
      {{"config.toml", "version = 1\n[plugins.cri]\nenable_selinux = true"}}, "OLD.enable_selinux", {{kAll1, "true"}});
  expect_printed({{"config.toml", "[OLD]\nenable_selinux = true"}}, "OLD.enable_selinux", {{kAll1, "false"}});
  const Texts dropped = {
      {"config.toml", "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n[OLD]\nenable_selinux = true"},
      {"conf.d/10.toml", "version = 1\n[plugins.cri.containerd.runtimes.nvidia]\nruntime_type = 'r'"}};
  expect_printed(dropped, "OLD.enable_selinux", {{kAll1, "false"}});
  expect_runtimes(dropped, {{kAll1, "nvidia"}});
}

TEST(Effective, TakesZeroForNoVersion) {  // a11
  expect_printed({{"config.toml", "version = 2\nimports = ['conf.d/10.toml']\n[OLD]\nenable_selinux = true"},
                  {"conf.d/10.toml", "version = 0"}},
                 "OLD.enable_selinux",
                 {{kAll1, "true"}});
}

TEST(Effective, KeepsTopLevelValuesAgainstZerosEvenBuiltInOnes) {  // e01, e02
  const Texts texts = {{"config.toml", "version = 2\nroot = ''\n[grpc]\nuid = 0\naddress = ''"}};
  expect_printed(texts,
                 "root",
                 {{kAll1, "\"/var/lib/containerd\""},
                  {kAll20To22, "\"/var/lib/containerd\""},
                  {kAll23, "\"/var/lib/containerd\""}});
  expect_printed(texts,
                 "grpc.address",
                 {{kAll1, "\"/run/containerd/containerd.sock\""}, {kAll20To22, "\"/run/containerd/containerd.sock\""}});
  expect_printed({{"config.toml", "version = 2\nimports = ['a.toml']\noom_score = -999"}, {"a.toml", "oom_score = 0"}},
                 "oom_score",
                 {{kAll1, "-999"}, {kAll20To22, "-999"}, {kAll23, "-999"}});
}

TEST(Effective, LetsZerosOverrideInPluginSections) {  // d11, d12
  expect_printed({{"config.toml",
                   "version = 3\nimports = ['a.toml']\n[RUNTIME]\nenable_selinux = "
                   "true\nselinux_category_range = 55"},
                  {"a.toml", "version = 3\n[RUNTIME]\nenable_selinux = false\nselinux_category_range = 0"}},
                 "RUNTIME.selinux_category_range",
                 {{kAll20To22, "0"}, {kAll23, "0"}});
}

TEST(Effective, ReplacesArraysOfPluginSections) {  // d09, d10
  expect_printed({{"config.toml", "version = 3\nimports = ['a.toml']\n[RUNTIME]\ncdi_spec_dirs = ['/a', '/b']"},
                  {"a.toml", "version = 3\n[RUNTIME]\ncdi_spec_dirs = ['/b', '/c']"}},
                 "RUNTIME.cdi_spec_dirs",
                 {{kAll20To22, R"(["/b", "/c"])"}, {kAll23, R"(["/b", "/c"])"}});
  expect_printed({{"config.toml", "version = 3\nimports = ['a.toml']\n[RUNTIME]\ncdi_spec_dirs = ['/a', '/b']"},
                  {"a.toml", "version = 3\n[RUNTIME]\ncdi_spec_dirs = []"}},
                 "RUNTIME.cdi_spec_dirs",
                 {{kAll20To22, "[]"}, {kAll23, "[]"}});
}

TEST(Effective, CannotRemoveAnEntryIn2x) {  // d35
  expect_runtimes({{"config.toml",
                    std::string_view("version = 3\nimports = "
                                     "['a.toml']\n[RUNTIME.containerd.runtimes.nvidia]\nruntime_type = 'r'")},
                   {"a.toml", "version = 3\n[RUNTIME.containerd.runtimes]\n[RUNTIME.containerd.runtimes.nvidia]"}},
                  {{kAll20To22, "nvidia runc"}, {kAll23, "nvidia runc"}});
}

TEST(Effective, AppendsTopLevelLists) {  // e04
  const Texts texts = {{"config.toml",
                        "version = 2\nimports = ['a.toml']\ndisabled_plugins = ['io.containerd.a.v1.x', "
                        "'io.containerd.a.v1.x']"},
                       {"a.toml", "version = 2\ndisabled_plugins = ['io.containerd.a.v1.x', 'io.containerd.a.v1.y']"}};
  expect_printed(
      texts,
      "disabled_plugins",
      {{kAll1, R"(["io.containerd.a.v1.x", "io.containerd.a.v1.x", "io.containerd.a.v1.x", "io.containerd.a.v1.y"])"},
       {kAll20To22, R"(["io.containerd.a.v1.x", "io.containerd.a.v1.y"])"},
       {kAll23, R"(["io.containerd.a.v1.x", "io.containerd.a.v1.y"])"}});
}

TEST(Effective, PrintsLoadedFilesAsImportsIn1xAndPatternsIn2x) {  // b30
  expect_printed({{"config.toml", kRoot2}, {"conf.d/10.toml", "version = 2"}},
                 "imports",
                 {{kAll1, R"(["/etc/containerd/config.toml", "/etc/containerd/conf.d/10.toml"])"},
                  {kAll20To22, R"(["/etc/containerd/conf.d/*.toml"])"},
                  {kAll23, R"(["/etc/containerd/conf.d/*.toml"])"}});
}

TEST(Effective, FillsInBuiltInTimeouts) {  // e05
  const Texts texts = {{"config.toml",
                        "version = 2\nimports = ['a.toml']\n[timeouts]\n'io.containerd.timeout.shim.cleanup' = "
                        "'9s'\n'my.own' = '1s'"},
                       {"a.toml", "version = 2\n[timeouts]\n'io.containerd.timeout.shim.cleanup' = ''"}};
  for (const std::string_view all : {kAll1, kAll20To22, kAll23}) {
    expect_printed(texts, "timeouts.'io.containerd.timeout.shim.cleanup'", {{all, "\"5s\""}});
    expect_printed(texts, "timeouts.'io.containerd.timeout.task.state'", {{all, "\"2s\""}});
    expect_printed(texts, "timeouts.'my.own'", {{all, "\"1s\""}});
  }
}

TEST(Effective, ReplacesProxyPluginsWholeAndExportsTheirAddress) {  // e07
  const Texts texts = {{"config.toml", R"(
      version = 2
      imports = ["a.toml"]
      [proxy_plugins.snap]
      type = "snapshot"
      address = "/run/a.sock"
      platform = "linux/arm64"
      [proxy_plugins.other]
      type = "content"
      address = "/run/o.sock"
      exports = {root = "/o"}
    )"},
                       {"a.toml", "version = 2\n[proxy_plugins.snap]\ntype = 'snapshot'\naddress = '/run/b.sock'"}};
  expect_printed(texts, "proxy_plugins.snap.address", {{"1.5.18 1.6.39 1.7.34 2.1.9 2.3.4", "\"/run/b.sock\""}});
  expect_printed(
      texts, "proxy_plugins.snap.platform", {{"1.5.18 1.6.28 1.7.0", "absent"}, {"1.6.39 1.7.34 2.1.9 2.3.4", "\"\""}});
  expect_printed(
      texts,
      "proxy_plugins.other.exports",
      {{"1.5.18 1.7.0", "absent"}, {"1.6.39 1.7.34 2.1.9 2.3.4", R"({ address = "/run/o.sock", root = "/o" })"}});
}

// Section 6: migration as it shows in the result.

TEST(Effective, PrintsUnknownAndDisabledPluginsOnlyIn2x) {  // d18, d21
  const Texts texts = {{"config.toml",
                        "version = 2\ndisabled_plugins = ['io.containerd.internal.v1.opt']\n"
                        "[plugins.'io.containerd.internal.v1.opt']\npath = "
                        "'/x'\n[plugins.'io.containerd.example.v1.none']\nf = 2.0"}};
  expect_printed(texts,
                 "plugins.'io.containerd.internal.v1.opt'",
                 {{kAll1, "absent"}, {kAll20To22, R"({ path = "/x" })"}, {kAll23, R"({ path = "/x" })"}});
  expect_printed(texts,
                 "plugins.'io.containerd.example.v1.none'",
                 {{kAll1, "absent"}, {kAll20To22, "{ f = 2.0 }"}, {kAll23, "{ f = 2.0 }"}});
}

TEST(Effective, SkipsMigrationsOfDisabledPluginsOn20To22Only) {  // d22, d23
  expect_printed({{"config.toml",
                   "version = 2\ndisabled_plugins = ['io.containerd.grpc.v1.cri']\n[OLD]\nenable_selinux = "
                   "true\nstream_server_port = '1'"}},
                 "OLD",
                 {{kAll1, "absent"},
                  {kAll20To22, R"({ enable_selinux = true, stream_server_port = "1" })"},
                  {kAll23, R"({ stream_server_port = "1" })"}});
  expect_printed({{"config.toml",
                   "version = 2\ndisabled_plugins = "
                   "['io.containerd.cri.v1.runtime']\n[OLD]\nenable_selinux = true"}},
                 "RUNTIME",
                 {{kAll20To22, "absent"}, {kAll23, "{ enable_selinux = true }"}});
}

TEST(Effective, RunsThePluginMigrationsInEveryPassFrom23) {  // g11, g12
  const Texts sched = {{"config.toml", "version = 2\n[plugins.'io.containerd.runtime.v2.task']\nsched_core = true"}};
  expect_printed(
      sched, "plugins.'io.containerd.shim.v1.manager'.env", {{kAll20To22, R"(["SCHED_CORE=1"])"}, {kAll23, "[]"}});
  const Texts env = {{"config.toml",
                      "version = 3\n[plugins.'io.containerd.shim.v1.manager']\nenv = "
                      "['A=1']\n[plugins.'io.containerd.runtime.v2.task']"}};
  expect_printed(env, "plugins.'io.containerd.shim.v1.manager'.env", {{kAll20To22, R"(["A=1"])"}, {kAll23, "[]"}});
}

TEST(Effective, MigratesEachFileOnItsOwnFrom23) {  // c18, g15, g25
  expect_printed(
      {{"config.toml", kRoot3},
       {"conf.d/10.toml", "version = 3\n[grpc]\naddress = '/g.sock'\nuid = 1"},
       {"conf.d/20.toml", "version = 3\n[grpc]\ngid = 2\nmax_recv_message_size = 9"},
       {"conf.d/30.toml", "version = 3\n[grpc]\naddress = '/h.sock'"}},
      "plugins.'io.containerd.server.v1.grpc'",
      {{kAll20To22, "absent"},
       {kAll23,
        R"({ address = "/h.sock", gid = 0, max_recv_message_size = 9, max_send_message_size = 16777216, uid = 0 })"}});
  expect_printed({{"config.toml",
                   "version = 3\nimports = "
                   "['a.toml']\n[RUNTIME.containerd.runtimes.nvidia.options]\nBinaryName = '/main'"},
                  {"a.toml", "version = 2\n[OLD.containerd.runtimes.nvidia.options]\nBinaryName = '/dropin'"}},
                 "RUNTIME.containerd.runtimes.nvidia.options.BinaryName",
                 {{kAll20To22, "\"/main\""}, {kAll23, "\"/dropin\""}});
}

TEST(Effective, LeavesAVersion4FileAlone) {  // g16, g32
  expect_printed(
      {{"config.toml", "version = 4\n[grpc]\naddress = '/g.sock'"}}, "grpc.address", {{kAll23, "\"/g.sock\""}});
  expect_runtimes({{"config.toml", "version = 4\n[OLD.containerd.runtimes.nvidia]\nruntime_type = 'r'"}},
                  {{kAll23, "runc"}});
}

// Dump against daemon: section 13.

TEST(Effective, MigratesInThe200To205DaemonButNotInItsDump) {
  const Texts texts = {{"config.toml", "version = 2\n[OLD]\nenable_selinux = true"}};
  expect_printed(texts, "RUNTIME.enable_selinux", {{"2.0.0 2.0.1 2.0.5 2.0.6", "true"}});
  expect_printed(
      texts, "RUNTIME.enable_selinux", {{"2.0.0 2.0.1 2.0.5", "false"}, {"2.0.6 2.1.0 2.3.4", "true"}}, kDump);
}

TEST(Effective, SkipsTheVersionCheckOfADumpThatStoppedEarly) {  // b11, b12
  const Texts texts = {{"config.toml", "version = 9\nimports = [\n'/etc/containerd/absent.toml']\noom_score = 1"}};
  expect_printed(texts,
                 "oom_score",
                 {{kAll1, "refuses at /etc/containerd/config.toml:3"}, {kAll20To22, "1"}, {kAll23, "1"}},
                 kDump);
  expect_printed(texts,
                 "oom_score",
                 {{kAll1, "refuses at /etc/containerd/config.toml:3"},
                  {kAll20To22, "refuses at /etc/containerd/config.toml:3"},
                  {kAll23, "refuses at /etc/containerd/config.toml:3"}});
}

TEST(Effective, OfAnAbsentRootIsTheDefaultsExceptForADumpOf1x) {  // a01
  expect_printed({},
                 "root",
                 {{kAll1, "\"/var/lib/containerd\""},
                  {kAll20To22, "\"/var/lib/containerd\""},
                  {kAll23, "\"/var/lib/containerd\""}});
  expect_printed({},
                 "root",
                 {{kAll1, "refuses at /etc/containerd/config.toml"},
                  {kAll20To22, "\"/var/lib/containerd\""},
                  {kAll23, "\"/var/lib/containerd\""}},
                 kDump);
}

// Refusals, each at its file and line.

struct Refused {
  std::string_view name;
  std::string_view releases;
  std::string_view text;
  std::string_view verdict;
};

TEST(Effective, RefusesAndCrashesWhereTheDaemonDoes) {
  constexpr std::string_view kLine1 = "refuses at /etc/containerd/config.toml:1";
  constexpr std::string_view kLine2 = "refuses at /etc/containerd/config.toml:2";
  constexpr std::string_view kLine3 = "refuses at /etc/containerd/config.toml:3";
  constexpr std::string_view kCrash1 = "crashes at /etc/containerd/config.toml:1";
  constexpr std::string_view kCrash2 = "crashes at /etc/containerd/config.toml:2";
  constexpr std::string_view kCrash3 = "crashes at /etc/containerd/config.toml:3";
  constexpr Refused kCases[] = {
      {"a05: version 4", "1.6.39 1.7.27 2.0.6 2.2.7", "version = 4", kLine1},
      {"a05: version 4", "1.5.18 1.6.28 1.7.15 2.3.0 2.4.0-beta.0", "version = 4", "loads"},
      {"a06: version 5", "1.6.39 1.7.34 2.1.9 2.3.4 2.4.0-beta.0", "\nversion = 5", kLine2},
      {"a06: version 5", "1.5.18 1.6.20 1.7.0 1.7.15", "version = 5", "loads"},
      {"a07: version -1", "2.3.0 2.3.4 2.4.0-beta.0", "version = -1", kCrash1},
      {"a07: version -1", "1.5.18 1.7.34 2.0.6 2.2.7", "version = -1", "loads"},
      {"d30: a plugin that is no table",
       "1.5.18 1.7.34 2.1.9 2.3.4",
       "version = 2\n[plugins]\n'io.containerd.internal.v1.opt' = 5",
       kLine3},
      {"d31: CRI that is no table", "1.5.18 1.7.34", "version = 2\n[plugins]\n'io.containerd.grpc.v1.cri' = 5", kLine3},
      {"d31: CRI that is no table",
       "2.0.6 2.2.7 2.3.4",
       "version = 2\n[plugins]\n'io.containerd.grpc.v1.cri' = 5",
       kCrash3},
      {"d32: plugins that are an array", "1.5.18 1.7.34 2.1.9 2.3.4", "version = 2\nplugins = ['a']", kLine2},
      {"d42: decoded twice",
       "2.0.6 2.2.7 2.3.4",
       "version = 3\n[RUNTIME]\nno_such_key = "
       "1\n[[RUNTIME.containerd.runtimes.x.options.list.inner]]\na = 1",
       kCrash3},
      {"d42: decoded twice",
       "2.4.0-beta.0",
       "version = 3\n[RUNTIME]\nno_such_key = "
       "1\n[[RUNTIME.containerd.runtimes.x.options.list.inner]]\na = 1",
       "loads"},
      {"e08: an unknown type of proxy",
       "1.5.18 1.7.34 2.1.9 2.3.4",
       "version = 2\n[proxy_plugins.weird]\ntype = 'teleport'",
       kCrash2},
      {"e09: a proxy with a built-in name",
       "1.5.18 1.7.34 2.1.9 2.3.4",
       "version = 2\n[proxy_plugins.overlayfs]\ntype = 'snapshot'",
       kCrash2},
      {"diff proxies", "1.6.39 1.7.0 1.7.3", "version = 2\n[proxy_plugins.d]\ntype = 'diff'", kCrash2},
      {"diff proxies",
       "1.7.4 1.7.34 2.1.9",
       "version = 2\n[proxy_plugins.d]\ntype = 'io.containerd.differ.v1'",
       "loads"},
      {"sandbox proxies", "1.7.34", "version = 2\n[proxy_plugins.s]\ntype = 'sandbox'", kCrash2},
      {"sandbox proxies", "2.0.6 2.3.4", "version = 2\n[proxy_plugins.s]\ntype = 'sandbox'", "loads"},
      {"e11: a short plugin name", "1.5.18 1.6.39 1.7.34", "version = 2\n[plugins.cri]", kLine2},
      {"e11: a short plugin name", "2.0.6 2.3.4", "version = 2\n[plugins.cri]", "loads"},
      {"e12: a foreign prefix", "1.7.0 1.7.34", "version = 2\n[plugins.'com.example.thing.v1']", kLine2},
      {"e12: a foreign prefix", "1.5.18 1.6.39 2.0.6 2.3.4", "version = 2\n[plugins.'com.example.thing.v1']", "loads"},
      {"f28: unquoted id", "1.5.18 1.7.34", "version = 2\n[plugins.io.containerd.internal.v1.opt]", kLine2},
      {"e13: a short disabled plugin", "1.5.18 1.7.34 2.0.6 2.3.4", "version = 2\ndisabled_plugins = ['cri']", kLine2},
      {"e14: one dot", "1.5.18 1.7.34", "version = 2\ndisabled_plugins = ['a.b']", kLine2},
      {"e14: one dot", "2.0.6 2.3.4", "version = 2\ndisabled_plugins = ['a.b']", "loads"},
      {"e15: three parts", "1.5.18 1.7.34", "version = 2\ndisabled_plugins = ['io.containerd.x']", kLine2},
      {"e16: a short required plugin",
       "1.5.18 1.7.34 2.0.6 2.3.4",
       "version = 2\nrequired_plugins = [\n'cri']",
       kLine3},
      {"e17: no checks below version 2",
       "1.5.18 1.7.34",
       "version = 1\ndisabled_plugins = ['cri']\n[plugins.foo]",
       "loads"},
      {"f06: a string for an integer", "1.5.18 1.7.34 2.1.9 2.3.4", "version = 2\noom_score = '5'", kLine2},
      {"f08: a string for the version", "1.5.18 1.7.34 2.1.9 2.3.4", "version = '2'", kLine1},
      {"f09: a string for a plugin's boolean",
       "1.5.18 1.7.34 2.0.6 2.1.9 2.3.4",
       "version = 2\n[OLD]\nenable_selinux = 'true'",
       kLine3},
      {"f10: v3 names in 1.x are not decoded",
       "1.5.18 1.6.28 1.7.15",
       "version = 3\n[RUNTIME]\nenable_selinux = 'true'",
       "loads"},
      {"f11: an integer for a float",
       "1.5.18 1.7.34",
       "version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\npause_threshold = 1",
       kLine3},
      {"f11: an integer for a float",
       "2.0.6 2.3.4",
       "version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\npause_threshold = 1",
       "loads"},
      {"f12: a float for an integer",
       "1.7.34 2.1.9 2.3.4",
       "version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\nmutation_threshold = 5.0",
       kLine3},
      {"f13: no duration",
       "1.7.34 2.1.9 2.3.4",
       "version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\nstartup_delay = 'soon'",
       kLine3},
      {"f14: an integer for a duration",
       "1.7.34 2.1.9 2.3.4",
       "version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\nstartup_delay = 5",
       kLine3},
      {"f14: an integer for a duration",
       "2.1.9~ds1 2.4.0-beta.0",
       "version = 2\n[plugins.'io.containerd.gc.v1.scheduler']\nstartup_delay = 5",
       "loads"},
      {"disabled plugins are not decoded",
       "1.7.34 2.1.9 2.3.4",
       "version = 2\ndisabled_plugins = "
       "['io.containerd.gc.v1.scheduler']\n[plugins.'io.containerd.gc.v1.scheduler']\nstartup_"
       "delay = 'soon'",
       "loads"},
      {"g22: containerd that is no table", "2.0.6 2.2.7 2.3.4", "version = 2\n[OLD]\ncontainerd = 'x'", kCrash3},
      {"g23: bin_dir that is no string", "2.1.0 2.3.4", "version = 2\n[OLD.cni]\nbin_dir = ['/a']", kCrash3},
      {"g23: bin_dir that is no string", "1.7.34 2.0.6", "version = 2\n[OLD.cni]\nbin_dir = ['/a']", kLine3},
      {"g24: a runtime that is no table", "2.0.6 2.3.4", "version = 2\n[OLD.containerd.runtimes]\nx = 'y'", kCrash3},
  };
  for (const Refused& refused : kCases) {
    std::string_view rest = refused.releases;
    while (!rest.empty()) {
      const std::string_view release = rest.substr(0, rest.find(' '));
      EXPECT_EQ(test::verdict_of(test::effective_of(release, Texts{{"config.toml", refused.text}})), refused.verdict)
          << refused.name << ", " << release;
      rest.remove_prefix(std::min(rest.size(), release.size() + 1));
    }
  }
}

TEST(Effective, RefusesAVersionAboveTheFirstOneIn230To234) {  // c02, c10, c13, c23
  const Texts above = {{"config.toml", kRoot2}, {"conf.d/10.toml", "# a comment\nversion = 3"}};
  expect_printed(above,
                 "root",
                 {{"2.3.0 2.3.4 2.4.0-beta.0", "refuses at /etc/containerd/conf.d/10.toml:2"},
                  {"2.0.6 2.2.7 2.3.5 2.4.0", "\"/var/lib/containerd\""}});
  const Texts versionless = {{"config.toml", "imports = ['/etc/containerd/conf.d/*.toml']"},
                             {"conf.d/10.toml", "version = 3"},
                             {"conf.d/20.toml", "version = 4"}};
  expect_printed(
      versionless,
      "root",
      {{"2.3.0 2.3.4", "refuses at /etc/containerd/conf.d/20.toml:1"}, {"2.3.5", "\"/var/lib/containerd\""}});
}

TEST(Effective, NamesTheFileWithTheFaultWhereContainerdNamesTheLastOne) {  // c17
  expect_printed({{"config.toml", "version = 5\nimports = ['/etc/containerd/conf.d/*.toml']"},
                  {"conf.d/10.toml", "oom_score = 1"}},
                 "root",
                 {{"1.7.34", "refuses at /etc/containerd/config.toml:1"}});
}

TEST(Effective, CrashesOnAVersionlessDropInUnderVersion4On20To22) {  // c22
  const Texts texts = {{"config.toml", "version = 4\nimports = ['/etc/containerd/conf.d/*.toml']"},
                       {"conf.d/10.toml", "oom_score = 1"}};
  for (const std::string_view release : {"2.0.6", "2.2.7"})
    EXPECT_EQ(test::effective_of(release, texts).error().code, ErrorCode::daemon_crashes) << release;
  expect_printed(texts, "oom_score", {{"2.3.4", "1"}});
}

TEST(Effective, TakesKeysInTheSpellingsOfTheLibrary) {  // d27, d28, d29
  expect_printed({{"config.toml", "version = 3\nOOM_Score = -5"}}, "oom_score", {{kAll20To22, "-5"}, {kAll23, "-5"}});
  expect_printed(
      {{"config.toml", "version = 2\nOOM_Score = -5\n[OLD]\nENABLE_SELINUX = true"}}, "oom_score", {{kAll1, "0"}});
  expect_printed(
      {{"config.toml", "version = 2\n[OLD]\nENABLE_SELINUX = true"}}, "OLD.enable_selinux", {{kAll1, "true"}});
  expect_printed({{"config.toml", "version = 3\nimports = ['a.toml']\n[RUNTIME]\nenable_selinux = true"},
                  {"a.toml", "version = 3\n[RUNTIME]\nEnable_Selinux = false"}},
                 "RUNTIME.enable_selinux",
                 {{kAll20To22, "true"}, {kAll23, "true"}});
}

TEST(Effective, WarnsOfEachUnknownKeyAtItsLineIn2x) {  // d19, d20
  const auto lines = [](std::string_view release) {
    std::vector<std::string> where;
    const EffectiveConfig config = loaded(
        release, {{"config.toml", "version = 2\n[OLD]\nenable_selinuxx = true\n[OLD.containerd]\nno_such_key = 1"}});
    for (const Diagnostic& diagnostic : config.diagnostics)
      where.push_back(diagnostic.origin.to_string() + " " + diagnostic.message);
    return where;
  };
  EXPECT_THAT(lines("1.7.27"), ElementsAre());
  for (const std::string_view release : {"2.0.6", "2.1.9", "2.3.4"})
    EXPECT_THAT(lines(release),
                testing::UnorderedElementsAre("/etc/containerd/config.toml:3 nothing reads "
                                              "'plugins.\"io.containerd.cri.v1.runtime\".enable_selinuxx'",
                                              "/etc/containerd/config.toml:5 nothing reads "
                                              "'plugins.\"io.containerd.cri.v1.runtime\".containerd.no_such_key'"))
        << release;
}

// Origins and events: who set it, what was lost.

const Texts kIncident = {{"config.toml", R"(version = 2
imports = ["/etc/containerd/conf.d/*.toml"]
[OLD]
sandbox_image = "example.test/pause:1"
)"},
                         {"conf.d/50-nvidia.toml", R"(version = 2
[OLD.containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
[OLD.containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
)"},
                         {"conf.d/99-registry.toml", R"(version = 2

[OLD.registry]
config_path = "/etc/containerd/certs.d"
)"}};

TEST(Effective, NamesTheFileThatErasesAnothersHandlersIn1x) {
  const EffectiveConfig config = loaded("1.7.27", kIncident);
  EXPECT_EQ(test::keys_at(config.config, "OLD.containerd.runtimes"), "runc");
  EXPECT_THAT(test::described(config.events),
              Contains("erased OLD.containerd.runtimes.nvidia.options.BinaryName by "
                       "/etc/containerd/conf.d/99-registry.toml:3"));
  EXPECT_THAT(test::described(config.events),
              Contains("erased OLD.sandbox_image by /etc/containerd/conf.d/50-nvidia.toml:2"));
}

TEST(Effective, GivesEveryLeafTheLineThatWroteIt) {
  const EffectiveConfig config = loaded("2.1.9", kIncident);
  EXPECT_EQ(test::origin_at(config.config, "RUNTIME.containerd.runtimes.nvidia.options.BinaryName"),
            "/etc/containerd/conf.d/50-nvidia.toml:5");
  EXPECT_EQ(test::origin_at(config.config, "IMAGES.registry.config_path"), "/etc/containerd/conf.d/99-registry.toml:4");
  EXPECT_EQ(test::origin_at(config.config, "IMAGES.pinned_images.sandbox"), "/etc/containerd/config.toml:4");
  EXPECT_EQ(test::origin_at(config.config, "RUNTIME.containerd.runtimes.runc.runtime_type"), "built-in");
  EXPECT_EQ(test::origin_at(config.config, "root"), "built-in");
}

TEST(Effective, RecordsOverriddenValuesWithWinnerAndLoser) {
  const EffectiveConfig config =
      loaded("2.1.9",
             {{"config.toml", "version = 3\nimports = ['a.toml']\n[RUNTIME]\nenable_selinux = true"},
              {"a.toml", "version = 3\n[RUNTIME]\nenable_selinux = false"}});
  std::vector<std::string> losers;
  for (const Event& event : config.events) {
    if (event.by.to_string() == "/etc/containerd/a.toml:3") losers.push_back(event.value.origin.to_string());
  }
  EXPECT_THAT(losers, Contains("/etc/containerd/config.toml:4"));
  EXPECT_THAT(test::described(config.events),
              Contains("overridden RUNTIME.enable_selinux by /etc/containerd/a.toml:3"));
}

TEST(Effective, RecordsWhatMovedAndWhatNothingReads) {
  const EffectiveConfig config =
      loaded("2.1.9", {{"config.toml", "version = 2\n[OLD]\nenable_selinux = true\nenable_selinuxx = true"}});
  EXPECT_THAT(test::described(config.events), Contains("moved OLD.enable_selinux to RUNTIME.enable_selinux"));
  EXPECT_THAT(test::described(config.events), Contains("unread RUNTIME.enable_selinuxx"));
}

TEST(Effective, RecordsSectionsThat1xDoesNotLookUp) {
  const EffectiveConfig config = loaded("1.7.27", {{"config.toml", "version = 1\n[OLD]\nenable_selinux = true"}});
  EXPECT_THAT(test::described(config.events), Contains("unread OLD.enable_selinux"));
}

TEST(Effective, RecordsNothingUnlessAsked) {
  const auto config = effective(test::daemon_of("1.7.27"), Host(kIncident), {}, false);
  ASSERT_TRUE(config);
  EXPECT_TRUE(config->events.empty());
  EXPECT_EQ(config->config, loaded("1.7.27", kIncident).config);
  EXPECT_EQ(config->layers.size(), 3U);
}

/// Whether a value is what Go gives a new variable.
bool is_zero(const Value& value) {
  const std::string shown = test::shown({{"v", value}}, "v");
  return shown == "false" || shown == "0" || shown == "0.0" || shown == "\"\"" || shown == "[]" || shown == "{}";
}

TEST(Effective, HasAFileForEveryLeafThatIsNotBuiltIn) {
  for (const std::string_view each : recorded_releases()) {
    const Schema& schema = recorded_schema(each);
    const EffectiveConfig config = loaded(schema.release, kIncident);
    const EffectiveConfig defaults = loaded(schema.release, {});
    for (const Change& change : differences(defaults.config, config.config)) {
      const bool of_the_loader = change.key.to_string() == "imports";
      if (change.after == nullptr || of_the_loader || is_zero(*change.after)) continue;
      EXPECT_FALSE(change.after->origin.built_in()) << schema.release << " " << change.key.to_string();
      EXPECT_GT(change.after->origin.line, 0U) << schema.release << " " << change.key.to_string();
    }
  }
}

TEST(Effective, IsNotChangedByAnEmptyLayer) {  // b38, c27
  for (const std::string_view each : recorded_releases()) {
    const Schema& schema = recorded_schema(each);
    Host host(kIncident);
    const auto before = test::effective_of(schema.release, host);
    host.add_file("/etc/containerd/conf.d/00-empty.toml", "");
    host.add_file("/etc/containerd/conf.d/60-comment.toml", "# nothing\n");
    host.add_file("/etc/containerd/conf.d/zz-empty.toml", "\n\n");
    const auto after = test::effective_of(schema.release, host);
    ASSERT_TRUE(before && after) << schema.release;
    for (const Change& change : differences(before->config, after->config)) {
      EXPECT_EQ(change.key.to_string(), "imports") << schema.release;
      EXPECT_LT(schema.release, "2") << schema.release;
    }
    EXPECT_EQ(after->layers.size(), 6U);
  }
}

// The node's own defaults.

/// What the release's `config default` prints, with changes.
Table defaults_of(std::string_view release, std::string_view changes = "") {
  Table defaults = loaded(release, {}).config;
  merge_raw(defaults, test::parse(changes), {}, Transcript(nullptr));
  return defaults;
}

Table& section_of(Table& defaults, std::string_view id) {
  return *find(*defaults.at("plugins").table(), id)->table();
}

EffectiveConfig loaded_with(std::string_view release, Table defaults, Texts texts) {
  const Daemon daemon = make_daemon(test::daemon_of(release).known, std::move(defaults));
  auto config = effective(daemon, Host(texts), {}, true);
  if (config) return *std::move(config);
  ADD_FAILURE() << config.error().where << ": " << config.error().message;
  return {};
}

TEST(EffectiveWithDefaults, StartsFromWhatTheNodesDaemonPrinted) {
  const EffectiveConfig config =
      loaded_with("1.7.24~ds1",
                  defaults_of("1.7.27", "root = '/var/lib/other'\n[OLD.cni]\nbin_dir = '/usr/lib/cni'"),
                  {{"config.toml", "version = 2\n[OLD]\nenable_selinux = true"}});
  EXPECT_EQ(test::shown(config.config, "OLD.cni.bin_dir"), "\"/usr/lib/cni\"");
  EXPECT_EQ(test::origin_at(config.config, "OLD.cni.bin_dir"), "built-in");
  EXPECT_EQ(test::shown(config.config, "OLD.enable_selinux"), "true");
  EXPECT_EQ(test::shown(config.config, "root"), "\"/var/lib/other\"");
  EXPECT_EQ(test::keys_at(config.config, "OLD.containerd.runtimes"), "runc");
}

TEST(EffectiveWithDefaults, TakesAPluginThatTheyLackForAbsentFromTheBuild) {
  constexpr std::string_view kZfs = "io.containerd.snapshotter.v1.zfs";
  for (const auto& [release, zfs] : {std::pair("1.7.27", "absent"), std::pair("2.1.9", R"({ root_path = "/z" })")}) {
    Table defaults = defaults_of(release);
    defaults.at("plugins").table()->erase(std::string(kZfs));
    const EffectiveConfig config =
        loaded_with(release,
                    defaults,
                    {{"config.toml", "version = 2\n[plugins.'io.containerd.snapshotter.v1.zfs']\nroot_path = '/z'"}});
    EXPECT_EQ(test::shown(config.config, "plugins.'io.containerd.snapshotter.v1.zfs'"), zfs) << release;
    EXPECT_TRUE(built_in_section(make_daemon(test::daemon_of(release).known, defaults), kZfs).empty());
  }
}

TEST(EffectiveWithDefaults, TakesAKeyThatTheyLackForAbsentFromTheBuild) {
  Table defaults = defaults_of("2.1.9");
  section_of(defaults, kRuntime).erase("enable_selinux");
  const EffectiveConfig config =
      loaded_with("2.1.9", defaults, {{"config.toml", "version = 3\n[RUNTIME]\nenable_selinux = true"}});
  EXPECT_EQ(test::shown(config.config, "RUNTIME.enable_selinux"), "absent");
  EXPECT_THAT(test::described(config.events), Contains("unread RUNTIME.enable_selinux"));
}

TEST(EffectiveWithDefaults, ReadsAKeyThatNoRecordHas) {
  const EffectiveConfig config = loaded_with("2.1.9",
                                             defaults_of("2.1.9", "[RUNTIME]\nvendor_switch = false\nvendor_size = 3"),
                                             {{"config.toml", "version = 3\n[RUNTIME]\nvendor_switch = true"}});
  EXPECT_EQ(test::shown(config.config, "RUNTIME.vendor_switch"), "true");
  EXPECT_EQ(test::shown(config.config, "RUNTIME.vendor_size"), "3");
}

TEST(EffectiveWithDefaults, OfAReleasesOwnDumpChangeNothing) {
  for (const std::string_view each : recorded_releases()) {
    const Schema& schema = recorded_schema(each);
    const EffectiveConfig config = loaded_with(schema.release, defaults_of(schema.release), kIncident);
    for (const Change& change : differences(loaded(schema.release, kIncident).config, config.config))
      ADD_FAILURE() << schema.release << ": " << change.key.to_string();
  }
}

}  // namespace
}  // namespace ctkit::engine::containerd
