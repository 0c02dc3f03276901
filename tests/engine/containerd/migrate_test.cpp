#include "engine/containerd/migrate.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/toml_writer.h"
#include "support/containerd_fixture.h"

namespace ctkit::engine::containerd {
namespace {

using test::parse;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kCgroups = "io.containerd.monitor.task.v1.cgroups";
constexpr std::string_view kManager = "io.containerd.shim.v1.manager";
constexpr std::string_view kRestart = "io.containerd.monitor.container.v1.restart";
/// The order that 2.x runs them in.
constexpr std::array kOrder = {kCgroups, kManager, kImages, kRuntime, kCri, kRestart};

struct Migrated {
  Result<void> done = {};
  Table config = {};
  std::vector<Event> events = {};
};

/// The whole config after one run of the plugins' migrations, as `release` does them.
Migrated migrated(std::string_view release, std::string_view config, std::string_view skipped = "skipped = []") {
  Migrated result{.config = parse(config)};
  const auto daemon = test::daemon_of(release);
  const Transcript transcript(&result.events);
  const Table list = parse(skipped);
  result.done = migrate_plugins(
      *result.config.at("plugins").table(), kOrder, *list.at("skipped").array(), {&daemon.known.regime, &transcript});
  return result;
}

void expect_migrated(std::string_view release, std::string_view config, std::string_view expected) {
  const Migrated result = migrated(release, config);
  ASSERT_TRUE(result.done) << result.done.error().message;
  EXPECT_EQ(render_toml(result.config), render_toml(parse(expected))) << release << config;
}

// Step 1 to 2.

struct Name {
  std::string_view old;
  std::string_view id;
};

TEST(ExpandShortNames, KnowsEachShortName) {
  constexpr Name kNames[] = {
      {"cri", "io.containerd.grpc.v1.cri"},
      {"cgroups", "io.containerd.monitor.v1.cgroups"},
      {"linux", "io.containerd.runtime.v1.linux"},
      {"scheduler", "io.containerd.gc.v1.scheduler"},
      {"bolt", "io.containerd.metadata.v1.bolt"},
      {"task", "io.containerd.runtime.v2.task"},
      {"opt", "io.containerd.internal.v1.opt"},
      {"restart", "io.containerd.internal.v1.restart"},
      {"tracing", "io.containerd.internal.v1.tracing"},
      {"otlp", "io.containerd.tracing.processor.v1.otlp"},
      {"aufs", "io.containerd.snapshotter.v1.aufs"},
      {"btrfs", "io.containerd.snapshotter.v1.btrfs"},
      {"devmapper", "io.containerd.snapshotter.v1.devmapper"},
      {"native", "io.containerd.snapshotter.v1.native"},
      {"overlayfs", "io.containerd.snapshotter.v1.overlayfs"},
      {"zfs", "io.containerd.snapshotter.v1.zfs"},
      {"diff-service", "io.containerd.service.v1.diff-service"},
      {"windows", "io.containerd.snapshotter.v1.windows"},
      {"windows-lcow", "io.containerd.snapshotter.v1.windows-lcow"},
      {"foo", "io.containerd.grpc.v1.foo"},
      {"a.b", "a.b"},
      {"io.containerd.internal.v1.opt", "io.containerd.internal.v1.opt"},
  };
  const Regime regime = test::daemon_of("2.1.9").known.regime;
  const Transcript silent(nullptr);
  for (const auto& [old, id] : kNames) {
    const std::string quoted = quote_string(old);
    Table config = parse("disabled_plugins = [" + quoted + "]\nrequired_plugins = [" + quoted + "]\n[plugins." +
                         quoted + "]\na = 1");
    expand_short_names(config, {&regime, &silent});
    const std::string expected = quote_string(id);
    EXPECT_EQ(test::shown(config, "disabled_plugins"), "[" + expected + "]");
    EXPECT_EQ(test::shown(config, "required_plugins"), "[" + expected + "]");
    EXPECT_EQ(test::keys_at(config, "plugins"), id);
  }
}

TEST(ExpandShortNames, LeavesProxyPluginsAloneAndTellsWhatMoved) {
  const Regime regime = test::daemon_of("2.1.9").known.regime;
  std::vector<Event> events;
  const Transcript transcript(&events);
  Table config = parse("[plugins.cri]\na = 1\n[proxy_plugins.cri]\ntype = 'snapshot'");
  expand_short_names(config, {&regime, &transcript});
  EXPECT_EQ(test::keys_at(config, "proxy_plugins"), "cri");
  EXPECT_THAT(test::described(events), ElementsAre("moved plugins.cri to OLD"));
}

// Contents of sections: reference 6.2.

TEST(MigratePlugins, RenamesCgroupsAndRestartOverAnExistingNewSection) {
  expect_migrated("2.1.9",
                  R"(
    [plugins."io.containerd.monitor.v1.cgroups"]
    no_prometheus = true
    [plugins."io.containerd.monitor.task.v1.cgroups"]
    other = 1
    [plugins."io.containerd.internal.v1.restart"]
    interval = "20s"
  )",
                  R"(
    [plugins."io.containerd.monitor.task.v1.cgroups"]
    no_prometheus = true
    [plugins."io.containerd.monitor.container.v1.restart"]
    interval = "20s"
  )");
}

TEST(MigratePlugins, TurnsSchedCoreIntoAnEnvironmentVariable) {
  expect_migrated("2.1.9",
                  R"(
    [plugins."io.containerd.runtime.v2.task"]
    platforms = ["linux/amd64"]
    sched_core = true
  )",
                  R"(
    [plugins."io.containerd.runtime.v2.task"]
    platforms = ["linux/amd64"]
    [plugins."io.containerd.shim.v1.manager"]
    env = ["SCHED_CORE=1"]
  )");
}

