#include "engine/transcript.h"

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/toml_reader.h"
#include "engine/toml_writer.h"

namespace ctkit::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Value read(std::string_view toml, std::string_view file) {
  auto table = read_toml(toml, file, kGoToml22);
  return {.data = std::move(table.value()), .origin = {.file = std::make_shared<const std::string>(file), .line = 9}};
}

std::vector<std::string> described(const std::vector<Event>& events) {
  std::vector<std::string> lines;
  for (const Event& event : events) {
    constexpr std::string_view kKinds[] = {"overridden", "erased", "moved", "unread"};
    lines.push_back(std::string(kKinds[static_cast<std::size_t>(event.kind)]) + " " + event.key.to_string() + " = " +
                    render_value(event.value) + " by " + event.by.to_string());
  }
  return lines;
}

TEST(PathNode, GivesTheKeysFromTheTopDown) {
  const PathNode top{};
  const PathNode plugins{&top, "plugins"};
  const PathNode cri{&plugins, "io.containerd.grpc.v1.cri"};
  EXPECT_EQ(cri.key_path().to_string(), "plugins.\"io.containerd.grpc.v1.cri\"");
  EXPECT_EQ(top.key_path().parts.size(), 0U);
}

TEST(PathNode, KeepsAnEmptyKeyThatSomebodyWrote) {
  const PathNode top{};
  const PathNode empty{&top, ""};
  EXPECT_EQ((PathNode{&empty, "a"}.key_path().parts), (std::vector<std::string>{"", "a"}));
}

TEST(Transcript, SaysOfEachLeafWhetherTheWinnerHasItToo) {
  const Value loser = read("a = 1\n[t]\nb = 2\nc = 3\n", "one.toml");
  const Value winner = read("\n\na = 4\nt = {c = 5}\n", "two.toml");
  std::vector<Event> events;
  Transcript(&events).replaced({nullptr, "x"}, loser, winner);
  EXPECT_THAT(
      described(events),
      ElementsAre(
          "overridden x.a = 1 by two.toml:3", "erased x.t.b = 2 by two.toml:4", "overridden x.t.c = 3 by two.toml:4"));
  EXPECT_EQ(events[0].value.origin.to_string(), "one.toml:1");
}

TEST(Transcript, ErasesTheLeavesOfATableThatAScalarReplaces) {
  const Value loser = read("[t]\nb = 2\n[t.empty]\n", "one.toml");
  const Value winner = read("t = 1\n", "two.toml");
  std::vector<Event> events;
  Transcript(&events).replaced({}, loser, winner);
  EXPECT_THAT(described(events), ElementsAre("erased t.b = 2 by two.toml:1", "erased t.empty = {} by two.toml:1"));
}

TEST(Transcript, TellsWhereAValueMoved) {
  const Value value = read("a = 1\n", "one.toml");
  std::vector<Event> events;
  Transcript(&events).moved({{"old"}}, value, {{"new"}});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].kind, Event::Kind::moved);
  EXPECT_EQ(events[0].key.to_string(), "old");
  EXPECT_EQ(events[0].to.to_string(), "new");
}

TEST(Transcript, NamesEveryUnreadLeafAtItsOwnLine) {
  std::vector<Event> events;
  Transcript(&events).unread({nullptr, "typo"}, read("a = 1\n[t]\nb = [2]\n", "one.toml"));
  EXPECT_THAT(described(events), ElementsAre("unread typo.a = 1 by one.toml:1", "unread typo.t.b = [2] by one.toml:3"));
}

TEST(Transcript, DoesNothingWhenNobodyAsked) {
  const Transcript silent(nullptr);
  EXPECT_FALSE(silent.wanted());
  const Value value = read("a = 1\n", "one.toml");
  silent.replaced({}, value, value);
  silent.erased({}, value, {});
  silent.moved({}, value, {});
  silent.unread({}, value);
  std::vector<Event> events;
  EXPECT_TRUE(Transcript(&events).wanted());
  EXPECT_THAT(described(events), IsEmpty());
}

}  // namespace
}  // namespace ctkit::engine
