#include "engine/containerd/preflight.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/containerd_fixture.h"

namespace ctkit::engine::containerd {
namespace {

using test::Texts;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr std::string_view kImporting = "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n";
constexpr std::string_view kImportingWithImage =
    "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n[OLD]\nsandbox_image = 'a'\n";

Preflight compared(std::string_view from, std::string_view to, const Texts& texts) {
  return make_preflight(test::daemon_of(from), test::daemon_of(to), {}, test::Host(texts));
}

/// "ignored config.toml:3", with " already" where it is so.
std::vector<std::string> settings(const Preflight& preflight) {
  constexpr std::array kWords = {"ignored", "lost", "changed", "revived", "held"};
  std::vector<std::string> lines;
  for (const SettingChange& change : preflight.settings) {
    const std::string where = change.origin.to_string();
    lines.push_back(std::string(kWords.at(static_cast<std::size_t>(change.kind))) + " " +
                    where.substr(where.rfind('/') + 1) + (change.already ? " already" : ""));
  }
  return lines;
}

TEST(Preflight, TakesMovedSettingsForTheSame) {
  const Texts texts = {{"config.toml",
                        "version = 2\noom_score = -999\n[grpc]\nuid = 7\n[OLD]\nsandbox_image = 'a'\n"
                        "stream_server_port = '1'\nenable_selinux = true\n[OLD.cni]\nbin_dir = '/b'\n"
                        "[OLD.registry]\nconfig_path = '/c'\n[OLD.containerd]\nsnapshotter = 'native'\n"
                        "[OLD.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'\n"
                        "sandbox_mode = 'shim'\n"}};
  for (const std::string_view to : {"2.1.9", "2.2.7", "2.3.4"}) {
    const Preflight up = compared("1.7.27", to, texts);
    EXPECT_THAT(settings(up), IsEmpty()) << to;
    EXPECT_FALSE(up.changes()) << to;
    EXPECT_FALSE(up.defaults.empty()) << to;
    const Preflight down = compared(to, "1.7.27", texts);
    EXPECT_THAT(settings(down), IsEmpty()) << to;
  }
}

TEST(Preflight, OfOneReleaseFindsNothing) {
  for (const std::string_view each : recorded_releases()) {
    const Schema& schema = recorded_schema(each);
    const Preflight same =
        compared(schema.release,
                 schema.release,
                 {{"config.toml", kImporting}, {"conf.d/a.toml", "version = 2\n[OLD]\nsandbox_image = 'a'"}});
    EXPECT_FALSE(same.changes()) << schema.release;
    EXPECT_THAT(same.defaults, IsEmpty()) << schema.release;
    EXPECT_EQ(same.new_keys + same.gone_keys, 0U) << schema.release;
  }
}

TEST(Preflight, TellsDefaultsApartFromSettings) {
  const Preflight result = compared("1.7.27", "2.2.7", {{"config.toml", "version = 2"}});
  EXPECT_FALSE(result.changes());
  std::vector<std::string> keys;
  for (const DefaultChange& change : result.defaults)
    keys.push_back(change.key.to_string());
  EXPECT_THAT(keys,
              AllOf(Contains("plugins.\"io.containerd.cri.v1.images\".pinned_images.sandbox"),
                    Contains("plugins.\"io.containerd.cri.v1.runtime\".enable_cdi")));
}

TEST(Preflight, FindsWhatAVersionSwitchesOff) {
  const Texts texts = {{"config.toml", kImportingWithImage},
                       {"conf.d/99.toml", "version = 3\n[RUNTIME]\nenable_selinux = true"}};
  const Preflight result = compared("2.3.5", "2.2.7", texts);
  EXPECT_THAT(settings(result), ElementsAre("ignored config.toml:4"));
  EXPECT_EQ(result.settings.front().after->string() ? *result.settings.front().after->string() : "",
            "registry.k8s.io/pause:3.10.1");
  EXPECT_TRUE(result.breaks());
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.front().rule, RuleId::version_above_root);
}

TEST(Preflight, ListsLossesWhereTodayIsRefused) {
  const Texts texts = {{"config.toml", kImportingWithImage},
                       {"conf.d/99.toml", "version = 3\n[RUNTIME]\nenable_selinux = true"}};
  const Preflight result = compared("1.7.27", "2.2.7", texts);
  EXPECT_TRUE(result.refused_today);
  EXPECT_THAT(settings(result), ElementsAre("ignored config.toml:4"));
}

TEST(Preflight, NamesTheRefusalOfTheTarget) {
  const Texts texts = {{"config.toml", kImporting}, {"conf.d/99.toml", "version = 3"}};
  const Preflight result = compared("2.2.7", "2.3.4", texts);
  ASSERT_TRUE(result.refused);
  EXPECT_EQ(result.refused->where, "/etc/containerd/conf.d/99.toml:1");
  EXPECT_TRUE(result.breaks());
}

TEST(Preflight, RevivesWhat1Erased) {
  const Texts texts = {{"config.toml", kImporting},
                       {"conf.d/10.toml",
                        "version = 2\n[OLD.containerd.runtimes.nvidia]\nruntime_type = "
                        "'io.containerd.runc.v2'\n"},
                       {"conf.d/20.toml", "version = 2\n[OLD]\nenable_selinux = true\n"}};
  const Preflight up = compared("1.7.27", "2.2.7", texts);
  EXPECT_THAT(settings(up), ElementsAre("revived 10.toml:3"));
  ASSERT_EQ(up.handlers.size(), 1U);
  EXPECT_EQ(up.handlers.front().name, "nvidia");
  EXPECT_FALSE(up.handlers.front().before);
  const Preflight down = compared("2.2.7", "1.7.27", texts);
  EXPECT_THAT(settings(down), ElementsAre("lost 10.toml:3"));
  EXPECT_EQ(down.settings.front().by.to_string(), "/etc/containerd/conf.d/20.toml:2");
  EXPECT_TRUE(down.breaks());
}

TEST(Preflight, FindsValuesThatHoldADefaultBack) {
  const Preflight result = compared("1.7.27", "2.1.9", {{"config.toml", "version = 2\n[OLD]\nenable_cdi = false\n"}});
  EXPECT_THAT(settings(result), ElementsAre("held config.toml:3"));
  EXPECT_EQ(result.settings.front().to.to_string(), "plugins.\"io.containerd.cri.v1.runtime\".enable_cdi");
}

TEST(Preflight, FindsWhatTheMigrationDrops) {
  const Preflight result =
      compared("1.7.27", "2.2.7", {{"config.toml", "version = 2\n[OLD.containerd]\nsnapshotter = 'native'\n"}});
  EXPECT_THAT(settings(result), ElementsAre("lost config.toml:3"));
  ASSERT_EQ(result.findings.size(), 1U);
  EXPECT_EQ(result.findings.front().rule, RuleId::lost_in_migration);
}

TEST(Preflight, FindsKeysThatNobodyReadsAnyMore) {
  const Preflight result =
      compared("1.7.27",
               "2.2.7",
               {{"config.toml", "version = 2\n[OLD]\nsystemd_cgroup = true\ndisable_cgroup = false\nfoo = 1\n"}});
  EXPECT_THAT(settings(result), UnorderedElementsAre("ignored config.toml:3", "ignored config.toml:5 already"));
}

TEST(Preflight, ComparesDurationsByTheirLength) {
  const Preflight result =
      compared("1.7.27", "2.2.7", {{"config.toml", "version = 2\n[OLD]\nstream_idle_timeout = '90s'\n"}});
  EXPECT_THAT(settings(result), IsEmpty());
}

TEST(Preflight, ForeseesTheStockInstallersNextRun) {
  const Texts texts = {{"config.toml", kImporting},
                       {"conf.d/99-nvidia.toml",
                        "version = 2\n[OLD.containerd.runtimes.nvidia]\nruntime_type = "
                        "'io.containerd.runc.v2'\noptions = { BinaryName = '/t/nvidia-container-runtime' }\n"}};
  const auto foreseen = [&](std::string_view to) {
    std::vector<std::string> lines;
    for (const Finding& finding : compared("1.6.39", to, texts).findings) {
      if (finding.rule == RuleId::version_above_root) lines.push_back(finding.message);
    }
    return lines;
  };
  EXPECT_THAT(foreseen("2.3.4"), ElementsAre(HasSubstr("refuses to start")));
  EXPECT_THAT(foreseen("2.2.7"), ElementsAre(HasSubstr("ignores")));
  EXPECT_THAT(foreseen("2.3.5"), IsEmpty());
  EXPECT_THAT(foreseen("1.7.27"), IsEmpty());
}

}  // namespace
}  // namespace ctkit::engine::containerd
