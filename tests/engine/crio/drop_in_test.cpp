#include "engine/crio/drop_in.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/crio/crio_node.h"
#include "engine/overlay.h"

namespace ctkit::engine::crio {
namespace {

using test::at;
using test::crio_engine;
using test::CrioHost;
using test::MemoryFiles;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::string kPackaged =
    "[crio.runtime]\ndefault_runtime = \"crun\"\n[crio.runtime.runtimes.crun]\nruntime_path = "
    "\"/usr/libexec/crio/crun\"\n"
    "runtime_root = \"/run/crun\"\nmonitor_path = "
    "\"/usr/libexec/crio/conmon\"\nallowed_annotations = [\"x.crio.io\"]\n"
    "inherit_default_runtime = false\nplatform_runtime_paths = { \"linux/arm64\" = \"/arm\" }\n";

Desired nvidia(std::string drop_in = {}, std::string default_handler = {}) {
  return {.handlers = {{.name = "nvidia", .binary = "/t/nvidia-container-runtime"}},
          .default_handler = std::move(default_handler),
          .drop_in = std::move(drop_in)};
}

Result<std::vector<Candidate>> candidates(std::string_view release, const MemoryFiles& host, const Desired& desired) {
  const auto engine = crio_engine(release);
  return engine.candidates(host, engine.effective(host, false).value(), desired);
}

/// What the daemon makes of the host with the n-th candidate in place.
Result<EffectiveConfig> with(std::string_view release, const MemoryFiles& host, const Desired& desired, std::size_t n) {
  Overlay after(static_cast<const FileReader&>(host));
  after.apply(candidates(release, host, desired).value().at(n).files);
  return crio_engine(release).effective(after, false);
}

TEST(CrioDropIn, CopiesTheDefaultHandlerAndKeepsItsMonitor) {
  const CrioHost host({{"10-crio.conf", kPackaged}});
  const auto config = with("1.34.11", host, nvidia(), 0);
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.runtime_path"), "\"/t/nvidia-container-runtime\"");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.monitor_path"), "\"/usr/libexec/crio/conmon\"");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.runtime_type"), "\"oci\"");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.runtime_root"), "\"/run/crun\"");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.allowed_annotations"), "[\"x.crio.io\"]");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.platform_runtime_paths"), "absent");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.inherit_default_runtime"), "absent");
  EXPECT_EQ(at(config, "crio.runtime.default_runtime"), "\"crun\"");
}

TEST(CrioDropIn, NeverCopiesAnNvidiaOrVirtualMachineDefault) {
  const CrioHost host({{"10",
                        "[crio.runtime]\ndefault_runtime = \"kata\"\n[crio.runtime.runtimes.kata]\n"
                        "runtime_type = \"vm\"\nruntime_path = \"/kata\"\nruntime_config_path = \"/k.toml\"\n"}});
  const auto config = with("1.34.11", host, nvidia(), 0);
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.runtime_root"), "\"/run/crun\"");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.runtime_config_path"), "\"\"");
  const CrioHost stock({{"10",
                         "[crio.runtime]\ndefault_runtime = \"gpu\"\n[crio.runtime.runtimes.gpu]\n"
                         "runtime_path = \"/usr/bin/nvidia-container-runtime\"\nruntime_root = \"/gpu\"\n"}});
  EXPECT_EQ(at(with("1.34.11", stock, nvidia(), 0), "crio.runtime.runtimes.nvidia.runtime_root"), "\"/run/crun\"");
}

TEST(CrioDropIn, OffersNamesThatAreReadLater) {
  const CrioHost host({{"99-nvidia.toml", ""}, {"zz-top", ""}});
  std::vector<std::string> names;
  const auto made = candidates("1.34.11", host, nvidia());
  for (const Candidate& candidate : made.value())
    names.push_back(candidate.files.front().path.substr(test::kDropIns.size()));
  EXPECT_THAT(names, ElementsAre("99-nvidia.conf", "zz-99-nvidia.conf", "zzz-99-nvidia.conf"));
}

TEST(CrioDropIn, AFileInItsPlaceKeepsAllElseThatItSays) {
  const CrioHost host({{"99-nvidia.conf",
                        "[Crio.Runtime]\npids_limit = 7\n[Crio.Runtime.runtimes.nvidia]\nruntime_path = \"/old\"\n"
                        "monitor_path = \"/old\"\n"}});
  const auto made = candidates("1.34.11", host, nvidia()).value();
  EXPECT_TRUE(made.front().files.front().before.has_value());
  const auto config = with("1.34.11", host, nvidia(), 0);
  EXPECT_EQ(at(config, "crio.runtime.pids_limit"), "7");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.runtime_path"), "\"/t/nvidia-container-runtime\"");
  EXPECT_EQ(at(config, "crio.runtime.runtimes.nvidia.monitor_path"), "absent");
}

TEST(CrioDropIn, ASecondFileBringsRuncBackWhereADefaultForgetsIt) {
  const CrioHost host({});
  const Desired desired = nvidia({}, "nvidia");
  const auto made = candidates("1.24.6", host, desired).value();
  ASSERT_EQ(made.at(1).files.size(), 2U);
  EXPECT_EQ(at(with("1.24.6", host, desired, 0), "crio.runtime.runtimes.runc"), "absent");
  const auto config = with("1.24.6", host, desired, 1);
  EXPECT_EQ(at(config, "crio.runtime.runtimes.runc.runtime_root"), "\"/run/runc\"");
  EXPECT_EQ(at(config, "crio.runtime.default_runtime"), "\"nvidia\"");
  EXPECT_EQ(candidates("1.30.14", host, desired).value().at(1).files.size(), 1U);
}

TEST(CrioDropIn, OutsideTheFolderADecisionIsNeeded) {
  const auto elsewhere = candidates("1.34.11", CrioHost({}), nvidia("/etc/crio/conf.d/99-nvidia.toml"));
  ASSERT_FALSE(elsewhere);
  EXPECT_EQ(elsewhere.error().code, ErrorCode::needs_decision);
  const auto in_a_file = candidates("1.34.11", CrioHost({{"/etc/crio/crio.conf.d", ""}}), nvidia());
  ASSERT_FALSE(in_a_file);
  EXPECT_EQ(in_a_file.error().code, ErrorCode::needs_decision);
}

TEST(CrioUndo, LeavesWhatOthersAddedToOurFile) {
  const auto engine = crio_engine("1.34.11");
  const std::string ours = candidates("1.34.11", CrioHost({}), nvidia()).value().front().files.front().after.value();
  const FileChange change{.path = "/f", .after = ours};
  EXPECT_EQ(engine.undo(change, ours).value(), std::nullopt);
  const auto left = engine.undo(change, ours + "[crio.image]\npause_image = \"p\"\n");
  EXPECT_THAT(left.value().value(), HasSubstr("pause_image"));
  EXPECT_THAT(left.value().value(), Not(HasSubstr("nvidia-container-runtime")));
  const FileChange replaced{.path = "/f", .before = "# theirs\n", .after = ours};
  EXPECT_EQ(engine.undo(replaced, ours + "# more\n").value().value(), "# theirs\n");
}

}  // namespace
}  // namespace ctkit::engine::crio
