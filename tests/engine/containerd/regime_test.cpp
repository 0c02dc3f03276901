#include "engine/containerd/regime.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

// When behaviour changed: reference "containerd-semantics" section 14 and its feature matrix.
namespace ctkit::engine::containerd {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Known known(std::string_view release) {
  return find_release(Release::parse(release).value()).value();
}

Regime regime(std::string_view release) {
  return known(release).regime;
}

/// A property with the last release that lacks it and the first that has it.
struct Step {
  const char* name;
  bool (*has)(const Regime&);
  const char* last_without;
  const char* first_with;
};

TEST(Regime, ChangesInTheReleaseThatChangedIt) {
  constexpr Step kSteps[] = {
      {"relative globs from the importer, 1.6",
       [](const Regime& r) { return r.globs_from_importer; },
       "1.6.28",
       "1.6.29"},
      {"relative globs from the importer, 1.7",
       [](const Regime& r) { return r.globs_from_importer; },
       "1.7.15",
       "1.7.16"},
      {"newer versions refused, 1.6", [](const Regime& r) { return r.rejects_newer; }, "1.6.31", "1.6.32"},
      {"newer versions refused, 1.7", [](const Regime& r) { return r.rejects_newer; }, "1.7.16", "1.7.17"},
      {"prefix of plugin names", [](const Regime& r) { return r.containerd_prefix; }, "1.6.39", "1.7.0"},
      {"keyed merge", [](const Regime& r) { return r.keyed_plugins; }, "1.7.34", "2.0.0"},
      {"lists without repeats", [](const Regime& r) { return r.unique_lists; }, "1.7.34", "2.0.0"},
      {"migration after merging",
       [](const Regime& r) { return r.migration == Migration::after_merge; },
       "1.7.34",
       "2.0.0"},
      {"migration per file", [](const Regime& r) { return r.migration == Migration::per_file; }, "2.2.7", "2.3.0"},
      {"server keys kept",
       [](const Regime& r) { return r.cri_migration != CriMigration::whole_table; },
       "2.0.0",
       "2.0.1"},
      {"key by key", [](const Regime& r) { return r.cri_migration == CriMigration::key_by_key; }, "2.0.1", "2.0.2"},
      {"dump migrates", [](const Regime& r) { return r.dump_migrates; }, "2.0.5", "2.0.6"},
      {"bin_dir to bin_dirs", [](const Regime& r) { return r.moves_bin_dir; }, "2.0.11", "2.1.0"},
      {"config_path filled", [](const Regime& r) { return r.fills_config_path; }, "2.1.9", "2.2.0"},
      {"config_path left", [](const Regime& r) { return !r.fills_config_path; }, "2.2.1", "2.2.2"},
      {"version 3", [](const Regime& r) { return r.schema_version == 3; }, "1.7.34", "2.0.0"},
      {"version 4", [](const Regime& r) { return r.schema_version == 4; }, "2.2.7", "2.3.0"},
      {"root caps", [](const Regime& r) { return r.root_caps_version; }, "2.2.7", "2.3.0"},
      {"root no longer caps, 2.3", [](const Regime& r) { return !r.root_caps_version; }, "2.3.4", "2.3.5"},
      {"root no longer caps, 2.4", [](const Regime& r) { return !r.root_caps_version; }, "2.4.0-beta.0", "2.4.0"},
      {"integer durations", [](const Regime& r) { return r.integer_durations; }, "2.3.4", "2.4.0-beta.0"},
      {"second decode", [](const Regime& r) { return !r.crashes_on_second_decode; }, "2.3.4", "2.4.0-beta.0"},
      {"spaced headers", [](const Regime& r) { return r.spaced_headers; }, "2.3.4", "2.4.0-beta.0"},
      {"diff proxies", [](const Regime& r) { return r.diff_proxies; }, "1.7.3", "1.7.4"},
      {"sandbox proxies", [](const Regime& r) { return r.sandbox_proxies; }, "1.7.34", "2.0.0"},
  };
  for (const Step& step : kSteps) {
    EXPECT_FALSE(step.has(regime(step.last_without))) << step.name << " in " << step.last_without;
    EXPECT_TRUE(step.has(regime(step.first_with))) << step.name << " in " << step.first_with;
  }
}

struct Library {
  const char* release;
  const TomlDialect* dialect;
};

TEST(Regime, ReadsWithTheTomlLibraryOfTheRelease) {
  const Library kLibraries[] = {{"1.5.18", &kGoToml18},
                                {"1.6.21", &kGoToml19OfGo119},
                                {"1.6.39", &kGoToml19},
                                {"1.7.0", &kGoToml19},
                                {"1.7.34", &kGoToml19},
                                {"2.0.0", &kGoToml22},
                                {"2.1.9", &kGoToml22},
                                {"2.2.7", &kGoToml22},
                                {"2.3.4", &kGoToml23},
                                {"2.4.0-beta.0", &kGoToml24},
                                {"2.1.9~ds1", &kGoToml24}};
  for (const auto& [release, dialect] : kLibraries)
    EXPECT_EQ(regime(release).dialect, dialect) << release;
}

TEST(Regime, OfARepackedReleaseHasTheDistributionsLibrary) {
  EXPECT_TRUE(regime("2.1.9~ds1").spaced_headers);
  EXPECT_TRUE(regime("2.1.9~ds1").integer_durations);
  EXPECT_FALSE(regime("2.1.9~ds1").crashes_on_second_decode);
  EXPECT_EQ(regime("2.1.9~ds1").schema_version, 3);
  EXPECT_EQ(regime("1.7.24~ds1").dialect, &kGoToml19);
  EXPECT_FALSE(regime("1.7.24~ds1").spaced_headers);
}

struct Types {
  const char* release;
  const char* recorded;
};

TEST(FindRelease, TakesTheTypesOfTheNearestOlderReleaseOfTheLine) {
  constexpr Types kTypes[] = {
      {"1.7.27", "1.7.27"},
      {"1.7.28", "1.7.27"},
      {"1.7.99", "1.7.34"},
      {"2.1.4", "2.1.0"},
      {"2.3.9", "2.3.4"},
      {"2.4.0", "2.4.0-beta.0"},
      {"1.7.27-k3s1", "1.7.27"},
      {"1.5.0", "1.5.18"},
      {"1.6.33", "1.6.39"},
      {"1.7.17", "1.7.27"},
      {"2.0.7", "2.0.11"},
      {"2.1.5", "2.1.9"},
  };
  for (const auto& [release, recorded] : kTypes) {
    EXPECT_EQ(known(release).schema->release, recorded) << release;
    EXPECT_THAT(known(release).diagnostics, IsEmpty()) << release;
  }
}

TEST(FindRelease, TreatsALineThatNobodyRecordedAsTheNewestBelowIt) {
  const Known future = known("3.1.0");
  EXPECT_EQ(future.schema->release, "2.4.0-beta.0");
  EXPECT_EQ(future.regime.schema_version, 4);
  ASSERT_THAT(future.diagnostics, SizeIs(1));
  EXPECT_EQ(future.diagnostics.front().severity, Severity::warning);
  EXPECT_NE(future.diagnostics.front().message.find("3.1.0"), std::string::npos);
}

TEST(FindRelease, KnowsNothingBelow15) {
  const auto old = find_release(Release::parse("1.4.13").value());
  ASSERT_FALSE(old);
  EXPECT_EQ(old.error().code, ErrorCode::unknown_release);
}

TEST(LaterLines, AreTheNewestReleaseOfEachLineAfterwards) {
  const auto after = [](std::string_view release) {
    std::vector<std::string> names;
    for (const Release& line : later_lines(Release::parse(release).value()))
      names.push_back(line.to_string());
    return names;
  };
  EXPECT_THAT(after("1.6.20"), ElementsAre("1.7.34", "2.0.11", "2.1.9", "2.2.7", "2.3.4", "2.4.0-beta.0"));
  EXPECT_THAT(after("2.2.0"), ElementsAre("2.3.4", "2.4.0-beta.0"));
  EXPECT_THAT(after("2.4.0"), IsEmpty());
}

}  // namespace
}  // namespace ctkit::engine::containerd
