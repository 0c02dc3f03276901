#include "cdi/device_name.h"

#include <gtest/gtest.h>

#include "cdi/path.h"

namespace ctkit::cdi {
namespace {

TEST(DeviceName, RoundTrips) {
  for (const char* text : {"management.nvidia.com/gpu=all", "nvidia.com/gpu=0:1", "ex/gpu.x=a", "a-b_c.d/Gpu=GPU-1"}) {
    const auto name = parse_device_name(text);
    ASSERT_TRUE(name) << text;
    EXPECT_EQ(to_string(*name), text);
  }
}

TEST(DeviceName, RefusesWhatALibraryRefuses) {
  for (const char* text : {"",
                           "gpu=0",
                           "nvidia.com/gpu",
                           "nvidia.com/=0",
                           "/gpu=0",
                           "nvidia.com/gpu=",
                           "9.com/gpu=0",
                           "nvidia-/gpu=0",
                           "nvidia.com/gpu=.x",
                           "nvidia.com/gpu=x-",
                           "nvidia.com/g u=0",
                           "a b/gpu=0"}) {
    EXPECT_FALSE(parse_device_name(text)) << text;
  }
}

TEST(DeviceName, RefusesOneLetterPartsThatCrashTheLibrary) {
  EXPECT_FALSE(parse_kind("e/gpu"));
  EXPECT_FALSE(parse_kind("ex/g"));
  EXPECT_TRUE(parse_kind("ex/gp"));
}

TEST(Path, IsCleanedWithoutLeavingTheRoot) {
  EXPECT_EQ(clean("/a//b/./c/../d/"), "/a/b/d");
  EXPECT_EQ(clean("/../../x"), "/x");
  EXPECT_EQ(clean("x/l"), "/x/l");
  EXPECT_EQ(clean(""), "/");
}

TEST(Path, BelongsToAFolderAtABoundary) {
  EXPECT_TRUE(is_below("/driver-root/x", "/driver-root"));
  EXPECT_FALSE(is_below("/driver-root2/x", "/driver-root"));
  EXPECT_TRUE(is_below("/x", "/"));
}

TEST(Path, HasTheExtensionOfItsLastPart) {
  EXPECT_EQ(extension_of("/etc/cdi/.json"), ".json");
  EXPECT_EQ(extension_of("/etc/cdi.d/x"), "");
  EXPECT_EQ(extension_of("a.b.yaml"), ".yaml");
}

}  // namespace
}  // namespace ctkit::cdi
