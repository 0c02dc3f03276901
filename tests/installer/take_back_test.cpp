#include "installer/take_back.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/node.h"

namespace ctkit::installer {
namespace {

using How = TakenBack::How;
using test::kDropIn;
using test::kLastDropIn;
using test::kRoot;
using test::make_engine;
using test::MemoryFiles;
using testing::HasSubstr;
using testing::Not;

/// A node with ours on it, and others at work.
class TakeBack : public testing::Test {
 protected:
  void apply(MemoryFiles& files) const { ASSERT_EQ(test::error_of(test::run(Verb::apply, *engine, files)), ""); }
  std::vector<TakenBack> uninstall(MemoryFiles& files) const {
    auto outcome = test::run(Verb::uninstall, *engine, files);
    EXPECT_EQ(test::error_of(outcome), "");
    return outcome && outcome->removed ? *outcome->removed : std::vector<TakenBack>{};
  }
  static void edit(MemoryFiles& files, const std::string& path, std::string_view more) {
    files.add_file(path, files.read(path).value() + std::string(more));
  }
  static How how(const std::vector<TakenBack>& list, const std::string& path) {
    for (const TakenBack& file : list) {
      if (file.path == path) return file.how;
    }
    ADD_FAILURE() << path << " is not in the list";
    return How::left;
  }

