#include "engine/containerd/merge.h"

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

constexpr Type kAny{.kind = Kind::any};
constexpr Type kText{.kind = Kind::string};
constexpr std::array kGrpcFields = {Type{.name = "address", .kind = Kind::string},
                                    Type{.name = "uid", .kind = Kind::integer},
                                    Type{.name = "grpc_histogram", .kind = Kind::boolean}};
constexpr std::array kTopFields = {Type{.name = "root", .kind = Kind::string},
                                   Type{.name = "oom_score", .kind = Kind::integer},
                                   Type{.name = "disabled_plugins", .kind = Kind::array, .element = &kText},
                                   Type{.name = "grpc", .kind = Kind::table, .fields = kGrpcFields},
                                   Type{.name = "timeouts", .kind = Kind::map, .element = &kText},
                                   Type{.name = "proxy_plugins", .kind = Kind::map, .element = &kAny},
                                   Type{.name = "plugins", .kind = Kind::map, .element = &kAny}};
constexpr Type kTop{.kind = Kind::table, .fields = kTopFields};

constexpr Regime kWhole{};                                             // as 1.x
constexpr Regime kKeyed{.keyed_plugins = true, .unique_lists = true};  // as 2.x

Table merged(const Regime& regime,
             std::string_view collected,
             std::string_view file,
             std::vector<Event>* events = nullptr) {
  Table table = parse(collected, "one.toml");
  merge(kTop, table, parse(file, "two.toml"), regime, Transcript(events));
  return table;
}

void expect_merged(const Regime& regime, std::string_view collected, std::string_view file, std::string_view expected) {
  EXPECT_EQ(render_toml(merged(regime, collected, file)), render_toml(parse(expected))) << collected << "\n+\n" << file;
}

TEST(Merge, ReplacesTopLevelScalars) {
  for (const Regime& regime : {kWhole, kKeyed})
    expect_merged(regime, "root = '/a'\noom_score = 1", "oom_score = 2", "root = '/a'\noom_score = 2");
}

TEST(Merge, NeverLetsAZeroScalarReplace) {
  for (const Regime& regime : {kWhole, kKeyed}) {
    expect_merged(regime, "root = '/a'\noom_score = 7", "root = ''\noom_score = 0", "root = '/a'\noom_score = 7");
    expect_merged(regime,
                  "[grpc]\ngrpc_histogram = true\nuid = 3",
                  "[grpc]\ngrpc_histogram = false\nuid = 0",
                  "[grpc]\ngrpc_histogram = true\nuid = 3");
  }
}

TEST(Merge, GoesThroughStructTablesMemberByMember) {
  for (const Regime& regime : {kWhole, kKeyed})
    expect_merged(regime, "[grpc]\naddress = '/a'\nuid = 1", "[grpc]\nuid = 2", "[grpc]\naddress = '/a'\nuid = 2");
}

TEST(Merge, AppendsListsWithRepeatsIn1x) {
  expect_merged(kWhole,
                "disabled_plugins = ['a', 'a']",
                "disabled_plugins = ['a', 'b', 'b']",
                "disabled_plugins = ['a', 'a', 'a', 'b', 'b']");
  expect_merged(kWhole, "disabled_plugins = ['a']", "disabled_plugins = []", "disabled_plugins = ['a']");
}

TEST(Merge, AppendsToListsOnlyWhatIsNewIn2x) {
  expect_merged(kKeyed,
                "disabled_plugins = ['a']",
                "disabled_plugins = ['b', 'a', 'c', 'b']",
                "disabled_plugins = ['a', 'b', 'c']");
}

TEST(Merge, DropsRepeatsWithinTheFirstFileIn2x) {
  expect_merged(kKeyed, "", "disabled_plugins = ['a', 'b', 'a']", "disabled_plugins = ['a', 'b']");
}

TEST(Merge, ReplacesMapEntriesWhole) {
  for (const Regime& regime : {kWhole, kKeyed}) {
    expect_merged(regime,
                  "[timeouts]\na = '1s'\nb = '2s'",
                  "[timeouts]\na = ''\nc = '3s'",
                  "[timeouts]\na = ''\nb = '2s'\nc = '3s'");
    expect_merged(regime,
                  "[proxy_plugins.snap]\ntype = 'snapshot'\nplatform = 'linux'",
                  "[proxy_plugins.snap]\ntype = 'content'",
                  "[proxy_plugins.snap]\ntype = 'content'");
  }
}

TEST(Merge, ReplacesWholePluginTablesIn1x) {
  expect_merged(kWhole,
                R"(
    [OLD]
    sandbox_image = "p"
    [OLD.containerd.runtimes.runc]
    runtime_type = "r"
    [plugins."io.containerd.internal.v1.opt"]
    path = "/o"
  )",
                R"(
    [OLD.containerd.runtimes.nvidia]
    runtime_type = "n"
  )",
                R"(
    [OLD.containerd.runtimes.nvidia]
    runtime_type = "n"
    [plugins."io.containerd.internal.v1.opt"]
    path = "/o"
  )");
}

TEST(Merge, ResetsAPluginByAnEmptySectionIn1x) {
  expect_merged(kWhole, "[OLD]\nenable_selinux = true", "[OLD]", "[OLD]");
}