TEST(MigratePlugins, WipesTheShimManagerWheneverTheTaskSectionExists) {
  const Migrated result = migrated("2.3.4", R"(
    [plugins."io.containerd.shim.v1.manager"]
    env = ["A=1"]
    [plugins."io.containerd.runtime.v2.task"]
  )");
  EXPECT_EQ(test::shown(result.config, "plugins.\"io.containerd.shim.v1.manager\""), "{}");
  EXPECT_THAT(test::described(result.events),
              ElementsAre("erased plugins.\"io.containerd.shim.v1.manager\".env by test.toml:4"));
}

TEST(MigratePlugins, MovesImageKeysOverExistingNewValues) {
  expect_migrated("2.1.9",
                  R"(
    [OLD]
    sandbox_image = "old"
    max_concurrent_downloads = 11
    image_pull_progress_timeout = "2m"
    image_pull_with_sync_fs = true
    stats_collect_period = 7
    [OLD.registry.mirrors."docker.io"]
    endpoint = ["m"]
    [OLD.image_decryption]
    key_model = "km"
    [IMAGES]
    max_concurrent_downloads = 22
    use_local_image_pull = true
    [IMAGES.pinned_images]
    sandbox = "new"
    other = "o"
    [IMAGES.registry]
    config_path = "/gone"
  )",
                  R"(
    [OLD]
    [RUNTIME]
    [IMAGES]
    max_concurrent_downloads = 11
    use_local_image_pull = true
    image_pull_progress_timeout = "2m"
    image_pull_with_sync_fs = true
    stats_collect_period = 7
    [IMAGES.pinned_images]
    sandbox = "old"
    other = "o"
    [IMAGES.registry.mirrors."docker.io"]
    endpoint = ["m"]
    [IMAGES.image_decryption]
    key_model = "km"
  )");
}

