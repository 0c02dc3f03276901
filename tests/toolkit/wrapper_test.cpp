#include "toolkit/wrapper.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::toolkit {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kRuntimes = {"/usr/bin/runc", "crun"};

TEST(Wrapper, ARuntimeFallsThroughWithoutTheModule) {
  EXPECT_EQ(render_wrapper("nvidia-container-runtime.cdi", "/usr/local/nvidia/toolkit", kRuntimes), R"(#!/bin/sh
if [ ! -e /sys/module/nvidia ]; then
  for runtime in '/usr/bin/runc' 'crun'; do
    command -v "$runtime" >/dev/null 2>&1 || continue
    echo "${0##*/}: the nvidia module is not loaded: running $runtime in its place" >&2
    exec "$runtime" "$@"
  done
fi
PATH='/usr/local/nvidia/toolkit'${PATH:+:$PATH}
export PATH
NVIDIA_CTK_CONFIG_FILE_PATH='/usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml'
export NVIDIA_CTK_CONFIG_FILE_PATH
exec '/usr/local/nvidia/toolkit/nvidia-container-runtime.cdi.real' "$@"
)");
}

TEST(Wrapper, ARuntimeNeverBecomesAWrapperOnceMore) {
  const std::vector<std::string> settings = {"nvidia-container-runtime", "/t/nvidia-container-runtime.cdi", "crun"};
  EXPECT_THAT(render_wrapper("nvidia-container-runtime", "/t", settings), HasSubstr("for runtime in 'crun'; do\n"));
}

TEST(Wrapper, TheHookHasTheConfigAndNoFallThrough) {
  const std::string text = render_wrapper("nvidia-container-runtime-hook", "/t", kRuntimes);
  EXPECT_THAT(text, HasSubstr("NVIDIA_CTK_CONFIG_FILE_PATH='/t/.config/nvidia-container-runtime/config.toml'\n"));
  EXPECT_THAT(text, Not(HasSubstr("/sys/module")));
}

TEST(Wrapper, TheCommandLineToolHasTheLibrariesButNotTheCurrentFolder) {
  const std::string text = render_wrapper("nvidia-container-cli", "/t", kRuntimes);
  EXPECT_THAT(text, HasSubstr("LD_LIBRARY_PATH='/t'${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}\nexport LD_LIBRARY_PATH\n"));
  EXPECT_THAT(text, Not(HasSubstr("NVIDIA_CTK_CONFIG_FILE_PATH")));
}

TEST(Wrapper, PathsAreQuoted) {
  EXPECT_EQ(quote_for_shell("/a b/$(x)'y"), "'/a b/$(x)'\\''y'");
  EXPECT_THAT(render_wrapper("nvidia-ctk", "/a b", kRuntimes), HasSubstr("exec '/a b/nvidia-ctk.real' \"$@\"\n"));
}

}  // namespace
}  // namespace ctkit::toolkit
