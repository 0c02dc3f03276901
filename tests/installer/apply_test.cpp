#include "installer/apply.h"

#include <algorithm>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/node.h"

namespace ctkit::installer {
namespace {

using engine::Error;
using engine::ErrorCode;
using test::kDropIn;
using test::kJournal;
using test::kLastDropIn;
using test::kRoot;
using test::make_engine;
using test::MemoryFiles;
using testing::HasSubstr;
using testing::IsEmpty;

const Error kDiskFull{.message = "no space left on device"};
constexpr int kMostMutations = 60;
constexpr int kStaysFull = 8;  // what putting back tries

/// What a node has before us.
using Fill = void (*)(MemoryFiles&);

class NodeFiles : public MemoryFiles {
 public:
  explicit NodeFiles(Fill fill) { fill(*this); }
};

void fill_incident(MemoryFiles& files) {
  const auto incident = test::incident();
  for (const auto& [path, node] : incident.tree()) {
    if (const auto* file = std::get_if<MemoryFiles::File>(&node)) files.add_file(path, file->text);
  }
}

void fill_no_config(MemoryFiles& files) {
  files.add_file("/etc/hostname", "node\n");
}

void fill_commented_root(MemoryFiles& files) {
  files.add_file(kRoot,
                 "# keep me\r\nversion = 2\r\nimports = [\r\n  \"/etc/a/*.toml\", # a\r\n]\r\n"
                 "[plugins.\"io.containerd.grpc.v1.cri\"]\r\nsandbox_image = \"p\"\r\n");
}

void fill_foreign_drop_in(MemoryFiles& files) {
  files.add_file(kRoot, "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n");
  files.add_file(kDropIn,
                 "# somebody's\nversion = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\n"
                 "sandbox_image = \"pause:1\"\n",
                 0600);
}

void fill_linked_root(MemoryFiles& files) {
  files.add_file("/data/containerd.toml", "version = 2\n");
  files.add_link(kRoot, "../../data/containerd.toml");
}

struct Node {
  std::string name;
  Fill fill;
  std::string release;
};
void PrintTo(const Node& node, std::ostream* out) {
  *out << node.name;
}

/// The tree without our state folder, whose file names count generations.
MemoryFiles::Tree outside_state(const MemoryFiles& files) {
  auto tree = files.tree();
  std::erase_if(tree, [](const auto& item) { return item.first.starts_with("/usr"); });
  return tree;
}

/// Every change from the n-th on fails: the disk stays full. What may be left then without a
/// journal that tells of it are empty folders on the way to the state folder.
void stay_full_from(MemoryFiles& files, int n) {
  for (int i = n; i < n + kStaysFull; ++i)
    files.fail_mutation(i, kDiskFull);
}

/// What an error says about the files, against what became of them.
void expect_true_words(const Error& error, const MemoryFiles::Tree& before, const MemoryFiles::Tree& after) {
  if (after == before) {
    EXPECT_THAT(error.hint, HasSubstr("as before"));
    return;
  }
  for (const auto& [path, node] : before) {
    const auto now = after.find(path);
    if (now != after.end() && now->second == node) continue;
    EXPECT_THAT(error.hint, HasSubstr("could not be put back"));
  }
}

/// Until the disk has room again.
bool repeated(const std::function<engine::Result<Outcome>()>& run) {
  for (int i = 0; i < kMostMutations; ++i) {
    if (run()) return true;
  }
  ADD_FAILURE() << test::error_of(run());
  return false;
}

class Apply : public testing::TestWithParam<Node> {
 protected:
  engine::Result<Outcome> run(Verb verb, MemoryFiles& files) const { return test::run(verb, *engine_, files); }
  engine::Result<Outcome> run_other(MemoryFiles& files) const {
    auto request = test::make_request(Verb::apply);
    request.desired.handlers = {{.name = "gpu", .binary = "/opt/gpu"}};
    request.desired.drop_in = other_place;
    return test::run(request, *engine_, files);
  }
  std::string other_place = {};
  [[nodiscard]] MemoryFiles::Tree applied() const {
    NodeFiles files(GetParam().fill);
    EXPECT_TRUE(run(Verb::apply, files));
    return outside_state(files);
  }

