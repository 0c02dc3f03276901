#include "engine/containerd/lint.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/containerd_fixture.h"

// What each rule catches beyond the example of its page in docs/rules, and what it must not.
namespace ctkit::engine::containerd {
namespace {

using test::Texts;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

constexpr std::string_view kImporting = "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n";
constexpr std::string_view kImportingWithImage =
    "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']\n[OLD]\nsandbox_image = 'a'\n";

std::vector<Finding> findings_of(std::string_view release, const FileReader& files, const FileModes& modes = {}) {
  const LoadRequest request;
  return lint(test::daemon_of(release), request, files, test::effective_of(release, files), modes);
}

std::string described(const Finding& finding) {
  constexpr std::array kWords = {"note", "warning", "error"};
  const std::string where = finding.origin.to_string();
  return std::string(rule_of(finding.rule).id) + " " + kWords.at(static_cast<std::size_t>(finding.severity)) + " " +
         where.substr(where.rfind('/') + 1);
}

/// "CTK001 error registry.toml:2" for each finding, by place.
std::vector<std::string> found(std::string_view release, const Texts& texts, const FileModes& modes = {}) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings_of(release, test::Host(texts), modes))
    lines.push_back(described(finding));
  return lines;
}

std::vector<std::string> messages(std::string_view release, const Texts& texts) {
  std::vector<std::string> lines;
  for (const Finding& finding : findings_of(release, test::Host(texts)))
    lines.push_back(finding.message);
  return lines;
}

TEST(FindingRules, HaveTheirNumberAsId) {
  int number = 0;
  for (const Rule& rule : lint_rules()) {
    ++number;
    EXPECT_EQ(static_cast<int>(rule.number), number);
    EXPECT_EQ(rule.id, (number < 10 ? "CTK00" : "CTK0") + std::to_string(number));
    EXPECT_EQ(&rule_of(rule.number), &rule);
  }
}

TEST(ParsePlace, ReadsWhatErrorsSay) {
  EXPECT_EQ(parse_place("/a.toml:3:7").to_string(), "/a.toml:3");
  EXPECT_EQ(parse_place("/a.toml:3:7").column, 7);
  EXPECT_EQ(parse_place("/a.toml:3").line, 3);
  EXPECT_EQ(parse_place("/a:b.toml").line, 0);
  EXPECT_EQ(*parse_place("/a:b.toml").file, "/a:b.toml");
  EXPECT_TRUE(parse_place("").built_in());
}

TEST(LintErasers, SpareAFileThatRepeatsWhatItReplaces) {
  EXPECT_THAT(found("1.7.27",
                    {{"config.toml", kImporting},
                     {"conf.d/10.toml", "version = 2\n[OLD]\nsandbox_image = 'a'\n"},
                     {"conf.d/20.toml", "version = 2\n[OLD]\nsandbox_image = 'a'\nmax_concurrent_downloads = 5\n"}}),
              IsEmpty());
}

TEST(LintErasers, SpareWhatIsBuiltInAnyway) {
  EXPECT_THAT(found("1.7.27",
                    {{"config.toml", kImporting},
                     {"conf.d/10.toml", "version = 2\n[OLD]\nmax_concurrent_downloads = 3\n"},
                     {"conf.d/20.toml", "version = 2\n[OLD]\nenable_selinux = true\n"}}),
              IsEmpty());
}

TEST(LintErasers, AreNoneWhereTablesMerge) {
  const Texts texts = {{"config.toml", kImporting},
                       {"conf.d/10.toml", "version = 2\n[OLD]\nsandbox_image = 'a'\n"},
                       {"conf.d/20.toml", "version = 2\n[OLD]\nenable_selinux = true\n"}};
  EXPECT_THAT(found("1.7.27", texts), ElementsAre("CTK001 error 20.toml:2"));
  EXPECT_THAT(messages("1.7.27", texts),
              ElementsAre(HasSubstr("1 setting is lost: sandbox_image "
                                    "(/etc/containerd/conf.d/10.toml:3)")));
  for (const std::string_view release : {"2.1.9", "2.2.7", "2.3.4"})
    EXPECT_THAT(found(release, texts), IsEmpty()) << release;
}

