#include "engine/unified_diff.h"

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::engine {
namespace {

std::string diff(std::string_view before, std::string_view after, int context = 3) {
  return unified_diff(before, after, "a", "b", context);
}

std::string numbered(int from, int to) {
  std::string text;
  for (int line = from; line <= to; ++line)
    text += std::to_string(line) + "\n";
  return text;
}

TEST(UnifiedDiff, OfEqualTextsIsEmpty) {
  EXPECT_EQ(diff("", ""), "");
  EXPECT_EQ(diff("x\ny", "x\ny"), "");
}

TEST(UnifiedDiff, ShowsThreeLinesAround) {
  const std::string before = numbered(1, 20);
  std::string after = before;
  after.replace(after.find("10\n"), 3, "ten\nand more\n");
  EXPECT_EQ(diff(before, after), "--- a\n+++ b\n@@ -7,7 +7,8 @@\n 7\n 8\n 9\n-10\n+ten\n+and more\n 11\n 12\n 13\n");
}

TEST(UnifiedDiff, JoinsHunksThatTouch) {
  const std::string before = numbered(1, 30);
  std::string after = before;
  after.replace(after.find("17\n"), 3, "B\n");
  after.replace(after.find("10\n"), 3, "A\n");  // six lines between
  EXPECT_EQ(diff(before, after),
            "--- a\n+++ b\n@@ -7,14 +7,14 @@\n 7\n 8\n 9\n-10\n+A\n 11\n 12\n 13\n 14\n 15\n 16\n"
            "-17\n+B\n 18\n 19\n 20\n");
}

TEST(UnifiedDiff, PartsHunksThatDoNotTouch) {
  const std::string before = numbered(1, 30);
  std::string after = before;
  after.replace(after.find("18\n"), 3, "");
  after.replace(after.find("10\n"), 3, "");
  EXPECT_EQ(diff(before, after),
            "--- a\n+++ b\n@@ -7,7 +7,6 @@\n 7\n 8\n 9\n-10\n 11\n 12\n 13\n"
            "@@ -15,7 +14,6 @@\n 15\n 16\n 17\n-18\n 19\n 20\n 21\n");
}

TEST(UnifiedDiff, OfAMissingFileStartsAtZero) {
  EXPECT_EQ(unified_diff("", "x\ny\n", "/dev/null", "/etc/x"), "--- /dev/null\n+++ /etc/x\n@@ -0,0 +1,2 @@\n+x\n+y\n");
  EXPECT_EQ(diff("x\n", ""), "--- a\n+++ b\n@@ -1 +0,0 @@\n-x\n");
}

TEST(UnifiedDiff, NamesAMissingFinalNewline) {
  EXPECT_EQ(diff("x\ny", "x\ny\n"), "--- a\n+++ b\n@@ -1,2 +1,2 @@\n x\n-y\n\\ No newline at end of file\n+y\n");
  EXPECT_EQ(diff("x\ny", "z\ny"), "--- a\n+++ b\n@@ -1,2 +1,2 @@\n-x\n+z\n y\n\\ No newline at end of file\n");
  EXPECT_EQ(diff("x", "y"),
            "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n"
            "+y\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, TakesAnyContext) {
  EXPECT_EQ(diff("1\n2\n3\n4\n", "1\n2\nx\n4\n", 0), "--- a\n+++ b\n@@ -3 +3 @@\n-3\n+x\n");
  EXPECT_EQ(diff("1\n2\n3\n", "1\n2\n2.5\n3\n", 0), "--- a\n+++ b\n@@ -2,0 +3 @@\n+2.5\n");
  EXPECT_EQ(diff("1\n2\n", "1\nx\n", 99), "--- a\n+++ b\n@@ -1,2 +1,2 @@\n 1\n-2\n+x\n");
}

TEST(UnifiedDiff, IsSmallestOnMovedLines) {
  EXPECT_EQ(diff("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n", 0),
            "--- a\n+++ b\n@@ -1,2 +0,0 @@\n-a\n-b\n@@ -3,0 +2 @@\n+b\n@@ -6 +4,0 @@\n-b\n@@ -7,0 +6 "
            "@@\n+c\n");
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

/// The text that the diff makes of `before`; nothing if a kept or removed line is another one
/// there.
std::optional<std::string> applied(std::string_view before, std::string_view diff_text) {
  const std::vector<std::string> old_lines = lines_of(before);
  std::vector<std::string> diff_lines = lines_of(diff_text);
  for (std::size_t at = 1; at < diff_lines.size(); ++at) {
    if (diff_lines[at].starts_with('\\')) diff_lines[at - 1].pop_back();
  }
  std::string after;
  std::size_t old_line = 0;
  for (const std::string& line : diff_lines) {
    if (line.starts_with("---") || line.starts_with("+++") || line.starts_with('\\')) continue;
    if (line.starts_with("@@ -")) {
      std::size_t begin = std::stoul(line.substr(4));
      const bool of_none = line.substr(0, line.find('+')).ends_with(",0 ");
      if (!of_none) --begin;
      while (old_line < begin)
        after += old_lines.at(old_line++);
      continue;
    }
    const std::string text = line.substr(1);
    if (line[0] != '+' && (old_line >= old_lines.size() || old_lines[old_line++] != text)) {
      return std::nullopt;
    }
    if (line[0] != '-') after += text;
  }
  while (old_line < old_lines.size())
    after += old_lines[old_line++];
  return after;
}

TEST(UnifiedDiff, MakesTheNewTextOfTheOldOne) {
  std::mt19937 random(42);  // NOLINT(bugprone-random-generator-seed): the same texts each run
  const auto text = [&] {
    std::string result;
    for (auto count = random() % 30; count > 0; --count) {
      result += static_cast<char>('a' + random() % 5);
      if (count > 1 || random() % 3 > 0) result += '\n';
    }
    return result;
  };
  for (int round = 0; round < 2'000; ++round) {
    const std::string before = text();
    const std::string after = text();
    const std::string result = diff(before, after, round % 4);
    ASSERT_EQ(applied(before, result), after) << before << "-----\n" << result;
  }
}

TEST(UnifiedDiff, ReplacesTheRestOfVeryDifferentTexts) {
  const std::string before = "same\n" + numbered(1, 5'000) + "end\n";
  const std::string after = "same\n" + numbered(10'001, 15'000) + "end\n";
  EXPECT_EQ(applied(before, diff(before, after)), after);
}

}  // namespace
}  // namespace ctkit::engine