TEST(MigratePlugins, CopiesTheSnapshotterOnlyWhereTheOldTableHasRuntimes) {
  constexpr std::string_view kKeys =
      "[OLD.containerd]\nsnapshotter = 'native'\ndisable_snapshot_annotations = false\n"
      "discard_unpacked_layers = true\n";
  const Table without = migrated("2.1.9", kKeys).config;
  EXPECT_EQ(test::shown(without, "IMAGES"), "{}");
  EXPECT_EQ(test::shown(without, "RUNTIME.containerd"), "{}");
  const Table with = migrated("2.1.9", std::string(kKeys) + "[OLD.containerd.runtimes]\n").config;
  EXPECT_EQ(test::shown(with, "IMAGES"),
            R"({ disable_snapshot_annotations = false, discard_unpacked_layers = true, snapshotter = "native" })");
}

TEST(MigratePlugins, MovesRuntimeKeysUnderExistingNewValues) {
  expect_migrated("2.1.9",
                  R"(
    [OLD]
    enable_selinux = false
    enable_cdi = false
    disable_cgroup = true
    [OLD.containerd]
    default_runtime_name = "old"
    no_pivot = true
    [RUNTIME]
    enable_selinux = true
    [RUNTIME.containerd]
    default_runtime_name = "new"
  )",
                  R"(
    [OLD]
    [IMAGES]
    [RUNTIME]
    enable_selinux = true
    enable_cdi = false
    disable_cgroup = true
    [RUNTIME.containerd]
    default_runtime_name = "new"
    no_pivot = true
  )");
}

TEST(MigratePlugins, BlocksTheWholeOldRuntimesTableByAnExistingNewOne) {
  const Migrated result = migrated("2.2.7", R"(
    [RUNTIME.containerd.runtimes.runc.options]
    SystemdCgroup = true
    [OLD.containerd]
    default_runtime_name = "nvidia"
    [OLD.containerd.runtimes.nvidia]
    runtime_type = "n"
  )");
  EXPECT_EQ(test::shown(result.config, "RUNTIME.containerd.default_runtime_name"), "\"nvidia\"");
  EXPECT_EQ(test::keys_at(result.config, "RUNTIME.containerd.runtimes"), "runc");
  EXPECT_THAT(test::described(result.events),
              testing::Contains("erased OLD.containerd.runtimes.nvidia.runtime_type by test.toml:2"));
}

TEST(MigratePlugins, KeepsTheSixServerKeysUnderTheOldId) {
  expect_migrated("2.3.4",
                  R"(
    [OLD]
    disable_tcp_service = false
    stream_server_address = "127.0.0.9"
    stream_server_port = "9"
    stream_idle_timeout = "3h"
    enable_tls_streaming = true
    unset_seccomp_profile = "u"
    [OLD.x509_key_pair_streaming]
    tls_key_file = "/k"
  )",
                  R"(
    [OLD]
    disable_tcp_service = false
    stream_server_address = "127.0.0.9"
    stream_server_port = "9"
    stream_idle_timeout = "3h"
    enable_tls_streaming = true
    [OLD.x509_key_pair_streaming]
    tls_key_file = "/k"
    [IMAGES]
    [RUNTIME]
    unset_seccomp_profile = "u"
  )");
}

struct Cni {
  std::string_view release;
  std::string_view cni;
};

TEST(MigratePlugins, TurnsBinDirIntoBinDirsFrom21) {
  constexpr std::string_view kConfig = "[OLD.cni]\nbin_dir = '/my/bin'\nbin_dirs = ['/x']\nconf_dir = '/my/conf'";
  for (const auto& [release, cni] :
       {Cni{"2.0.11", R"({ bin_dir = "/my/bin", bin_dirs = ["/x"], conf_dir = "/my/conf" })"},
        Cni{"2.1.0", R"({ bin_dirs = ["/my/bin"], conf_dir = "/my/conf" })"},
        Cni{"2.3.4", R"({ bin_dirs = ["/my/bin"], conf_dir = "/my/conf" })"}})
    EXPECT_EQ(test::shown(migrated(release, kConfig).config, "RUNTIME.cni"), cni) << release;
}

