#include "toolkit/config.h"

#include <fstream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_tree.h"
#include "toolkit/toml_edit.h"

namespace ctkit::toolkit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kToolkitFolder = "/usr/local/nvidia/toolkit";

engine::Table table_of(const std::string& text) {
  return parse_config(text, "x").value_or(engine::Table{});
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct StockRun {
  const char* file;
  ConfigSettings settings;
};

void PrintTo(const StockRun& run, std::ostream* out) {
  *out << run.file;
}

class AsStock : public testing::TestWithParam<StockRun> {};

// testdata/toolkit/README.md says where these come from.
TEST_P(AsStock, EveryKeyHasTheValueThatNvidiasInstallerWrites) {
  const std::string stock = text_of(std::string(TESTDATA) + "/toolkit/" + GetParam().file);
  ASSERT_THAT(table_of(stock), testing::Not(IsEmpty()));
  const std::string ours = render_config(make_config(GetParam().settings, kToolkitFolder));
  EXPECT_EQ(leaves_of(table_of(ours)), leaves_of(table_of(stock))) << ours;
}

INSTANTIATE_TEST_SUITE_P(Recorded,
                         AsStock,
                         testing::Values(StockRun{"toolkit-config.default.toml", {}},
                                         StockRun{"toolkit-config.operator-cdi.toml",
                                                  {.mode = "cdi", .default_kind = "management.nvidia.com/gpu"}},
                                         StockRun{"toolkit-config.all-flags.toml",
                                                  {.driver_root = "/",
                                                   .accept_envvar_when_unprivileged = false,
                                                   .accept_volume_mounts = true,
                                                   .cli_debug = "/var/log/y.log",
                                                   .runtime_debug = "/var/log/x.log",
                                                   .log_level = "debug",
                                                   .mode = "cdi",
                                                   .runtimes = {"/usr/bin/runc", "crun"},
                                                   .default_kind = "management.nvidia.com/gpu",
                                                   .annotation_prefixes = {"nvidia.cdi.k8s.io/"},
                                                   .skip_mode_detection = false,
                                                   .features = {"disable-imex-channel-creation", "foo-bar"}}}));

TEST(Config, LdconfigIsTheOneThatWasFound) {
  EXPECT_THAT(render_config(make_config({.driver_root = "/run/nvidia/driver"}, kToolkitFolder)),
              HasSubstr("ldconfig = \"@/run/nvidia/driver/sbin/ldconfig\"\n"));
  EXPECT_THAT(render_config(make_config({.ldconfig = "/sbin/ldconfig.real"}, kToolkitFolder)),
              HasSubstr("ldconfig = \"@/sbin/ldconfig.real\"\n"));
}

/// One key of ours, as it was written, as it is there, as it is wanted.
struct MergeCase {
  const char* name;
  const char* written;
  const char* present;
  const char* wanted;
  const char* merged;
  std::vector<std::string> kept = {};
};

void PrintTo(const MergeCase& merge, std::ostream* out) {
  *out << merge.name;
}

class Merge : public testing::TestWithParam<MergeCase> {};

TEST_P(Merge, BringsOursUpToDateAndKeepsTheirs) {
  const MergeCase& merge = GetParam();
  const MergedConfig merged =
      merge_config(table_of(merge.wanted), std::string(merge.present), table_of(merge.written), "/config.toml");
  EXPECT_EQ(merged.text, merge.merged);
  EXPECT_EQ(merged.kept, merge.kept);
  EXPECT_THAT(merged.warnings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Cases,
    Merge,
    testing::Values(
        MergeCase{"as wanted", "a = 1\n", "a = 1\n", "a = 1\n", "a = 1\n"},
        MergeCase{"ours changes", "a = 1\n", "# x\na = 1 # y\n", "a = 2\n", "# x\na = 2 # y\n"},
        MergeCase{"theirs stays", "a = 1\n", "a = 3\n", "a = 2\n", "a = 3\n", {"a"}},
        MergeCase{"theirs is what we want by now", "a = 1\n", "a = 2\n", "a = 2\n", "a = 2\n"},
        MergeCase{"taken out stays out", "a = 1\nb = 1\n", "b = 1\n", "a = 2\nb = 1\n", "b = 1\n", {"a"}},
        MergeCase{"taken out and still wanted stays out", "a = 1\n", "", "a = 1\n", "", {"a"}},
        MergeCase{"new one of ours", "", "# x\n", "a = 1\n", "# x\na = 1\n"},
        MergeCase{"new one of ours that they have", "", "a = 3\n", "a = 1\n", "a = 3\n", {"a"}},
        MergeCase{"no longer ours goes", "a = 1\nb = 1\n", "a = 1\nb = 1 # y\n", "a = 1\n", "a = 1\n"},
        MergeCase{"no longer ours but theirs stays", "b = 1\n", "b = 2\n", "", "b = 2\n"},
        MergeCase{"nobody's stays", "", "c = 1\n", "", "c = 1\n"},
        MergeCase{
            "new key before the first header", "", "a = 1\n\n[t]\nb = 1\n", "z = 1\n", "a = 1\nz = 1\n\n[t]\nb = 1\n"},
        MergeCase{
            "new key of the top level without one", "", "# x\n[t]\nb = 1\n", "z = 1\n", "# x\nz = 1\n[t]\nb = 1\n"},
        MergeCase{"new key in its table, indented alike",
                  "",
                  "[t]\n  b = 1 # y\n\n[u]\nc = 1\n",
                  "[t]\nz = 1\n",
                  "[t]\n  b = 1 # y\n  z = 1\n\n[u]\nc = 1\n"},
        MergeCase{"new key in an empty table", "", "[t]\n[u]\n", "[t]\nz = 1\n", "[t]\nz = 1\n[u]\n"},
        MergeCase{"new table", "", "a = 1\n", "[t.u]\nz = [\"x\"]\n", "a = 1\n\n[t.u]\nz = [\"x\"]\n"},
        MergeCase{"new table after a line without an end", "", "a = 1", "[t]\nz = 1\n", "a = 1\n\n[t]\nz = 1\n"},
        MergeCase{"dotted keys", "", "t.b = 1\n", "[t]\nz = 1\n", "t.b = 1\nt.z = 1\n"},
        MergeCase{"within an inline table",
                  "[t]\nb = 1\n",
                  "t = { b = 1, c = 2 } # y\n",
                  "[t]\nb = 2\n",
                  "t = { b = 2, c = 2 } # y\n"},
        MergeCase{"a list on several lines",
                  "a = [\"x\"]\nb = 1\n",
                  "a = [\n  \"x\", # y\n]\nb = 1\n",
                  "a = [\"z\"]\nb = 1\n",
                  "a = [\"z\"]\nb = 1\n"},
        MergeCase{"line ends of Windows",
                  "a = 1\n",
                  "a = 1\r\n[t]\r\nb = 1\r\n",
                  "a = 1\n[t]\nz = 1\n",
                  "a = 1\r\n[t]\r\nb = 1\r\nz = 1\r\n"}));

TEST(Config, AFileThatTheToolkitCannotReadIsWrittenAnew) {
  const MergedConfig merged = merge_config(table_of("a = 1\n"), std::string("a = = 2\n"), {}, "/config.toml");
  EXPECT_EQ(leaves_of(table_of(merged.text)), leaves_of(table_of("a = 1\n")));
  EXPECT_THAT(merged.warnings, ElementsAre(HasSubstr("/config.toml:1")));
}

TEST(Config, WithoutAFileEveryKeyIsWritten) {
  const engine::Table wanted = make_config({}, kToolkitFolder);
  const MergedConfig merged = merge_config(wanted, std::nullopt, wanted, "/config.toml");
  EXPECT_EQ(leaves_of(table_of(merged.text)), leaves_of(wanted));
  EXPECT_THAT(merged.text, HasSubstr("# Written by ctkit"));
}

}  // namespace
}  // namespace ctkit::toolkit
