#include "engine/crio/effective.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/crio/crio_node.h"

namespace ctkit::engine::crio {
namespace {

using test::at;
using test::crio_engine;
using test::CrioHost;
using test::MemoryFiles;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kNvidia = "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/nv\"\n";

std::string handlers_of(std::string_view release, const MemoryFiles& host) {
  const auto engine = crio_engine(release);
  const auto config = engine.effective(host, false);
  if (!config) return "refused at " + config.error().where;
  std::string names;
  for (const Handler& handler : engine.handlers(*config))
    names += (names.empty() ? "" : " ") + handler.name + (handler.is_default ? "*" : "");
  return names;
}

TEST(Load, ReadsTheMainFileFirstThenTheFolderByBytes) {
  const CrioHost host({{test::kMain, "[crio.runtime]\npids_limit = 1\n"},
                       {"9", ""},
                       {"10/zz", ""},
                       {"10-x", ""},
                       {".hidden", ""},
                       {"README", "# nothing\n"}});
  const auto layers = load(host, {}, test::crio_of("1.34.11"));
  ASSERT_TRUE(layers);
  std::vector<std::string> names;
  for (const Layer& layer : *layers)
    names.push_back(layer.path.substr(std::string("/etc/crio/").size()));
  EXPECT_THAT(names,
              ElementsAre("crio.conf",
                          "crio.conf.d/.hidden",
                          "crio.conf.d/10/zz",
                          "crio.conf.d/10-x",
                          "crio.conf.d/9",
                          "crio.conf.d/README"));
}

TEST(Load, LinksToFilesAreReadAndAllOthersStopTheDaemon) {
  CrioHost host({{"/etc/crio/elsewhere/a", "[crio.runtime]\npids_limit = 3\n"}});
  host.add_link(test::kDropIns + "50", "../elsewhere/a");
  host.add_link(test::kDropIns + "60", "/dev/null");
  EXPECT_EQ(at(crio_engine("1.34.11").effective(host, false), "crio.runtime.pids_limit"), "3");
  host.add_link(test::kDropIns + "80", "../elsewhere");
  EXPECT_EQ(handlers_of("1.34.11", host), "refused at /etc/crio/crio.conf.d/80");
  host.add_link(test::kDropIns + "70", "../gone");
  EXPECT_EQ(handlers_of("1.34.11", host), "refused at /etc/crio/crio.conf.d/70");
}

TEST(Load, TheFolderItselfMayBeAFileButNoLink) {
  EXPECT_EQ(handlers_of("1.34.11", CrioHost({{"/etc/crio/crio.conf.d", std::string(kNvidia)}})), "crun* nvidia");
  CrioHost host({{"/etc/crio/real.d/1", ""}});
  host.add_link("/etc/crio/crio.conf.d", "real.d");
  EXPECT_EQ(handlers_of("1.34.11", host), "refused at /etc/crio/crio.conf.d");
}

TEST(Load, TheMainFileMayBeMissingOnlyWhereNobodyNamedIt) {
  CrioHost host({});
  EXPECT_EQ(handlers_of("1.34.11", host), "crun*");
  const LoadRequest named{.config_path = "/etc/crio/other.conf", .config_given = true};
  const auto config = crio_engine("1.34.11", named).effective(host, false);
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, ErrorCode::daemon_refuses);
  host.add_folder(test::kMain);
  EXPECT_EQ(handlers_of("1.34.11", host), "refused at /etc/crio/crio.conf");
}

TEST(Decode, KnownKeysAreStrictlyTypedAndOthersAreFree) {
  struct Case {
    std::string_view release, text, key, expected;
  };
  for (const Case& c : std::vector<Case>{
           {"1.34.11", "[CRIO.Runtime]\nPids_Limit = 5\n", "crio.runtime.pids_limit", "5"},
           {"1.34.11", "[crio.runtime]\n\"pid\xc5\xbf_limit\" = 5\n", "crio.runtime.pids_limit", "5"},
           {"1.34.11", "[crio.runtime]\npids-limit = 5\nPidsLimit = 6\n", "crio.runtime.pids_limit", "-1"},
           {"1.34.11", "[crio.runtime]\npids_limit = \"5\"\n", "x", "refused at /etc/crio/crio.conf.d/1:2"},
           {"1.34.11", "[crio.runtime]\nhooks_dir = [\"/a\", 1]\n", "x", "refused at /etc/crio/crio.conf.d/1:2"},
           {"1.28.11", "[crio.runtime]\ntimezone = 1\n", "crio.runtime.timezone", "absent"},
           {"1.30.14", "[crio.runtime]\ntimezone = 1\n", "x", "refused at /etc/crio/crio.conf.d/1:2"},
           {"1.30.14", "[crio.image]\npull_progress_timeout = 10\n", "crio.image.pull_progress_timeout", "\"10ns\""},
           {"1.30.14", "[crio.image]\npull_progress_timeout = \"10\"\n", "x", "refused at /etc/crio/crio.conf.d/1:2"},
           {"1.24.6", "[crio]\nnri = 5\n", "crio.nri", "absent"},
           {"1.28.11", "[crio]\nnri = 5\n", "x", "refused at /etc/crio/crio.conf.d/1:2"},
           {"1.34.11",
            "[crio.runtime]\nruntimes = \"x\"\n",
            "crio.runtime.runtimes.crun.runtime_root",
            "\"/run/crun\""},
           {"1.34.11", "[crio.runtime.runtimes]\nnvidia = \"x\"\n", "x", "refused at /etc/crio/crio.conf.d/1:2"}}) {
    const CrioHost host({{"1", std::string(c.text)}});
    EXPECT_EQ(at(crio_engine(c.release).effective(host, false), c.key), c.expected) << c.release << '\n' << c.text;
  }
}

TEST(Decode, SaysWhereTwoSpellingsOfAKeyCompete) {
  const CrioHost host({{"1", "[crio.runtime]\nlog_level = \"info\"\nLog_Level = \"warn\"\n"}});
  const auto config = crio_engine("1.34.11").effective(host, false);
  ASSERT_TRUE(config);
  ASSERT_EQ(config->diagnostics.size(), 1U);
  EXPECT_THAT(config->diagnostics.front().message, HasSubstr("'log_level' and 'Log_Level'"));
}

TEST(Merge, AHandlerThatIsNamedAgainStartsFromNothing) {
  const CrioHost host({{"10", std::string(kNvidia) + "monitor_path = \"/c\"\nallowed_annotations = [\"x.crio.io\"]\n"},
                       {"20", "[crio.runtime.runtimes.nvidia]\nruntime_path = \"/other\"\n"}});
  const auto config = crio_engine("1.34.11").effective(host, true);
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.monitor_path"), "absent");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.runtime_path"), "\"/other\"");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.runtime_type"), "\"\"");
  std::vector<std::string> erased;
  for (const Event& event : config->events) {
    if (event.kind == Event::Kind::erased && !event.value.origin.built_in())
      erased.push_back(event.key.parts.back() + " of " + event.to.to_string() + " by " + event.by.to_string());
  }
  EXPECT_THAT(erased,
              ElementsAre("allowed_annotations of crio.runtime.runtimes.nvidia by /etc/crio/crio.conf.d/20:1",
                          "monitor_path of crio.runtime.runtimes.nvidia by /etc/crio/crio.conf.d/20:1"));
}

