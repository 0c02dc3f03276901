#include "installer/report_json.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "installer/node.h"

namespace ctkit::installer {
namespace {

using nlohmann::json;
using test::kDropIn;
using test::kLastDropIn;
using test::kRoot;
using test::make_engine;
using test::MemoryFiles;
using testing::HasSubstr;
using testing::Not;

std::string report(Request request, MemoryFiles& files, std::string_view release = "1.7.27") {
  request.format = Format::json;
  const auto outcome = test::run(request, *make_engine(release), files);
  EXPECT_EQ(test::error_of(outcome), "");
  return outcome ? report_json(request, *outcome) : "null";
}

json parsed(const Request& request, MemoryFiles& files, std::string_view release = "1.7.27") {
  return json::parse(report(request, files, release));
}

json parsed(Verb verb, MemoryFiles& files, std::string_view release = "1.7.27") {
  return parsed(test::make_request(verb), files, release);
}

TEST(ReportJson, EachVerbNamesItsSchema) {
  auto files = test::incident();
  EXPECT_EQ(parsed(Verb::explain, files)["schema"], "ctkit/v1/explain");
  EXPECT_EQ(parsed(Verb::plan, files)["schema"], "ctkit/v1/plan");
  EXPECT_EQ(parsed(Verb::apply, files)["schema"], "ctkit/v1/apply");
  EXPECT_EQ(parsed(Verb::uninstall, files)["schema"], "ctkit/v1/uninstall");
  EXPECT_EQ(parsed(Verb::uninstall, files)["installed"], false);
}

TEST(ReportJson, EffectiveIsTheDaemonsDocumentAndNothingElse) {
  auto files = test::incident();
  const auto document = parsed(Verb::effective, files);
  EXPECT_FALSE(document.contains("schema"));
  EXPECT_EQ(document["version"], 2);
  EXPECT_EQ(document["plugins"]["io.containerd.grpc.v1.cri"]["registry"]["config_path"], "/etc/containerd/certs.d");
}

TEST(ReportJson, EffectiveWithOriginsHasOneForEachLeaf) {
  auto files = test::incident();
  auto request = test::make_request(Verb::effective);
  request.show_origin = true;
  const auto document = parsed(request, files);
  EXPECT_EQ(document["schema"], "ctkit/v1/effective");
  EXPECT_EQ(document["config"], parsed(Verb::effective, files));
  EXPECT_TRUE(document["diagnostics"].is_array());
  bool found = false;
  for (const auto& item : document["origins"]) {
    ASSERT_TRUE(item["origin"].is_null() || item["origin"]["line"].is_number()) << item;
    if (item["key"] != "plugins.\"io.containerd.grpc.v1.cri\".registry.config_path") continue;
    found = true;
    EXPECT_EQ(item["origin"]["file"], "/etc/containerd/conf.d/registry.toml");
    EXPECT_EQ(item["origin"]["line"], 3);
  }
  EXPECT_TRUE(found);
}

TEST(ReportJson, WritesWhatJsonLacksAsRecords) {
  MemoryFiles files{{kRoot,
                     "version = 2\n[plugins.\"io.containerd.x.v1.y\"]\na = nan\nb = inf\nc = -inf\n"
                     "d = 1979-05-27T07:32:00Z\ne = \"\xc3\xa9\"\nf = 1.5\n"}};
  const auto plugin = parsed(Verb::effective, files, "2.1.0")["plugins"]["io.containerd.x.v1.y"];
  if (plugin.is_null()) GTEST_SKIP() << "this release drops plugins that it doesn't know";
  EXPECT_EQ(plugin["a"], json({{"$float", "nan"}}));
  EXPECT_EQ(plugin["b"], json({{"$float", "inf"}}));
  EXPECT_EQ(plugin["c"], json({{"$float", "-inf"}}));
  EXPECT_EQ(plugin["d"], json({{"$datetime", "1979-05-27T07:32:00Z"}}));
  EXPECT_EQ(plugin["e"], "\xc3\xa9");
  EXPECT_EQ(plugin["f"], 1.5);
}

TEST(ReportJson, ExplainHasWinnersEventsAndWhatIsLost) {
  auto files = test::incident();
  auto request = test::make_request(Verb::explain);
  request.keys = {"plugins.io.containerd.grpc.v1.cri.containerd.runtimes.runc.options.SystemdCgroup"};
  const auto document = parsed(request, files);
  const auto& key = document["keys"][0];
  EXPECT_EQ(key["effective"][0]["value"], false);
  EXPECT_TRUE(key["effective"][0]["origin"].is_null());
  const auto& event = key["events"][0];
  EXPECT_EQ(event["kind"], "erased");
  EXPECT_EQ(event["origin"]["file"], "/etc/containerd/conf.d/10-runc.toml");
  EXPECT_EQ(event["origin"]["line"], 5);
  EXPECT_EQ(event["by"]["file"], "/etc/containerd/conf.d/registry.toml");
  EXPECT_EQ(event["by"]["line"], 2);
  EXPECT_TRUE(event["to"].is_null());
  EXPECT_EQ(document["lost"].size(), 1U);
  EXPECT_EQ(document["layers"].size(), 3U);
  EXPECT_EQ(document["handlers"][0]["name"], "runc");
}

TEST(ReportJson, PlanHasFilesChangesAndRestored) {
  auto files = test::incident();
  const auto plan = parsed(Verb::plan, files);
  EXPECT_EQ(plan["engine"], "containerd 1.7.27");
  EXPECT_EQ(plan["files"][0]["path"], kLastDropIn);
  EXPECT_TRUE(plan["files"][0]["before"].is_null());
  EXPECT_EQ(plan["restored"].size(), 1U);
  EXPECT_EQ(plan["restored"][0]["author"]["line"], 5);
  EXPECT_EQ(plan["restored"][0]["before"], false);
  EXPECT_EQ(plan["restored"][0]["after"], true);
  EXPECT_EQ(plan["restart"], true);
  EXPECT_EQ(plan["handlers"].size(), 4U);
  for (const auto& outlook : plan["outlook"])
    EXPECT_EQ(outlook["holds"].get<bool>(), outlook["reason"].is_null());
}

TEST(ReportJson, UninstallSaysHow) {
  MemoryFiles files{{kRoot, "version = 2\n"}};
  report(test::make_request(Verb::apply), files);
  const auto document = parsed(Verb::uninstall, files);
  EXPECT_EQ(document["installed"], true);
  EXPECT_EQ(document["files"], json::parse(R"([
    {"path": "/etc/containerd/config.toml", "how": "restored", "there": true},
    {"path": "/etc/containerd/conf.d/99-nvidia.toml", "how": "restored", "there": false}])"));
  EXPECT_TRUE(document["toolkit_gone"].is_null()) << "not asked for";
  const Outcome gone{.toolkit_gone = std::vector<std::string>{"/n/toolkit"}};
  EXPECT_EQ(json::parse(report_json({.verb = Verb::uninstall}, gone))["toolkit_gone"], json::array({"/n/toolkit"}));
}

TEST(ReportJson, SurvivesAPathThatIsNoUtf8) {
  MemoryFiles files{{kRoot, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"},
                    {"/etc/containerd/conf.d/\xff.toml", "version = 2\nroot = \"/x\"\n"}};
  const auto document = json::parse(report(test::make_request(Verb::explain), files), nullptr, false);
  EXPECT_TRUE(document.is_object());
}

// Credentials: text_test has the same for people.

MemoryFiles node_with_secrets() {
  return MemoryFiles{{kRoot, R"(version = 2
imports = ["/etc/containerd/conf.d/*.toml"]
[plugins."io.containerd.grpc.v1.cri".registry.configs."a.io".auth]
password = "hunter2"
)"},
                     {"/etc/containerd/conf.d/10.toml", R"(version = 2
[plugins."io.containerd.grpc.v1.cri".registry.configs]
"b.io" = { auth = { identitytoken = "hunter2" } }
[plugins."io.containerd.grpc.v1.cri".registry.headers]
X-Meta = [
  "hunter2"
]
)"},
                     {kDropIn, R"(version = 2
[plugins."io.containerd.other.v1.x"]
list = [{ token = "hunter2" }]
)"}};
}

class JsonSecrets : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Releases, JsonSecrets, testing::Values("1.7.27", "2.1.0"));

TEST_P(JsonSecrets, AreInTheEffectiveConfigOnly) {
  auto files = node_with_secrets();
  EXPECT_THAT(report(test::make_request(Verb::effective), files, GetParam()), HasSubstr("hunter2"));
  auto explain = test::make_request(Verb::explain);
  EXPECT_THAT(report(explain, files, GetParam()), Not(HasSubstr("hunter2")));
  explain.keys = {"plugins"};
  EXPECT_THAT(report(explain, files, GetParam()), Not(HasSubstr("hunter2")));
  for (const Verb verb : {Verb::plan, Verb::apply, Verb::uninstall}) {
    EXPECT_THAT(report(test::make_request(verb), files, GetParam()), Not(HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace ctkit::installer