TEST(LintNoRunc, IsANoteWithAnotherDefault) {
  EXPECT_THAT(found("1.7.27",
                    {{"config.toml",
                      "version = 2\n[OLD.containerd]\ndefault_runtime_name = 'kata'\n"
                      "[OLD.containerd.runtimes.kata]\nruntime_type = 'io.containerd.kata.v2'"}}),
              ElementsAre("CTK002 note config.toml:4"));
}

TEST(LintVersions, AreANoteWhereNothingIsIgnored) {
  const Texts texts = {{"config.toml", kImporting}, {"conf.d/10.toml", "version = 3"}};
  EXPECT_THAT(found("2.2.7", texts), ElementsAre("CTK003 note 10.toml:1"));
  EXPECT_THAT(found("2.3.4", texts), ElementsAre("CTK003 error 10.toml:1"));
  EXPECT_THAT(found("2.3.5", texts), ElementsAre("CTK003 note 10.toml:1"));
  EXPECT_THAT(found("1.7.27", texts), ElementsAre("CTK020 error 10.toml:1"));
}

TEST(LintVersions, NameWhatIsIgnored) {
  const Texts texts = {{"config.toml", kImportingWithImage},
                       {"conf.d/10.toml", "version = 3\n[RUNTIME]\nenable_selinux = true"}};
  EXPECT_THAT(found("2.2.7", texts), ElementsAre("CTK003 error 10.toml:1"));
  EXPECT_THAT(messages("2.2.7", texts), Contains(HasSubstr("sandbox_image (/etc/containerd/config.toml:4)")));
}

TEST(LintPluginIds, NoteBothWhereNothingLoses) {
  EXPECT_THAT(found("2.3.4",
                    {{"config.toml",
                      "version = 3\nimports = ['/etc/containerd/conf.d/*.toml']\n[RUNTIME]\n"
                      "enable_selinux = true"},
                     {"conf.d/10.toml", "version = 2\n[OLD]\nsandbox_image = 'a'"}}),
              ElementsAre("CTK004 note 10.toml:2"));
}

TEST(LintPluginIds, KnowTheNamesOfEachRelease) {
  struct Case {
    std::string_view release;
    std::string_view root;
    std::vector<std::string> findings;
  };
  const std::vector<Case> cases = {
      {"1.7.27", "version = 2\n[IMAGES]\nsnapshotter = 'native'", {"CTK022 error config.toml:2"}},
      {"1.7.27", "[plugins.cri]\nsandbox_image = 'a'", {}},
      {"1.7.27", "[OLD]\nsandbox_image = 'a'", {"CTK022 error config.toml:1"}},
      {"2.1.9", "version = 2\n[plugins.cri]\nsandbox_image = 'a'", {"CTK022 error config.toml:2"}},
      {"2.1.9", "version = 3\n[OLD]\nsandbox_image = 'a'", {"CTK022 error config.toml:3"}},
      {"2.1.9", "[OLD]\nsandbox_image = 'a'", {"CTK022 error config.toml:2"}},
      {"2.3.4", "[OLD]\nsandbox_image = 'a'", {}},
      {"2.3.4", "version = 2\n[OLD]\nsandbox_image = 'a'", {}},
      {"2.3.4", "version = 3\n[OLD]\nstream_server_port = '1'", {}},
      {"2.1.9", "version = 3\n[plugins.'io.containerd.x.v1.y']\na = 1", {"CTK015 note config.toml:2"}},
  };
  for (const Case& item : cases) {
    EXPECT_EQ(found(item.release, {{"config.toml", item.root}}), item.findings) << item.release << "\n" << item.root;
  }
}

TEST(LintImports, SayThatOnlyAStarMakesAPattern) {
  const Texts texts = {{"config.toml", "version = 2\nimports = ['/etc/containerd/conf.d/?.toml']"},
                       {"conf.d/a.toml", "version = 2"}};
  const auto findings = findings_of("1.7.27", test::Host(texts));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(described(findings.front()), "CTK005 error config.toml:2");
  EXPECT_THAT(findings.front().hint, HasSubstr("only a `*`"));
}

