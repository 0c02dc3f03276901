#include "engine/containerd/drop_in.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/change.h"
#include "engine/containerd/handlers.h"
#include "engine/overlay.h"
#include "engine/toml_reader.h"
#include "support/containerd_fixture.h"

namespace ctkit::engine::containerd {
namespace {

using test::Host;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::string_view kBinary = "/usr/local/nvidia/toolkit/nvidia-container-runtime";
constexpr std::string_view kPath = "/etc/containerd/conf.d/99-nvidia.toml";
constexpr std::string_view kConfig = "/etc/containerd/config.toml";
constexpr std::string_view kRoot2 = "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n";
constexpr std::string_view kRoot3 = "version = 3\nimports = ['/etc/containerd/conf.d/*.toml']\n";

Desired nvidia() {
  return {.handlers = {{.name = "nvidia", .binary = std::string(kBinary)}}};
}

Result<std::vector<Candidate>> candidates(std::string_view release,
                                          const FileReader& files,
                                          const Desired& desired = nvidia()) {
  auto bare = test::effective_of(release, files);
  if (!bare) return std::unexpected(bare.error());
  return make_candidates(test::daemon_of(release), {}, files, *bare, desired);
}

/// The first candidate that works on the whole tree, and what the daemon makes of it.
struct Planned {
  Candidate candidate = {};
  EffectiveConfig after = {};

