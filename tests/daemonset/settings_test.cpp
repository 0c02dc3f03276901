#include <ostream>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemonset/resolve_settings.h"
#include "daemonset/setting_rows.h"
#include "daemonset/words.h"

namespace ctkit::daemonset {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the operator always says, so that docker, NVIDIA's default, is not in the way.
engine::Result<ResolvedSettings> resolve(std::vector<std::string> words,
                                         Environment environment,
                                         Dialect dialect = Dialect::nvidia) {
  if (dialect == Dialect::nvidia) environment.try_emplace("RUNTIME", "containerd");
  return resolve_settings(dialect, words, environment);
}

std::string value_of(const engine::Result<ResolvedSettings>& resolved, std::string_view name) {
  if (!resolved) return "error: " + resolved.error().message;
  const ResolvedValue* row = resolved->find(name);
  return row != nullptr ? row->value : "no such row";
}

/// One name of one setting: what it says, and what comes of it.
struct Name {
  std::string setting = {};
  std::string name = {};  ///< an environment variable, or a flag with its dashes
  std::string said = {};
  std::string value = {};
};

void PrintTo(const Name& name, std::ostream* out) {
  *out << name.name << "='" << name.said << "'";
}

class EveryName : public testing::TestWithParam<Name> {};

TEST_P(EveryName, SaysItsSetting) {
  const Name& name = GetParam();
  const bool flag = name.name.starts_with('-');
  const auto resolved = flag ? resolve({name.name + "=" + name.said}, {}) : resolve({}, {{name.name, name.said}});
  ASSERT_EQ(value_of(resolved, name.setting), name.value);
  EXPECT_EQ(resolved->find(name.setting)->source, name.name);
  EXPECT_TRUE(resolved->is_given(name.setting));
}

INSTANTIATE_TEST_SUITE_P(
    Environment,
    EveryName,
    testing::Values(
        Name{"no-daemon", "NO_DAEMON", "true", "true"},
        Name{"no-runtime-config", "NO_RUNTIME_CONFIG", "1", "true"},
        Name{"enable-nri-plugin", "ENABLE_NRI_PLUGIN", "t", "true"},
        Name{"nri-plugin-index", "NRI_PLUGIN_INDEX", "99", "99"},
        Name{"nri-socket", "NRI_SOCKET", "/x.sock", "/x.sock"},
        Name{"nri-namespace", "NRI_NAMESPACE", "gpu-operator", "gpu-operator"},
        Name{"nri-management-cdi-device-namespaces", "NRI_MANAGEMENT_CDI_DEVICE_NAMESPACES", "a, b,,c", "a,b,c"},
        Name{"runtime", "RUNTIME", "crio", "crio"},
        Name{"runtime", "CTKIT_ENGINE", "crio", "crio"},
        Name{"toolkit-install-dir", "TOOLKIT_INSTALL_DIR", "/opt/nvidia/", "/opt/nvidia"},
        Name{"toolkit-install-dir", "ROOT", "/opt/with blanks", "/opt/with blanks"},
        Name{"toolkit-source-root", "TOOLKIT_SOURCE_ROOT", "/artifacts/rpm", "/artifacts/rpm"},
        Name{"toolkit-package-type", "TOOLKIT_PACKAGE_TYPE", "rpm", "rpm"},
        Name{"pid-file", "TOOLKIT_PID_FILE", "/run/x/toolkit.pid", "/run/x/toolkit.pid"},
        Name{"pid-file", "PID_FILE", "/run/y/toolkit.pid", "/run/y/toolkit.pid"},
        Name{"debug", "TOOLKIT_DEBUG", "True", "true"},
        Name{"driver-root", "NVIDIA_DRIVER_ROOT", "/", "/"},
        Name{"driver-root", "DRIVER_ROOT", "/run/d", "/run/d"},
        Name{"driver-root-ctr-path", "DRIVER_ROOT_CTR_PATH", "/driver-root", "/driver-root"},
        Name{"dev-root", "NVIDIA_DEV_ROOT", "/", "/"},
        Name{"dev-root", "DEV_ROOT", "/dev-root", "/dev-root"},
        Name{"dev-root-ctr-path", "DEV_ROOT_CTR_PATH", "/host", "/host"},
        Name{"nvidia-container-runtime.debug", "NVIDIA_CONTAINER_RUNTIME_DEBUG", "/var/log/x", "/var/log/x"},
        Name{"nvidia-container-runtime.log-level", "NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL", "debug", "debug"},
        Name{"nvidia-container-runtime.mode", "NVIDIA_CONTAINER_RUNTIME_MODE", "cdi", "cdi"},
        Name{"nvidia-container-runtime.modes.cdi.default-kind",
             "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND",
             "management.nvidia.com/gpu",
             "management.nvidia.com/gpu"},
        Name{"nvidia-container-runtime.modes.cdi.annotation-prefixes",
             "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_ANNOTATION_PREFIXES",
             "cdi.k8s.io/,nvidia.cdi/",
             "cdi.k8s.io/,nvidia.cdi/"},
        // One variable, two settings.
        Name{"nvidia-container-runtime-modes.cdi.annotation-prefixes",
             "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_ANNOTATION_PREFIXES",
             "cdi.k8s.io/",
             "cdi.k8s.io/"},
        Name{"nvidia-container-runtime.runtimes", "NVIDIA_CONTAINER_RUNTIME_RUNTIMES", "crun,runc", "crun,runc"},
        Name{"nvidia-container-runtime-hook.skip-mode-detection",
             "NVIDIA_CONTAINER_RUNTIME_HOOK_SKIP_MODE_DETECTION",
             "false",
             "false"},
        Name{"nvidia-container-cli.debug", "NVIDIA_CONTAINER_CLI_DEBUG", "/var/log/y", "/var/log/y"},
        Name{"accept-nvidia-visible-devices-envvar-when-unprivileged",
             "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED",
             "0",
             "false"},
        Name{"accept-nvidia-visible-devices-as-volume-mounts",
             "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS",
             "TRUE",
             "true"},
        Name{"opt-in-features", "NVIDIA_CONTAINER_TOOLKIT_OPT_IN_FEATURES", "a,b", "a,b"},
        Name{"cdi-enabled", "CDI_ENABLED", "T", "true"},
        Name{"cdi-enabled", "ENABLE_CDI", "1", "true"},
        Name{"cdi-output-dir", "CDI_OUTPUT_DIR", "/etc/cdi", "/etc/cdi"},
        Name{"cdi-kind", "CDI_KIND", "example.com/class", "example.com/class"},
        Name{"create-device-nodes", "CREATE_DEVICE_NODES", "none", "none"},
        Name{"config", "RUNTIME_CONFIG", "/runtime/config-dir/config.toml", "/runtime/config-dir/config.toml"},
        Name{"config", "CONTAINERD_CONFIG", "/c.toml", "/c.toml"},
        Name{"config", "DOCKER_CONFIG", "/d.json", "/d.json"},
        Name{
            "drop-in-config", "RUNTIME_DROP_IN_CONFIG", "/runtime/config-dir.d/n.toml", "/runtime/config-dir.d/n.toml"},
        Name{"drop-in-config-host-path", "RUNTIME_DROP_IN_CONFIG_HOST_PATH", "/etc/c/n.toml", "/etc/c/n.toml"},
        Name{"executable-path", "RUNTIME_EXECUTABLE_PATH", "/bin/containerd", "/bin/containerd"},
        Name{"socket", "RUNTIME_SOCKET", "/runtime/sock-dir/a.sock", "/runtime/sock-dir/a.sock"},
        Name{"socket", "CONTAINERD_SOCKET", "/b.sock", "/b.sock"},
        Name{"socket", "DOCKER_SOCKET", "/c.sock", "/c.sock"},
        Name{"restart-mode", "RUNTIME_RESTART_MODE", "signal", "signal"},
        Name{"enable-cdi-in-runtime", "RUNTIME_ENABLE_CDI", "true", "true"},
        Name{"host-root", "HOST_ROOT_MOUNT", "/hostfs", "/hostfs"},
        Name{"runtime-name", "NVIDIA_RUNTIME_NAME", "gpu", "gpu"},
        Name{"runtime-name", "CONTAINERD_RUNTIME_CLASS", "gpu2", "gpu2"},
        // Aliases are not tied to the runtime.
        Name{"runtime-name", "DOCKER_RUNTIME_NAME", "gpu3", "gpu3"},
        Name{"set-as-default", "NVIDIA_RUNTIME_SET_AS_DEFAULT", "false", "false"},
        Name{"set-as-default", "CONTAINERD_SET_AS_DEFAULT", "f", "false"},
        Name{"set-as-default", "DOCKER_SET_AS_DEFAULT", "F", "false"},
        Name{"config-source", "RUNTIME_CONFIG_SOURCES", "command,file", "command,file"},
        Name{"config-source", "RUNTIME_CONFIG_SOURCE", "file=/host/etc/x", "file=/host/etc/x"},
        Name{"use-legacy-config", "CONTAINERD_USE_LEGACY_CONFIG", "true", "true"},
        Name{"runtime-type", "CONTAINERD_RUNTIME_TYPE", "io.containerd.x.v2", "io.containerd.x.v2"},
        Name{"runtime-config-override", "RUNTIME_CONFIG_OVERRIDE", "{}", "{}"},
        Name{"runtime-config-override", "CONTAINERD_RUNTIME_CONFIG_OVERRIDE", "{}", "{}"},
        Name{"hooks-dir", "CRIO_HOOKS_DIR", "/hooks", "/hooks"},
        Name{"hook-filename", "CRIO_HOOK_FILENAME", "h.json", "h.json"},
        Name{"config-mode", "CRIO_CONFIG_MODE", "hook", "hook"},
        Name{"IS_HOST_DRIVER", "IS_HOST_DRIVER", "false", "false"}));

INSTANTIATE_TEST_SUITE_P(
    Flags,
    EveryName,
    testing::Values(
        Name{"no-daemon", "--no-daemon", "true", "true"},
        Name{"no-daemon", "-n", "true", "true"},
        Name{"enable-nri-plugin", "-p", "true", "true"},
        Name{"runtime", "--runtime", "crio", "crio"},
        Name{"runtime", "-r", "crio", "crio"},
        Name{"toolkit-install-dir", "--toolkit-install-dir", "/a", "/a"},
        Name{"toolkit-install-dir", "--root", "/b", "/b"},
        Name{"driver-root", "--driver-root", "/a", "/a"},
        Name{"driver-root", "--nvidia-driver-root", "/b", "/b"},
        Name{"nvidia-container-runtime.debug", "--nvidia-container-runtime.debug", "/x", "/x"},
        Name{"nvidia-container-runtime.debug", "--nvidia-container-runtime-debug", "/x", "/x"},
        Name{"nvidia-container-runtime.log-level", "--nvidia-container-runtime.log-level", "debug", "debug"},
        Name{"nvidia-container-runtime.log-level", "--nvidia-container-runtime-debug-log-level", "debug", "debug"},
        Name{"nvidia-container-runtime.mode", "--nvidia-container-runtime.mode", "cdi", "cdi"},
        Name{"nvidia-container-runtime.mode", "--nvidia-container-runtime-mode", "cdi", "cdi"},
        Name{"nvidia-container-cli.debug", "--nvidia-container-cli.debug", "/x", "/x"},
        Name{"nvidia-container-cli.debug", "--nvidia-container-cli-debug", "/x", "/x"},
        Name{"cdi-enabled", "--cdi-enabled", "true", "true"},
        Name{"cdi-enabled", "--enable-cdi", "true", "true"},
        Name{"runtime-name", "--runtime-name", "a", "a"},
        Name{"runtime-name", "--nvidia-runtime-name", "a", "a"},
        Name{"runtime-name", "--runtime-class", "a", "a"},
        Name{"config-source", "--config-source", "file", "file"},
        Name{"config-source", "--config-sources", "file", "file"},
        Name{"host-root", "--host-root", "/h", "/h"},
        // Go's flags take one dash or two.
        Name{"runtime-name", "-runtime-name", "a", "a"}));

TEST(Settings, EveryNameOfTheTableIsInTheTestsAboveOrOurs) {
  // A name twice would make one of its settings unreachable; annotation prefixes are NVIDIA's own oddity.
  std::multiset<std::string_view> variables;
  std::multiset<std::string_view> flags;
  for (const SettingRow& row : setting_rows()) {
    for (const std::string_view name : split_words(row.environment.view()))
      variables.insert(name);
    for (const std::string_view names : {row.flags.view(), row.nvidia_flags.view()}) {
      for (const std::string_view name : split_words(names))
        flags.insert(name);
    }
  }
  for (const std::string_view name : variables) {
    const bool odd = name == "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_ANNOTATION_PREFIXES";
    EXPECT_EQ(variables.count(name), odd ? 2U : 1U) << name;
  }
  for (const std::string_view name : flags)
    EXPECT_EQ(flags.count(name), 1U) << name;
}

/// A boolean as it may be written.
struct Boolean {
  std::string said = {};
  std::string value = {};  ///< "": refused
};

void PrintTo(const Boolean& item, std::ostream* out) {
  *out << "'" << item.said << "'";
}

class Booleans : public testing::TestWithParam<Boolean> {};

TEST_P(Booleans, AreGosForms) {
  for (const std::string name : {"NO_DAEMON", "CDI_ENABLED", "NVIDIA_RUNTIME_SET_AS_DEFAULT"}) {
    const auto resolved = resolve({}, {{name, GetParam().said}});
    if (GetParam().value.empty()) {
      ASSERT_FALSE(resolved) << name;
      EXPECT_EQ(resolved.error().code, engine::ErrorCode::usage);
      EXPECT_THAT(resolved.error().message, HasSubstr(name));
    } else {
      const std::string setting = name == "NO_DAEMON"     ? "no-daemon"
                                  : name == "CDI_ENABLED" ? "cdi-enabled"
                                                          : "set-as-default";
      EXPECT_EQ(value_of(resolved, setting), GetParam().value) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All,
                         Booleans,
                         testing::Values(Boolean{"1", "true"},
                                         Boolean{"t", "true"},
                                         Boolean{"T", "true"},
                                         Boolean{"true", "true"},
                                         Boolean{"True", "true"},
                                         Boolean{"TRUE", "true"},
                                         Boolean{"0", "false"},
                                         Boolean{"f", "false"},
                                         Boolean{"F", "false"},
                                         Boolean{"false", "false"},
                                         Boolean{"False", "false"},
                                         Boolean{"FALSE", "false"},
                                         Boolean{"true ", "true"},
                                         Boolean{" false\n", "false"},
                                         Boolean{"", "false"},
                                         Boolean{"yes"},
                                         Boolean{"no"},
                                         Boolean{"on"},
                                         Boolean{"tRUE"},
                                         Boolean{"2"}));

TEST(Settings, AFlagBeatsTheEnvironmentAndThatTheDefault) {
  EXPECT_EQ(value_of(resolve({}, {}), "runtime-name"), "nvidia");
  const auto resolved =
      resolve({"--runtime-name=a"}, {{"NVIDIA_RUNTIME_NAME", "b"}, {"CONTAINERD_RUNTIME_CLASS", "c"}});
  ASSERT_EQ(value_of(resolved, "runtime-name"), "a");
  EXPECT_EQ(resolved->find("runtime-name")->source, "--runtime-name");
  EXPECT_THAT(resolved->find("runtime-name")->overridden,
              ElementsAre("NVIDIA_RUNTIME_NAME=b", "CONTAINERD_RUNTIME_CLASS=c"));
}

TEST(Settings, OfSeveralVariablesTheFirstThatIsSetCounts) {
  const auto resolved =
      resolve({}, {{"NVIDIA_RUNTIME_SET_AS_DEFAULT", "false"}, {"CONTAINERD_SET_AS_DEFAULT", "true"}});
  ASSERT_EQ(value_of(resolved, "set-as-default"), "false");
  EXPECT_THAT(resolved->find("set-as-default")->overridden, ElementsAre("CONTAINERD_SET_AS_DEFAULT=true"));
  EXPECT_EQ(value_of(resolve({}, {{"CTKIT_CDI_KIND", "a.com/gpu"}, {"CDI_KIND", "b.com/gpu"}}), "cdi-kind"),
            "a.com/gpu");
}

TEST(Settings, AnEmptyTextIsNotSetButWhereEmptinessMeansSomething) {
  EXPECT_EQ(value_of(resolve({}, {{"RUNTIME_RESTART_MODE", ""}}), "restart-mode"), "auto");
  EXPECT_EQ(value_of(resolve({}, {{"RUNTIME_CONFIG", ""}, {"CONTAINERD_CONFIG", "/c"}}), "config"), "/c");
  EXPECT_EQ(value_of(resolve({}, {{"CREATE_DEVICE_NODES", ""}}), "create-device-nodes"), "control");
  EXPECT_EQ(value_of(resolve({}, {{"RUNTIME_CONFIG_SOURCES", ""}}), "config-source"), "");
  const auto resolved = resolve({}, {{"CDI_OUTPUT_DIR", ""}, {"CDI_ENABLED", "true"}});
  ASSERT_EQ(value_of(resolved, "cdi-output-dir"), "");
  EXPECT_FALSE(resolved->settings.cdi_enabled);
  EXPECT_THAT(resolved->warnings, ElementsAre(HasSubstr("no CDI spec")));
}

TEST(Settings, ListsAddUpWithinTheirFlags) {
  EXPECT_EQ(value_of(resolve({"--opt-in-features", "a,b", "--opt-in-features=c"},
                             {{"NVIDIA_CONTAINER_TOOLKIT_OPT_IN_FEATURES", "d"}}),
                     "opt-in-features"),
            "a,b,c");
}

TEST(Settings, TheDialectsDifferInDefaultsAndInRoot) {
  const auto nvidia = resolve({}, {});
  const auto own = resolve({}, {}, Dialect::own);
  for (const auto& [name, theirs, ours] : std::vector<std::array<std::string, 3>>{
           {"set-as-default", "true", "false"}, {"host-root", "/host", "/"}, {"cdi-enabled", "false", "true"}}) {
    EXPECT_EQ(value_of(nvidia, name), theirs);
    EXPECT_EQ(value_of(own, name), ours);
  }
  EXPECT_EQ(value_of(resolve({"--root=/x"}, {}), "toolkit-install-dir"), "/x");
  EXPECT_EQ(value_of(resolve({"--root=/x"}, {}, Dialect::own), "host-root"), "/x");
  EXPECT_EQ(value_of(resolve({}, {{"ROOT", "/x"}}, Dialect::own), "toolkit-install-dir"), "/x");
}

TEST(Settings, CdiInTheRuntimeIsAsTheSpecUnlessSaid) {
  EXPECT_EQ(value_of(resolve({}, {}), "enable-cdi-in-runtime"), "false");
  EXPECT_EQ(value_of(resolve({}, {{"CDI_ENABLED", "1"}}), "enable-cdi-in-runtime"), "true");
  const auto off = resolve({}, {{"CDI_ENABLED", "1"}, {"RUNTIME_ENABLE_CDI", "F"}});
  ASSERT_TRUE(off);
  EXPECT_EQ(off->settings.enable_cdi_in_runtime, "false");
}

TEST(Settings, ForegroundIsTheHostItself) {
  const auto resolved = resolve({"--foreground"}, {}, Dialect::own);
  EXPECT_EQ(value_of(resolved, "host-root"), "/");
  EXPECT_EQ(value_of(resolved, "driver-root"), "/");
  EXPECT_EQ(value_of(resolved, "driver-root-ctr-path"), "/");
  const auto other = resolve({"--foreground", "--driver-root=/opt/driver"}, {}, Dialect::own);
  EXPECT_EQ(value_of(other, "driver-root-ctr-path"), "/opt/driver");
}

/// Words and variables that can't be, and why.
struct Mistake {
  std::string name = {};
  std::vector<std::string> words = {};
  Environment environment = {};
  std::string message = {};
};

void PrintTo(const Mistake& mistake, std::ostream* out) {
  *out << mistake.name;
}

class Mistakes : public testing::TestWithParam<Mistake> {};

TEST_P(Mistakes, AreRefusedBeforeAnythingIsDone) {
  const auto resolved = resolve_settings(Dialect::nvidia, GetParam().words, GetParam().environment);
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().code, engine::ErrorCode::usage);
  EXPECT_THAT(resolved.error().message, HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Mistakes,
    testing::Values(
        Mistake{"docker", {}, {{"RUNTIME", "docker"}}, "docker is not supported"},
        Mistake{"docker by default", {}, {}, "docker is not supported"},
        Mistake{"another runtime", {}, {{"RUNTIME", "podman"}}, "none of containerd, crio, docker"},
        Mistake{"an unknown flag", {"--no-such-flag"}, {{"RUNTIME", "crio"}}, "'--no-such-flag' is not known"},
        Mistake{"a flag without its value", {"--runtime"}, {}, "wants a value"},
        Mistake{"a relative path", {}, {{"RUNTIME", "crio"}, {"NVIDIA_DRIVER_ROOT", "driver"}}, "driver-root"},
        Mistake{
            "a bare name", {"--driver-ready-file=driver-ready"}, {{"RUNTIME", "crio"}}, "driver-ready-file wants an"},
        Mistake{
            "no file to wait for", {"--driver-ready-file="}, {{"RUNTIME", "crio"}}, "driver-ready-file wants a path"},
        Mistake{"no readiness file", {"--ready-file="}, {{"RUNTIME", "crio"}}, "ready-file wants a path"},
        Mistake{"a folder for a file", {"--metrics-file=/run/m/"}, {{"RUNTIME", "crio"}}, "without a slash at its end"},
        Mistake{"another name of the lock", {}, {{"RUNTIME", "crio"}, {"PID_FILE", "/run/x.pid"}}, "toolkit.pid"},
        Mistake{"a kind without a class", {}, {{"RUNTIME", "crio"}, {"CDI_KIND", "nvidia"}}, "cdi-kind"},
        Mistake{"a restart mode", {}, {{"RUNTIME", "crio"}, {"RUNTIME_RESTART_MODE", "reload"}}, "none of signal"},
        Mistake{"a package type", {}, {{"RUNTIME", "crio"}, {"TOOLKIT_PACKAGE_TYPE", "apk"}}, "none of auto, deb, rpm"},
        Mistake{"device nodes", {}, {{"RUNTIME", "crio"}, {"CREATE_DEVICE_NODES", "all"}}, "none of control, none"},
        Mistake{"an NRI index", {}, {{"RUNTIME", "crio"}, {"NRI_PLUGIN_INDEX", "100"}}, "up to 99"},
        Mistake{"a number", {}, {{"RUNTIME", "crio"}, {"NRI_PLUGIN_INDEX", "-1"}}, "no number"},
        Mistake{"CRI-O's mode", {}, {{"RUNTIME", "crio"}, {"CRIO_CONFIG_MODE", "hooks"}}, "none of config, hook"},
        Mistake{"every address", {"--listen=0.0.0.0:1"}, {{"RUNTIME", "crio"}}, "one address"},
        Mistake{
            "CDI in the runtime", {}, {{"RUNTIME", "crio"}, {"RUNTIME_ENABLE_CDI", "yes"}}, "neither true nor false"},
        Mistake{"no port", {"--listen=127.0.0.1"}, {{"RUNTIME", "crio"}}, "address:port"},
        Mistake{"no install folder", {}, {{"RUNTIME", "crio"}, {"ROOT", "/"}}, "wants a folder"}));

TEST(Settings, EveryRowThatIsAPathSaysSo) {
  for (const SettingRow& row : setting_rows()) {
    const bool path = row.default_value.view().starts_with('/');
    EXPECT_TRUE(!path || !row.without_effect.view().empty() || row.path != Path::none) << row.flags.view();
    if (row.path == Path::none) continue;
    const std::string flag = "--" + std::string(split_words(row.flags.view()).front());
    const auto relative = resolve({flag + "=some/where"}, {});
    ASSERT_FALSE(relative) << flag;
    EXPECT_THAT(relative.error().message, HasSubstr("wants an absolute path")) << flag;
    EXPECT_EQ(row.wanted, !resolve({flag + "="}, {})) << flag;
  }
}

TEST(Settings, AFolderLosesTheSlashesAtItsEnd) {
  EXPECT_EQ(value_of(resolve({"--state-dir=/var/lib/x//"}, {}), "state-dir"), "/var/lib/x");
  EXPECT_EQ(value_of(resolve({"--host-root=//"}, {}), "host-root"), "/");
  EXPECT_EQ(value_of(resolve({}, {{"ROOT", "/usr/local/nvidia/"}}), "toolkit-install-dir"), "/usr/local/nvidia");
}

TEST(Settings, FurtherWordsArePassedOverUnderNvidiasNamesOnly) {
  const auto resolved = resolve({"/usr/local/nvidia"}, {});
  ASSERT_TRUE(resolved);
  EXPECT_THAT(resolved->warnings, ElementsAre(HasSubstr("passed over '/usr/local/nvidia'")));
  EXPECT_FALSE(resolve({"/usr/local/nvidia"}, {}, Dialect::own));
}

TEST(Settings, WhatHasNoEffectSaysSo) {
  const auto resolved = resolve({}, {{"RUNTIME_CONFIG_OVERRIDE", "{}"}});
  ASSERT_TRUE(resolved);
  EXPECT_THAT(resolved->warnings, ElementsAre(HasSubstr("RUNTIME_CONFIG_OVERRIDE has no effect")));
}

TEST(Settings, TheLogShowsWhoSaidWhatAndWhoLost) {
  const auto resolved = resolve({}, {{"NVIDIA_RUNTIME_NAME", "gpu"}, {"DOCKER_RUNTIME_NAME", "d"}});
  ASSERT_TRUE(resolved);
  EXPECT_EQ(render_settings(*resolved, false),
            "  runtime = 'containerd' (RUNTIME)\n"
            "  runtime-name = 'gpu' (NVIDIA_RUNTIME_NAME; not DOCKER_RUNTIME_NAME=d)\n");
  EXPECT_THAT(render_settings(*resolved, true), HasSubstr("  host-root = '/host' (default)\n"));
}

TEST(Settings, TheOperatorsEnvironmentWithCdi) {
  const auto resolved = resolve({},
                                {{"ROOT", "/usr/local/nvidia"},
                                 {"CDI_ENABLED", "true"},
                                 {"NVIDIA_RUNTIME_SET_AS_DEFAULT", "false"},
                                 {"NVIDIA_CONTAINER_RUNTIME_MODE", "cdi"},
                                 {"CRIO_CONFIG_MODE", "config"},
                                 {"NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND", "management.nvidia.com/gpu"},
                                 {"NVIDIA_VISIBLE_DEVICES", "void"},
                                 {"TOOLKIT_PID_FILE", "/run/nvidia/toolkit/toolkit.pid"},
                                 {"CONTAINERD_RUNTIME_CLASS", "nvidia"},
                                 {"RUNTIME_CONFIG", "/runtime/config-dir/config.toml"},
                                 {"CONTAINERD_CONFIG", "/runtime/config-dir/config.toml"},
                                 {"RUNTIME_DROP_IN_CONFIG", "/runtime/config-dir.d/99-nvidia.toml"},
                                 {"RUNTIME_DROP_IN_CONFIG_HOST_PATH", "/etc/containerd/conf.d/99-nvidia.toml"},
                                 {"RUNTIME_SOCKET", "/runtime/sock-dir/containerd.sock"},
                                 {"CONTAINERD_SOCKET", "/runtime/sock-dir/containerd.sock"}});
  ASSERT_TRUE(resolved);
  EXPECT_THAT(resolved->warnings, IsEmpty());
  EXPECT_TRUE(resolved->settings.cdi_enabled);
  EXPECT_FALSE(resolved->settings.set_as_default);
  EXPECT_EQ(resolved->settings.host_root, "/host");
  EXPECT_EQ(resolved->settings.drop_in_host_path, "/etc/containerd/conf.d/99-nvidia.toml");
}

TEST(Settings, NvidiasNames) {
  for (const std::string name : {"nvidia-toolkit", "/opt/bin/nvidia-toolkit", "nvidia-ctk-installer"})
    EXPECT_TRUE(is_nvidia_name(name));
  for (const std::string name : {"ctkit", "/nvidia-toolkit/ctkit", "nvidia-ctk"})
    EXPECT_FALSE(is_nvidia_name(name));
}

TEST(Settings, HelpNamesEveryFlag) {
  for (const Dialect dialect : {Dialect::own, Dialect::nvidia}) {
    const std::string help = settings_help(dialect);
    for (const SettingRow& row : setting_rows()) {
      for (const std::string_view flag : split_words(row.flags.view())) {
        if (flag.size() > 1) {
          EXPECT_THAT(help, HasSubstr("--" + std::string(flag)));
        }
      }
    }
  }
}

}  // namespace
}  // namespace ctkit::daemonset