TEST(MigratePlugins, RenamesSandboxModeUnlessThereIsASandboxer) {
  const Table config = migrated("2.1.9", R"(
    [OLD.containerd.runtimes.a]
    sandbox_mode = "shim"
    [OLD.containerd.runtimes.b]
    sandbox_mode = "shim"
    sandboxer = "podsandbox"
  )")
                           .config;
  EXPECT_EQ(test::shown(config, "RUNTIME.containerd.runtimes.a"), R"({ sandboxer = "shim" })");
  EXPECT_EQ(test::shown(config, "RUNTIME.containerd.runtimes.b"),
            R"({ sandbox_mode = "shim", sandboxer = "podsandbox" })");
}

TEST(MigratePlugins, FillsAnEmptyConfigPathIn220And221Only) {
  const auto path = [](std::string_view release) {
    return test::shown(migrated(release, "[OLD.registry]\nconfig_path = ''").config, "IMAGES.registry.config_path");
  };
  EXPECT_EQ(path("2.1.9"), "\"\"");
  EXPECT_EQ(path("2.2.0"), "\"/etc/containerd/certs.d:/etc/docker/certs.d\"");
  EXPECT_EQ(path("2.2.1"), "\"/etc/containerd/certs.d:/etc/docker/certs.d\"");
  EXPECT_EQ(path("2.2.2"), "\"\"");
}

TEST(MigratePlugins, WasCruderIn200And201) {
  constexpr std::string_view kConfig = R"(
    [OLD]
    disable_tcp_service = true
    stream_server_port = "9"
    enable_selinux = true
    [RUNTIME]
    enable_cdi = false
  )";
  const Table first = migrated("2.0.0", kConfig).config;
  EXPECT_EQ(test::keys_at(first, "RUNTIME"), "disable_tcp_service enable_selinux stream_server_port");
  EXPECT_EQ(test::keys_at(first, "OLD"), "disable_tcp_service");
  const Table second = migrated("2.0.1", kConfig).config;
  EXPECT_EQ(test::keys_at(second, "OLD"), "disable_tcp_service stream_server_port");
  EXPECT_EQ(test::keys_at(migrated("2.0.2", kConfig).config, "RUNTIME"), "enable_cdi enable_selinux");
}

TEST(MigratePlugins, SkipsThoseOfDisabledPlugins) {
  const Table config =
      migrated(
          "2.1.9", "[OLD]\nenable_selinux = true\nsandbox_image = 'p'", "skipped = ['io.containerd.cri.v1.runtime']")
          .config;
  EXPECT_EQ(test::keys_at(config, "RUNTIME"), "absent");
  EXPECT_EQ(test::shown(config, "IMAGES.pinned_images.sandbox"), "\"p\"");
}

TEST(MigratePlugins, DoesNothingWithoutOldSections) {
  constexpr std::string_view kConfig = "[RUNTIME.containerd.runtimes.nvidia]\nruntime_type = 'n'";
  const Migrated result = migrated("2.3.4", kConfig);
  EXPECT_EQ(result.config, parse(kConfig));
  EXPECT_THAT(result.events, IsEmpty());
}

TEST(MigratePlugins, TellsWhereEachKeyWent) {
  EXPECT_THAT(test::described(migrated("2.1.9", R"(
    [OLD]
    sandbox_image = "p"
    enable_selinux = true
    [OLD.cni]
    bin_dir = "/b"
    [OLD.containerd]
    default_runtime_name = "nvidia"
  )")
                                  .events),
              ElementsAre("moved OLD.sandbox_image to IMAGES.pinned_images.sandbox",
                          "moved OLD.enable_selinux to RUNTIME.enable_selinux",
                          "moved OLD.cni.bin_dir to RUNTIME.cni.bin_dirs",
                          "moved OLD.containerd.default_runtime_name to RUNTIME.containerd.default_runtime_name"));
}

TEST(MigratePlugins, GivesMovedValuesTheirAuthorsOrigin) {
  const Table config = migrated("2.1.9", "[OLD]\nsandbox_image = 'p'\n[OLD.cni]\nbin_dir = '/b'").config;
  EXPECT_EQ(test::origin_at(config, "IMAGES.pinned_images.sandbox"), "test.toml:2");
  EXPECT_EQ(test::origin_at(config, "RUNTIME.cni.bin_dirs"), "test.toml:4");
}