  [[nodiscard]] const FileChange& drop_in() const { return candidate.files.front(); }
  [[nodiscard]] const std::string& text() const { return *drop_in().after; }
  [[nodiscard]] Table table() const { return test::parse(text(), drop_in().path); }
  [[nodiscard]] std::string at(std::string_view key) const { return test::shown(after.config, key); }
};

/// Whether the handlers are there with their binaries, CRI serves, and nothing else that a file
/// sets is lost or changed.
std::string objection(std::string_view release,
                      const EffectiveConfig& before,
                      const EffectiveConfig& after,
                      const Candidate& candidate,
                      const Desired& desired) {
  const auto handlers = effective_handlers(after, test::daemon_of(release).known.regime);
  for (const DesiredHandler& wanted : desired.handlers) {
    const auto served = std::ranges::find(handlers, wanted.name, &Handler::name);
    if (served == handlers.end() || served->binary != wanted.binary) return "no handler " + wanted.name;
  }
  if (!after.not_serving.empty()) return after.not_serving.front();
  for (const Change& change : differences(before.config, after.config)) {
    const bool meant =
        std::ranges::any_of(candidate.may_change, [&](const KeyPath& key) { return change.key.starts_with(key); });
    if (!meant && change.before && !change.before->origin.built_in()) return "changes " + change.key.to_string();
  }
  return "";
}

Planned planned(std::string_view release, const FileReader& files, const Desired& desired = nvidia()) {
  const auto bare = test::effective_of(release, files);
  const auto list = candidates(release, files, desired);
  std::string tried;
  if (!list) tried = list.error().message;
  if (bare && list) {
    for (const Candidate& candidate : *list) {
      Overlay overlay(files);
      overlay.apply(candidate.files);
      auto after = test::effective_of(release, overlay);
      const std::string why = after ? objection(release, *bare, *after, candidate, desired) : after.error().message;
      if (why.empty()) return {candidate, *std::move(after)};
      tried += "\n" + candidate.approach + ": " + why;
    }
  }
  ADD_FAILURE() << release << ": no candidate works: " << tried;
  return {.candidate = {.files = {{.after = ""}}}};
}

constexpr std::string_view kOnes[] = {"1.6.20", "1.6.39", "1.7.0", "1.7.27", "1.7.34"};
constexpr std::string_view kTwos[] = {"2.0.6", "2.1.9", "2.2.7", "2.3.4", "2.4.0-beta.0"};

/// The incident's node: of three files with a CRI table only the last counts.
const test::Texts kThreeAuthors = {{"config.toml", R"(version = 2
imports = ["/etc/containerd/conf.d/*.toml"]
[OLD]
sandbox_image = "example.test/pause:1"
[OLD.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[OLD.containerd.runtimes.runc.options]
SystemdCgroup = true
)"},
                                   {"conf.d/20-kata.toml", R"(version = 2
[OLD.containerd.runtimes.kata]
runtime_type = "io.containerd.kata.v2"
)"},
                                   {"conf.d/50-registry.toml", R"(version = 2
[OLD.registry]
config_path = "/etc/containerd/certs.d"
[OLD.registry.configs."r.test".auth]
password = "secret"
)"}};

// 1.x: the last file's table is all.

TEST(DropIn, KeepsKeysOfOtherFiles) {
  const Host host(kThreeAuthors);
  for (const std::string_view release : kOnes) {
    const Planned plan = planned(release, host);
    EXPECT_EQ(plan.drop_in().path, kPath) << release;
    EXPECT_EQ(plan.at("OLD.sandbox_image"), "\"example.test/pause:1\"") << release;
    EXPECT_EQ(plan.at("OLD.registry.config_path"), "\"/etc/containerd/certs.d\"") << release;
    EXPECT_EQ(plan.at("OLD.registry.configs.'r.test'.auth.password"), "\"secret\"") << release;
    EXPECT_EQ(test::keys_at(plan.after.config, "OLD.containerd.runtimes"), "kata nvidia runc") << release;
  }
}

TEST(DropIn, CarriesOthersSettingsWithTheirAuthors) {
  const Planned plan = planned("1.7.27", Host(kThreeAuthors));
  EXPECT_EQ(test::origin_at(plan.candidate.carried, "OLD.sandbox_image"), "/etc/containerd/config.toml:4");
  EXPECT_EQ(test::origin_at(plan.candidate.carried, "OLD.containerd.runtimes.kata.runtime_type"),
            "/etc/containerd/conf.d/20-kata.toml:3");
  EXPECT_EQ(test::keys_at(plan.candidate.carried, "OLD.containerd.runtimes"), "kata runc");
}

TEST(DropIn, ListsTheFilesWhoseSettingsItRepeats) {
  EXPECT_THAT(planned("1.7.27", Host(kThreeAuthors)).drop_in().sources,
              ElementsAre("/etc/containerd/config.toml",
                          "/etc/containerd/conf.d/20-kata.toml",
                          "/etc/containerd/conf.d/50-registry.toml"));
  EXPECT_THAT(planned("2.1.9", Host(kThreeAuthors)).drop_in().sources, IsEmpty());
}

TEST(DropIn, CarriesTheBuiltInRuncWhereNoFileDefinesIt) {
  const Host host({{"config.toml", kRoot2}});
  for (const std::string_view release : kOnes) {
    const Planned plan = planned(release, host);
    EXPECT_EQ(test::keys_at(plan.after.config, "OLD.containerd.runtimes"), "nvidia runc") << release;
    EXPECT_EQ(plan.at("OLD.containerd.runtimes.runc"), test::printed_by(release, {}, "OLD.containerd.runtimes.runc"))
        << release;
  }
}

TEST(DropIn, RepairsANodeWhoseRuncIsLost) {
  const Host host(
      {{"config.toml", kRoot2},
       {"conf.d/10.toml", "version = 2\n[OLD.containerd.runtimes.crun]\nruntime_type = 'io.containerd.runc.v2'\n"}});
  ASSERT_THAT(test::effective_of("1.7.27", host)->not_serving, Not(IsEmpty()));
  EXPECT_EQ(test::keys_at(planned("1.7.27", host).after.config, "OLD.containerd.runtimes"), "crun nvidia runc");
}

TEST(DropIn, LeavesOutWhatIsBuiltInAnyway) {
  const Host host({{"config.toml",
                    std::string(kRoot2) + "[OLD]\nsandbox_image = 'registry.k8s.io/pause:3.8'\nenable_selinux "
                                          "= true\n[OLD.cni]\nbin_dir = '/opt/cni/bin'\n"}});
  const Table table = planned("1.7.27", host).table();
  EXPECT_EQ(test::keys_at(table, "OLD"), "containerd enable_selinux");
}

TEST(DropIn, KeepsTodaysValueOfAFieldThatTheAuthorOfAHandlerLeftUnset) {
  const Planned plan = planned("1.7.27", Host(kThreeAuthors));
  EXPECT_EQ(plan.at("OLD.containerd.runtimes.runc.sandbox_mode"), "\"podsandbox\"");
  EXPECT_EQ(plan.at("OLD.containerd.runtimes.runc.options.SystemdCgroup"), "true");
}

TEST(DropIn, CarriesOnlyWhatIsEffectiveTodayOnKeep) {
  Desired desired = nvidia();
  desired.on_conflict = OnConflict::keep;
  const Planned plan = planned("1.7.27", Host(kThreeAuthors), desired);
  EXPECT_EQ(plan.at("OLD.sandbox_image"), "\"registry.k8s.io/pause:3.8\"");
  EXPECT_EQ(plan.at("OLD.registry.config_path"), "\"/etc/containerd/certs.d\"");
  EXPECT_EQ(test::keys_at(plan.after.config, "OLD.containerd.runtimes"), "nvidia runc");
  EXPECT_EQ(plan.at("OLD.containerd.runtimes.runc.options.SystemdCgroup"), "false");
}

TEST(DropIn, NamesTheSectionAsTheMergedVersionLooksItUp) {
  struct Lookup {
    std::string_view root;
    std::string_view fragment;
    std::string_view plugins;
    std::string_view version;
  };
  constexpr Lookup kLookups[] = {
      {kRoot2, "", kCri, "2"},
      {"imports = ['/etc/containerd/conf.d/*.toml']\n[plugins.cri]\nenable_selinux = true", "", "cri", "absent"},
      {"version = 1\nimports = ['/etc/containerd/conf.d/*.toml']\n[plugins.cri]\nenable_selinux = "
       "true",
       "",
       "cri",
       "absent"},
      {kRoot2, "version = 1\n[plugins.cri]\nenable_selinux = true", "cri", "absent"},
  };
  for (const auto& [root, fragment, plugins, version] : kLookups) {
    const Planned plan = planned("1.7.27", Host({{"config.toml", root}, {"conf.d/10.toml", fragment}}));
    EXPECT_EQ(test::keys_at(plan.table(), "plugins"), plugins) << root;
    EXPECT_EQ(test::shown(plan.table(), "version"), version) << root;
    EXPECT_NE(plan.at("OLD.containerd.runtimes.nvidia"), "absent") << root;
  }
}

TEST(DropIn, TakesANameBehindAFileThatSortsLater) {
  const Host host({{"config.toml", kRoot2}, {"conf.d/a.toml", "version = 2\n[OLD.registry]\nconfig_path = '/c'\n"}});
  const Planned plan = planned("1.7.27", host);
  EXPECT_EQ(plan.drop_in().path, "/etc/containerd/conf.d/zz-99-nvidia.toml");
  EXPECT_EQ(plan.at("OLD.registry.config_path"), "\"/c\"");
}

TEST(DropIn, TakesANameBehindEvenAZzFile) {
  const Host host(
      {{"config.toml", kRoot2}, {"conf.d/zzz-last.toml", "version = 2\n[OLD.registry]\nconfig_path = '/c'\n"}});
  const Planned plan = planned("1.7.27", host);
  EXPECT_GT(plan.drop_in().path, "/etc/containerd/conf.d/zzz-last.toml");
  EXPECT_EQ(plan.at("OLD.registry.config_path"), "\"/c\"");
}

TEST(DropIn, CarriesAnExistingFileOfItsName) {
  const std::string theirs = test::expand(
      "version = 2\noom_score = -5\n[OLD]\nsandbox_image = "
      "'p'\n[OLD.containerd.runtimes.nvidia]\nruntime_type = 'io.containerd.runc.v2'\n"
      "[OLD.containerd.runtimes.nvidia.options]\nBinaryName = "
      "'/usr/bin/nvidia-container-runtime'\n");
  const Host host({{"config.toml", kRoot2}, {"conf.d/99-nvidia.toml", theirs}});
  const Planned plan = planned("1.7.27", host);
  EXPECT_EQ(plan.drop_in().path, kPath);
  EXPECT_EQ(plan.drop_in().before, theirs);
  EXPECT_EQ(plan.at("oom_score"), "-5");
  EXPECT_EQ(plan.at("OLD.sandbox_image"), "\"p\"");
  EXPECT_EQ(plan.at("OLD.containerd.runtimes.nvidia.options.BinaryName"), "\"" + std::string(kBinary) + "\"");
}

TEST(DropIn, CarriesAnExistingFileOfItsNameOn2x) {
  const std::string theirs = test::expand("version = 3\n[RUNTIME]\nenable_selinux = true\n");
  const Host host({{"config.toml", kRoot3}, {"conf.d/99-nvidia.toml", theirs}});
  for (const std::string_view release : kTwos) {
    const Planned plan = planned(release, host);
    EXPECT_EQ(plan.drop_in().before, theirs);
    EXPECT_EQ(plan.at("RUNTIME.enable_selinux"), "true");
    EXPECT_THAT(plan.drop_in().sources, ElementsAre(kPath));
  }
}

TEST(DropIn, WakesNoDormantFileOfItsName) {
  const std::string theirs = test::expand("version = 2\noom_score = -5\n[OLD]\nsandbox_image = 'p'\n");
  const Host host({{"config.toml", "version = 2\n"}, {"conf.d/99-nvidia.toml", theirs}});
  for (const std::string_view release : {"1.7.27", "2.1.9"}) {
    const Planned plan = planned(release, host);
    EXPECT_EQ(plan.drop_in().before, theirs) << release;
    EXPECT_EQ(plan.at("oom_score"), "0") << release;
    EXPECT_THAT(plan.text(), Not(HasSubstr("sandbox_image"))) << release;
  }
}

// 2.x: tables merge, so ours is all that ours holds.

TEST(DropIn, HoldsNothingButOurHandlersOn2x) {
  const Host host(
      {{"config.toml",
        std::string(kRoot3) + "[RUNTIME]\nenable_selinux = true\n[RUNTIME.containerd.runtimes.crun]\nruntime_type = "
                              "'io.containerd.runc.v2'\n"}});
  for (const std::string_view release : kTwos) {
    const Planned plan = planned(release, host);
    EXPECT_EQ(test::keys_at(plan.table(), "plugins"), kRuntime) << release;
    EXPECT_EQ(test::keys_at(plan.table(), "RUNTIME"), "containerd") << release;
    EXPECT_EQ(test::keys_at(plan.table(), "RUNTIME.containerd"), "runtimes") << release;
    EXPECT_EQ(test::keys_at(plan.table(), "RUNTIME.containerd.runtimes"), "nvidia") << release;
    EXPECT_EQ(plan.at("RUNTIME.enable_selinux"), "true") << release;
  }
}

TEST(DropIn, NeverHoldsBothIdsNorAVersionAboveTheRoots) {
  for (const long version : {0L, 1L, 2L, 3L, 4L}) {
    const std::string root = "imports = ['/etc/containerd/conf.d/*.toml']\n" +
                             (version == 0 ? "" : "version = " + std::to_string(version) + "\n");
    const Host host({{"config.toml", root}});
    for (const std::string_view release : kTwos) {
      const auto list = candidates(release, host);
      if (!list) continue;  // a version that this release refuses
      for (const Candidate& candidate : *list) {
        const Table table = test::parse(*candidate.files.front().after);
        const std::string plugins = test::keys_at(table, "plugins");
        EXPECT_TRUE(plugins == kCri || plugins == kRuntime) << release << " " << plugins;
        const Value* ours = find(table, "version");
        if (version == 0 || ours == nullptr) continue;
        EXPECT_LE(*ours->integer(), version) << release << " " << candidate.approach;
      }
    }
  }
}

TEST(DropIn, FollowsTheRootsStyleOn2x) {
  for (const auto& [root, plugins, version] : {std::tuple(kRoot2, kCri, "2"), std::tuple(kRoot3, kRuntime, "3")}) {
    const Host host({{"config.toml", root}});
    for (const std::string_view release : kTwos) {
      const Planned plan = planned(release, host);
      EXPECT_EQ(test::keys_at(plan.table(), "plugins"), plugins) << release;
      EXPECT_EQ(test::shown(plan.table(), "version"), version) << release;
      EXPECT_EQ(plan.at("RUNTIME.containerd.runtimes.nvidia.options.BinaryName"), "\"" + std::string(kBinary) + "\"")
          << release;
    }
  }
}

TEST(DropIn, TurnsCdiOnWhereThereIsASwitchAndItIsOff) {
  Desired desired = nvidia();
  desired.enable_cdi = true;
  const Host plain({{"config.toml", kRoot2}});
  EXPECT_EQ(planned("1.7.27", plain, desired).at("OLD.enable_cdi"), "true");
  EXPECT_EQ(planned("1.7.27", plain).at("OLD.enable_cdi"), "false");
  // No switch, or on by itself: not a word.
  for (const std::string_view release : {"1.6.39", "2.0.6", "2.1.9", "2.3.4"}) {
    EXPECT_THAT(planned(release, plain, desired).text(), Not(HasSubstr("enable_cdi"))) << release;
  }
  const Host off({{"config.toml", std::string(kRoot3) + "[RUNTIME]\nenable_cdi = false\n"}});
  EXPECT_EQ(planned("2.1.9", off, desired).at("RUNTIME.enable_cdi"), "true");
  const Host old({{"config.toml", std::string(kRoot2) + "[OLD]\nenable_cdi = false\n"}});
  for (const std::string_view release : {"1.7.27", "2.0.6", "2.3.4"}) {
    const Planned plan = planned(release, old, desired);
    EXPECT_EQ(plan.at(release == "1.7.27" ? "OLD.enable_cdi" : "RUNTIME.enable_cdi"), "true") << release;
  }
}

TEST(DropIn, WorksBesideAVersion3FragmentUnderAVersion2Root) {
  const Host host({{"config.toml", std::string(kRoot2) + "[OLD]\nenable_selinux = true\n"},
                   {"conf.d/zz.toml", "version = 3\n[RUNTIME]\nenable_cdi = false\n"}});
  for (const std::string_view release : {"2.0.6", "2.1.9", "2.2.7"}) {
    const Planned plan = planned(release, host);
    EXPECT_EQ(test::keys_at(plan.table(), "plugins"), kRuntime) << release;
    EXPECT_EQ(test::shown(plan.table(), "version"), "absent") << release;
  }
}

TEST(DropIn, DoesNotStopTheMigrationOfAVersion2FragmentUnderAVersion3Root) {
  const Host host({{"config.toml", kRoot3}, {"conf.d/50.toml", "version = 2\n[OLD]\nenable_selinux = true\n"}});
  for (const std::string_view release : kTwos) {
    const Planned plan = planned(release, host);
    EXPECT_EQ(plan.at("RUNTIME.enable_selinux"), "true") << release;
    EXPECT_EQ(plan.at("RUNTIME.containerd.runtimes.nvidia.options.BinaryName"), "\"" + std::string(kBinary) + "\"")
        << release;
  }
  EXPECT_EQ(test::shown(planned("2.1.9", host).table(), "version"), "absent");
}

TEST(DropIn, RepeatsItsBinaryUnderAnothersSpelling) {
  const Host host({{"config.toml",
                    std::string(kRoot3) + "[RUNTIME.containerd.runtimes.nvidia.options]\nbinaryName = '/theirs'\n"}});
  const Planned plan = planned("2.1.9", host);
  EXPECT_EQ(plan.at("RUNTIME.containerd.runtimes.nvidia.options.binaryName"), "\"" + std::string(kBinary) + "\"");
}

// The handlers themselves.

TEST(DropIn, CopiesTheParentsOptionsSystemdCgroupAmongThem) {
  constexpr std::string_view kRunc2 =
      "[OLD.containerd.runtimes.runc]\nruntime_type = "
      "'io.containerd.runc.v2'\n[OLD.containerd.runtimes.runc.options]\nSystemdCgroup = true\n";
  constexpr std::string_view kRunc3 = "[RUNTIME.containerd.runtimes.runc.options]\nSystemdCgroup = true\n";
  for (const std::string_view release : kOnes) {
    const Planned plan = planned(release, Host({{"config.toml", std::string(kRoot2) + std::string(kRunc2)}}));
    EXPECT_EQ(plan.at("OLD.containerd.runtimes.nvidia.options.SystemdCgroup"), "true") << release;
    EXPECT_EQ(plan.at("OLD.containerd.runtimes.nvidia.runtime_type"), "\"io.containerd.runc.v2\"") << release;
    EXPECT_EQ(plan.at("OLD.containerd.runtimes.runc.options.SystemdCgroup"), "true") << release;
  }
  for (const std::string_view release : kTwos) {
    const Planned plan = planned(release, Host({{"config.toml", std::string(kRoot3) + std::string(kRunc3)}}));
    EXPECT_EQ(plan.at("RUNTIME.containerd.runtimes.nvidia.options.SystemdCgroup"), "true") << release;
    EXPECT_EQ(test::shown(plan.table(), "RUNTIME.containerd.runtimes.nvidia.runtime_type"), "\"io.containerd.runc.v2\"")
        << release;
    EXPECT_EQ(plan.at("RUNTIME.containerd.runtimes.nvidia.sandboxer"), "\"podsandbox\"") << release;
    EXPECT_EQ(plan.at("RUNTIME.containerd.runtimes.runc.options.SystemdCgroup"), "true") << release;
  }
}

TEST(DropIn, NeverClonesAKataDefault) {
  constexpr std::string_view kKata =
      "default_runtime_name = 'kata'\n[OLD.containerd.runtimes.kata]\nruntime_type = "
      "'io.containerd.kata.v2'\nprivileged_without_host_devices = true\n";
  const Host host({{"config.toml", std::string(kRoot2) + "[OLD.containerd]\n" + std::string(kKata)}});
  for (const std::string_view release : {"1.7.27", "2.1.9", "2.3.4"}) {
    const Planned plan = planned(release, host);
    const std::string handler =
        (release < std::string_view("2") ? "OLD" : "RUNTIME") + std::string(".containerd.runtimes.nvidia");
    EXPECT_EQ(plan.at(handler + ".runtime_type"), "\"io.containerd.runc.v2\"") << release;
    EXPECT_EQ(plan.at(handler + ".privileged_without_host_devices"), "false") << release;
  }
  EXPECT_EQ(planned("2.1.9", host).at("RUNTIME.containerd.default_runtime_name"), "\"kata\"");
}

TEST(DropIn, MakesEachDesiredHandlerAndTheDefault) {
  Desired desired = nvidia();
  desired.handlers.push_back({.name = "nvidia-cdi", .binary = "/n.cdi"});
  desired.handlers.push_back({.name = "kata-gpu", .binary = "/opt/kata", .type = "io.containerd.kata.v2"});
  desired.default_handler = "nvidia";
  const auto list = candidates("2.1.9", Host({{"config.toml", kRoot3}}), desired);
  ASSERT_TRUE(list);
  const Table table = test::parse(*list->front().files.front().after);
  EXPECT_EQ(test::keys_at(table, "RUNTIME.containerd.runtimes"), "kata-gpu nvidia nvidia-cdi");
  EXPECT_EQ(test::shown(table, "RUNTIME.containerd.runtimes.kata-gpu"),
            R"({ runtime_path = "/opt/kata", runtime_type = "io.containerd.kata.v2" })");
  EXPECT_EQ(test::shown(table, "RUNTIME.containerd.default_runtime_name"), "\"nvidia\"");
  std::vector<std::string> keys;
  for (const KeyPath& key : list->front().may_change)
    keys.push_back(key.parts.back());
  EXPECT_THAT(keys, ElementsAre("nvidia", "nvidia-cdi", "kata-gpu", "default_runtime_name", "imports"));
}

TEST(DropIn, LeavesTheDefaultAsItIsUnlessAsked) {
  const Host host({{"config.toml", kRoot2}});
  EXPECT_EQ(planned("1.7.27", host).at("OLD.containerd.default_runtime_name"), "\"runc\"");
  EXPECT_EQ(planned("2.1.9", host).at("RUNTIME.containerd.default_runtime_name"), "\"runc\"");
  Desired desired = nvidia();
  desired.default_handler = "nvidia";
  EXPECT_EQ(planned("1.7.27", host, desired).at("OLD.containerd.default_runtime_name"), "\"nvidia\"");
}

// The way from the root to our file.

TEST(DropIn, LeavesARootWithACoveringImportAlone) {
  for (const std::string_view import : {"/etc/containerd/conf.d/*.toml",
                                        "conf.d/*.toml",
                                        "/etc/containerd/*/*",
                                        "/etc/containerd/conf.d/99-nvidia.toml"}) {
    Host host({{"config.toml", "version = 2\nimports = ['" + std::string(import) + "']\n"}});
    if (!import.contains('*')) host.add_file(std::string(kPath), "");
    for (const std::string_view release : {"1.7.27", "2.1.9"})
      EXPECT_EQ(planned(release, host).candidate.files.size(), 1U) << release << import;
  }
}

TEST(DropIn, IsNotCoveredByARelativePatternThatTheReleaseTakesFromTheWorkingFolder) {
  const Host host({{"config.toml", "version = 2\nimports = ['conf.d/*.toml']\n"}});
  EXPECT_EQ(planned("1.6.28", host).candidate.files.size(), 2U);
  EXPECT_EQ(planned("1.6.29", host).candidate.files.size(), 1U);
}

TEST(DropIn, ImportsItselfByANarrowPattern) {
  const Host host({{"config.toml", "version = 2\n# mine\n"},
                   {"conf.d/dormant.toml", "version = 2\noom_score = -99\n"},
                   {"conf.d/99-nvidia.toml.bak", "broken ["}});
  for (const std::string_view release : {"1.6.20", "1.7.27", "2.1.9", "2.3.4"}) {
    const Planned plan = planned(release, host);
    ASSERT_EQ(plan.candidate.files.size(), 2U) << release;
    EXPECT_EQ(plan.candidate.files[0].path, kPath);
    EXPECT_EQ(plan.candidate.files[1].path, kConfig);
    EXPECT_EQ(plan.candidate.files[1].before, "version = 2\n# mine\n");
    EXPECT_EQ(plan.candidate.files[1].after,
              "version = 2\nimports = [\"/etc/containerd/conf.d/99-nvidia.tom*l\"]\n# mine\n");
    EXPECT_EQ(plan.at("oom_score"), "0") << "a dormant file woke";
    Overlay without_ours(host);
    without_ours.apply(plan.candidate.files);
    without_ours.put(std::string(kPath), std::nullopt);
    EXPECT_TRUE(test::effective_of(release, without_ours)) << "the daemon needs our file";
  }
}

TEST(DropIn, CreatesARootWithAVersionAndTheImportOnly) {
  for (const std::string_view release : {"1.7.27", "2.1.9", "2.3.4"}) {
    const Planned plan = planned(release, Host());
    ASSERT_EQ(plan.candidate.files.size(), 2U) << release;
    EXPECT_EQ(plan.candidate.files[0].path, kPath);
    EXPECT_EQ(plan.candidate.files[0].before, std::nullopt);
    EXPECT_EQ(plan.candidate.files[1].before, std::nullopt);
    EXPECT_EQ(plan.candidate.files[1].after,
              std::string(release < std::string_view("2") ? "version = 2" : "version = 3") +
                  "\nimports = [\"/etc/containerd/conf.d/99-nvidia.tom*l\"]\n");
  }
}

TEST(DropIn, GoesWhereItIsWished) {
  Desired desired = nvidia();
  desired.drop_in = "/etc/containerd//config.d/./gpu.toml";
  const Planned plan = planned("1.7.27", Host({{"config.toml", "version = 2\n"}}), desired);
  EXPECT_EQ(plan.drop_in().path, "/etc/containerd/config.d/gpu.toml");
  EXPECT_THAT(*plan.candidate.files[1].after, HasSubstr("/etc/containerd/config.d/gpu.tom*l"));
}

struct Refused {
  std::string_view name;
  std::string_view root;
  std::string_view where;
  std::string_view hint;
};

TEST(DropIn, RefusesARootThatSomebodyElseWrites) {
  constexpr Refused kCases[] = {
      {"a generated root",
       "# File generated by k3s. DO NOT EDIT. Use config.toml.tmpl instead.\nversion = 2\n",
       "/etc/containerd/config.toml:1",
       "config-v3.toml.d"},
      {"k0s", "# k0s_managed=true\nversion = 2\n", "/etc/containerd/config.toml:1", "/etc/k0s/containerd.d"},
  };
  for (const Refused& refused : kCases) {
    const auto list = candidates("1.7.27", Host({{"config.toml", refused.root}}));
    ASSERT_FALSE(list) << refused.name;
    EXPECT_EQ(list.error().code, ErrorCode::needs_decision) << refused.name;
    EXPECT_EQ(list.error().where, refused.where) << refused.name;
    EXPECT_THAT(list.error().hint, HasSubstr(refused.hint)) << refused.name;
  }
}

TEST(DropIn, RefusesATemplate) {
  const std::string text = "version = 2\n{{ if .NvidiaRuntime }}\n";
  const Host host({{"config.toml", text}});
  const auto list = make_candidates(test::daemon_of("1.7.27"), {}, host, test::loaded("1.7.27", {}), nvidia());
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, ErrorCode::needs_decision);
  EXPECT_EQ(list.error().where, kConfig);
}

TEST(DropIn, NeedsNoEditOfAGeneratedRootThatImportsItsFolder) {
  const Host host({{"config.toml",
                    "# File generated by k3s. DO NOT EDIT.\nversion = 2\nimports = "
                    "['/etc/containerd/conf.d/*.toml']\n"}});
  EXPECT_EQ(planned("1.7.27", host).candidate.files.size(), 1U);
}

TEST(DropIn, GoesWhereAGeneratedRootTakesDropIns) {
  const Host host({{"config.toml",
                    "# File generated by k3s. DO NOT EDIT. Use config-v3.toml.tmpl instead.\nversion = 2\nimports = "
                    "['/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/*.toml']\n"}});
  const auto plan = planned("1.7.27", host);
  ASSERT_EQ(plan.candidate.files.size(), 1U);
  EXPECT_EQ(plan.candidate.files.front().path,
            "/var/lib/rancher/k3s/agent/etc/containerd/config-v3.toml.d/99-nvidia.toml");
}

TEST(DropIn, LeavesARootThatMicroK8sRenders) {
  const auto list = candidates("1.7.27", Host({{"config.toml", "version = 2\n"}, {"containerd-template.toml", ""}}));
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, ErrorCode::needs_decision);
  EXPECT_THAT(list.error().hint, HasSubstr("containerd-template.toml"));
}

TEST(DropIn, RefusesAFolderThatIsAFile) {
  const auto list = candidates("1.7.27", Host({{"config.toml", "version = 2\n"}, {"conf.d", "not a folder"}}));
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, ErrorCode::needs_decision);
  EXPECT_EQ(list.error().where, "/etc/containerd/conf.d");
  EXPECT_THAT(list.error().hint, HasSubstr("--drop-in"));
}

TEST(DropIn, PassesOnThatTheRootCannotBeRead) {
  Host host({{"config.toml", "version = 2\n"}});
  host.mark_unreadable(std::string(kConfig));
  const auto list = make_candidates(test::daemon_of("1.7.27"), {}, host, test::loaded("1.7.27", {}), nvidia());
  ASSERT_FALSE(list);
  EXPECT_EQ(list.error().code, ErrorCode::permission);
}

TEST(DropIn, IsReadByEveryTomlLibrary) {
  for (const std::string_view release : {"1.6.20", "1.7.27", "2.1.9", "2.3.4"}) {
    const Planned plan = planned(release, Host(kThreeAuthors));
    for (const TomlDialect* dialect : {&kGoToml18, &kGoToml19, &kGoToml22, &kGoToml23, &kGoToml24})
      EXPECT_TRUE(read_toml(plan.text(), kPath, *dialect)) << plan.text();
  }
}

TEST(DropIn, SaysItsApproachInWords) {
  const auto list = candidates("2.1.9", Host({{"config.toml", kRoot3}}));
  ASSERT_TRUE(list);
  EXPECT_EQ(list->front().approach,
            "'/etc/containerd/conf.d/99-nvidia.toml' with io.containerd.cri.v1.runtime and version 3");
}

}  // namespace
}  // namespace ctkit::engine::containerd