TEST(Merge, ListsAreReplacedAndStorageOptionsAddUp) {
  const CrioHost host({{"10",
                        "[crio]\nstorage_option = [\"x=1\", \"y=2\"]\nroot = "
                        "\"/r\"\n[crio.runtime]\nhooks_dir = [\"/a\"]\n"},
                       {"20",
                        "[crio]\nstorage_option = [\"z=3\", \"x=1\"]\nroot = "
                        "\"\"\n[crio.runtime]\nhooks_dir = []\n"}});
  const auto config = crio_engine("1.34.11").effective(host, false);
  EXPECT_EQ(at(config, "crio.storage_option"), "[\"y=2\", \"z=3\", \"x=1\"]");
  EXPECT_EQ(at(config, "crio.root"), "\"/r\"");
  EXPECT_EQ(at(config, "crio.runtime.hooks_dir"), "[]");
}

TEST(Merge, UpTo125NamingADefaultForgetsRunc) {
  const CrioHost host({{"50", "[crio.runtime]\ndefault_runtime = \"nvidia\"\n" + std::string(kNvidia)}});
  EXPECT_EQ(handlers_of("1.24.6", host), "nvidia*");
  EXPECT_EQ(handlers_of("1.25.0", host), "nvidia*");
  EXPECT_EQ(handlers_of("1.25.1", host), "nvidia* runc");
  EXPECT_EQ(handlers_of("1.30.14", host), "nvidia* runc");
  EXPECT_EQ(handlers_of("1.31.13", host), "crun nvidia*");
  const CrioHost spelled({{"50", "[crio.runtime]\nDefault_Runtime = \"nvidia\"\n" + std::string(kNvidia)}});
  EXPECT_EQ(handlers_of("1.24.6", spelled), "nvidia* runc");
}

TEST(Merge, AnEmptyDefaultIsTheBuiltInOne) {
  const CrioHost host({{"50", "[crio.runtime]\ndefault_runtime = \"\"\n"}});
  EXPECT_EQ(handlers_of("1.34.11", host), "crun*");
  EXPECT_THAT(crio_engine("1.34.11").effective(host, false)->not_serving, IsEmpty());
}

TEST(Handlers, OneThatInheritsStartsTheDefaultsBinary) {
  const CrioHost host({{"50",
                        std::string(kNvidia) + "inherit_default_runtime = true\n"
                                               "[crio.runtime.runtimes.crun]\nruntime_path = \"/c\"\n"}});
  const auto engine = crio_engine("1.34.11");
  const auto config = engine.effective(host, false);
  EXPECT_EQ(engine.handlers(*config).back().binary, "/c");
}

TEST(Releases, UnknownOnesTakeTheKeysOfTheirLineOrTheOneBefore) {
  EXPECT_EQ(recorded_releases()[test::crio_of("1.30.2").recorded], "1.30.14");
  EXPECT_THAT(test::crio_of("1.30.2").diagnostics, IsEmpty());
  EXPECT_EQ(recorded_releases()[test::crio_of("1.29.4").recorded], "1.28.11");
  EXPECT_EQ(test::crio_of("1.29.4").diagnostics.size(), 1U);
  EXPECT_EQ(test::crio_of("1.35.0").regime.dialect, &kBurntSushi13);
  EXPECT_EQ(test::crio_of("1.35.1").regime.dialect, &kBurntSushi16);
  EXPECT_FALSE(find_release(Release{.major = 1, .minor = 23}));
  EXPECT_EQ(later_lines(Release{.major = 1, .minor = 34, .patch = 11}).size(), 2U);
}

}  // namespace
}  // namespace ctkit::engine::crio