struct Crash {
  std::string_view name;
  std::string_view release;
  std::string_view config;
  std::string_view where;
};

TEST(MigratePlugins, CrashesWhereContainerdAssertsTypes) {
  constexpr Crash kCrashes[] = {
      {"the section", "2.1.9", "[plugins]\n'io.containerd.grpc.v1.cri' = 'x'", "test.toml:2"},
      {"containerd", "2.1.9", "[OLD]\ncontainerd = 'x'", "test.toml:2"},
      {"runtimes", "2.1.9", "[OLD.containerd]\nruntimes = 'x'", "test.toml:2"},
      {"one runtime", "2.1.9", "[OLD.containerd.runtimes]\nx = 'y'", "test.toml:2"},
      {"cni.bin_dir", "2.1.9", "[OLD.cni]\nbin_dir = ['/a']", "test.toml:2"},
      {"the task section", "2.1.9", "[plugins]\n'io.containerd.runtime.v2.task' = 1", "test.toml:2"},
  };
  for (const Crash& crash : kCrashes) {
    const Migrated result = migrated(crash.release, crash.config);
    ASSERT_FALSE(result.done) << crash.name;
    EXPECT_EQ(result.done.error().code, ErrorCode::daemon_crashes) << crash.name;
    EXPECT_EQ(result.done.error().where, crash.where) << crash.name;
  }
  EXPECT_TRUE(migrated("2.0.11", "[OLD.cni]\nbin_dir = ['/a']").done);
}

// Step 3 to 4: reference 6.3.

struct Moved {
  std::string_view name;
  std::string_view before;
  std::string_view after;
};

TEST(MoveServerTables, FollowsTheTable) {
  constexpr Moved kMoves[] = {
      {"debug with an address",
       "debug = {address = '/d', uid = 5, gid = 6, level = 'debug'}",
       "debug = {address = '', uid = 0, gid = 0, level = 'debug'}\n"
       "[plugins.'io.containerd.server.v1.debug']\naddress = '/d'\nuid = 5\ngid = 6"},
      {"debug without an address stays",
       "debug = {address = '', uid = 3, gid = 0}",
       "debug = {address = '', uid = 3, gid = 0}\n[plugins]"},
      {"grpc with an address takes zero ids along",
       "grpc = {address = '/g', uid = 0, gid = 2}",
       "grpc = {address = '', uid = 0, gid = 0}\n[plugins.'io.containerd.server.v1.grpc']\naddress "
       "= '/g'\nuid = 0\ngid = 2"},
      {"grpc without an address only what is set",
       "grpc = {address = '', uid = 0, gid = 2, max_recv_message_size = 9}",
       "grpc = {address = '', uid = 0, gid = 0, max_recv_message_size = 0}\n"
       "[plugins.'io.containerd.server.v1.grpc']\ngid = 2\nmax_recv_message_size = 9"},
      {"grpc over TCP",
       "grpc = {tcp_address = 't', tcp_tls_ca = 'ca', tcp_tls_cert = 'c', tcp_tls_key = 'k', "
       "tcp_tls_common_name = ''}",
       "grpc = {tcp_address = '', tcp_tls_ca = '', tcp_tls_cert = '', tcp_tls_key = '', "
       "tcp_tls_common_name = ''}\n"
       "[plugins.'io.containerd.server.v1.grpc-tcp']\naddress = 't'\ntls_ca = 'ca'\ntls_cert = "
       "'c'\ntls_key = 'k'"},
      {"ttrpc by its uid",
       "ttrpc = {address = '', uid = 3, gid = 0}",
       "ttrpc = {address = '', uid = 0, gid = "
       "0}\n[plugins.'io.containerd.server.v1.ttrpc']\naddress = ''\nuid = 3\ngid = 0"},
      {"ttrpc derived from grpc",
       "grpc = {address = '/g', uid = 0, gid = 5}\nttrpc = {address = '', uid = 0, gid = 0}",
       "grpc = {address = '', uid = 0, gid = 0}\nttrpc = {address = '', uid = 0, gid = 0}\n"
       "[plugins.'io.containerd.server.v1.grpc']\naddress = '/g'\nuid = 0\ngid = 5\n"
       "[plugins.'io.containerd.server.v1.ttrpc']\naddress = '/g.ttrpc'\nuid = 0\ngid = 5"},
      {"metrics",
       "metrics = {address = 'm', grpc_histogram = true}",
       "metrics = {address = '', grpc_histogram = false}\n"
       "[plugins.'io.containerd.metrics.v1.grpc-prometheus']\ngrpc_histogram = true\n"
       "[plugins.'io.containerd.server.v1.metrics']\naddress = 'm'"},
      {"nothing set",
       "grpc = {address = '', uid = 0}\nmetrics = {address = '', grpc_histogram = false}",
       "grpc = {address = '', uid = 0}\nmetrics = {address = '', grpc_histogram = "
       "false}\n[plugins]"},
      {"a section of the same file wins, the table is cleared all the same",
       "grpc = {address = '/old', uid = 1}\n[plugins.'io.containerd.server.v1.grpc']\ngid = 2",
       "grpc = {address = '', uid = 0}\n[plugins.'io.containerd.server.v1.grpc']\ngid = 2"},
  };
  const Regime regime = test::daemon_of("2.3.4").known.regime;
  const Transcript silent(nullptr);
  for (const Moved& move : kMoves) {
    Table config = parse(move.before);
    move_server_tables(config, {&regime, &silent});
    EXPECT_EQ(render_toml(config), render_toml(parse(move.after))) << move.name;
  }
}

