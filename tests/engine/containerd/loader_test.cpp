#include "engine/containerd/loader.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/containerd_fixture.h"

// Which files a daemon reads, in which order: reference section 3. Comments name the recorded
// cases.
namespace ctkit::engine::containerd {
namespace {

using test::Host;
using test::kDump;
using testing::ElementsAre;

constexpr std::string_view kFolder = "/etc/containerd/";

Result<Loaded> loaded(std::string_view release, const FileReader& files, const LoadRequest& request = {}) {
  return load(files, request, test::daemon_of(release).known, Transcript(nullptr));
}

/// The files in merge order, without their usual folder; or the place of the refusal.
std::vector<std::string> order(std::string_view release, const FileReader& files, const LoadRequest& request = {}) {
  const auto result = loaded(release, files, request);
  if (!result) return {"refuses at " + result.error().where};
  std::vector<std::string> paths;
  for (const LoadedFile& file : result->files) {
    const std::string& path = file.layer.path;
    paths.push_back(path.starts_with(kFolder) ? path.substr(kFolder.size()) : path);
  }
  return paths;
}

constexpr std::string_view kReleases[] = {"1.5.18", "1.6.39", "1.7.34", "2.0.6", "2.2.7", "2.3.4", "2.4.0-beta.0"};

void expect_order(const FileReader& files, const std::vector<std::string>& expected) {
  for (const std::string_view release : kReleases)
    EXPECT_EQ(order(release, files), expected) << release;
}

TEST(Load, TakesImportsAsListed) {  // b01, b34
  expect_order(Host({{"config.toml", "imports = ['/etc/containerd/z.toml', '/etc/containerd/a.toml']"},
                     {"a.toml", ""},
                     {"z.toml", ""}}),
               {"config.toml", "z.toml", "a.toml"});
}

TEST(Load, SortsThePathsOfAPatternByBytes) {  // b02, b21
  expect_order(
      Host({{"config.toml", "imports = ['/etc/containerd/conf.d/*.toml']"},
            {"conf.d/a.toml", ""},
            {"conf.d/10.toml", ""},
            {"conf.d/B.toml", ""},
            {"conf.d/2.toml", ""},
            {"conf.d/.hidden.toml", ""},
            {"conf.d/2.toml.bak", ""}}),
      {"config.toml", "conf.d/.hidden.toml", "conf.d/10.toml", "conf.d/2.toml", "conf.d/B.toml", "conf.d/a.toml"});
}

TEST(Load, ReadsBreadthFirst) {  // b13
  expect_order(Host({{"config.toml", "imports = ['a.toml', 'b.toml']"},
                     {"a.toml", "imports = ['c.toml']"},
                     {"b.toml", ""},
                     {"c.toml", ""}}),
               {"config.toml", "a.toml", "b.toml", "c.toml"});
}

TEST(Load, CutsCycles) {  // b14
  expect_order(Host({{"config.toml", "imports = ['a.toml']"}, {"a.toml", "imports = ['config.toml', 'a.toml']"}}),
               {"config.toml", "a.toml"});
}

TEST(Load, ReadsAFileOnceAtItsFirstPlace) {  // b15, b16, b17
  expect_order(Host({{"config.toml",
                      R"(imports = ["/etc/containerd/conf.d/20.toml", "/etc/containerd/conf.d/../conf.d/20.toml",
                                                   "/etc/containerd/conf.d/*.toml", "/etc/containerd/*.toml"])"},
                     {"conf.d/10.toml", ""},
                     {"conf.d/20.toml", ""},
                     {"z.toml", ""}}),
               {"config.toml", "conf.d/20.toml", "conf.d/10.toml", "z.toml"});
}

TEST(Load, TakesALinkAndItsTargetForTwoFiles) {  // b22
  Host host({{"config.toml", "imports = ['/etc/containerd/conf.d/*.toml', '/etc/containerd/real.toml']"},
             {"real.toml", "oom_score = 9"}});
  host.add_link("/etc/containerd/conf.d/10-link.toml", "../real.toml");
  expect_order(host, {"config.toml", "conf.d/10-link.toml", "real.toml"});
}

TEST(Load, TakesAnotherSpellingOfTheTopLevelConfigForAnotherFile) {  // b32
  const Host host({{"config.toml", "imports = ['/etc/containerd/*.toml']"}, {"a.toml", ""}});
  const LoadRequest request{.config_path = "/etc//containerd/./config.toml", .config_given = true};
  EXPECT_THAT(order("2.1.9", host, request), ElementsAre("/etc//containerd/./config.toml", "a.toml", "config.toml"));
}

TEST(Load, TakesARelativeLiteralFromTheImportersFolder) {  // b03, b26
  expect_order(Host({{"config.toml", "imports = ['conf.d/10.toml']"},
                     {"conf.d/10.toml", "imports = ['sub/20.toml']"},
                     {"conf.d/sub/20.toml", ""},
                     {"sub/20.toml", ""}}),
               {"config.toml", "conf.d/10.toml", "conf.d/sub/20.toml"});
}

struct Globs {
  const char* release;
  std::vector<std::string> order;
};

TEST(Load, TakesARelativePatternFromTheWorkingFolderUntil1629And1716) {  // b04, b05
  const Host host(
      {{"config.toml", "imports = ['conf.d/*.toml']"}, {"conf.d/10.toml", ""}, {"/srv/conf.d/cwd.toml", ""}});
  const LoadRequest request{.working_folder = "/srv"};
  const Globs globs[] = {{"1.5.18", {"config.toml", "conf.d/cwd.toml"}},
                         {"1.6.28", {"config.toml", "conf.d/cwd.toml"}},
                         {"1.6.29", {"config.toml", "conf.d/10.toml"}},
                         {"1.7.15", {"config.toml", "conf.d/cwd.toml"}},
                         {"1.7.16", {"config.toml", "conf.d/10.toml"}},
                         {"2.0.6", {"config.toml", "conf.d/10.toml"}}};
  for (const auto& [release, expected] : globs)
    EXPECT_EQ(order(release, host, request), expected) << release;
}

TEST(Load, CleansAPatternBeforeItLooksForAStarSince1629And1716) {  // b36
  const Host host({{"config.toml", "imports = ['/etc/containerd/*/../x.toml']"}, {"x.toml", ""}, {"d/2.toml", ""}});
  for (const std::string_view release : {"1.6.39", "1.7.34", "2.1.9", "2.3.4"})
    EXPECT_THAT(order(release, host), ElementsAre("config.toml", "x.toml")) << release;
  for (const std::string_view release : {"1.5.18", "1.6.28", "1.7.15"})
    EXPECT_THAT(order(release, host), ElementsAre("config.toml")) << release;
}

TEST(Load, TakesAPatternWithoutAStarForAName) {  // b06, b07
  expect_order(Host({{"config.toml", "imports = ['/etc/containerd/conf.d/[12].toml']"},
                     {"conf.d/[12].toml", ""},
                     {"conf.d/1.toml", ""}}),
               {"config.toml", "conf.d/[12].toml"});
  const Host host({{"config.toml", "\nimports = ['/etc/containerd/conf.d/?.toml']"}, {"conf.d/1.toml", ""}});
  EXPECT_THAT(order("1.7.34", host), ElementsAre("refuses at /etc/containerd/config.toml:2"));
}

TEST(Load, TakesAllOfGosPatternsBesideAStar) {  // b08
  expect_order(Host({{"config.toml", "imports = ['/etc/containerd/conf.d/[12]?*.toml']"},
                     {"conf.d/3c.toml", ""},
                     {"conf.d/2bb.toml", ""},
                     {"conf.d/2.toml", ""},
                     {"conf.d/1a.toml", ""}}),
               {"config.toml", "conf.d/1a.toml", "conf.d/2bb.toml"});
}

TEST(Load, GoesFolderByFolder) {  // b25, b35
  expect_order(Host({{"config.toml", "imports = ['/etc/containerd/d*/**.toml']"},
                     {"d-b/1.toml", ""},
                     {"d/2.toml", ""},
                     {"d/deep/3.toml", ""}}),
               {"config.toml", "d/2.toml", "d-b/1.toml"});
}

TEST(Load, ExpandsNoTildeAndNoVariable) {  // b31
  expect_order(Host({{"config.toml", "imports = ['~/x*.toml', '$HOME/y*.toml']"}, {"/root/x.toml", ""}}),
               {"config.toml"});
}

TEST(Load, TakesAPatternThatFindsNothingForNothing) {  // b09, b29
  expect_order(
      Host({{"config.toml", "imports = ['/etc/containerd/none.d/*.toml', '/etc/containerd/config.toml/*.toml']"}}),
      {"config.toml"});
}

TEST(Load, TakesAnyNameThatThePatternFinds) {  // b20, b37
  expect_order(Host({{"config.toml", "imports = ['conf.d/x.json', '/etc/containerd/conf.d/*']"},
                     {"conf.d/x.json", "oom_score = 5"},
                     {"conf.d/.hidden", ""},
                     {"conf.d/20.toml.bak", ""}}),
               {"config.toml", "conf.d/x.json", "conf.d/.hidden", "conf.d/20.toml.bak"});
}

TEST(Load, TakesAnEmptyFileForOneWithoutAVersion) {  // b38
  const Host host(
      {{"config.toml", "version = 2\nimports = ['/etc/containerd/conf.d/*.toml']"}, {"conf.d/10.toml", "# nothing\n"}});
  const auto result = loaded("2.1.9", host);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->files.size(), 2U);
  EXPECT_EQ(result->files[0].layer.schema_version, 2);
  EXPECT_EQ(result->files[0].layer.version_origin.to_string(), "/etc/containerd/config.toml:1");
  EXPECT_EQ(result->files[1].layer.schema_version, 0);
}