TEST(LintImports, FindDormantFilesWithoutATopLevelConfig) {
  EXPECT_THAT(found("2.2.7", {{"conf.d/99.toml", "version = 2\n"}}), ElementsAre("CTK006 warning 99.toml:1"));
}

TEST(LintImports, WarnOfADormantFileThatWouldStopTheDaemon) {
  const Texts texts = {{"config.toml", "version = 2"}, {"conf.d/old.toml", "version = 2\nroot = 1"}};
  EXPECT_THAT(found("1.7.27", texts), ElementsAre("CTK006 warning old.toml:1", "CTK007 warning old.toml:1"));
  EXPECT_THAT(messages("1.7.27", texts), Contains(HasSubstr("the daemon would refuse to start")));
}

TEST(LintImports, NoteADormantFileAmongOthers) {
  EXPECT_THAT(found("2.1.9",
                    {{"config.toml", "version = 3\nimports = ['/etc/containerd/conf.d/a.toml']"},
                     {"conf.d/a.toml", "version = 3"},
                     {"conf.d/b.toml", "version = 3"}}),
              ElementsAre("CTK007 note b.toml:1"));
}

TEST(LintStrayFiles, AreKnownByTheirNames) {
  for (const std::string_view name : {".a.toml",
                                      "a.toml~",
                                      "a.toml.bak",
                                      "a.bak.toml",
                                      ".a.toml.swp",
                                      "a.toml.rpmsave",
                                      "#a#",
                                      "a.toml.dpkg-old",
                                      "A.ORIG"}) {
    const std::string path = "conf.d/" + std::string(name);
    EXPECT_THAT(
        found("2.1.9", {{"config.toml", "version = 3\nimports = ['/etc/containerd/conf.d/*']"}, {path, "version = 3"}}),
        ElementsAre(StartsWith("CTK013 warning ")))
        << name;
  }
  EXPECT_THAT(found("2.1.9",
                    {{"config.toml", "version = 3\nimports = ['/etc/containerd/conf.d/*']"},
                     {"conf.d/backup.toml", "version = 3"},
                     {"conf.d/old-nodes.toml", "version = 3"}}),
              IsEmpty());
}

TEST(LintStrayFiles, ThatAreNamedAreMeant) {
  EXPECT_THAT(
      found("2.1.9", {{"config.toml", "version = 3\nimports = ['conf.d/.a.toml']"}, {"conf.d/.a.toml", "version = 3"}}),
      IsEmpty());
}

TEST(LintStrayFiles, CanStopTheDaemon) {
  EXPECT_THAT(
      found("2.1.9",
            {{"config.toml", "version = 3\nimports = ['/etc/containerd/conf.d/*']"}, {"conf.d/.a.swp", "b0VIM 8.2"}}),
      ElementsAre(StartsWith("CTK013 error .a.swp:1")));
}

TEST(LintSecrets, DependOnTheMode) {
  const Texts texts = {{"config.toml", "version = 2\n[OLD.registry.configs.'r.example'.auth]\npassword = 'p'\n"}};
  const std::string path = "/etc/containerd/config.toml";
  EXPECT_THAT(found("1.7.27", texts, {{path, 0644}}), ElementsAre("CTK014 warning config.toml:3"));
  EXPECT_THAT(found("1.7.27", texts, {{path, 0640}}), IsEmpty());
  EXPECT_THAT(found("1.7.27", texts), IsEmpty());
}

TEST(LintSecrets, StandInAddressesToo) {
  EXPECT_THAT(found("1.7.27",
                    {{"config.toml",
                      "version = 2\n[OLD.registry.mirrors.'r.example']\n"
                      "endpoint = ['https://user:pass@r.example/v2']\n"}},
                    {{"/etc/containerd/config.toml", 0644}}),
              ElementsAre("CTK014 warning config.toml:3"));
}

