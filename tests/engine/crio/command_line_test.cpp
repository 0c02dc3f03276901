#include "engine/crio/command_line.h"

#include <ostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engine/crio/crio_node.h"

namespace ctkit::engine::crio {
namespace {

using test::at;
using test::crio_of;
using test::CrioHost;

StartWords started(const std::vector<std::string>& words,
                   const std::vector<std::pair<std::string, std::string>>& variables = {}) {
  StartWords start;
  for (const std::string& word : words)
    start.words.push_back({.text = word});
  for (const auto& [name, value] : variables)
    start.variables.push_back({.name = name, .value = value});
  return start;
}

/// What a daemon that is started so makes of one file.
Result<EffectiveConfig> effective_of(const StartWords& start, const std::string& file = "") {
  auto line = read_command_line(crio_of("1.34.11"), start);
  if (!line) return std::unexpected(line.error());
  LoadRequest request{.values = std::move(line->values)};
  return test::crio_engine("1.34.11", request).effective(CrioHost({{"50.conf", file}}), true);
}

struct Row {
  const char* name;
  std::vector<std::string> words;
  std::vector<std::pair<std::string, std::string>> variables;
  const char* key;
  const char* value;
};

void PrintTo(const Row& row, std::ostream* stream) {
  *stream << row.name;
}

class CrioCommandLine : public testing::TestWithParam<Row> {};

TEST_P(CrioCommandLine, BeatsTheFiles) {
  const std::string file =
      "[crio.runtime]\ndefault_runtime = \"crun\"\npids_limit = 1\nhooks_dir = [\"/f\"]\n"
      "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/f\"\nmonitor_path = \"/m\"\n";
  EXPECT_EQ(at(effective_of(started(GetParam().words, GetParam().variables), file), GetParam().key), GetParam().value);
}

INSTANTIATE_TEST_SUITE_P(
    ,
    CrioCommandLine,
    testing::Values(
        Row{"nothing", {}, {}, "crio.runtime.default_runtime", "\"crun\""},
        Row{"two_words", {"--default-runtime", "nvidia"}, {}, "crio.runtime.default_runtime", "\"nvidia\""},
        Row{"one_word", {"--default-runtime=nvidia"}, {}, "crio.runtime.default_runtime", "\"nvidia\""},
        Row{"one_dash", {"-default-runtime", "nvidia"}, {}, "crio.runtime.default_runtime", "\"nvidia\""},
        Row{"the_last_counts",
            {"--default-runtime=a", "--default-runtime=b"},
            {},
            "crio.runtime.default_runtime",
            "\"b\""},
        Row{"a_flag_beats_its_variable",
            {"--default-runtime=a"},
            {{"CONTAINER_DEFAULT_RUNTIME", "b"}},
            "crio.runtime.default_runtime",
            "\"a\""},
        Row{"a_variable", {}, {{"CONTAINER_DEFAULT_RUNTIME", "b"}}, "crio.runtime.default_runtime", "\"b\""},
        Row{"a_variable_of_another_name",
            {},
            {{"ENABLE_POD_EVENTS", "true"}},
            "crio.runtime.enable_pod_events",
            "true"},
        Row{"a_flag_without_a_variable", {}, {{"CONTAINER_ENABLE_NRI", "false"}}, "crio.nri.enable_nri", "true"},
        Row{"an_empty_number_is_none", {}, {{"CONTAINER_PIDS_LIMIT", ""}}, "crio.runtime.pids_limit", "1"},
        Row{"a_number", {"--pids-limit", "7"}, {}, "crio.runtime.pids_limit", "7"},
        Row{"a_short_flag", {"-l", "debug"}, {}, "crio.runtime.log_level", "\"debug\""},
        Row{"a_boolean_takes_no_word", {"--read-only", "--pids-limit", "7"}, {}, "crio.runtime.read_only", "true"},
        Row{"a_boolean_with_a_value", {"--enable-nri=false"}, {}, "crio.nri.enable_nri", "false"},
        Row{"a_list_by_repeating",
            {"--hooks-dir", "/a", "--hooks-dir", "/b"},
            {},
            "crio.runtime.hooks_dir",
            "[\"/a\", \"/b\"]"},
        Row{"a_list_by_commas", {"--hooks-dir=/a,/b"}, {}, "crio.runtime.hooks_dir", "[\"/a\", \"/b\"]"},
        Row{"a_flag_named_unlike_its_key", {"--cni-plugin-dir=/a"}, {}, "crio.network.plugin_dirs", "[\"/a\"]"},
        Row{"a_flag_that_sets_no_key_takes_its_word",
            {"--log-format", "json", "--pids-limit", "7"},
            {},
            "crio.runtime.pids_limit",
            "7"},
        Row{"words_behind_the_flags_are_none", {"wipe", "--pids-limit", "7"}, {}, "crio.runtime.pids_limit", "1"},
        Row{"runtimes", {"--runtimes", "nvidia:/c:/run/c"}, {}, "crio.runtime.runtimes.nvidia.runtime_path", "\"/c\""},
        Row{"runtimes_replace_a_whole_handler",
            {"--runtimes", "nvidia:/c:/run/c"},
            {},
            "crio.runtime.runtimes.nvidia.monitor_path",
            "absent"},
        Row{"runtimes_with_all_fields",
            {"--runtimes", "x:/c:/r:vm:true:/conf:20MiB"},
            {},
            "crio.runtime.runtimes.x.privileged_without_host_devices",
            "true"},
        Row{"runtimes_leave_others",
            {"--runtimes", "x:/c:/run/c"},
            {},
            "crio.runtime.runtimes.nvidia.runtime_path",
            "\"/f\""},
        Row{"a_wrong_number_stops_it",
            {"--pids-limit", "many"},
            {},
            "crio.runtime.pids_limit",
            "refused at the command line (--pids-limit)"},
        Row{"a_wrong_handler_stops_it",
            {"--runtimes", "nvidia"},
            {},
            "crio.runtime.pids_limit",
            "refused at the command line (--runtimes)"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(CrioStart, OriginsSayWhichFlagOrVariable) {
  const auto config = effective_of(
      started({"--default-runtime", "nvidia"}, {{"CONTAINER_PIDS_LIMIT", "9"}}),
      "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.nvidia]\nruntime_path = \"/x\"\n");
  ASSERT_TRUE(config);
  const Table& runtime = *find(*find(config->config, "crio")->table(), "runtime")->table();
  EXPECT_EQ(find(runtime, "default_runtime")->origin.to_string(), "the command line (--default-runtime)");
  EXPECT_EQ(find(runtime, "pids_limit")->origin.to_string(), "the environment (CONTAINER_PIDS_LIMIT)");
  bool told = false;
  for (const Event& event : config->events)
    told = told || (event.kind == Event::Kind::overridden && event.key.to_string() == "crio.runtime.default_runtime" &&
                    event.by.to_string() == "the command line (--default-runtime)");
  EXPECT_TRUE(told);
}

TEST(CrioStart, NamesTheFilesToRead) {
  const auto line = read_command_line(crio_of("1.34.11"), started({"-c", "", "--config-dir=/d"}));
  ASSERT_TRUE(line);
  EXPECT_EQ(line->config_path, "");
  EXPECT_EQ(line->drop_in_folder, "/d");
  const auto none = read_command_line(crio_of("1.34.11"), started({}, {{"CONTAINER_CONFIG", "/c"}}));
  EXPECT_EQ(none->config_path, "/c");
  EXPECT_EQ(none->drop_in_folder, std::nullopt);
}

TEST(CrioStart, TheUnitsFileIsReadAsSystemdReadsIt) {
  const CrioHost host({{"/etc/sysconfig/crio",
                        "# a comment\n; another\nCONTAINER_PIDS_LIMIT=3\n"
                        "CRIO_RUNTIME_OPTIONS='--default-runtime nvidia  --runtimes=nvidia:/c:/r'\n"
                        "CRIO_CONFIG_OPTIONS=\"--config-dir \\\n/d\"\nno assignment\nOTHER=--pids-limit=8\n"}});
  const StartWords start = read_environment_file(host);
  std::string words;
  for (const StartWord& word : start.words)
    words += word.text + "@" + word.origin.to_string() + " ";
  EXPECT_EQ(words,
            "--config-dir@/etc/sysconfig/crio:5 /d@/etc/sysconfig/crio:5 --default-runtime@/etc/sysconfig/crio:4 "
            "nvidia@/etc/sysconfig/crio:4 --runtimes=nvidia:/c:/r@/etc/sysconfig/crio:4 ");
  ASSERT_EQ(start.variables.size(), 4U);
  EXPECT_EQ(start.variables.front().name, "CONTAINER_PIDS_LIMIT");
  EXPECT_EQ(start.variables.front().value, "3");
  EXPECT_TRUE(read_environment_file(CrioHost({})).words.empty());
}

}  // namespace
}  // namespace ctkit::engine::crio
