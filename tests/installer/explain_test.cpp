#include "installer/explain.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/node.h"

namespace ctkit::installer {
namespace {

using engine::Event;
using engine::KeyPath;
using test::kRoot;
using test::make_engine;
using test::MemoryFiles;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kOldId = "io.containerd.grpc.v1.cri";
constexpr auto kNewId = "io.containerd.cri.v1.runtime";

engine::EffectiveConfig effective(const MemoryFiles& files, std::string_view release = "1.7.27") {
  auto config = make_engine(release)->effective(files, true);
  EXPECT_EQ(test::error_of(config), "");
  return config.value_or(engine::EffectiveConfig{});
}

/// `kind key value's origin by` of each event.
std::vector<std::string> events_of(const Explanation& explanation) {
  const char* const kinds[] = {"overridden", "erased", "moved", "unread"};
  std::vector<std::string> rows;
  for (const Event* event : explanation.events) {
    rows.push_back(std::string(kinds[static_cast<std::size_t>(event->kind)]) + " " + event->key.parts.back() + " " +
                   event->value.origin.to_string() + " by " + event->by.to_string());
  }
  return rows;
}

std::vector<std::string> winners_of(const Explanation& explanation) {
  std::vector<std::string> rows;
  for (const Winner& winner : explanation.winners)
    rows.push_back(winner.key.to_string() + " " + winner.value->origin.to_string());
  return rows;
}

TEST(Explain, NamesTheLineThatWonAndTheOneItOverrode) {
  const MemoryFiles files{{kRoot, "version = 2\nroot = \"/a\"\nimports = [\"/etc/containerd/b.toml\"]\n"},
                          {"/etc/containerd/b.toml", "version = 2\n\nroot = \"/b\"\n"}};
  const auto config = effective(files);
  const auto explanation = explain(config, {{"root"}});
  EXPECT_THAT(winners_of(explanation), ElementsAre("root /etc/containerd/b.toml:3"));
  EXPECT_THAT(events_of(explanation),
              Contains("overridden root /etc/containerd/config.toml:2 by /etc/containerd/b.toml:3"));
}

TEST(Explain, NamesTheTableThatErasedAKey) {
  const auto files = test::incident();
  const auto config = effective(files);
  const auto explanation = explain(config, {{"plugins", kOldId, "containerd", "runtimes", "runc", "options"}});
  EXPECT_THAT(events_of(explanation),
              Contains("erased SystemdCgroup /etc/containerd/conf.d/10-runc.toml:5 by "
                       "/etc/containerd/conf.d/registry.toml:2"));
}

TEST(Explain, ABuiltInValueHasNoFile) {
  const MemoryFiles files{{kRoot, "version = 2\n"}};
  const auto config = effective(files);
  const auto explanation = explain(config, {{"root"}});
  EXPECT_THAT(winners_of(explanation), ElementsAre("root built-in"));
  EXPECT_THAT(explanation.events, IsEmpty());
}

TEST(Explain, NothingIsSaidAboutAnUnknownKey) {
  const auto files = test::incident();
  const auto config = effective(files);
  const auto explanation = explain(config, {{"plugins", "x", "y"}});
  EXPECT_THAT(explanation.winners, IsEmpty());
  EXPECT_THAT(explanation.events, IsEmpty());
}

TEST(Explain, FollowsAnOldKeyToWhereItMoved) {
  const MemoryFiles files{{kRoot, R"(version = 2
[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.gpu]
runtime_type = "io.containerd.runc.v2"
)"}};
  const auto config = effective(files, "2.1.0");
  const auto explanation = explain(config, {{"plugins", kOldId, "containerd", "runtimes", "gpu", "runtime_type"}});
  EXPECT_THAT(winners_of(explanation),
              ElementsAre("plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.gpu."
                          "runtime_type /etc/containerd/config.toml:3"));
  ASSERT_FALSE(explanation.events.empty());
  EXPECT_EQ(explanation.events.front()->kind, Event::Kind::moved);
}

TEST(Explain, SaysWhatNothingReads) {
  const MemoryFiles files{{kRoot, R"(version = 2
[plugins."io.containerd.grpc.v1.cri"]
no_such_key = 1
)"}};
  const auto config = effective(files);
  const auto explanation = explain(config, {{"plugins", kOldId, "no_such_key"}});
  EXPECT_THAT(explanation.winners, IsEmpty());
  EXPECT_THAT(events_of(explanation),
              Contains("unread no_such_key /etc/containerd/config.toml:3 by /etc/containerd/config.toml:3"));
}

TEST(Lost, IsWhatAFileSetAndNothingCameOf) {
  const auto files = test::incident();
  const auto config = effective(files);
  std::vector<std::string> origins;
  for (const Event* event : lost(config))
    origins.push_back(event->value.origin.to_string());
  EXPECT_THAT(origins, ElementsAre("/etc/containerd/conf.d/10-runc.toml:5"));
}

TEST(Lost, IsNothingWhereTheEraserSaysTheSame) {
  MemoryFiles files{
      {kRoot,
       "version = 2\nimports = [\"/etc/containerd/b.toml\"]\n"
       "[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"p\"\n"},
      {"/etc/containerd/b.toml", "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\"]\nsandbox_image = \"p\"\n"}};
  const auto config = effective(files);
  EXPECT_THAT(lost(config), IsEmpty());
}

// Keys as people type them.

struct Asked {
  std::string name;
  std::string text;
  std::vector<std::string> parts;
};
void PrintTo(const Asked& asked, std::ostream* out) {
  *out << asked.text;
}

class AskedKey : public testing::TestWithParam<Asked> {};

TEST_P(AskedKey, IsUnderstood) {
  const auto files = test::incident();
  const auto key = parse_asked_key(GetParam().text, effective(files));
  ASSERT_EQ(test::error_of(key), "");
  EXPECT_EQ(key->parts, GetParam().parts);
}

INSTANTIATE_TEST_SUITE_P(
    Texts,
    AskedKey,
    testing::Values(
        Asked{"Plain", "debug.level", {"debug", "level"}},
        Asked{"Quoted", "plugins.\"io.containerd.grpc.v1.cri\".registry", {"plugins", kOldId, "registry"}},
        Asked{"SingleQuoted", "plugins.'io.containerd.grpc.v1.cri'.registry", {"plugins", kOldId, "registry"}},
        Asked{"Unquoted", "plugins.io.containerd.grpc.v1.cri.registry", {"plugins", kOldId, "registry"}},
        Asked{"UnquotedAlone", "plugins.io.containerd.grpc.v1.cri", {"plugins", kOldId}},
        Asked{"QuotedBelowUnquoted",
              "plugins.io.containerd.grpc.v1.cri.registry.configs.\"r.io:5000\"",
              {"plugins", kOldId, "registry", "configs", "r.io:5000"}},
        Asked{"NoPlugin", "plugins.nobody.x", {"plugins", "nobody", "x"}}),
    [](const auto& item) { return item.param.name; });

TEST(AskedKey, TakesTheLongestPluginId) {
  const MemoryFiles files{{kRoot, "version = 2\n[plugins.\"io.containerd.grpc.v1.cri.extra\"]\nx = 1\n"}};
  const auto key = parse_asked_key("plugins.io.containerd.grpc.v1.cri.extra.x", effective(files));
  ASSERT_EQ(test::error_of(key), "");
  EXPECT_THAT(key->parts, ElementsAre("plugins", "io.containerd.grpc.v1.cri.extra", "x"));
}

TEST(AskedKey, UnquotedOldIdIsKnownOn2WhereAFileUsesIt) {
  const MemoryFiles files{{kRoot, "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\n"}};
  const auto key = parse_asked_key("plugins.io.containerd.grpc.v1.cri.registry", effective(files, "2.1.0"));
  ASSERT_EQ(test::error_of(key), "");
  EXPECT_THAT(key->parts, ElementsAre("plugins", kOldId, "registry"));
}

TEST(AskedKey, UnquotedNewIdIsKnownWithoutAnyFile) {
  const MemoryFiles files;
  const auto key = parse_asked_key("plugins.io.containerd.cri.v1.runtime.cni", effective(files, "2.1.0"));
  ASSERT_EQ(test::error_of(key), "");
  EXPECT_THAT(key->parts, ElementsAre("plugins", kNewId, "cni"));
}

TEST(AskedKey, IsAUsageErrorWhereItIsNoKey) {
  for (const std::string text : {"",
                                 ".",
                                 "a.",
                                 "a..b",
                                 "\"open",
                                 "plugins.io.containerd.grpc.v1.cri.",
                                 "plugins.io.containerd.grpc.v1.cri.a..b",
                                 "a b",
                                 "a = 1"}) {
    const MemoryFiles files;
    const auto key = parse_asked_key(text, effective(files));
    ASSERT_FALSE(key) << text;
    EXPECT_EQ(key.error().code, engine::ErrorCode::usage) << text;
  }
}

}  // namespace
}  // namespace ctkit::installer