TEST(LintBinaries, AreJudgedWhereThereAreSome) {
  const std::string handler =
      "version = 2\n[OLD.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'\n"
      "[OLD.containerd.runtimes.nvidia]\nruntime_type = 'io.containerd.runc.v2'\n"
      "options = { BinaryName = '/opt/nvidia' }\n";
  const Texts recorded = {{"config.toml", handler}};
  const Texts host = {{"config.toml", handler}, {"/usr/bin/runc", "ELF"}};
  EXPECT_THAT(found("1.7.27", recorded, {{"/opt/nvidia", std::nullopt}}), IsEmpty());
  EXPECT_THAT(found("1.7.27", host, {{"/opt/nvidia", std::nullopt}}), ElementsAre("CTK009 warning config.toml:6"));
  EXPECT_THAT(found("1.7.27", host, {{"/opt/nvidia", 0644}}), ElementsAre("CTK009 warning config.toml:6"));
  EXPECT_THAT(found("1.7.27", host, {{"/opt/nvidia", 0755}}), IsEmpty());
  EXPECT_THAT(found("1.7.27", host), IsEmpty());
}

TEST(LintService, GivesAPlaceForEachReason) {
  EXPECT_THAT(found("1.7.27", {{"config.toml", "version = 2\ndisabled_plugins = ['io.containerd.grpc.v1.cri']"}}),
              ElementsAre("CTK010 error config.toml:2"));
  EXPECT_THAT(found("2.1.9",
                    {{"config.toml",
                      "version = 3\n[IMAGES.registry]\nconfig_path = '/c'\n"
                      "[IMAGES.registry.mirrors.'docker.io']\nendpoint = ['https://m']\n"}}),
              ElementsAre(StartsWith("CTK010 error config.toml:")));
  EXPECT_THAT(found("2.1.9", {{"config.toml", "version = 3\nrequired_plugins = ['io.containerd.x.v1.y']"}}),
              ElementsAre("CTK010 error config.toml:2"));
}

TEST(LintCdi, NeedsSomethingThatUsesIt) {
  const Texts spec = {{"config.toml", "version = 2"}, {"/var/run/cdi/x.json", "{}"}};
  EXPECT_THAT(found("1.6.39", spec), ElementsAre("CTK012 warning x.json"));
  EXPECT_THAT(found("1.7.27", spec), ElementsAre("CTK012 warning x.json"));
  EXPECT_THAT(found("2.1.9", spec), IsEmpty());
  EXPECT_THAT(found("1.7.27", {{"config.toml", "version = 2\n[OLD]\nenable_cdi = false"}}), IsEmpty());
  EXPECT_THAT(found("1.6.39", {{"config.toml", "version = 2\n[OLD]\nenable_cdi = true"}}),
              ElementsAre("CTK012 warning config.toml:3"));
}

TEST(LintKeys, GroupThoseOfOneTable) {
  const Texts texts = {{"config.toml", "version = 2\n[OLD]\nfoo = 1\nbar = 2\nbaz = false"}};
  EXPECT_THAT(found("1.7.27", texts), ElementsAre("CTK015 warning config.toml:3"));
  EXPECT_THAT(messages("1.7.27", texts), ElementsAre(HasSubstr("reads 'foo', 'bar' and 'baz' in ")));
  EXPECT_THAT(found("1.7.27", {{"config.toml", "version = 2\n[OLD]\nbaz = false"}}),
              ElementsAre("CTK015 note config.toml:3"));
}

TEST(LintKeys, KnowTheShimsOptions) {
  EXPECT_THAT(found("2.1.9",
                    {{"config.toml",
                      "version = 3\n[RUNTIME.containerd.runtimes.runc.options]\n"
                      "systemdCgroup = false\nSystemCgroup = true\n"}}),
              ElementsAre("CTK015 warning config.toml:4"));
}

TEST(LintKeys, SayWhereAnImageSettingBelongs) {
  const auto findings =
      findings_of("2.1.9", test::Host{{"config.toml", "version = 3\n[RUNTIME.containerd]\nsnapshotter = 'native'"}});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings.front().hint, HasSubstr("io.containerd.cri.v1.images"));
}