TEST(Load, RefusesAFolderWhereverItComesFrom) {  // b18, b19, b27
  for (const std::string_view import : {"/etc/containerd/conf.d/*", "/etc/containerd/conf.d/sub", ""}) {
    const Host host({{"config.toml", "\nimports = ['" + std::string(import) + "']"}, {"conf.d/sub/20.toml", ""}});
    for (const std::string_view release : kReleases) {
      for (const LoadRequest& request : {LoadRequest{}, kDump}) {
        const auto result = loaded(release, host, request);
        ASSERT_FALSE(result) << release << import;
        EXPECT_EQ(result.error().code, ErrorCode::daemon_refuses);
        EXPECT_EQ(result.error().where, "/etc/containerd/config.toml:2");
        EXPECT_NE(result.error().message.find("is a directory"), std::string::npos);
      }
    }
  }
}

TEST(Load, RefusesAMalformedPattern) {  // b24
  const Host host({{"config.toml", "\nimports = ['/etc/containerd/conf.d/[*.toml']"}, {"conf.d/10.toml", ""}});
  for (const std::string_view release : kReleases) {
    EXPECT_THAT(order(release, host), ElementsAre("refuses at /etc/containerd/config.toml:2")) << release;
    EXPECT_THAT(order(release, host, kDump), ElementsAre("refuses at /etc/containerd/config.toml:2")) << release;
  }
}

