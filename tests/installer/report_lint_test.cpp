#include "installer/report_lint.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "installer/node.h"
#include "installer/report_json.h"
#include "installer/report_text.h"

namespace ctkit::installer {
namespace {

using engine::RuleId;
using engine::Severity;
using testing::HasSubstr;
using testing::Not;

engine::Origin at(std::string file, std::uint32_t line, std::uint32_t column = 0) {
  return {.file = std::make_shared<const std::string>(std::move(file)), .line = line, .column = column};
}

Lint sample() {
  Lint lint{.engine = "containerd 1.7.27"};
  lint.findings = {{.rule = RuleId::erases_others,
                    .severity = Severity::error,
                    .message = "gone",
                    .origin = at("/etc/a b.toml", 3, 2),
                    .hint = "bring it back"},
                   {.rule = RuleId::not_imported, .severity = Severity::note, .message = "asleep"}};
  return lint;
}

TEST(ReportLintText, HasALineAFinding) {
  EXPECT_EQ(report_lint_text(sample()),
            "/etc/a b.toml:3: error: CTK001 erases-others: gone\n"
            "  hint: bring it back\n"
            "note: CTK006 not-imported: asleep\n"
            "containerd 1.7.27: 1 error, 0 warnings, 1 note\n");
  EXPECT_EQ(report_lint_text({.engine = "containerd 1.7.27"}), "containerd 1.7.27: nothing to say about these files\n");
}

TEST(ReportLintJson, SaysNullWhereThereIsNothing) {
  const auto json = nlohmann::json::parse(report_lint_json(sample()));
  EXPECT_EQ(json["schema"], "ctkit/v1/lint");
  EXPECT_EQ(json["errors"], 1);
  EXPECT_EQ(json["findings"][0]["origin"]["line"], 3);
  EXPECT_TRUE(json["findings"][1]["origin"].is_null());
  EXPECT_TRUE(json["findings"][1]["hint"].is_null());
}

TEST(ReportLintSarif, PointsIntoTheHostRoot) {
  const auto json = nlohmann::json::parse(report_lint_sarif(sample()));
  const auto& results = json["runs"][0]["results"];
  const auto& place = results[0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "etc/a%20b.toml");
  EXPECT_EQ(place["region"]["startLine"], 3);
  EXPECT_EQ(place["region"]["startColumn"], 2);
  EXPECT_EQ(results[1]["level"], "note");
  EXPECT_TRUE(results[1]["locations"].empty());
}

TEST(Lint, ProblemsAreErrorsAndWarnings) {
  Lint lint = sample();
  EXPECT_TRUE(lint.has_problems());
  lint.findings.erase(lint.findings.begin());
  EXPECT_FALSE(lint.has_problems());
}

TEST(LintVerb, LooksAtModesAndBinaries) {
  auto files =
      test::MemoryFiles{{test::kRoot,
                         "version = 2\n[plugins.'io.containerd.grpc.v1.cri'.containerd.runtimes]\n"
                         "runc = { runtime_type = 'io.containerd.runc.v2' }\n"
                         "nvidia = { runtime_type = 'io.containerd.runc.v2', options = { BinaryName = '/opt/nvidia' "
                         "} }\n"
                         "[plugins.'io.containerd.grpc.v1.cri'.registry.configs.r.auth]\npassword = 'hunter2'\n"},
                        {"/usr/bin/runc", "ELF"}};
  const auto engine = test::make_engine("1.7.27");
  const auto outcome = test::run(Verb::lint, *engine, files);
  ASSERT_TRUE(outcome) << test::error_of(outcome);
  std::vector<RuleId> rules;
  for (const auto& finding : outcome->lint->findings)
    rules.push_back(finding.rule);
  EXPECT_THAT(rules, testing::UnorderedElementsAre(RuleId::missing_binary, RuleId::readable_secret));
  const Request request = test::make_request(Verb::lint);
  EXPECT_THAT(report_text(request, *outcome), Not(HasSubstr("hunter2")));
}

TEST(LintVerb, TakesARefusalForAFinding) {
  auto files = test::MemoryFiles{{test::kRoot, "version = 2\nroot = 1\n"}};
  const auto engine = test::make_engine("1.7.27");
  const auto outcome = test::run(Verb::lint, *engine, files);
  ASSERT_TRUE(outcome) << test::error_of(outcome);
  ASSERT_EQ(outcome->lint->findings.size(), 1U);
  EXPECT_EQ(outcome->lint->findings.front().rule, RuleId::daemon_refuses);
}

TEST(LintVerb, FailsWhereOnlyWeCannotRead) {
  auto files = test::MemoryFiles{{test::kRoot, "version = 2\n"}};
  files.mark_unreadable(test::kRoot);
  const auto engine = test::make_engine("1.7.27");
  const auto outcome = test::run(Verb::lint, *engine, files);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, engine::ErrorCode::permission);
}

TEST(PreflightVerb, ComparesTwoReleases) {
  auto files = test::incident();
  const auto engine = test::make_engine("1.7.27");
  Request request = test::make_request(Verb::preflight);
  request.target = "v2.2.7";
  const auto outcome = test::run(request, *engine, files);
  ASSERT_TRUE(outcome) << test::error_of(outcome);
  EXPECT_EQ(outcome->preflight->to, "containerd 2.2.7");
  const std::string text = report_text(request, *outcome);
  EXPECT_THAT(text, HasSubstr("containerd 1.7.27 to containerd 2.2.7: something changes\n"));
  EXPECT_THAT(text, HasSubstr("without effect today, effective there:\n  /etc/containerd/conf.d/10-runc.toml:"));
  const auto json = nlohmann::json::parse(report_json(request, *outcome));
  EXPECT_EQ(json["schema"], "ctkit/v1/preflight");
  EXPECT_FALSE(json["breaks"]);
  EXPECT_TRUE(json["refused"].is_null());
}

TEST(PreflightVerb, RedactsCredentials) {
  auto files = test::MemoryFiles{{test::kRoot,
                                  "version = 3\n[plugins.'io.containerd.cri.v1.images'.registry.configs.r.auth]\n"
                                  "password = 'hunter2'\n"}};
  const auto engine = test::make_engine("2.2.7");
  Request request = test::make_request(Verb::preflight);
  request.target = "1.6.20";
  const auto outcome = test::run(request, *engine, files);
  ASSERT_TRUE(outcome) << test::error_of(outcome);
  EXPECT_FALSE(outcome->preflight->settings.empty());
  EXPECT_THAT(report_text(request, *outcome), Not(HasSubstr("hunter2")));
  EXPECT_THAT(report_json(request, *outcome), Not(HasSubstr("hunter2")));
}

TEST(PreflightVerb, WantsARelease) {
  auto files = test::incident();
  const auto engine = test::make_engine("1.7.27");
  Request request = test::make_request(Verb::preflight);
  request.target = "soon";
  const auto outcome = test::run(request, *engine, files);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, engine::ErrorCode::unknown_release);
}

}  // namespace
}  // namespace ctkit::installer
