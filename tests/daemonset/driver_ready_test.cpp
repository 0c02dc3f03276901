#include "daemonset/driver_ready.h"

#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::daemonset {
namespace {

using testing::ElementsAre;

const std::string kWhole =
    "IS_HOST_DRIVER=false\n"
    "NVIDIA_DRIVER_ROOT=/run/nvidia/driver\n"
    "DRIVER_ROOT_CTR_PATH=/driver-root\n"
    "NVIDIA_DEV_ROOT=/\n"
    "DEV_ROOT_CTR_PATH=/host\n";

ResolvedSettings resolve(const std::vector<std::string>& words, Environment environment) {
  environment.emplace("RUNTIME", "containerd");
  return resolve_settings(Dialect::nvidia, words, environment).value();
}

TEST(DriverReady, TakesAllFive) {
  const DriverReady ready = parse_driver_ready(kWhole);
  EXPECT_TRUE(ready.whole());
  EXPECT_EQ(ready,
            (DriverReady{.is_host_driver = "false",
                         .driver_root = "/run/nvidia/driver",
                         .driver_root_ctr_path = "/driver-root",
                         .dev_root = "/",
                         .dev_root_ctr_path = "/host"}));
}

TEST(DriverReady, IsNotWholeWhereverItsWriterIsInterrupted) {
  for (std::size_t length = 0; length < kWhole.size(); ++length)
    EXPECT_FALSE(parse_driver_ready(kWhole.substr(0, length)).whole()) << length;
  EXPECT_THAT(parse_driver_ready("IS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=/\nDRIVER_ROOT_CTR_PATH=/ho").missing,
              ElementsAre("DRIVER_ROOT_CTR_PATH", "NVIDIA_DEV_ROOT", "DEV_ROOT_CTR_PATH"));
}

/// A way to write the same.
struct Spelling {
  std::string name = {};
  std::string text = {};
};

void PrintTo(const Spelling& spelling, std::ostream* out) {
  *out << spelling.name;
}

class Spellings : public testing::TestWithParam<Spelling> {};

TEST_P(Spellings, SayTheSame) {
  EXPECT_EQ(parse_driver_ready(GetParam().text), parse_driver_ready(kWhole));
}

INSTANTIATE_TEST_SUITE_P(
    All,
    Spellings,
    testing::Values(Spelling{"CRLF",
                             "IS_HOST_DRIVER=false\r\nNVIDIA_DRIVER_ROOT=/run/nvidia/driver\r\n"
                             "DRIVER_ROOT_CTR_PATH=/driver-root\r\nNVIDIA_DEV_ROOT=/\r\nDEV_ROOT_CTR_PATH=/host\r\n"},
                    Spelling{
                        "export, quotes, comments, others",
                        "# from the validator\n\nexport IS_HOST_DRIVER=\"false\"\n"
                        "NVIDIA_DRIVER_ROOT='/run/nvidia/driver'\nGDS_ENABLED=true\nnonsense\n"
                        "DRIVER_ROOT_CTR_PATH=/driver-root  \n\texport NVIDIA_DEV_ROOT=/\nDEV_ROOT_CTR_PATH=/host\n"},
                    Spelling{"twice, the last counts", "NVIDIA_DRIVER_ROOT=/old\n" + kWhole},
                    Spelling{"another order",
                             "DEV_ROOT_CTR_PATH=/host\nNVIDIA_DEV_ROOT=/\nDRIVER_ROOT_CTR_PATH=/driver-root\n"
                             "NVIDIA_DRIVER_ROOT=/run/nvidia/driver\nIS_HOST_DRIVER=false\n"}));

TEST(DriverReady, EmptyAndRelativeValuesAreNone) {
  EXPECT_THAT(parse_driver_ready("IS_HOST_DRIVER=maybe\nNVIDIA_DRIVER_ROOT=\nDRIVER_ROOT_CTR_PATH=driver\n"
                                 "NVIDIA_DEV_ROOT=/\nDEV_ROOT_CTR_PATH=/host\n")
                  .missing,
              ElementsAre("IS_HOST_DRIVER", "NVIDIA_DRIVER_ROOT", "DRIVER_ROOT_CTR_PATH"));
}

TEST(DriverReady, IsNeededUnlessSomebodySaidWhereTheDriverIs) {
  EXPECT_TRUE(needs_driver_ready(resolve({}, {})));
  EXPECT_FALSE(
      needs_driver_ready(resolve_settings(Dialect::own, std::vector<std::string>{"--foreground"}, {}).value()));
  EXPECT_FALSE(needs_driver_ready(resolve({}, {{"NVIDIA_DRIVER_ROOT", "/"}})));
  EXPECT_FALSE(needs_driver_ready(resolve({"--driver-root=/"}, {})));
}

TEST(DriverReady, IsNeededWhereTheOperatorsScriptHasReadHalfOfIt) {
  Environment environment;
  for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{{"IS_HOST_DRIVER", "true"},
                                                                                    {"NVIDIA_DRIVER_ROOT", "/"},
                                                                                    {"DRIVER_ROOT_CTR_PATH", "/host"},
                                                                                    {"NVIDIA_DEV_ROOT", "/"}}) {
    environment[name] = value;
    EXPECT_TRUE(needs_driver_ready(resolve({}, environment))) << name;
  }
  environment["DEV_ROOT_CTR_PATH"] = "/host";
  EXPECT_FALSE(needs_driver_ready(resolve({}, environment)));
}

TEST(DriverReady, BeatsTheEnvironmentButNotAFlagOrOurOwnNames) {
  const DriverReady ready = parse_driver_ready(kWhole);
  const Settings settings = with_driver_ready(
      resolve({"--dev-root=/flag"},
              {{"NVIDIA_DRIVER_ROOT", "/env"}, {"CTKIT_DRIVER_ROOT_CTR_PATH", "/ours"}, {"IS_HOST_DRIVER", "true"}}),
      ready);
  EXPECT_EQ(settings.driver_root, "/run/nvidia/driver");
  EXPECT_EQ(settings.driver_root_ctr_path, "/ours");
  EXPECT_EQ(settings.dev_root, "/flag");
  EXPECT_EQ(settings.dev_root_ctr_path, "/host");
}

struct Place {
  Settings settings = {};
  DriverPlaces places = {};
};
void PrintTo(const Place& place, std::ostream* out) {
  *out << place.places.driver << " " << place.places.dev;
}

class Places : public testing::TestWithParam<Place> {};

TEST_P(Places, FollowFromOneAnother) {
  EXPECT_EQ(driver_places(GetParam().settings), GetParam().places);
}

INSTANTIATE_TEST_SUITE_P(
    Driver,
    Places,
    testing::Values(Place{{.driver_root = "/d"}, {"/d", "/d"}},
                    Place{{.driver_root = "/d", .driver_root_ctr_path = "/c"}, {"/c", "/c"}},
                    Place{{.driver_root = "/d", .driver_root_ctr_path = "/c", .dev_root = "/d"}, {"/c", "/c"}},
                    Place{{.driver_root = "/d", .driver_root_ctr_path = "/c", .dev_root = "/e"}, {"/c", "/e"}},
                    Place{{.driver_root = "/d", .dev_root = "/e", .dev_root_ctr_path = "/f"}, {"/d", "/f"}}));

}  // namespace
}  // namespace ctkit::daemonset