TEST(Load, RefusesImportsThatAreNoArray) {  // b28
  expect_order(Host({{"config.toml", "version = 2\nimports = '/etc/containerd/conf.d/*.toml'"}}),
               {"refuses at /etc/containerd/config.toml:2"});
}

TEST(Load, RefusesAMissingLiteralImport) {  // b10
  const Host host({{"config.toml", "version = 2\nimports = [\n  '/etc/containerd/absent.toml',\n]"}});
  expect_order(host, {"refuses at /etc/containerd/config.toml:3"});
  EXPECT_THAT(order("1.7.34", host, kDump), ElementsAre("refuses at /etc/containerd/config.toml:3"));
}

TEST(Load, EndsQuietlyAtAMissingImportIn2xDumps) {  // b11, b23
  const Host host({{"config.toml",
                    "imports = ['/etc/containerd/a.toml', '/etc/containerd/absent.toml', "
                    "'/etc/containerd/z.toml']"},
                   {"a.toml", ""},
                   {"z.toml", ""}});
  for (const std::string_view release : {"2.0.0", "2.0.6", "2.2.1", "2.3.4", "2.4.0-beta.0"}) {
    const auto result = loaded(release, host, kDump);
    ASSERT_TRUE(result) << release;
    EXPECT_TRUE(result->stopped_early) << release;
    EXPECT_THAT(order(release, host, kDump), ElementsAre("config.toml", "a.toml")) << release;
  }
  EXPECT_FALSE(loaded("2.2.1", Host({{"config.toml", ""}}), kDump)->stopped_early);
}

TEST(Load, TakesADanglingLinkForAMissingLiteral) {  // b23
  Host host({{"config.toml", "\nimports = ['/etc/containerd/conf.d/*.toml']"},
             {"conf.d/10.toml", ""},
             {"conf.d/90.toml", ""}});
  host.add_link("/etc/containerd/conf.d/50-gone.toml", "no-such-file");
  expect_order(host, {"refuses at /etc/containerd/config.toml:2"});
  EXPECT_THAT(order("2.2.1", host, kDump), ElementsAre("config.toml", "conf.d/10.toml"));
}

struct Absent {
  const char* release;
  bool dump;
  bool given;
  bool loads;
};

