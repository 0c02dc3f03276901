#include "engine/containerd/cri_service.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/containerd_fixture.h"

// A daemon that starts and still serves no pods: reference section 12.
namespace ctkit::engine::containerd {
namespace {

using test::loaded;
using test::Texts;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> reasons(std::string_view release, std::string_view root) {
  return loaded(release, Texts{{"config.toml", root}}).not_serving;
}

/// Diagnostics of severity error: what stops the daemon although its dump succeeds.
std::vector<std::string> stops(std::string_view release, std::string_view root) {
  std::vector<std::string> lines;
  for (const Diagnostic& diagnostic : loaded(release, Texts{{"config.toml", root}}).diagnostics) {
    if (diagnostic.severity == Severity::error)
      lines.push_back(diagnostic.origin.to_string() + ": " + diagnostic.message);
  }
  return lines;
}

TEST(CriService, OfABareNodeServes) {
  for (const std::string_view each : recorded_releases()) {
    const Schema& schema = recorded_schema(each);
    EXPECT_THAT(loaded(schema.release, {}).not_serving, IsEmpty()) << schema.release;
    EXPECT_THAT(reasons(schema.release, "version = 2"), IsEmpty()) << schema.release;
    EXPECT_THAT(stops(schema.release, "version = 2"), IsEmpty()) << schema.release;
  }
}

TEST(CriService, NeedsAHandlerForTheDefaultRuntime) {
  const Texts texts = {
      {"config.toml", "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']"},
      {"conf.d/99.toml", "version = 2\n[OLD.containerd.runtimes.nvidia]\nruntime_type = 'io.containerd.runc.v2'"}};
  for (const std::string_view release : {"1.5.18", "1.6.39", "1.7.27"}) {
    EXPECT_THAT(loaded(release, texts).not_serving,
                ElementsAre("the default runtime 'runc' has no handler: the runtimes are those of "
                            "/etc/containerd/conf.d/99.toml:2"))
        << release;
  }
  EXPECT_THAT(loaded("2.1.9", texts).not_serving, IsEmpty());
  EXPECT_THAT(reasons("2.1.9", "version = 3\n[RUNTIME.containerd]\ndefault_runtime_name = 'nvidia'"),
              ElementsAre(HasSubstr("the default runtime 'nvidia' has no handler")));
}

TEST(CriService, NeedsANameForTheDefaultRuntime) {
  EXPECT_THAT(reasons("2.1.9", "version = 3\n[RUNTIME.containerd]\ndefault_runtime_name = ''"),
              ElementsAre("default_runtime_name is empty (/etc/containerd/config.toml:3)"));
}

TEST(CriService, TakesTheOldDefaultRuntimeTableFor1xsDefault) {
  EXPECT_THAT(reasons("1.7.27", R"(version = 2
    [OLD.containerd.default_runtime]
    runtime_type = "io.containerd.runc.v2"
    [OLD.containerd.runtimes.nvidia]
    runtime_type = "io.containerd.runc.v2"
  )"),
              IsEmpty());
}

TEST(CriService, RefusesMirrorsBesideAConfigPath) {
  constexpr std::string_view k2 =
      "version = 2\n[OLD.registry]\nconfig_path = "
      "'/certs.d'\n[OLD.registry.mirrors.'docker.io']\nendpoint = ['https://m.test']";
  for (const std::string_view release : {"1.5.18", "1.7.27", "2.1.9", "2.3.4"})
    EXPECT_THAT(reasons(release, k2),
                ElementsAre("registry.mirrors (/etc/containerd/config.toml:4) and registry.config_path "
                            "(/etc/containerd/config.toml:3) exclude each other"))
        << release;
  EXPECT_THAT(reasons("1.7.27", "version = 2\n[OLD.registry.mirrors.'docker.io']\nendpoint = ['https://m.test']"),
              IsEmpty());
}

TEST(CriService, RefusesBinDirBesideBinDirsFrom21) {
  constexpr std::string_view kBoth = "version = 3\n[RUNTIME.cni]\nbin_dir = '/a'\nbin_dirs = ['/b']";
  for (const std::string_view release : {"2.1.0", "2.2.7", "2.3.4"})
    EXPECT_THAT(reasons(release, kBoth),
                ElementsAre("cni.bin_dir (/etc/containerd/config.toml:3) and cni.bin_dirs "
                            "(/etc/containerd/config.toml:4) exclude each other"))
        << release;
  EXPECT_THAT(reasons("2.1.9", "version = 3\n[RUNTIME.cni]\nbin_dir = '/a'"), IsEmpty());
  EXPECT_THAT(reasons("2.0.11", kBoth), IsEmpty());
}

TEST(CriService, NeedsTheLinuxRuntimeForRuntimeEngineAndRuntimeRootIn1x) {
  const auto with = [](std::string_view line) {
    return reasons("1.7.27", "version = 2\n[OLD.containerd.runtimes.runc]\n" + std::string(line));
  };
  EXPECT_THAT(with("runtime_type = 'io.containerd.runc.v2'\nruntime_engine = '/usr/bin/x'"),
              ElementsAre(HasSubstr("config.toml:4")));
  EXPECT_THAT(with("runtime_type = 'io.containerd.runc.v2'\nruntime_root = '/run/x'"),
              ElementsAre(HasSubstr("config.toml:4")));
  EXPECT_THAT(with("runtime_type = 'io.containerd.runc.v2'\nruntime_engine = ''\nruntime_root = ''"), IsEmpty());
  EXPECT_THAT(with("runtime_type = 'io.containerd.runtime.v1.linux'\nruntime_engine = '/usr/bin/x'"), IsEmpty());
}

struct Disabled {
  std::string_view release;
  std::string_view root;
  bool serves;
};

TEST(CriService, IsGoneWhereDisabledPluginsNamesIt) {
  constexpr Disabled kCases[] = {
      {"1.7.27", "disabled_plugins = ['cri']", false},
      {"1.7.27", "version = 2\ndisabled_plugins = ['io.containerd.grpc.v1.cri']", false},
      {"1.7.27", "disabled_plugins = ['io.containerd.grpc.v1.cri']", true},
      {"1.7.27", "version = 2\ndisabled_plugins = ['io.containerd.snapshotter.v1.zfs']", true},
      {"2.1.9", "disabled_plugins = ['cri']", false},
      {"2.1.9", "version = 2\ndisabled_plugins = ['io.containerd.grpc.v1.cri']", false},
      {"2.1.9", "version = 3\ndisabled_plugins = ['io.containerd.cri.v1.runtime']", false},
      {"2.3.4", "version = 4\ndisabled_plugins = ['io.containerd.cri.v1.images']", false},
      {"2.3.4", "version = 4\ndisabled_plugins = ['io.containerd.snapshotter.v1.zfs']", true},
  };
  for (const auto& [release, root, serves] : kCases) {
    const auto why = reasons(release, root);
    EXPECT_EQ(why.empty(), serves) << release << ": " << root;
    if (why.empty()) continue;
    EXPECT_THAT(why.front(), HasSubstr("/etc/containerd/config.toml:")) << release << ": " << root;
  }
}

TEST(CriService, StopsTheWholeDaemonWhereItIsRequired) {
  constexpr std::string_view kRoot =
      "version = 2\nrequired_plugins = ['io.containerd.grpc.v1.cri']\n"
      "[OLD.containerd]\ndefault_runtime_name = 'none'";
  for (const std::string_view release : {"1.7.27", "2.1.9"})
    EXPECT_THAT(stops(release, kRoot),
                ElementsAre(HasSubstr("config.toml:2: the daemon will not start: required plugin "
                                      "'io.containerd.grpc.v1.cri' cannot load")))
        << release;
}

TEST(CriService, SaysThatARequiredPluginIsNotInTheRelease) {  // e19
  EXPECT_THAT(stops("1.7.27", "version = 2\nrequired_plugins = ['io.containerd.example.v1.none']"),
              ElementsAre(HasSubstr("config.toml:2: the daemon will not start")));
  EXPECT_THAT(stops("2.1.9", "version = 2\nrequired_plugins = ['io.containerd.grpc.v1.cri']"), IsEmpty());
}

TEST(CriService, SaysThatATimeoutIsNoDuration) {  // e05
  for (const std::string_view release : {"1.7.27", "2.1.9", "2.3.4"})
    EXPECT_THAT(
        stops(release, "version = 2\n[timeouts]\n'io.containerd.timeout.shim.load' = 'not a duration'"),
        ElementsAre(HasSubstr("config.toml:3: the daemon will not start: timeout 'io.containerd.timeout.shim.load'")))
        << release;
}

/// What Debian's 1.6.20, 1.7.24 and 2.1.9 were seen to do with each text: serve, or log that the
/// CRI plugin failed.
struct Seen {
  std::string_view text;
  bool serves_1_6;
  bool serves_1_7;
  bool serves_2_1;
};

class CriServiceSeen : public testing::TestWithParam<Seen> {};

TEST_P(CriServiceSeen, Serves) {
  const std::string root = "version = 2\n[OLD]\n" + std::string(GetParam().text);
  EXPECT_EQ(reasons("1.6.20", root).empty(), GetParam().serves_1_6);
  EXPECT_EQ(reasons("1.7.27", root).empty(), GetParam().serves_1_7);
  EXPECT_EQ(reasons("2.1.9", root).empty(), GetParam().serves_2_1);
}

INSTANTIATE_TEST_SUITE_P(
    ,
    CriServiceSeen,
    testing::Values(
        Seen{"systemd_cgroup = true", false, false, true},
        Seen{"stream_idle_timeout = 'x'", false, false, false},
        Seen{"stream_idle_timeout = ''", true, true, true},
        Seen{"drain_exec_sync_io_timeout = 'x'", true, false, false},
        Seen{"image_pull_progress_timeout = 'x'", true, false, false},
        Seen{"[OLD.containerd]\nno_pivot = true", false, false, true},
        Seen{"[OLD.containerd.untrusted_workload_runtime]\nruntime_type = 'io.containerd.runc.v2'\n"
             "[OLD.containerd.runtimes.untrusted]\nruntime_type = 'io.containerd.runc.v2'\n"
             "[OLD.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'",
             false,
             false,
             true},
        Seen{"[OLD.containerd]\ndefault_runtime_name = 'untrusted'\n"
             "[OLD.containerd.untrusted_workload_runtime]\nruntime_type = 'io.containerd.runc.v2'",
             true,
             true,
             false},
        Seen{"[OLD.registry]\nconfig_path = '/x'\n[OLD.registry.configs.a.tls]", false, false, true},
        Seen{"[OLD.registry]\nconfig_path = '/x'\n[OLD.registry.configs.a.auth]\nusername = 'x'", true, true, true},
        Seen{"[OLD.containerd.runtimes.runc]\nprivileged_without_host_devices_all_devices_allowed "
             "= true",
             true,
             false,
             false},
        Seen{"[OLD.containerd.runtimes.runc]\nio_type = 'x'", true, true, false},
        Seen{"[OLD.containerd.runtimes.runc]\nsandbox_mode = 'x'", true, true, true},
        Seen{"[OLD.containerd]\nsnapshotter = 'nosuch'", false, false, true},
        Seen{"enable_tls_streaming = true", true, true, true},
        Seen{"[OLD.x509_key_pair_streaming]\ntls_cert_file = '/x'", false, false, false}));

TEST(CriService, IsJudgedUnderTheShortIdToo) {
  EXPECT_THAT(reasons("1.7.27", "[plugins.cri]\nstream_idle_timeout = 'x'"), testing::SizeIs(1));
}

}  // namespace
}  // namespace ctkit::engine::containerd
