#include "engine/containerd/built_in.h"

#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/change.h"
#include "engine/containerd/effective.h"
#include "engine/toml_reader.h"
#include "engine/toml_writer.h"
#include "support/containerd_fixture.h"

namespace ctkit::engine::containerd {
namespace {

using test::parse;

constexpr Type kText{.kind = Kind::string};
constexpr Type kNumber{.kind = Kind::integer};

std::string rendered(const Slot& slot) {
  return slot ? render_value(*slot) : "nil";
}

TEST(Zero, IsWhatGoGivesANewVariable) {
  EXPECT_EQ(rendered(zero({.kind = Kind::boolean})), "false");
  EXPECT_EQ(rendered(zero({.kind = Kind::integer})), "0");
  EXPECT_EQ(rendered(zero({.kind = Kind::duration_int})), "0");
  EXPECT_EQ(rendered(zero({.kind = Kind::floating})), "0.0");
  EXPECT_EQ(rendered(zero({.kind = Kind::string})), "\"\"");
  EXPECT_EQ(rendered(zero({.kind = Kind::duration_text})), "\"0s\"");
  EXPECT_EQ(rendered(zero({.kind = Kind::array, .element = &kText})), "[]");
}

TEST(Zero, OfMapsFreeValuesAndPointersIsNil) {
  EXPECT_EQ(rendered(zero({.kind = Kind::map, .element = &kText})), "nil");
  EXPECT_EQ(rendered(zero({.kind = Kind::any})), "nil");
  EXPECT_EQ(rendered(zero({.kind = Kind::boolean, .pointer = true})), "nil");
}

constexpr std::array kFields = {
    Type{.name = "size", .kind = Kind::integer, .built_in = std::int64_t{3}},
    Type{.name = "unset", .kind = Kind::integer},
    Type{.name = "name", .kind = Kind::string, .built_in = std::string_view("n")},
    Type{.name = "nil_map", .kind = Kind::map, .nil_default = true, .element = &kNumber},
    Type{.name = "map", .kind = Kind::map, .element = &kNumber},
};

TEST(Zero, OfAStructHasTheZerosOfItsMembersAndNoNilOnes) {
  EXPECT_EQ(rendered(zero({.kind = Kind::table, .fields = kFields})), R"({ name = "", size = 0, unset = 0 })");
}

TEST(BuiltIn, OfAStructHasItsMembersValuesAndNoNilOnes) {
  EXPECT_EQ(rendered(built_in({.kind = Kind::table, .fields = kFields})),
            R"({ map = {}, name = "n", size = 3, unset = 0 })");
}

TEST(BuiltIn, OfAListHoldsItsElementsInOrder) {
  constexpr std::array<std::string_view, 2> kStrings = {"/etc/cdi", "/var/run/cdi"};
  EXPECT_EQ(rendered(built_in({.kind = Kind::array, .element = &kText, .strings = kStrings})),
            R"(["/etc/cdi", "/var/run/cdi"])");
}

TEST(BuiltIn, OfAMapHoldsItsEntriesByName) {
  constexpr std::array kEntries = {Type{.name = "b", .kind = Kind::integer, .built_in = std::int64_t{2}},
                                   Type{.name = "a", .kind = Kind::integer, .built_in = std::int64_t{1}}};
  EXPECT_EQ(rendered(built_in({.kind = Kind::map, .element = &kNumber, .entries = kEntries})), "{ a = 1, b = 2 }");
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(BuiltIn, OfEveryRecordedReleaseIsWhatItsConfigDefaultPrinted) {
  for (const std::string_view each : recorded_releases()) {
    const Schema& schema = recorded_schema(each);
    const std::string release(schema.release);
    const std::string text = read_file(TESTDATA "/containerd/defaults/" + release + ".toml");
    ASSERT_FALSE(text.empty()) << release;
    const auto recorded = read_toml(text, release, *test::daemon_of(release).known.regime.dialect);
    ASSERT_TRUE(recorded) << release;
    const EffectiveConfig config = test::loaded(release, {});
    for (const Change& change : differences(*recorded, config.config))
      ADD_FAILURE() << release << ": " << change.key.to_string();
  }
}

TEST(BuiltInSection, IsThePluginsTableAndEmptyForAnUnknownOne) {
  EXPECT_EQ(test::shown(built_in_section(test::daemon_of("1.7.27"), kCri), "sandbox_image"),
            "\"registry.k8s.io/pause:3.8\"");
  EXPECT_TRUE(built_in_section(test::daemon_of("1.7.27"), kRuntime).empty());
}

/// Where CRI, CDI and NRI stand and what they start from: reference section 12.
TEST(BuiltIn, FollowsTheTableOfLocationsAndDefaults) {
  using test::expect_printed;
  expect_printed(
      {}, "OLD.enable_cdi", {{"1.5.18 1.6.39", "absent"}, {"1.7.0 1.7.34", "false"}, {"2.0.6 2.3.4", "absent"}});
  expect_printed({}, "RUNTIME.enable_cdi", {{"1.7.34", "absent"}, {"2.0.0 2.1.9 2.2.7 2.3.4 2.4.0-beta.0", "true"}});
  expect_printed({}, "RUNTIME.cdi_spec_dirs", {{"2.0.6 2.3.4", R"(["/etc/cdi", "/var/run/cdi"])"}});
  expect_printed({}, "OLD.cdi_spec_dirs", {{"1.6.39", "absent"}, {"1.7.0", R"(["/etc/cdi", "/var/run/cdi"])"}});
  expect_printed({},
                 "plugins.\"io.containerd.nri.v1.nri\".disable",
                 {{"1.5.18 1.6.39", "absent"}, {"1.7.0 1.7.34", "true"}, {"2.0.0 2.3.4", "false"}});
  expect_printed({}, "OLD.cni.bin_dir", {{"1.5.18 1.6.39 1.7.34", "\"/opt/cni/bin\""}});
  expect_printed({}, "RUNTIME.cni.bin_dir", {{"2.0.6", "\"/opt/cni/bin\""}, {"2.1.0 2.3.4", "\"\""}});
  expect_printed({}, "RUNTIME.cni.bin_dirs", {{"2.0.6", "absent"}, {"2.1.0 2.3.4", R"(["/opt/cni/bin"])"}});
  expect_printed({},
                 "RUNTIME.containerd.runtimes.runc.options.SystemdCgroup",
                 {{"2.0.6 2.1.0", "absent"}, {"2.0.7 2.0.11 2.1.5 2.2.0 2.3.4", "false"}});
  expect_printed({},
                 "OLD.sandbox_image",
                 {{"1.5.18", "\"registry.k8s.io/pause:3.5\""},
                  {"1.6.39", "\"registry.k8s.io/pause:3.6\""},
                  {"1.7.34", "\"registry.k8s.io/pause:3.8\""}});
  expect_printed({},
                 "IMAGES.pinned_images.sandbox",
                 {{"2.0.6 2.1.9", "\"registry.k8s.io/pause:3.10\""},
                  {"2.2.7", "\"registry.k8s.io/pause:3.10.1\""},
                  {"2.3.4", "\"registry.k8s.io/pause:3.10.2\""}});
  expect_printed({},
                 "IMAGES.registry.config_path",
                 {{"2.1.9 2.2.2 2.3.4", "\"\""}, {"2.2.0 2.2.1", "\"/etc/containerd/certs.d:/etc/docker/certs.d\""}});
  expect_printed({}, "imports", {{"1.7.34 2.1.9", "[]"}, {"2.2.0 2.3.4", R"(["/etc/containerd/conf.d/*.toml"])"}});
  expect_printed({}, "version", {{"1.5.18 1.7.34", "2"}, {"2.0.0 2.2.7", "3"}, {"2.3.0 2.4.0-beta.0", "4"}});
}

}  // namespace
}  // namespace ctkit::engine::containerd