TEST(Load, OfAnAbsentTopLevelConfigDependsOnWhoAsks) {  // a01, a12
  constexpr Absent kCases[] = {
      {"1.7.27", false, false, true},
      {"1.7.27", false, true, false},
      {"1.7.27", true, false, false},
      {"1.7.27", true, true, false},
      {"2.1.9", false, false, true},
      {"2.1.9", false, true, false},
      {"2.1.9", true, false, true},
      {"2.1.9", true, true, true},
  };
  const Host host({{"conf.d/99.toml", "version = 2\noom_score = -77"}});
  for (const Absent& absent : kCases) {
    const LoadRequest request{.config_given = absent.given, .as_dump = absent.dump};
    const auto result = loaded(absent.release, host, request);
    EXPECT_EQ(result.has_value(), absent.loads)
        << absent.release << (absent.dump ? " dump" : " daemon") << absent.given;
    if (!result) {
      EXPECT_EQ(result.error().code, ErrorCode::daemon_refuses);
      EXPECT_EQ(result.error().where, "/etc/containerd/config.toml");
      continue;
    }
    EXPECT_TRUE(result->files.empty());
    ASSERT_EQ(result->diagnostics.size(), 1U);
    EXPECT_EQ(result->diagnostics.front().severity, Severity::note);
  }
}

TEST(Load, FailsWithPermissionWhereOnlyWeMayNotRead) {
  Host host({{"config.toml", "imports = ['/etc/containerd/conf.d/*.toml']"}, {"conf.d/10.toml", ""}});
  host.mark_unreadable("/etc/containerd/conf.d/10.toml");
  const auto result = loaded("2.1.9", host);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::permission);
  EXPECT_EQ(result.error().where, "/etc/containerd/conf.d/10.toml");
}

TEST(Load, FailsWithPermissionOnAFolderThatOnlyWeMayNotList) {
  Host host({{"config.toml", "imports = ['/etc/containerd/conf.d/*.toml']"}, {"conf.d/10.toml", ""}});
  host.mark_unreadable("/etc/containerd/conf.d");
  const auto result = loaded("2.1.9", host);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::permission);
}

TEST(Load, NamesTheFileAndLineOfBrokenToml) {  // f01, f02
  const Host host(
      {{"config.toml", "version = 2\nimports = ['conf.d/10.toml']"}, {"conf.d/10.toml", "\noom_score = \n"}});
  for (const std::string_view release : kReleases) {
    const auto result = loaded(release, host);
    ASSERT_FALSE(result) << release;
    EXPECT_EQ(result.error().code, ErrorCode::daemon_refuses) << release;
    // go-toml 1 names the line where it misses the value: the next one.
    const std::string line = release < std::string_view("2") ? "3:1" : "2:";
    EXPECT_TRUE(result.error().where.starts_with("/etc/containerd/conf.d/10.toml:" + line)) << result.error().where;
  }
}

TEST(Load, KeepsEachFileAsItWasRead) {
  const Host host({{"config.toml", "version = 2\n[OLD]\nsandbox_image = 'p'"}});
  const auto result = loaded("2.1.9", host);
  ASSERT_TRUE(result);
  const LoadedFile& file = result->files.front();
  EXPECT_EQ(test::keys_at(file.layer.table, "OLD"), "sandbox_image");
  EXPECT_EQ(test::origin_at(file.layer.table, "OLD.sandbox_image"), "/etc/containerd/config.toml:3");
  EXPECT_EQ(test::origin_at(file.config, "version"), "/etc/containerd/config.toml:1");
}

TEST(Load, WarnsOfUnknownTopLevelKeysIn2x) {  // e10, e20
  const Host host({{"config.toml", "version = 2\nno_such_key = 1\nplugin_dir = '/x'\n[grpc]\nnope = true"}});
  const auto lines = [&](std::string_view release) {
    std::vector<std::string> where;
    const auto result = loaded(release, host);
    for (const Diagnostic& diagnostic : result->diagnostics)
      where.push_back(diagnostic.origin.to_string().substr(kFolder.size()));
    return where;
  };
  EXPECT_THAT(lines("1.7.34"), ElementsAre());
  EXPECT_THAT(lines("2.0.6"), ElementsAre("config.toml:2", "config.toml:5"));
  EXPECT_THAT(lines("2.1.9"), ElementsAre("config.toml:2", "config.toml:3", "config.toml:5"));
}

}  // namespace
}  // namespace ctkit::engine::containerd
