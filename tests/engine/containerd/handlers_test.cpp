#include "engine/containerd/handlers.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/containerd_fixture.h"

namespace ctkit::engine::containerd {
namespace {

using test::loaded;
using test::parse;
using test::Texts;
using testing::ElementsAre;
using testing::IsEmpty;

Regime regime(std::string_view release) {
  return test::daemon_of(release).known.regime;
}

/// "name binary origin", the default one with a star.
std::vector<std::string> described(std::string_view release, Texts texts) {
  std::vector<std::string> lines;
  for (const Handler& handler : effective_handlers(loaded(release, texts), regime(release)))
    lines.push_back(handler.name + (handler.is_default ? "* " : " ") + handler.binary + " " +
                    handler.origin.to_string());
  return lines;
}

TEST(Handlers, StandInTheSectionOfTheRelease) {
  EXPECT_EQ(runtimes_section(regime("1.7.27")), kCri);
  EXPECT_EQ(runtimes_section(regime("2.0.0")), kRuntime);
  EXPECT_EQ(runtimes_section(regime("2.3.4")), kRuntime);
}

TEST(Handlers, AreTheEffectiveRuntimesByName) {
  const Texts texts = {{"config.toml", R"(version = 2
[OLD.containerd]
default_runtime_name = "nvidia"
[OLD.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
[OLD.containerd.runtimes.nvidia]
runtime_type = "io.containerd.runc.v2"
[OLD.containerd.runtimes.nvidia.options]
BinaryName = "/usr/bin/nvidia-container-runtime"
)"}};
  for (const std::string_view release : {"1.6.39", "1.7.27", "2.1.9", "2.3.4"})
    EXPECT_THAT(described(release, texts),
                ElementsAre("nvidia* /usr/bin/nvidia-container-runtime /etc/containerd/config.toml:9",
                            "runc  /etc/containerd/config.toml:4"))
        << release;
  const auto handlers = effective_handlers(loaded("2.1.9", texts), regime("2.1.9"));
  EXPECT_EQ(handlers.front().key.to_string(), "plugins.\"io.containerd.cri.v1.runtime\".containerd.runtimes.nvidia");
}

TEST(Handlers, OfABareNodeAreTheBuiltInOne) {
  for (const std::string_view release : {"1.5.18", "1.7.27", "2.0.6", "2.3.4"})
    EXPECT_THAT(described(release, {}), ElementsAre("runc*  built-in")) << release;
}

TEST(Handlers, AreNoneWhereCriIsDisabled) {
  EXPECT_THAT(described("1.7.27", {{"config.toml", "disabled_plugins = ['cri']"}}), IsEmpty());
  const EffectiveConfig config = loaded("1.7.27", {{"config.toml", "disabled_plugins = ['cri']"}});
  EXPECT_EQ(containerd_table(config, regime("1.7.27")), nullptr);
  EXPECT_EQ(find_handler(config, regime("1.7.27"), "runc"), nullptr);
  EXPECT_EQ(default_handler(config, regime("1.7.27")), "");
}

TEST(Handlers, TakeTheBinaryThatTheShimWouldTake) {
  EXPECT_THAT(described("2.1.9", {{"config.toml", R"(version = 3
[RUNTIME.containerd.runtimes.nvidia.options]
BinaryName = "/upper"
binaryName = "/lower"
)"}}),
              ElementsAre("nvidia /lower /etc/containerd/config.toml:4", "runc*  built-in"));
}

TEST(Handlers, FindOneByItsName) {
  const EffectiveConfig config = loaded("2.1.9", {});
  ASSERT_NE(find_handler(config, regime("2.1.9"), "runc"), nullptr);
  EXPECT_EQ(find_handler(config, regime("2.1.9"), "nvidia"), nullptr);
  EXPECT_EQ(default_handler(config, regime("2.1.9")), "runc");
}

TEST(BinaryNameSpellings, AreAllThatDifferInCaseOnly) {
  EXPECT_THAT(binary_name_spellings(
                  parse("BinaryName = 'a'\nbinaryname = 'b'\nBINARYNAME = 'c'\nBinary = 'd'\nbinary_name = 'e'")),
              ElementsAre("BINARYNAME", "BinaryName", "binaryname"));
}

struct Typed {
  std::string_view handler;
  bool runc;
};

TEST(IsRuncType, HoldsForRuncsShimsOnly) {
  constexpr Typed kTypes[] = {
      {"runtime_type = 'io.containerd.runc.v2'", true},
      {"runtime_type = 'io.containerd.runc.v1'", true},
      {"runtime_type = 'io.containerd.runtime.v1.linux'", true},
      {"runtime_type = 'io.containerd.kata.v2'", false},
      {"runtime_type = 'io.containerd.runsc.v1'", false},
      {"runtime_type = ''", false},
      {"runtime_type = 5", false},
      {"", false},
  };
  for (const auto& [handler, runc] : kTypes)
    EXPECT_EQ(is_runc_type(parse(handler)), runc) << handler;
}

struct Binary {
  std::string_view binary;
  bool stock;
};

TEST(IsStockHandler, GoesByTheNameOfTheBinary) {
  constexpr Binary kBinaries[] = {
      {"/usr/bin/nvidia-container-runtime", true},
      {"/usr/local/nvidia/toolkit/nvidia-container-runtime.cdi", true},
      {"/usr/local/nvidia/toolkit/nvidia-container-runtime-experimental", true},
      {"nvidia-container-runtime", true},
      {"/opt/nvidia-container-runtime/runc", false},
      {"/usr/bin/runc", false},
      {"", false},
  };
  for (const auto& [binary, stock] : kBinaries)
    EXPECT_EQ(is_stock_handler(parse("options = {binaryName = '" + std::string(binary) + "'}")), stock) << binary;
  EXPECT_FALSE(is_stock_handler(parse("options = {BinaryName = 5}")));
  EXPECT_FALSE(is_stock_handler(parse("")));
}

}  // namespace
}  // namespace ctkit::engine::containerd
