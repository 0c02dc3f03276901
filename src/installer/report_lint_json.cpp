#include <algorithm>
#include <array>
#include <string_view>

#include <nlohmann/json.hpp>

#include "installer/report_lint.h"
#include "installer/value_json.h"

namespace ctkit::installer {

namespace {

using engine::Severity;
using nlohmann::ordered_json;

/// Where the packages put docs/rules.
constexpr std::string_view kRulePages = "file:///usr/share/doc/ctkit/rules/";

/// The words of SARIF's `level` are ours for severities.
std::string_view word(Severity severity) {
  constexpr std::array<std::string_view, 3> kWords = {"note", "warning", "error"};
  return kWords.at(static_cast<std::size_t>(severity));
}

/// A path below the host root as a relative URI.
std::string relative_uri(std::string_view path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  constexpr std::string_view kPlain = "-._~/";
  while (path.starts_with('/'))
    path.remove_prefix(1);
  std::string uri;
  for (const char c : path) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (letter || kPlain.contains(c)) {
      uri += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    uri += '%';
    uri += kHex[byte >> 4U];
    uri += kHex[byte & 15U];
  }
  return uri;
}

ordered_json sarif_rules() {
  ordered_json rules = ordered_json::array();
  for (const engine::Rule& rule : engine::lint_rules()) {
    rules.push_back({{"id", rule.id},
                     {"name", rule.name},
                     {"shortDescription", {{"text", rule.summary}}},
                     {"helpUri", std::string(kRulePages) + std::string(rule.id) + ".md"},
                     {"defaultConfiguration", {{"level", word(rule.severity)}}}});
  }
  return rules;
}

ordered_json sarif_location(const engine::Origin& origin) {
  ordered_json region = {{"startLine", std::max(origin.line, 1U)}};
  if (origin.column > 0) region["startColumn"] = origin.column;
  return {{"physicalLocation",
           {{"artifactLocation", {{"uri", relative_uri(*origin.file)}, {"uriBaseId", "HOST_ROOT"}}},
            {"region", std::move(region)}}}};
}

ordered_json sarif_result(const engine::Finding& finding) {
  std::string message = finding.message;
  if (!finding.hint.empty()) message += "\n" + finding.hint;
  ordered_json locations = ordered_json::array();
  if (!finding.origin.built_in()) locations.push_back(sarif_location(finding.origin));
  return {{"ruleId", engine::rule_of(finding.rule).id},
          {"ruleIndex", static_cast<int>(finding.rule) - 1},
          {"level", word(finding.severity)},
          {"message", {{"text", std::move(message)}}},
          {"locations", std::move(locations)}};
}

}  // namespace

std::string report_lint_json(const Lint& lint) {
  ordered_json findings = ordered_json::array();
  for (const engine::Finding& finding : lint.findings) {
    const engine::Rule& rule = engine::rule_of(finding.rule);
    findings.push_back({{"rule", rule.id},
                        {"name", rule.name},
                        {"severity", word(finding.severity)},
                        {"message", finding.message},
                        {"origin", to_json(finding.origin)},
                        {"hint", finding.hint.empty() ? ordered_json(nullptr) : ordered_json(finding.hint)}});
  }
  const auto count = [&](Severity severity) {
    return std::ranges::count(lint.findings, severity, &engine::Finding::severity);
  };
  return render_json({{"schema", "ctkit/v1/lint"},
                      {"engine", lint.engine},
                      {"findings", std::move(findings)},
                      {"errors", count(Severity::error)},
                      {"warnings", count(Severity::warning)},
                      {"notes", count(Severity::note)}});
}

std::string report_lint_sarif(const Lint& lint) {
  ordered_json results = ordered_json::array();
  for (const engine::Finding& finding : lint.findings)
    results.push_back(sarif_result(finding));
  ordered_json driver = {{"name", "ctkit"}, {"version", CTKIT_VERSION}, {"rules", sarif_rules()}};
  ordered_json run = {
      {"tool", {{"driver", std::move(driver)}}},
      {"originalUriBaseIds", {{"HOST_ROOT", {{"description", {{"text", "the host root that --root names"}}}}}}},
      {"properties", {{"engine", lint.engine}}},
      {"results", std::move(results)}};
  return render_json({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                      {"version", "2.1.0"},
                      {"runs", ordered_json::array({std::move(run)})}});
}

}  // namespace ctkit::installer
