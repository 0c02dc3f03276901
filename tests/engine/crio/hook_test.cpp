#include "engine/crio/hook.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/crio/crio_node.h"

namespace ctkit::engine::crio {
namespace {

using test::CrioHost;
using testing::HasSubstr;

const std::string kUsual = "/usr/share/containers/oci/hooks.d";
const std::string kProgram = "/usr/local/nvidia/toolkit/nvidia-container-runtime-hook";

Result<std::vector<Candidate>> hook_candidates(const CrioHost& host, Hook hook) {
  hook.program = kProgram;
  const CrioEngine engine(test::crio_of("1.34.11"), {}, std::move(hook));
  return engine.candidates(host, engine.effective(host, false).value(), {});
}

std::string hooks_dir(const std::string& list) {
  return "[crio.runtime]\nhooks_dir = " + list + "\n";
}

/// The path of the one file that would be written, or the refusal's place.
std::string place(const CrioHost& host, Hook hook = {}) {
  const auto candidates = hook_candidates(host, std::move(hook));
  if (!candidates) {
    EXPECT_EQ(candidates.error().code, ErrorCode::needs_decision);
    return "refused at '" + candidates.error().where + "'";
  }
  EXPECT_EQ(candidates->size(), 1U);
  EXPECT_EQ(candidates->front().files.size(), 1U);
  EXPECT_TRUE(candidates->front().may_change.empty());
  return candidates->front().files.front().path;
}

TEST(CrioHook, IsWhatNvidiasToolsWrite) {
  EXPECT_EQ(render_hook(kProgram), R"({
  "version": "1.0.0",
  "hook": {
    "path": "/usr/local/nvidia/toolkit/nvidia-container-runtime-hook",
    "args": [
      "nvidia-container-runtime-hook",
      "prestart"
    ],
    "env": [
      "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/nvidia/toolkit"
    ]
  },
  "when": {
    "always": true,
    "commands": [
      ".*"
    ]
  },
  "stages": [
    "prestart"
  ]
}
)");
  EXPECT_THAT(render_hook("/usr/bin/x"), HasSubstr("/sbin:/bin\""));
  EXPECT_THAT(render_hook("/a\"b/x"), HasSubstr("\"/a\\\"b/x\""));
}

TEST(CrioHook, GoesWhereTheDaemonReadsHooks) {
  EXPECT_EQ(place(CrioHost({})), kUsual + "/oci-nvidia-hook.json");
  EXPECT_EQ(place(CrioHost({{"50", hooks_dir("[\"/a\", \"/b/\"]")}})), "/b/oci-nvidia-hook.json");
  EXPECT_EQ(place(CrioHost({{"50", hooks_dir("[\"" + kUsual + "\", \"/b\"]")}})), kUsual + "/oci-nvidia-hook.json");
  EXPECT_EQ(place(CrioHost({{"50", hooks_dir("[\"/a\", \"/b\"]")}}), {.folder = "/a/", .name = "n.json"}), "/a/n.json");
}

TEST(CrioHook, WhereNobodyWouldReadItADecisionIsNeeded) {
  EXPECT_EQ(place(CrioHost({{"50", hooks_dir("[]")}})), "refused at ''");
  // The operator's own default, which CRI-O's hooks_dir does not name.
  EXPECT_EQ(place(CrioHost({}), {.folder = "/run/containers/oci/hooks.d"}), "refused at '/run/containers/oci/hooks.d'");
  EXPECT_EQ(place(CrioHost({{kUsual, "a file"}})), "refused at '" + kUsual + "'");
  EXPECT_EQ(place(CrioHost({{"50", hooks_dir("[\"" + kUsual + "\", \"/b\"]")}, {"/b/oci-nvidia-hook.json", "{}"}})),
            "refused at '/b/oci-nvidia-hook.json'");
}

TEST(CrioHook, AFileOfTheirsIsKeptForTheWayBack) {
  const auto candidates = hook_candidates(CrioHost({{kUsual + "/oci-nvidia-hook.json", "theirs"}}), {});
  ASSERT_TRUE(candidates);
  EXPECT_EQ(candidates->front().files.front().before, "theirs");
}

TEST(CrioHook, AnEditedHookGoesWhileItStartsOurProgram) {
  const FileChange ours{.path = kUsual + "/oci-nvidia-hook.json", .after = render_hook(kProgram)};
  const CrioEngine engine = test::crio_engine("1.34.11");
  const std::string edited = render_hook(kProgram) + "\n";
  EXPECT_EQ(engine.undo(ours, edited).value(), std::nullopt);
  EXPECT_EQ(engine.undo(ours, "{}").value(), "{}");
}

}  // namespace
}  // namespace ctkit::engine::crio