TEST(Merge, MergesPluginTablesByKeyIn2x) {
  expect_merged(kKeyed,
                R"(
    [RUNTIME]
    enable_cdi = false
    [RUNTIME.containerd.runtimes.runc.options]
    SystemdCgroup = true
  )",
                R"(
    [RUNTIME.containerd.runtimes.nvidia]
    runtime_type = "n"
    [RUNTIME.containerd.runtimes.runc.options]
    BinaryName = "b"
  )",
                R"(
    [RUNTIME]
    enable_cdi = false
    [RUNTIME.containerd.runtimes.nvidia]
    runtime_type = "n"
    [RUNTIME.containerd.runtimes.runc.options]
    BinaryName = "b"
    SystemdCgroup = true
  )");
}

struct Meeting {
  std::string_view name;
  std::string_view to;
  std::string_view from;
  std::string_view result;
};

TEST(MergeRaw, FollowsTheTableOfTypesThatMeet) {
  constexpr Meeting kMeetings[] = {
      {"absent, table", "", "x = {}", "x = {}"},
      {"absent, array", "", "x = [1]", "x = [1]"},
      {"absent, zero", "", "x = 0", "x = 0"},
      {"table, table", "x = {a = 1, b = 2}", "x = {b = 3}", "x = {a = 1, b = 3}"},
      {"table, empty table", "x = {a = 1}", "x = {}", "x = {a = 1}"},
      {"empty table, table", "x = {}", "x = {a = 1}", "x = {a = 1}"},
      {"table, array", "x = {a = 1}", "x = [3]", "x = [3]"},
      {"table, scalar", "x = {a = 1}", "x = 's'", "x = 's'"},
      {"array, table", "x = [1, 2]", "x = {a = 1}", "x = {a = 1}"},
      {"array, array", "x = [1, 2]", "x = [3]", "x = [3]"},
      {"array, empty array", "x = [1, 2]", "x = []", "x = []"},
      {"array, scalar", "x = ['x']", "x = 5", "x = 5"},
      {"array of tables, array of tables", "x = [{n = 1}, {n = 2}]", "x = [{n = 3}]", "x = [{n = 3}]"},
      {"scalar, table", "x = 's'", "x = {a = 1}", "x = {a = 1}"},
      {"scalar, array", "x = 's'", "x = [1]", "x = [1]"},
      {"scalar, other type", "x = 's'", "x = 1", "x = 1"},
      {"zeros win",
       "i = 4\ns = 'x'\nb = true\nf = 1.5",
       "i = 0\ns = ''\nb = false\nf = 0.0",
       "i = 0\ns = ''\nb = false\nf = 0.0"},
      {"date-time, date-time", "x = 2024-02-03T04:05:06Z", "x = 2025-02-03T04:05:06Z", "x = 2025-02-03T04:05:06Z"},
      {"keys by bytes",
       "enable_selinux = true",
       "Enable_Selinux = false",
       "Enable_Selinux = false\nenable_selinux = true"},
  };
  for (const Meeting& meeting : kMeetings) {
    Table table = parse(meeting.to);
    merge_raw(table, parse(meeting.from), {}, Transcript(nullptr));
    EXPECT_EQ(render_toml(table), render_toml(parse(meeting.result))) << meeting.name;
  }
}

TEST(Merge, GivesEachLeafTheOriginOfTheFileThatWon) {
  const Table keyed = merged(kKeyed, "root = '/a'\n[RUNTIME]\na = 1\nb = 2", "[RUNTIME]\nb = 3");
  EXPECT_EQ(test::origin_at(keyed, "root"), "one.toml:1");
  EXPECT_EQ(test::origin_at(keyed, "RUNTIME.a"), "one.toml:3");
  EXPECT_EQ(test::origin_at(keyed, "RUNTIME.b"), "two.toml:2");
  const Table whole = merged(kWhole, "[grpc]\nuid = 1\naddress = '/a'", "[grpc]\nuid = 0\naddress = '/b'");
  EXPECT_EQ(test::origin_at(whole, "grpc.uid"), "one.toml:2");
  EXPECT_EQ(test::origin_at(whole, "grpc.address"), "two.toml:3");
}

TEST(Merge, TellsWhatWasOverriddenAndWhatWasErasedWithItsTable) {
  std::vector<Event> events;
  merged(kWhole, "[OLD]\nsandbox_image = 'p'\n[OLD.cni]\nbin_dir = '/b'", "\n[OLD]\nsandbox_image = 'q'", &events);
  EXPECT_THAT(test::described(events),
              ElementsAre("erased OLD.cni.bin_dir by two.toml:2", "overridden OLD.sandbox_image by two.toml:3"));
  EXPECT_EQ(events[0].value.origin.to_string(), "one.toml:4");
}

TEST(Merge, TellsNothingOfAKeyedMergeButTheValuesThatLost) {
  std::vector<Event> events;
  merged(kKeyed, "[RUNTIME]\na = 1\nb = [1]\n", "[RUNTIME]\nb = []\nc = 3\n", &events);
  EXPECT_THAT(test::described(events), ElementsAre("overridden RUNTIME.b by two.toml:2"));
}

TEST(Merge, IsNotChangedByAnEmptyLayer) {
  constexpr std::string_view kLayer = R"(
    root = "/r"
    disabled_plugins = ["a"]
    timeouts = {t = "1s"}
    [grpc]
    uid = 1
    [RUNTIME.containerd.runtimes.nvidia]
    runtime_type = "n"
  )";
  for (const Regime& regime : {kWhole, kKeyed}) {
    std::vector<Event> events;
    EXPECT_EQ(merged(regime, kLayer, "", &events), parse(kLayer));
    EXPECT_THAT(events, IsEmpty());
    EXPECT_EQ(merged(regime, "", kLayer), parse(kLayer));
  }
}

}  // namespace
}  // namespace ctkit::engine::containerd