 private:
  std::unique_ptr<engine::Engine> engine_ = make_engine<test::LastContainerd>(GetParam().release);
};

const auto kNodes = testing::Values(Node{"Incident", fill_incident, "1.7.27"},
                                    Node{"NoConfig1", fill_no_config, "1.7.27"},
                                    Node{"NoConfig2", fill_no_config, "2.1.0"},
                                    Node{"CommentedRoot16", fill_commented_root, "1.6.20"},
                                    Node{"CommentedRoot20", fill_commented_root, "2.0.5"},
                                    Node{"ForeignDropIn", fill_foreign_drop_in, "1.7.27"},
                                    Node{"ForeignDropIn2", fill_foreign_drop_in, "2.2.0"},
                                    Node{"LinkedRoot", fill_linked_root, "2.1.0"});

INSTANTIATE_TEST_SUITE_P(Nodes, Apply, kNodes, [](const auto& item) { return item.param.name; });

TEST_P(Apply, PlanAfterItIsEmpty) {
  NodeFiles files(GetParam().fill);
  ASSERT_EQ(test::error_of(run(Verb::apply, files)), "");
  const auto plan = run(Verb::plan, files);
  ASSERT_EQ(test::error_of(plan), "");
  EXPECT_THAT(plan->plan->files, IsEmpty());
  EXPECT_THAT(plan->plan->changes, IsEmpty());
  EXPECT_FALSE(plan->plan->restart_due());
}

TEST_P(Apply, SecondOneWritesNothing) {
  NodeFiles files(GetParam().fill);
  ASSERT_EQ(test::error_of(run(Verb::apply, files)), "");
  const auto log = files.log();
  const auto tree = files.tree();
  ASSERT_EQ(test::error_of(run(Verb::apply, files)), "");
  EXPECT_EQ(files.log(), log);
  EXPECT_EQ(files.tree(), tree);
}

TEST_P(Apply, UninstallRestoresEverythingThatWasThere) {
  NodeFiles files(GetParam().fill);
  const auto before = files.tree();
  ASSERT_EQ(test::error_of(run(Verb::apply, files)), "");
  ASSERT_NE(files.tree(), before);
  ASSERT_EQ(test::error_of(run(Verb::uninstall, files)), "");
  EXPECT_EQ(files.tree(), before);
}

TEST_P(Apply, UninstallRestoresEverythingAfterAnotherApply) {
  NodeFiles files(GetParam().fill);
  const auto before = files.tree();
  ASSERT_EQ(test::error_of(run(Verb::apply, files)), "");
  ASSERT_EQ(test::error_of(run_other(files)), "");
  ASSERT_EQ(test::error_of(run(Verb::uninstall, files)), "");
  EXPECT_EQ(files.tree(), before);
}

TEST_P(Apply, AFailureAtAnyStepLeavesTheNodeAsBefore) {
  const auto wanted = applied();
  for (int n = 1; n < kMostMutations; ++n) {
    SCOPED_TRACE(n);
    NodeFiles files(GetParam().fill);
    const auto before = files.tree();
    files.fail_mutation(n, kDiskFull);
    const auto failed = run(Verb::apply, files);
    if (failed) return;  // past the last step
    EXPECT_EQ(failed.error().code, ErrorCode::failed);
    EXPECT_EQ(files.tree(), before);
    expect_true_words(failed.error(), before, files.tree());
    ASSERT_EQ(test::error_of(run(Verb::apply, files)), "");
    EXPECT_EQ(outside_state(files), wanted);
    ASSERT_EQ(test::error_of(run(Verb::uninstall, files)), "");
    EXPECT_EQ(files.tree(), before);
  }
  FAIL() << "never succeeded";
}

TEST_P(Apply, ADiskThatStaysFullLeavesANodeThatTheNextApplyCompletes) {
  const auto wanted = applied();
  for (int n = 1; n < kMostMutations; ++n) {
    SCOPED_TRACE(n);
    NodeFiles files(GetParam().fill);
    const auto before = outside_state(files);
    stay_full_from(files, n);
    const auto failed = run(Verb::apply, files);
    if (failed) return;
    expect_true_words(failed.error(), before, outside_state(files));
    EXPECT_EQ(test::error_of(run(Verb::effective, files)), "");
    ASSERT_TRUE(repeated([&] { return run(Verb::apply, files); }));
    EXPECT_EQ(outside_state(files), wanted);
    ASSERT_TRUE(repeated([&] { return run(Verb::uninstall, files); }));
    EXPECT_EQ(outside_state(files), before);
  }
  FAIL() << "never succeeded";
}

TEST_P(Apply, ADiskThatStaysFullLeavesANodeThatUninstallClears) {
  for (int n = 1; n < kMostMutations; ++n) {
    SCOPED_TRACE(n);
    NodeFiles files(GetParam().fill);
    const auto before = outside_state(files);
    stay_full_from(files, n);
    if (run(Verb::apply, files)) return;
    ASSERT_TRUE(repeated([&] { return run(Verb::uninstall, files); }));
    EXPECT_EQ(outside_state(files), before);
  }
  FAIL() << "never succeeded";
}

TEST_P(Apply, AFailureOfALaterApplyLeavesTheEarlierOne) {
  for (int n = 1; n < kMostMutations; ++n) {
    SCOPED_TRACE(n);
    NodeFiles files(GetParam().fill);
    const auto original = files.tree();
    ASSERT_EQ(test::error_of(run(Verb::apply, files)), "");
    const auto before = outside_state(files);
    files.fail_mutation(n, kDiskFull);
    const auto failed = run_other(files);
    if (failed) return;
    EXPECT_EQ(outside_state(files), before);
    ASSERT_EQ(test::error_of(run(Verb::uninstall, files)), "");
    EXPECT_EQ(files.tree(), original);
  }
  FAIL() << "never succeeded";
}

class LaterApply : public Apply {
 protected:
  void cut_off_anywhere() {
    const auto run_until = [&](int n, MemoryFiles& files) {
      EXPECT_EQ(test::error_of(run(Verb::apply, files)), "");
      stay_full_from(files, n);
      return run_other(files).has_value();
    };
    NodeFiles reference(GetParam().fill);
    ASSERT_TRUE(run(Verb::apply, reference));
    ASSERT_TRUE(run_other(reference));
    for (int n = 1; n < kMostMutations; ++n) {
      SCOPED_TRACE(n);
      NodeFiles completed(GetParam().fill);
      const auto original = completed.tree();
      if (run_until(n, completed)) return;
      ASSERT_TRUE(repeated([&] { return run_other(completed); }));
      EXPECT_EQ(outside_state(completed), outside_state(reference));
      NodeFiles taken_back(GetParam().fill);
      ASSERT_FALSE(run_until(n, taken_back));
      ASSERT_TRUE(repeated([&] { return run(Verb::uninstall, taken_back); }));
      EXPECT_EQ(taken_back.tree(), original);
    }
    FAIL() << "never succeeded";
  }
};

INSTANTIATE_TEST_SUITE_P(Nodes, LaterApply, kNodes, [](const auto& item) { return item.param.name; });

TEST_P(LaterApply, ThatIsCutOffIsCompletedOrTakenBack) {
  cut_off_anywhere();
}

TEST_P(LaterApply, ToAnotherPlaceThatIsCutOffIsCompletedOrTakenBack) {
  other_place = "/etc/containerd/conf.d/zzz-gpu.toml";
  cut_off_anywhere();
}

TEST_P(LaterApply, ToAnotherFolderThatIsCutOffIsCompletedOrTakenBack) {
  other_place = "/etc/containerd/gpu.d/gpu.toml";
  cut_off_anywhere();
}

TEST_P(Apply, AFailureOfUninstallLeavesTheNodeOrSaysWhatNot) {
  for (int n = 1; n < kMostMutations; ++n) {
    SCOPED_TRACE(n);
    NodeFiles files(GetParam().fill);
    const auto original = files.tree();
    ASSERT_EQ(test::error_of(run(Verb::apply, files)), "");
    const auto before = outside_state(files);
    files.fail_mutation(n, kDiskFull);
    const auto failed = run(Verb::uninstall, files);
    if (failed) return;
    const auto after = outside_state(files);
    auto clean = original;
    std::erase_if(clean, [](const auto& item) { return item.first.starts_with("/usr"); });
    EXPECT_TRUE(after == before ? failed.error().hint.contains("as before")
                                : failed.error().hint.contains("state folder"))
        << failed.error().message << ": " << failed.error().hint;
    ASSERT_EQ(test::error_of(run(Verb::uninstall, files)), "");
    EXPECT_EQ(files.tree(), original);
  }
  FAIL() << "never succeeded";
}

// Modes.

const char* const kSecretDropIn = R"(version = 2
[plugins."io.containerd.grpc.v1.cri".registry.configs."r.local".auth]
password = "hunter2"
)";

unsigned mode_of(const MemoryFiles& files, const std::string& path) {
  const auto mode = files.mode_of(path);
  EXPECT_TRUE(mode) << path;
  return mode.value_or(0);
}

TEST(ApplyModes, ADropInThatRepeatsASecretIsNoMoreReadableThanItsSource) {
  auto files = test::incident();
  files.add_file("/etc/containerd/conf.d/20-secret.toml", kSecretDropIn, 0600);
  const auto engine = make_engine("1.7.27");
  ASSERT_EQ(test::error_of(test::run(Verb::apply, *engine, files)), "");
  EXPECT_THAT(*files.read(kLastDropIn), HasSubstr("hunter2"));
  EXPECT_EQ(mode_of(files, kLastDropIn), 0600U);
}

TEST(ApplyModes, ADropInThatComesToRepeatASecretIsClosed) {
  auto files = test::incident();
  const auto engine = make_engine("1.7.27");
  ASSERT_EQ(test::error_of(test::run(Verb::apply, *engine, files)), "");
  EXPECT_EQ(mode_of(files, kLastDropIn), 0644U);
  files.add_file("/etc/containerd/conf.d/20-secret.toml", kSecretDropIn, 0640);
  ASSERT_EQ(test::error_of(test::run(Verb::apply, *engine, files)), "");
  EXPECT_EQ(mode_of(files, kLastDropIn), 0640U);
}

TEST(ApplyModes, TheStateFolderKeepsCopiesToItself) {
  auto files = test::incident();
  ASSERT_EQ(test::error_of(test::run(Verb::apply, *make_engine("1.7.27"), files)), "");
  int copies = 0;
  for (const auto& [path, node] : files.tree()) {
    const auto* file = std::get_if<MemoryFiles::File>(&node);
    if (!file || !path.starts_with("/usr/local/nvidia/.ctkit/")) continue;
    EXPECT_EQ(file->mode, 0600U) << path;
    ++copies;
  }
  EXPECT_GE(copies, 2);
}

TEST(ApplyModes, AForeignFileOfOurNameComesBackWithItsMode) {
  NodeFiles files(fill_foreign_drop_in);
  const auto engine = make_engine("1.7.27");
  const auto before = files.tree();
  ASSERT_EQ(test::error_of(test::run(Verb::apply, *engine, files)), "");
  EXPECT_THAT(*files.read(kDropIn), HasSubstr("pause:1"));
  EXPECT_EQ(mode_of(files, kDropIn), 0600U);
  ASSERT_EQ(test::error_of(test::run(Verb::uninstall, *engine, files)), "");
  EXPECT_EQ(files.tree(), before);
}

TEST(ApplyModes, AReplacedRootKeepsItsMode) {
  MemoryFiles files;
  files.add_file(kRoot, "version = 2\n", 0640);
  ASSERT_EQ(test::error_of(test::run(Verb::apply, *make_engine("1.7.27"), files)), "");
  EXPECT_THAT(*files.read(kRoot), HasSubstr("imports"));
  EXPECT_EQ(mode_of(files, kRoot), 0640U);
}

TEST(ApplyOrder, JournalThenDropInThenRootThenJournal) {
  MemoryFiles files{{kRoot, "version = 2\n"}};
  ASSERT_EQ(test::error_of(test::run(Verb::apply, *make_engine("1.7.27"), files)), "");
  const auto at = [&](const std::string& line) { return std::ranges::find(files.log(), line) - files.log().begin(); };
  const auto end = std::ssize(files.log());
  EXPECT_LT(at("replace " + kJournal), at("replace " + kDropIn));
  EXPECT_LT(at("replace " + kDropIn), at("replace " + kRoot));
  EXPECT_LT(at("replace " + kRoot), end);
  const auto again = std::find(files.log().begin() + at("replace " + kRoot), files.log().end(), "replace " + kJournal);
  EXPECT_NE(again, files.log().end());
}

TEST(ApplyOrder, UninstallTakesTheRootBackBeforeTheDropIn) {
  MemoryFiles files{{kRoot, "version = 2\n"}};
  const auto engine = make_engine("1.7.27");
  ASSERT_EQ(test::error_of(test::run(Verb::apply, *engine, files)), "");
  const auto written = files.log().size();
  ASSERT_EQ(test::error_of(test::run(Verb::uninstall, *engine, files)), "");
  ASSERT_GE(files.log().size(), written + 2);
  EXPECT_EQ(files.log()[written], "replace " + kRoot);
  EXPECT_EQ(files.log()[written + 1], "remove " + kDropIn);
}

TEST(ApplyOrder, UninstallOnAStrangersNodeDoesNothing) {
  auto files = test::incident();
  const auto removed = test::run(Verb::uninstall, *make_engine("1.7.27"), files);
  ASSERT_EQ(test::error_of(removed), "");
  EXPECT_FALSE(removed->removed);
  EXPECT_THAT(files.log(), IsEmpty());
}

}  // namespace
}  // namespace ctkit::installer
