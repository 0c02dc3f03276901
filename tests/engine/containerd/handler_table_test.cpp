#include "engine/containerd/handler_table.h"

#include <string_view>

#include <gtest/gtest.h>

#include "engine/toml_writer.h"
#include "support/containerd_fixture.h"

namespace ctkit::engine::containerd {
namespace {

using test::parse;

const DesiredHandler kNvidia{.name = "nvidia", .binary = "/n"};

TEST(MakeHandler, CopiesARuncParentWithOurBinaryAndAnExplicitType) {
  const Table parent = parse(R"(
    runtime_type = "io.containerd.runc.v2"
    pod_annotations = ["p"]
    [options]
    SystemdCgroup = true
    BinaryName = "/usr/bin/crun"
  )");
  EXPECT_EQ(render_toml(make_handler(kNvidia, parent)), render_toml(parse(R"(
    runtime_type = "io.containerd.runc.v2"
    pod_annotations = ["p"]
    [options]
    SystemdCgroup = true
    BinaryName = "/n"
  )")));
}

TEST(MakeHandler, NamesTheBinaryUnderOneSpelling) {
  EXPECT_EQ(render_value({.data = make_handler(kNvidia, parse("options = {binaryName = '/a', BINARYNAME = '/b'}"))}),
            R"({ options = { BinaryName = "/n" }, runtime_type = "io.containerd.runc.v2" })");
}

TEST(MakeHandler, NeedsNoParent) {
  EXPECT_EQ(render_value({.data = make_handler(kNvidia, {})}),
            R"({ options = { BinaryName = "/n" }, runtime_type = "io.containerd.runc.v2" })");
  EXPECT_EQ(render_value({.data = make_handler(kNvidia, parse("runtime_type = ''\noptions = {}"))}),
            R"({ options = { BinaryName = "/n" }, runtime_type = "io.containerd.runc.v2" })");
}

TEST(MakeHandler, OfAnotherTypeTakesNothingFromTheParentAndNamesItsShim) {
  const DesiredHandler kata{.name = "kata", .binary = "/opt/kata/shim", .type = "io.containerd.kata.v2"};
  EXPECT_EQ(
      render_value({.data = make_handler(
                        kata, parse("runtime_type = 'io.containerd.runc.v2'\noptions = {SystemdCgroup = true}"))}),
      R"({ runtime_path = "/opt/kata/shim", runtime_type = "io.containerd.kata.v2" })");
}

TEST(MakeHandler, TakesTheTypeThatIsWishedFor) {
  const DesiredHandler wished{.name = "n", .binary = "/n", .type = "io.containerd.runc.v1"};
  EXPECT_EQ(test::shown(make_handler(wished, parse("runtime_type = 'io.containerd.runc.v2'")), "runtime_type"),
            "\"io.containerd.runc.v1\"");
}

TEST(MakeHandler, PassesTheWantedAnnotationsAndThenTheParents) {
  DesiredHandler wished = kNvidia;
  wished.annotations = {"nvidia.cdi.k8s.io/*", "a/*"};
  const auto passed = [&](std::string_view parent) {
    return test::shown(make_handler(wished, parse(parent)), "container_annotations");
  };
  EXPECT_EQ(passed(""), R"(["nvidia.cdi.k8s.io/*", "a/*"])");
  EXPECT_EQ(passed("container_annotations = ['b', 'a/*']"), R"(["nvidia.cdi.k8s.io/*", "a/*", "b"])");
  wished.type = "io.containerd.kata.v2";
  EXPECT_EQ(passed("container_annotations = ['b']"), R"(["nvidia.cdi.k8s.io/*", "a/*"])");
  EXPECT_EQ(make_handler(kNvidia, parse("container_annotations = ['b']")).count("container_annotations"), 1U);
}

struct Parent {
  std::string_view name;
  std::string_view runtimes;
  std::string_view default_name;
  std::string_view marker;  ///< of the parent; "none"
};

TEST(FindParent, IsTheDefaultHandlerIfItStartsRuncElseRunc) {
  constexpr Parent kCases[] = {
      {"the default one",
       "runc = {runtime_type = 'io.containerd.runc.v2', m = 1}\ncrun = {runtime_type = "
       "'io.containerd.runc.v2', m = 2}",
       "crun",
       "2"},
      {"a kata default is never cloned",
       "runc = {runtime_type = 'io.containerd.runc.v2', m = 1}\nkata = {runtime_type = "
       "'io.containerd.kata.v2', m = 2}",
       "kata",
       "1"},
      {"a gVisor default is never cloned",
       "runc = {runtime_type = 'io.containerd.runc.v2', m = 1}\nrunsc = {runtime_type = "
       "'io.containerd.runsc.v1', m = 2}",
       "runsc",
       "1"},
      {"our own handler as default",
       "runc = {runtime_type = 'io.containerd.runc.v2', m = 1}\nnvidia = {runtime_type = "
       "'io.containerd.runc.v2', m = 2}",
       "nvidia",
       "1"},
      {"somebody's nvidia handler",
       "runc = {runtime_type = 'io.containerd.runc.v2', m = 1}\n"
       "gpu = {runtime_type = 'io.containerd.runc.v2', m = 2, options = {BinaryName = "
       "'/usr/bin/nvidia-container-runtime'}}",
       "gpu",
       "1"},
      {"a default that is not there", "runc = {runtime_type = 'io.containerd.runc.v2', m = 1}", "none", "1"},
      {"a runc without a type", "runc = {m = 1}", "runc", "1"},
      {"a runc that is kata", "runc = {runtime_type = 'io.containerd.kata.v2', m = 1}", "runc", "none"},
      {"no runc", "kata = {runtime_type = 'io.containerd.kata.v2', m = 1}", "kata", "none"},
      {"nothing", "", "runc", "none"},
  };
  const Desired desired{.handlers = {kNvidia}};
  for (const Parent& parent : kCases) {
    const Table runtimes = parse(parent.runtimes);
    const Table* found = find_parent(runtimes, parent.default_name, desired);
    EXPECT_EQ(found == nullptr ? "none" : test::shown(*found, "m"), parent.marker) << parent.name;
  }
}

}  // namespace
}  // namespace ctkit::engine::containerd