  std::unique_ptr<engine::Engine> engine = make_engine("1.7.27");
};

TEST_F(TakeBack, UntouchedFilesAreRestored) {
  MemoryFiles files{{kRoot, "version = 2\n"}};
  apply(files);
  const auto list = uninstall(files);
  ASSERT_EQ(list.size(), 2U);
  EXPECT_EQ(list.front().path, kRoot);
  EXPECT_EQ(how(list, kRoot), How::restored);
  EXPECT_EQ(how(list, kDropIn), How::restored);
}

TEST_F(TakeBack, AnEditOfTheRootStays) {
  MemoryFiles files{{kRoot, "version = 2 # two\n"}};
  apply(files);
  edit(files, kRoot, "\n[debug]\nlevel = \"debug\" # theirs\n");
  EXPECT_EQ(how(uninstall(files), kRoot), How::edited);
  EXPECT_EQ(files.read(kRoot).value(), "version = 2 # two\n\n[debug]\nlevel = \"debug\" # theirs\n");
  EXPECT_FALSE(files.exists(kDropIn));
}

TEST_F(TakeBack, AnImportThatSomebodyAddedStays) {
  MemoryFiles files{{kRoot, "version = 2\nimports = [\"/etc/a/*.toml\"]\n"}};
  apply(files);
  const std::string with_ours = files.read(kRoot).value();
  const std::size_t end = with_ours.find(']');
  files.add_file(kRoot, with_ours.substr(0, end) + ", \"/etc/b/*.toml\"" + with_ours.substr(end));
  EXPECT_EQ(how(uninstall(files), kRoot), How::edited);
  EXPECT_EQ(files.read(kRoot).value(), "version = 2\nimports = [\"/etc/a/*.toml\", \"/etc/b/*.toml\"]\n");
}

TEST_F(TakeBack, ARootThatLostOurImportIsLeft) {
  MemoryFiles files{{kRoot, "version = 2\n"}};
  apply(files);
  files.add_file(kRoot, "version = 2\nroot = \"/data\"\n");
  EXPECT_EQ(how(uninstall(files), kRoot), How::left);
  EXPECT_EQ(files.read(kRoot).value(), "version = 2\nroot = \"/data\"\n");
  EXPECT_FALSE(files.exists(kDropIn));
}

TEST_F(TakeBack, AnEditOfOurDropInStays) {
  auto files = test::incident();
  apply(files);
  edit(files, kLastDropIn, "\n[debug]\nlevel = \"debug\"\n");
  EXPECT_EQ(how(uninstall(files), kLastDropIn), How::edited);
  const std::string left = files.read(kLastDropIn).value();
  EXPECT_THAT(left, HasSubstr("[debug]\nlevel = \"debug\"\n"));
  EXPECT_THAT(left, Not(HasSubstr("nvidia-cdi")));
}

TEST_F(TakeBack, AChangedValueInOurDropInStays) {
  auto files = test::incident();
  apply(files);
  std::string text = files.read(kLastDropIn).value();
  text.replace(text.find("/opt/nvidia-cdi"), std::string("/opt/nvidia-cdi").size(), "/mine");
  files.add_file(kLastDropIn, text);
  EXPECT_EQ(how(uninstall(files), kLastDropIn), How::edited);
  const std::string left = files.read(kLastDropIn).value();
  EXPECT_THAT(left, HasSubstr("BinaryName = \"/mine\""));
  EXPECT_THAT(left, Not(HasSubstr("/opt/nvidia")));
}

TEST_F(TakeBack, ADropInThatSomebodyRemovedIsDone) {
  auto files = test::incident();
  const auto before = files.tree();
  apply(files);
  ASSERT_TRUE(files.remove(kLastDropIn));
  EXPECT_EQ(how(uninstall(files), kLastDropIn), How::already);
  EXPECT_EQ(files.tree(), before);
}

TEST_F(TakeBack, AForeignFileThatWeReplacedIsNotLostWhenOursWasEdited) {
  const std::string foreign =
      "# theirs\nversion = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"p:1\"\n";
  MemoryFiles files{{kRoot, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"}, {kDropIn, foreign}};
  apply(files);
  edit(files, kDropIn, "# a remark\n");
  EXPECT_EQ(how(uninstall(files), kDropIn), How::edited);
  EXPECT_EQ(files.read(kDropIn).value_or(""), foreign);
}

TEST_F(TakeBack, AForeignFileThatWeReplacedStaysWithWhatOthersAddedSince) {
  const std::string foreign =
      "# theirs\nversion = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"p:1\"\n";
  MemoryFiles files{{kRoot, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"}, {kDropIn, foreign}};
  apply(files);
  edit(files, kDropIn, "\n[debug]\nlevel = \"debug\"\n");
  EXPECT_EQ(how(uninstall(files), kDropIn), How::edited);
  EXPECT_THAT(files.read(kDropIn).value_or(""), HasSubstr("sandbox_image = \"p:1\""));
  EXPECT_THAT(files.read(kDropIn).value_or(""), HasSubstr("level = \"debug\""));
}

TEST_F(TakeBack, AFileThatIsNoTomlAnyMoreIsLeft) {
  auto files = test::incident();
  apply(files);
  files.add_file(kLastDropIn, "this is = = no toml\n");
  EXPECT_EQ(how(uninstall(files), kLastDropIn), How::left);
  EXPECT_EQ(files.read(kLastDropIn).value(), "this is = = no toml\n");
}

TEST_F(TakeBack, AnApplyAfterAnEditOfTheRootKeepsIt) {
  MemoryFiles files{{kRoot, "version = 2\n"}};
  apply(files);
  edit(files, kRoot, "[debug]\nlevel = \"debug\"\n");
  apply(files);
  EXPECT_THAT(files.read(kRoot).value(), HasSubstr("[debug]\nlevel = \"debug\"\n"));
  EXPECT_EQ(how(uninstall(files), kRoot), How::edited);
  EXPECT_EQ(files.read(kRoot).value(), "version = 2\n[debug]\nlevel = \"debug\"\n");
}

struct Line {
  std::string release;
  std::string section;
};

class TakeBackOf : public TakeBack, public testing::WithParamInterface<Line> {
 protected:
  TakeBackOf() { engine = make_engine(GetParam().release); }
};
void PrintTo(const Line& line, std::ostream* out) {
  *out << line.release;
}

INSTANTIATE_TEST_SUITE_P(Lines,
                         TakeBackOf,
                         testing::Values(Line{"1.7.27", R"([plugins."io.containerd.grpc.v1.cri"])"},
                                         Line{"2.1.0", R"([plugins."io.containerd.cri.v1.images"])"}));

TEST_P(TakeBackOf, AnApplyAfterAnEditOfOurDropInKeepsIt) {
  MemoryFiles files{{kRoot, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"}};
  apply(files);
  edit(files, kDropIn, "\n[debug]\nlevel = \"debug\"\n");
  apply(files);
  const auto effective = test::run(Verb::effective, *engine, files);
  ASSERT_EQ(test::error_of(effective), "");
  EXPECT_EQ(find(*find(effective->effective->config, "debug")->table(), "level")->string()[0], "debug");
  uninstall(files);
  EXPECT_THAT(files.read(kDropIn).value_or(""), HasSubstr("level = \"debug\""));
  EXPECT_THAT(files.read(kDropIn).value_or(""), Not(HasSubstr("nvidia-cdi")));
}

TEST_F(TakeBack, AFileThatCannotBeReadStopsUninstallBeforeAnyChange) {
  MemoryFiles files{{kRoot, "version = 2\n"}};
  apply(files);
  const auto before = files.tree();
  files.mark_unreadable(kDropIn);
  const auto outcome = test::run(Verb::uninstall, *engine, files);
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, engine::ErrorCode::permission);
  EXPECT_EQ(files.tree(), before);
}

}  // namespace
}  // namespace ctkit::installer