TEST(MoveServerTables, TellsWhatMovedAndKeepsItsOrigin) {
  const Regime regime = test::daemon_of("2.3.4").known.regime;
  std::vector<Event> events;
  const Transcript transcript(&events);
  Table config = parse("\nmetrics = {address = 'm', grpc_histogram = false}");
  move_server_tables(config, {&regime, &transcript});
  EXPECT_THAT(test::described(events),
              ElementsAre("moved metrics.address to plugins.\"io.containerd.server.v1.metrics\".address"));
  EXPECT_EQ(test::origin_at(config, "plugins.'io.containerd.server.v1.metrics'.address"), "test.toml:2");
}

TEST(MigrateTo, TakesEachStepOnce) {
  const Regime regime = test::daemon_of("2.3.4").known.regime;
  const Transcript silent(nullptr);
  Table config = parse("version = 1\ndebug = {address = '/d'}\n[plugins.opt]\npath = '/o'");
  ASSERT_TRUE(migrate_to(config, 2, {&regime, &silent}));
  EXPECT_EQ(test::shown(config, "version"), "2");
  EXPECT_EQ(test::keys_at(config, "plugins"), "io.containerd.internal.v1.opt");
  ASSERT_TRUE(migrate_to(config, 4, {&regime, &silent}));
  EXPECT_EQ(test::shown(config, "version"), "4");
  EXPECT_EQ(test::keys_at(config, "plugins"), "io.containerd.internal.v1.opt io.containerd.server.v1.debug");
}

TEST(MigrateTo, CrashesOffItsTableOfSteps) {
  const Regime two = test::daemon_of("2.1.9").known.regime;
  const Regime three = test::daemon_of("2.3.4").known.regime;
  const Transcript silent(nullptr);
  Table above = parse("version = 0");
  EXPECT_EQ(migrate_to(above, 4, {&two, &silent}).error().code, ErrorCode::daemon_crashes);
  Table negative = parse("\nversion = -1");
  const auto result = migrate_to(negative, 4, {&three, &silent});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::daemon_crashes);
  EXPECT_EQ(result.error().where, "test.toml:2");
}

}  // namespace
}  // namespace ctkit::engine::containerd
