#include "engine/release.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace ctkit::engine::containerd {
namespace {

Release release(std::string_view text) {
  return Release::parse(text).value();
}

struct Spelling {
  std::string_view text;
  std::string_view same;
};

TEST(Release, ParsesWhatContainerdsInTheWildCallThemselves) {
  constexpr Spelling kCases[] = {
      {"1.7.27", "1.7.27"},
      {"v1.7.27", "1.7.27"},
      {"v1.7.27-k3s1", "1.7.27-k3s1"},
      {"1.7.24~ds1", "1.7.24~ds1"},
      {"2.1.9+ds1", "2.1.9+ds1"},
      {"2.4.0-beta.0", "2.4.0-beta.0"},
      {"containerd github.com/containerd/containerd v1.7.27 "
       "05044ec0a9a75232cad458027ca83437aae3f4da\n",
       "1.7.27"},
      {"containerd github.com/containerd/containerd/v2 v2.1.4 "
       "75cb2b7193e4e490e9fbdc236c0e811ccaba3376",
       "2.1.4"},
      {"containerd github.com/k3s-io/containerd v1.7.22-k3s1 \n", "1.7.22-k3s1"},
      {"containerd containerd.io 1.6.28 ae07eda36dd25f8a1b98dfbf587313b99c0190bb", "1.6.28"},
      {"containerd github.com/containerd/containerd 1.7.24~ds1 1.7.24~ds1-6ubuntu1", "1.7.24~ds1"},
  };
  for (const auto& [text, same] : kCases)
    EXPECT_EQ(release(text).to_string(), same) << text;
}

TEST(Release, ParsesWhatItPrints) {
  for (const std::string_view text : {"1.5.18", "2.4.0-beta.0", "1.7.24~ds1", "1.7.27-k3s1"}) {
    EXPECT_EQ(release(text).to_string(), text);
    EXPECT_EQ(release(release(text).to_string()), release(text));
  }
}

TEST(Release, RefusesWhatIsNone) {
  for (const std::string_view text : {"",
                                      "1",
                                      "1.7",
                                      "1.7.",
                                      "1.7.x",
                                      "v",
                                      "-1.7.27",
                                      "1.-7.2",
                                      "1.7.27x",
                                      "1.7.27.1",
                                      "99999999999.0.0",
                                      "containerd"}) {
    const auto parsed = Release::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code, ErrorCode::unknown_release);
    EXPECT_FALSE(parsed.error().hint.empty());
  }
}

TEST(Release, OrdersByNumbersAndPutsPreReleasesFirst) {
  constexpr std::string_view kAscending[] = {
      "1.5.18", "1.6.9", "1.6.10", "1.7.0", "2.0.0-rc.6", "2.0.0", "2.0.1", "2.4.0-beta.0", "2.4.0", "10.0.0"};
  for (std::size_t i = 0; i + 1 < std::size(kAscending); ++i) {
    EXPECT_TRUE(compare(release(kAscending[i]), release(kAscending[i + 1])) < 0) << kAscending[i];
    EXPECT_TRUE(compare(release(kAscending[i + 1]), release(kAscending[i])) > 0) << kAscending[i];
  }
}

TEST(Release, TakesABuildersSuffixForNothing) {
  for (const std::string_view text : {"1.7.27-k3s1", "1.7.27~ds1", "1.7.27+unknown", "1.7.27-0ubuntu1"})
    EXPECT_TRUE(compare(release(text), release("1.7.27")) == 0) << text;
}

TEST(Release, KnowsAPreReleaseByItsSuffix) {
  for (const std::string_view text : {"2.0.0-alpha.1", "2.0.0-beta.0", "2.0.0-rc.6"})
    EXPECT_TRUE(release(text).pre_release()) << text;
  for (const std::string_view text : {"2.0.0", "1.7.27-k3s1", "1.7.24~ds1"})
    EXPECT_FALSE(release(text).pre_release()) << text;
}

TEST(Release, KnowsARepackedOneByItsSuffix) {
  EXPECT_TRUE(release("1.7.24~ds1").repacked());
  EXPECT_TRUE(release("2.1.9+ds1-2").repacked());
  EXPECT_FALSE(release("1.7.24").repacked());
  EXPECT_FALSE(release("1.7.27-k3s1").repacked());
}

}  // namespace
}  // namespace ctkit::engine::containerd
