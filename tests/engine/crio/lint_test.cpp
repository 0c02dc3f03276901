#include "engine/crio/lint.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/crio/crio_node.h"

// An example of each rule is executed from its page in docs/rules (tests/cli/test_lint.py).

namespace ctkit::engine::crio {
namespace {

using test::crio_engine;
using test::CrioHost;
using test::MemoryFiles;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<Finding> lint_of(std::string_view release, const MemoryFiles& host, const FileModes& modes = {}) {
  const auto engine = crio_engine(release);
  return engine.lint(host, engine.effective(host, true), modes);
}

/// "CTK025 warning 20:1" each.
std::vector<std::string> found(std::string_view release, const MemoryFiles& host, const FileModes& modes = {}) {
  std::vector<std::string> lines;
  for (const Finding& finding : lint_of(release, host, modes)) {
    const std::string place = finding.origin.to_string();
    lines.push_back(std::string(rule_of(finding.rule).id) +
                    (finding.severity == Severity::error ? " error " : " warning ") +
                    place.substr(place.rfind('/') + 1));
  }
  return lines;
}

TEST(CrioLint, HasNothingToSayAboutSoundFiles) {
  EXPECT_THAT(found("1.34.11",
                    CrioHost({{test::kMain, "[crio.runtime]\npids_limit = 5\n"},
                              {"10", "[crio.runtime.runtimes.x]\nruntime_path = \"/x\"\n"}})),
              IsEmpty());
}

TEST(CrioLint, ForeseesTheMissingMonitorFromTheOtherHandlers) {
  CrioHost host({{"10", "[crio.runtime.runtimes.crun]\nruntime_path = \"/c\"\nmonitor_path = \"/m\"\n"},
                 {"99", "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/n\"\nruntime_type = \"oci\"\n"}});
  EXPECT_THAT(found("1.34.11", host), ElementsAre("CTK026 warning 99:1"));
  for (const std::string program : {"/usr/bin/true", "/c", "/m", "/n"})
    host.add_file(program, "");
  EXPECT_THAT(found("1.34.11", host), ElementsAre("CTK026 error 99:1"));
  host.add_file("/usr/bin/conmon", "");
  EXPECT_THAT(found("1.34.11", host), IsEmpty());
}

TEST(CrioLint, NamesWhatAHandlerThatIsNamedAgainLost) {
  const auto findings =
      lint_of("1.34.11",
              CrioHost({{"10", "[crio.runtime.runtimes.n]\nruntime_path = \"/a\"\nruntime_root = \"/r\"\n"},
                        {"20", "[crio.runtime.runtimes.n]\nruntime_path = \"/b\"\n"}}));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings.front().rule, RuleId::handler_replaced);
  EXPECT_THAT(findings.front().message, HasSubstr("runtime_root (/etc/crio/crio.conf.d/10:3)"));
}

TEST(CrioLint, ARefusalIsAFindingWhereItIs) {
  EXPECT_THAT(found("1.34.11", CrioHost({{"50", "[crio\n"}})), ElementsAre("CTK020 error 50:1"));
  EXPECT_THAT(found("1.34.11", CrioHost({{"README.md", "words\n"}})), ElementsAre("CTK013 error README.md:1"));
}

TEST(CrioLint, KnowsKeysOfOtherReleases) {
  const auto findings = lint_of("1.28.11", CrioHost({{"1", "[crio.runtime]\ntimezone = \"x\"\ntimezoen = \"x\"\n"}}));
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].hint, HasSubstr("1.30.14"));
  EXPECT_THAT(findings[1].hint, HasSubstr("spelling"));
}

TEST(CrioLint, JudgesModesOnlyWhereProgramsAre) {
  CrioHost host({{"1", "[crio.runtime.runtimes.n]\nruntime_path = \"/n\"\n"}});
  const FileModes modes = {{"/n", 0644}};
  EXPECT_THAT(found("1.34.11", host, modes), IsEmpty());
  for (const std::string program : {"/usr/bin/conmon", "/usr/bin/crun", "/n"})
    host.add_file(program, "");
  EXPECT_THAT(found("1.34.11", host, modes), ElementsAre("CTK009 warning 1:2"));
}

TEST(CrioPreflight, ComparesByMeaning) {
  const auto engine = crio_engine("1.28.11");
  const CrioHost host({{"1",
                        "[crio.runtime]\ntimezone = \"Local\"\nseccomp_use_default_when_empty = "
                        "false\npids_limit = 3\n"}});
  const auto preflight = engine.preflight(host, "1.34.11");
  ASSERT_TRUE(preflight);
  std::vector<std::string> settings;
  for (const SettingChange& change : preflight->settings) {
    settings.push_back((change.kind == SettingChange::Kind::ignored   ? "ignored "
                        : change.kind == SettingChange::Kind::revived ? "revived "
                                                                      : "other ") +
                       change.key.parts.back());
  }
  EXPECT_THAT(settings, ElementsAre("ignored seccomp_use_default_when_empty", "revived timezone"));
  ASSERT_EQ(preflight->handlers.size(), 2U);
  EXPECT_EQ(preflight->handlers[0].name, "crun");
  EXPECT_FALSE(preflight->handlers[0].before);
  EXPECT_EQ(preflight->handlers[1].name, "runc");
  EXPECT_FALSE(preflight->handlers[1].after);
}

TEST(CrioPreflight, SeesARefusalThere) {
  const auto engine = crio_engine("1.28.11");
  const auto preflight = engine.preflight(CrioHost({{"1", "[crio.runtime]\ntimezone = 1\n"}}), "1.34.11");
  ASSERT_TRUE(preflight);
  EXPECT_TRUE(preflight->refused);
  EXPECT_FALSE(preflight->refused_today);
  EXPECT_FALSE(engine.preflight(CrioHost({}), "1.2.3"));
}

}  // namespace
}  // namespace ctkit::engine::crio
