#include "engine/containerd/decode.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/toml_writer.h"
#include "support/containerd_fixture.h"

// The two TOML libraries' ways to fill a Go struct: reference section 8.
namespace ctkit::engine::containerd {
namespace {

using test::parse;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr Regime kOne{.decoding = Decoding::go_toml_1};
constexpr Regime kTwo{.decoding = Decoding::go_toml_2};
constexpr Regime kTwoFour{.decoding = Decoding::go_toml_2, .integer_durations = true};

constexpr Type kAny{.kind = Kind::any};
constexpr Type kText{.kind = Kind::string};
constexpr Type kOptions{.name = "options", .kind = Kind::map, .element = &kAny};
constexpr std::array kRuntimeFields = {
    Type{.name = "runtime_type", .kind = Kind::string}, Type{.name = "privileged", .kind = Kind::boolean}, kOptions};
constexpr Type kRuntime{.kind = Kind::table, .fields = kRuntimeFields};
constexpr std::array kPairFields = {Type{.name = "cert", .kind = Kind::string},
                                    Type{.name = "key", .kind = Kind::string}};
constexpr Type kPair{.kind = Kind::table, .fields = kPairFields};
constexpr std::array kFields = {
    Type{.name = "enable_selinux", .kind = Kind::boolean},
    Type{.name = "NodeName", .kind = Kind::string},
    Type{.name = "size", .kind = Kind::integer},
    Type{.name = "threshold", .kind = Kind::floating},
    Type{.name = "delay", .kind = Kind::duration_text},
    Type{.name = "plain_delay", .kind = Kind::duration_int},
    Type{.name = "dirs", .kind = Kind::array, .element = &kText},
    Type{.name = "pairs", .kind = Kind::array, .element = &kPair},
    Type{.name = "tls", .kind = Kind::table, .fields = kPairFields},
    Type{.name = "pointer", .kind = Kind::table, .pointer = true, .fields = kPairFields},
    Type{.name = "runtimes", .kind = Kind::map, .element = &kRuntime},
    kOptions,
};
constexpr Type kSection{.kind = Kind::table, .fields = kFields};

struct Decoded {
  Result<void> done = {};
  Table table = {};
  Diagnostics diagnostics = {};
  std::vector<Event> events = {};
};

/// The section laid over the type's zero, or over `start`.
Decoded decoded(const Regime& regime,
                std::string_view section,
                std::string_view start = "",
                bool in_file_order = false) {
  Decoded result;
  const Transcript transcript(&result.events);
  const DecodeContext context{&regime, &transcript, &result.diagnostics, in_file_order};
  Slot slot = zero(kSection);
  for (auto& [key, value] : parse(start, "start.toml"))
    slot->table()->insert_or_assign(key, value);
  result.done = decode(kSection, {.data = parse(section)}, slot, {nullptr, "section"}, context);
  result.table = std::move(*slot->table());
  return result;
}

std::string shown(const Regime& regime, std::string_view section, std::string_view key, std::string_view start = "") {
  const Decoded result = decoded(regime, section, start);
  if (result.done) return test::shown(result.table, key);
  return (result.done.error().code == ErrorCode::daemon_refuses ? "refuses at " : "fails at ") +
         result.done.error().where;
}

struct Taken {
  std::string_view section;
  std::string_view key;
  std::string_view one;
  std::string_view two;
  std::string_view start = "";
};

TEST(Decode, TakesAndRefusesTypesAsEachLibraryDoes) {
  constexpr Taken kCases[] = {
      {"enable_selinux = true", "enable_selinux", "true", "true"},
      {"enable_selinux = 'true'", "enable_selinux", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"NodeName = 5", "NodeName", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"size = 5", "size", "5", "5"},
      {"size = '5'", "size", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"size = 5.0", "size", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"threshold = 0.5", "threshold", "0.5", "0.5"},
      {"threshold = 1", "threshold", "refuses at test.toml:1", "1.0"},
      {"dirs = '/etc/cdi'", "dirs", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"dirs = ['/a']", "dirs", R"(["/a"])", R"(["/a"])", "dirs = ['/b', '/c']"},
      {"dirs = []", "dirs", "[]", "[]", "dirs = ['/b']"},
      {"\n\ntls = 'x'", "tls", "refuses at test.toml:3", "refuses at test.toml:3"},
      {"runtimes = ['x']", "runtimes", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"pairs = []", "pairs", "refuses at test.toml:1", "[]"},
      {"[[pairs]]\ncert = 'c'",
       "pairs",
       R"([{ cert = "c", key = "" }])",
       R"([{ cert = "c", key = "" }])",
       "pairs = [{cert = 'a', key = 'b'}, {cert = 'd', key = 'e'}]"},
      {"delay = '90s'", "delay", R"("1m30s")", R"("1m30s")"},
      {"delay = 'soon'", "delay", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"delay = ''", "delay", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"delay = 5", "delay", "refuses at test.toml:1", "refuses at test.toml:1"},
      {"delay = 0", "delay", R"("0s")", R"("0s")", "delay = '1s'"},
      {"plain_delay = 5", "plain_delay", "5", "5"},
      {"plain_delay = '2s'", "plain_delay", "2000000000", "refuses at test.toml:1"},
  };
  for (const Taken& taken : kCases) {
    EXPECT_EQ(shown(kOne, taken.section, taken.key, taken.start), taken.one) << "1.x, " << taken.section;
    EXPECT_EQ(shown(kTwo, taken.section, taken.key, taken.start), taken.two) << "2.x, " << taken.section;
  }
}

TEST(Decode, NamesTheKeyInARefusal) {
  const Decoded result = decoded(kTwo, "[tls]\ncert = 1");
  ASSERT_FALSE(result.done);
  EXPECT_EQ(result.done.error().message, "'section.tls.cert' wants a string, not integer");
  EXPECT_EQ(result.done.error().where, "test.toml:2");
}

TEST(Decode, KeepsMembersOfAStructThatTheFileDoesNotName) {
  for (const Regime& regime : {kOne, kTwo}) {
    const Decoded result = decoded(regime, "[tls]\nkey = '/k'", "size = 7\ntls = {cert = '/c', key = ''}");
    EXPECT_EQ(test::shown(result.table, "tls"), R"({ cert = "/c", key = "/k" })");
    EXPECT_EQ(test::shown(result.table, "size"), "7");
  }
}

TEST(Decode, FillsAPointerToAStructInPlace) {
  for (const Regime& regime : {kOne, kTwo}) {
    EXPECT_EQ(shown(regime, "[pointer]\nkey = '/k'", "pointer", "pointer = {cert = '/c', key = ''}"),
              R"({ cert = "/c", key = "/k" })");
    EXPECT_EQ(shown(regime, "[pointer]\nkey = '/k'", "pointer"), R"({ cert = "", key = "/k" })");
    EXPECT_EQ(shown(regime, "", "pointer"), "absent");
  }
}

struct Spelled {
  std::string_view section;
  std::string_view key;
  std::string_view one;
  std::string_view two;
};

TEST(Decode, FindsAMemberByTheSpellingsOfTheLibrary) {
  constexpr Spelled kSpellings[] = {
      {"NodeName = 'x'", "NodeName", R"("x")", R"("x")"},
      {"nodename = 'x'", "NodeName", R"("x")", R"("x")"},
      {"NODENAME = 'x'", "NodeName", R"("x")", R"("x")"},
      {"nodeName = 'x'", "NodeName", R"("x")", R"("x")"},
      {"Nodename = 'x'", "NodeName", R"("")", R"("x")"},
      {"Enable_Selinux = true", "enable_selinux", "false", "true"},
      {"ENABLE_SELINUX = true", "enable_selinux", "true", "true"},
  };
  for (const auto& [section, key, one, two] : kSpellings) {
    EXPECT_EQ(shown(kOne, section, key), one) << "1.x, " << section;
    EXPECT_EQ(shown(kTwo, section, key), two) << "2.x, " << section;
  }
}

TEST(Decode1, TakesTheExactSpellingOverAllOthers) {
  EXPECT_EQ(shown(kOne, "NODENAME = 'upper'\nNodeName = 'exact'\nnodename = 'lower'", "NodeName"), R"("exact")");
  EXPECT_EQ(shown(kOne, "nodeName = 'first'\nNODENAME = 'upper'", "NodeName"), R"("upper")");
}

TEST(Decode2, LetsTheSpellingLaterInByteOrderWin) {
  EXPECT_EQ(shown(kTwo, "enable_selinux = true\nEnable_Selinux = false", "enable_selinux"), "true");
  EXPECT_EQ(shown(kTwo, "tls = {cert = 'x'}\nTLS = {cert = 'y'}", "tls.cert"), R"("x")");
}

TEST(Decode2, MeetsTheMembersOfAFilesOwnTextInItsOrder) {
  const Decoded result = decoded(kTwo, "enable_selinux = true\nEnable_Selinux = false", "", true);
  EXPECT_EQ(test::shown(result.table, "enable_selinux"), "false");
}

TEST(Decode1, BuildsAMapNewWithEntriesFromZero) {
  const Decoded result =
      decoded(kOne, "[runtimes.nvidia]", "runtimes = {runc = {runtime_type = 'r'}, nvidia = {runtime_type = 'n'}}");
  EXPECT_EQ(test::shown(result.table, "runtimes"), R"({ nvidia = { privileged = false, runtime_type = "" } })");
  EXPECT_THAT(test::described(result.events),
              ElementsAre("overridden section.runtimes.nvidia.runtime_type by built-in",
                          "erased section.runtimes.runc.runtime_type by test.toml:1"));
}

TEST(Decode1, ReplacesFreeFormOptionsWhole) {
  EXPECT_EQ(shown(kOne, "[options]\nBinaryName = '/b'", "options", "options = {SystemdCgroup = true}"),
            R"({ BinaryName = "/b" })");
  EXPECT_EQ(shown(kOne, "[options]", "options", "options = {SystemdCgroup = true}"), "{}");
}

TEST(Decode2, KeepsTheEntriesOfAMapAndFillsThemInPlace) {
  EXPECT_EQ(
      shown(kTwo,
            "[runtimes.runc]\nprivileged = true\n[runtimes.nvidia]\nruntime_type = 'n'",
            "runtimes",
            "runtimes = {runc = {runtime_type = 'r', privileged = false}}"),
      R"({ nvidia = { privileged = false, runtime_type = "n" }, runc = { privileged = true, runtime_type = "r" } })");
}

TEST(Decode2, MergesFreeFormTablesToo) {
  EXPECT_EQ(shown(kTwo,
                  "[options]\nBinaryName = '/b'\n[options.deep]\nb = 2",
                  "options",
                  "options = {SystemdCgroup = true, deep = {a = 1}}"),
            R"({ BinaryName = "/b", SystemdCgroup = true, deep = { a = 1, b = 2 } })");
}

TEST(Decode2, LeavesANilMapOrPointerNilForAnEmptyTable) {
  EXPECT_EQ(shown(kTwo, "[options]\n[pointer]\n[runtimes]", "options"), "absent");
  EXPECT_EQ(shown(kTwo, "[options]\n[pointer]\n[runtimes]", "pointer"), "absent");
  EXPECT_EQ(shown(kTwo, "[options]\n[pointer]\n[runtimes]", "runtimes"), "absent");
  EXPECT_EQ(shown(kTwo, "[runtimes.x]", "runtimes"), R"({ x = { privileged = false, runtime_type = "" } })");
}

TEST(Decode2, TakesAnEmptyTableOnAScalarForNothingUntil24) {
  EXPECT_EQ(shown(kTwo, "[size]", "size", "size = 3"), "3");
  EXPECT_EQ(shown(kTwoFour, "[size]", "size", "size = 3"), "refuses at test.toml:1");
  EXPECT_EQ(shown(kOne, "[size]", "size", "size = 3"), "refuses at test.toml:1");
}

TEST(Decode2, RefusesATableOnAFreeFormScalar) {
  EXPECT_EQ(shown(kTwo, "[options.a]\nb = 1", "options", "options = {a = 1}"), "refuses at test.toml:1");
  EXPECT_EQ(shown(kTwo, "[options]\na = 's'", "options", "options = {a = {b = 1}}"), R"({ a = "s" })");
  EXPECT_EQ(shown(kOne, "[options.a]\nb = 1", "options", "options = {a = 1}"), "{ a = { b = 1 } }");
}

TEST(Decode2, TakesABareIntegerForNanosecondsFrom24) {
  EXPECT_EQ(shown(kTwo, "delay = 5", "delay"), "refuses at test.toml:1");
  EXPECT_EQ(shown(kTwoFour, "delay = 5", "delay"), R"("5ns")");
}

TEST(Decode2, WarnsOfEachUnknownKeyAndReadsTheRest) {
  const Decoded result = decoded(kTwo, "enable_selinuxx = true\nsize = 5\n[runtimes.runc]\ntypo = 1\n[none]\na = 1");
  ASSERT_TRUE(result.done);
  EXPECT_EQ(test::shown(result.table, "size"), "5");
  EXPECT_EQ(test::shown(result.table, "runtimes.runc.typo"), "absent");
  std::vector<std::string> warnings;
  for (const Diagnostic& diagnostic : result.diagnostics) {
    EXPECT_EQ(diagnostic.severity, Severity::warning);
    warnings.push_back(diagnostic.origin.to_string() + ": " + diagnostic.message);
  }
  EXPECT_THAT(warnings,
              ElementsAre("test.toml:1: nothing reads 'section.enable_selinuxx'",
                          "test.toml:5: nothing reads 'section.none'",
                          "test.toml:4: nothing reads 'section.runtimes.runc.typo'"));
  EXPECT_THAT(test::described(result.events), testing::Contains("unread section.none.a"));
}

TEST(Decode1, SaysNothingOfUnknownKeysButRecordsThem) {
  const Decoded result = decoded(kOne, "enable_selinuxx = true\nEnable_Selinux = true");
  ASSERT_TRUE(result.done);
  EXPECT_THAT(result.diagnostics, IsEmpty());
  EXPECT_THAT(test::described(result.events),
              ElementsAre("unread section.Enable_Selinux", "unread section.enable_selinuxx"));
}

TEST(Decode, RecordsTheBuiltInValueThatAFileOverrides) {
  for (const Regime& regime : {kOne, kTwo})
    EXPECT_THAT(test::described(decoded(regime, "\nsize = 5").events),
                ElementsAre("overridden section.size by test.toml:2"));
}

TEST(Decode, GivesEachLeafItsOrigin) {
  for (const Regime& regime : {kOne, kTwo}) {
    const Decoded result = decoded(regime,
                                   "dirs = ['/a']\n[runtimes.nvidia]\nruntime_type = "
                                   "'n'\n[runtimes.nvidia.options]\nBinaryName = '/b'");
    EXPECT_EQ(test::origin_at(result.table, "dirs"), "test.toml:1");
    EXPECT_EQ(test::origin_at(result.table, "runtimes.nvidia"), "test.toml:2");
    EXPECT_EQ(test::origin_at(result.table, "runtimes.nvidia.runtime_type"), "test.toml:3");
    EXPECT_EQ(test::origin_at(result.table, "runtimes.nvidia.privileged"), "built-in");
    EXPECT_EQ(test::origin_at(result.table, "runtimes.nvidia.options.BinaryName"), "test.toml:5");
  }
}

TEST(Decode, IsNotChangedByAnEmptySection) {
  constexpr std::string_view kStart =
      "size = 3\ndirs = ['/a']\nruntimes = {runc = {runtime_type = 'r'}}\noptions = {a = 1}";
  for (const Regime& regime : {kOne, kTwo, kTwoFour}) {
    const Decoded result = decoded(regime, "", kStart);
    ASSERT_TRUE(result.done);
    EXPECT_EQ(test::shown(result.table, "runtimes.runc.runtime_type"), R"("r")");
    EXPECT_EQ(test::shown(result.table, "size"), "3");
    EXPECT_THAT(result.events, IsEmpty());
    EXPECT_THAT(result.diagnostics, IsEmpty());
  }
}

TEST(Printed, ShowsNilMapsAsEmptyTablesIn1xOnly) {
  constexpr std::array kMembers = {Type{.name = "map", .kind = Kind::map, .element = &kText},
                                   Type{.name = "pointer", .kind = Kind::boolean, .pointer = true},
                                   Type{.name = "size", .kind = Kind::integer}};
  const Type type{.kind = Kind::table, .fields = kMembers};
  EXPECT_EQ(render_value(*printed(type, zero(type), kOne)), "{ map = {}, size = 0 }");
  EXPECT_EQ(render_value(*printed(type, zero(type), kTwo)), "{ size = 0 }");
}

TEST(Printed, LeavesOutEmptyMembersThatAreOmittedWhenEmpty) {
  constexpr std::array kMembers = {Type{.name = "a", .kind = Kind::string, .omit_empty = true},
                                   Type{.name = "b", .kind = Kind::string},
                                   Type{.name = "c", .kind = Kind::array, .omit_empty = true, .element = &kText},
                                   Type{.name = "d", .kind = Kind::table, .omit_empty = true, .fields = kPairFields}};
  const Type type{.kind = Kind::table, .fields = kMembers};
  EXPECT_EQ(render_value(*printed(type, zero(type), kTwo)), R"({ b = "" })");
  EXPECT_EQ(render_value(
                *printed(type, Slot{{.data = parse("a = 'x'\nb = ''\nc = ['y']\nd = {cert = '', key = 'k'}")}}, kTwo)),
            R"({ a = "x", b = "", c = ["y"], d = { cert = "", key = "k" } })");
}

TEST(Printed, ShowsPlainDurationsAsTextIn1xOnly) {
  const Type type{.kind = Kind::duration_int};
  const Slot slot{{.data = std::int64_t{2'000'000'000}}};
  EXPECT_EQ(render_value(*printed(type, slot, kOne)), R"("2s")");
  EXPECT_EQ(render_value(*printed(type, slot, kTwo)), "2000000000");
}

}  // namespace
}  // namespace ctkit::engine::containerd
