#include "installer/toolkit_request.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_files.h"

namespace ctkit::installer {
namespace {

using testing::ElementsAre;

constexpr auto kNvidia = "/usr/local/nvidia/toolkit/nvidia-container-runtime";

TEST(LowLevelRuntimes, AreWithoutNvidiasWhateverTheHandlersAreCalled) {
  const std::vector<engine::Handler> handlers = {{.name = "gpu", .binary = kNvidia, .is_default = true},
                                                 {.name = "gpu-cdi", .binary = std::string(kNvidia) + ".cdi"},
                                                 {.name = "runc", .binary = "/usr/sbin/runc"}};
  EXPECT_THAT(low_level_runtimes(handlers), ElementsAre("/usr/sbin/runc"));
  EXPECT_THAT(low_level_runtimes({{.name = "runc", .binary = kNvidia}}), ElementsAre());
}

TEST(LowLevelRuntimes, BeginWithTheDefaultHandlers) {
  const std::vector<engine::Handler> handlers = {
      {.name = "crun", .binary = "/usr/bin/crun"},
      {.name = "runc", .binary = "runc"},
      {.name = "mine", .binary = "/opt/nvidia-fork/runc", .is_default = true}};
  EXPECT_THAT(low_level_runtimes(handlers), ElementsAre("/opt/nvidia-fork/runc", "runc", "/usr/bin/crun"));
}

TEST(ToolkitRequest, TheConfigNamesTheDaemonsRuntimesBeforeTheUsual) {
  const test::MemoryFiles none;
  EXPECT_THAT(make_toolkit_config({}, {"/usr/sbin/runc", "crun"}, none, none).runtimes,
              ElementsAre("/usr/sbin/runc", "crun", "runc"));
}

// On Debian and Ubuntu `ldconfig` is a script.
TEST(ToolkitRequest, LdconfigIsTheRealOneWhereWeSeeTheDriver) {
  const test::MemoryFiles none;
  const test::MemoryFiles here{{"/driver-root/sbin/ldconfig.real", ""}};
  daemonset::Settings settings;
  settings.driver_root = "/run/nvidia/driver";
  settings.driver_root_ctr_path = "/driver-root";
  EXPECT_EQ(make_toolkit_config(settings, {}, none, none).ldconfig, "");
  EXPECT_EQ(make_toolkit_config(settings, {}, here, none).ldconfig, "/run/nvidia/driver/sbin/ldconfig.real");
}

}  // namespace
}  // namespace ctkit::installer
