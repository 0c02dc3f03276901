#include "engine/containerd/own_check.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/containerd/containerd_engine.h"
#include "support/memory_files.h"

namespace ctkit::engine::containerd {
namespace {

using test::MemoryFiles;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kConfig = "/etc/containerd/config.toml";

Daemon daemon_of(std::string_view release) {
  return {.known = find_release(Release::parse(release).value()).value()};
}

/// What the copy makes, as `config dump` on it would say.
std::string dump_of_copy(const OwnCheck& check, std::string_view release, const MemoryFiles& files) {
  const auto staged = check.stage(files, "/run/stage");
  MemoryFiles copy;
  for (const StagedFile& file : staged.value())
    copy.add_file(file.path, file.text);
  const LoadRequest request{.config_path = std::string("/run/stage") + kConfig, .config_given = true, .as_dump = true};
  const ContainerdEngine engine(daemon_of(release), request);
  return engine.render(engine.effective(copy, false).value());
}

class OwnCheckTest : public testing::TestWithParam<const char*> {};

TEST_P(OwnCheckTest, TheCopyMakesWhatTheFilesMake) {
  const MemoryFiles files{{kConfig,
                           "# root\nimports = [\n  \"conf.d/*.toml\", # relative\n  '/opt/x.toml',\n]\nversion = 2\n"
                           "[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"p\"\n"},
                          {"/etc/containerd/conf.d/10-a.toml",
                           "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".cni]\nbin_dir = \"/b\"\n"},
                          {"/etc/containerd/conf.d/note.txt", "not read"},
                          {"/opt/x.toml", "version = 2\nimports = [\"/opt/more/*\"]\n[debug]\nlevel = \"info\"\n"},
                          {"/opt/more/y", "version = 2\n[debug]\nlevel = \"warn\"\n"}};
  const ContainerdOwnCheck check(daemon_of(GetParam()), {});
  const auto staged = check.stage(files, "/run/stage");
  ASSERT_TRUE(staged) << staged.error().message;
  EXPECT_EQ(staged->front().path, std::string("/run/stage") + kConfig);
  EXPECT_THAT(staged->front().text, testing::HasSubstr("\"/run/stage/opt/x.toml\""));
  const auto compared = check.compare(files, dump_of_copy(check, GetParam(), files));
  ASSERT_TRUE(compared) << compared.error().message;
  EXPECT_THAT(*compared, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Releases, OwnCheckTest, testing::Values("1.6.20", "1.7.24", "2.1.4"));

TEST(OwnCheck, TellsTheKeysThatTheDaemonHasOtherwise) {
  const MemoryFiles files{{kConfig, "version = 2\n"}};
  const ContainerdOwnCheck check(daemon_of("1.7.24"), {});
  std::string dump = dump_of_copy(check, "1.7.24", files);
  dump.replace(dump.find("/var/lib/containerd"), 19, "/var/lib/elsewhere!");
  const auto compared = check.compare(files, dump);
  ASSERT_TRUE(compared);
  ASSERT_EQ(compared->size(), 1U);
  EXPECT_EQ(compared->front().key.to_string(), "root");
  EXPECT_EQ(*compared->front().predicted->string(), "/var/lib/containerd");
  EXPECT_EQ(*compared->front().answered->string(), "/var/lib/elsewhere!");
}

TEST(OwnCheck, AnAnswerThatIsNoTomlIsAnError) {
  const MemoryFiles files{{kConfig, "version = 2\n"}};
  EXPECT_FALSE(ContainerdOwnCheck(daemon_of("1.7.24"), {}).compare(files, "[broken"));
}

}  // namespace
}  // namespace ctkit::engine::containerd