TEST(LintSpellings, OfMapKeysAreNames) {
  EXPECT_THAT(found("2.1.9",
                    {{"config.toml",
                      "version = 3\n[RUNTIME.containerd.runtimes.Kata]\nruntime_type = 'a'\n"
                      "[RUNTIME.containerd.runtimes.kata]\nruntime_type = 'a'\n"}}),
              IsEmpty());
}

TEST(LintSpellings, CountAcrossFilesWhereTablesMerge) {
  const Texts texts = {{"config.toml",
                        "version = 3\nimports = ['/etc/containerd/conf.d/*.toml']\n"
                        "[RUNTIME]\nenable_selinux = true"},
                       {"conf.d/10.toml", "version = 3\n[RUNTIME]\nEnable_SELinux = false"}};
  EXPECT_THAT(found("2.1.9", texts), ElementsAre(StartsWith("CTK008 warning ")));
}

TEST(LintDurations, OfTheCriPluginCountToo) {
  EXPECT_THAT(found("1.7.27", {{"config.toml", "version = 2\n[OLD]\nstream_idle_timeout = '4 hours'"}}),
              Contains("CTK016 error config.toml:3"));
  EXPECT_THAT(found("2.1.9", {{"config.toml", "version = 3\n[IMAGES]\nimage_pull_progress_timeout = 'x'"}}),
              Contains("CTK016 error config.toml:3"));
}

TEST(LintHandlers, InheritNoType) {
  EXPECT_THAT(
      found("1.7.27", {{"config.toml", "version = 2\n[OLD.containerd.runtimes.runc.options]\nSystemdCgroup = true"}}),
      ElementsAre("CTK021 error config.toml:2"));
  EXPECT_THAT(found("2.1.9",
                    {{"config.toml", "version = 3\n[RUNTIME.containerd.runtimes.runc.options]\nSystemdCgroup = true"}}),
              IsEmpty());
}

TEST(LintHandlers, OfAnotherKindHaveTheirOwnCgroups) {
  EXPECT_THAT(found("2.1.9",
                    {{"config.toml",
                      "version = 3\n[RUNTIME.containerd.runtimes.kata]\n"
                      "runtime_type = 'io.containerd.kata.v2'\n"
                      "[RUNTIME.containerd.runtimes.runc.options]\nSystemdCgroup = true"}}),
              IsEmpty());
}

TEST(LintMigration, LosesSnapshotterWithoutRuntimesOnly) {
  const std::string alone = "version = 2\n[OLD.containerd]\nsnapshotter = 'native'\n";
  const std::string both = alone + "[OLD.containerd.runtimes.runc]\nruntime_type = 'io.containerd.runc.v2'\n";
  for (const std::string_view release : {"2.1.9", "2.2.7", "2.3.4"}) {
    EXPECT_THAT(found(release, {{"config.toml", alone}}), ElementsAre("CTK024 warning config.toml:3")) << release;
    EXPECT_THAT(found(release, {{"config.toml", both}}), IsEmpty()) << release;
  }
}

TEST(LintNestedIds, ExplainTheRefusalOf1) {
  const Texts texts = {{"config.toml", "version = 2\n[plugins.io.containerd.grpc.v1.cri]\na = 1"}};
  EXPECT_THAT(found("1.7.27", texts), ElementsAre("CTK019 error config.toml:2"));
  EXPECT_THAT(found("2.1.9", texts), ElementsAre("CTK019 error config.toml:2"));
}

TEST(LintRefusals, OfATemplateNameItsOwner) {
  const auto findings =
      findings_of("1.7.27", test::Host{{"config.toml", "version = 2\n{{ if .NodeConfig }}\n[OLD]\n{{ end }}\n"}});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().rule, RuleId::daemon_refuses);
  EXPECT_THAT(findings.front().hint, HasSubstr("this is a template"));
}

}  // namespace
}  // namespace ctkit::engine::containerd
