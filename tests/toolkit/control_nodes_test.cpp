#include "toolkit/control_nodes.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_tree.h"

namespace ctkit::toolkit {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr auto kDevices =
    "Character devices:\n  1 mem\n195 nvidia\n195 nvidiactl\n195 nvidia-modeset\n510 nvidia-uvm\n"
    "\nBlock devices:\n259 blkext\n510 nvidia\n";

class FakeNodeMaker : public NodeMaker {
 public:
  std::vector<ControlNode> made = {};
  [[nodiscard]] engine::Result<void> make_node(const ControlNode& node) override {
    made.push_back(node);
    return {};
  }
};

TEST(ControlNodes, NumbersAreTheModules) {
  EXPECT_THAT(parse_control_nodes(kDevices).nodes,
              ElementsAre(ControlNode{"/dev/nvidiactl", 195, 255},
                          ControlNode{"/dev/nvidia-modeset", 195, 254},
                          ControlNode{"/dev/nvidia-uvm", 510, 0},
                          ControlNode{"/dev/nvidia-uvm-tools", 510, 1}));
  EXPECT_THAT(parse_control_nodes(kDevices).missing_modules, IsEmpty());
}

TEST(ControlNodes, AnOlderDriversNameIsKnown) {
  const ControlNodes found = parse_control_nodes("Character devices:\n195 nvidia-frontend\n");
  EXPECT_THAT(found.nodes,
              ElementsAre(ControlNode{"/dev/nvidiactl", 195, 255}, ControlNode{"/dev/nvidia-modeset", 195, 254}));
  EXPECT_THAT(found.missing_modules, ElementsAre("nvidia-uvm"));
}

TEST(ControlNodes, OnlyThoseThatAreMissingOrWrongAreMade) {
  test::MemoryTree dev;
  dev.add_device("/dev/nvidiactl", 195, 255);
  dev.add_device("/dev/nvidia-uvm", 509, 0);  // of a module that was loaded before
  dev.add_file("/dev/nvidia-modeset", "a file, by somebody's redirection");
  FakeNodeMaker maker;
  const auto made = make_control_nodes(kDevices, dev, maker);
  ASSERT_TRUE(made);
  EXPECT_THAT(*made, ElementsAre("/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools"));
  EXPECT_THAT(maker.made, testing::SizeIs(3));
}

TEST(ControlNodes, WithoutTheModuleNothingIsMade) {
  test::MemoryTree dev;
  FakeNodeMaker maker;
  const auto made = make_control_nodes("Character devices:\n  1 mem\n510 nvidia-uvm\n", dev, maker);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, engine::ErrorCode::not_found);
  EXPECT_THAT(maker.made, IsEmpty());
}

TEST(ControlNodes, AMissingMemoryModuleIsNoFailure) {
  test::MemoryTree dev;
  FakeNodeMaker maker;
  EXPECT_THAT(*make_control_nodes("Character devices:\n195 nvidia\n", dev, maker),
              ElementsAre("/dev/nvidiactl", "/dev/nvidia-modeset"));
}

}  // namespace
}  // namespace ctkit::toolkit
