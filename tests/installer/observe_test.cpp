#include "installer/observe.h"

#include <memory>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/node.h"

namespace ctkit::installer {
namespace {

using engine::ErrorCode;
using test::MemoryFiles;
using testing::HasSubstr;

MemoryFiles machine_with_capture(const std::string& capture = R"({"release": "1.7.27"})") {
  return MemoryFiles{{"/captures/node/capture.json", capture},
                     {"/captures/node/root/etc/containerd/config.toml", "version = 2\n"},
                     {"/captures/tree/etc/containerd/config.toml", "version = 2\n"}};
}

TEST(HostRoot, OfACaptureIsTheSameByEitherFolder) {
  const auto here = machine_with_capture();
  for (const std::string folder :
       {"/captures/node", "/captures/node/", "/captures/node/root", "/captures/node/root/"}) {
    const HostRoot root = find_host_root(here, folder);
    EXPECT_EQ(root.folder, "/captures/node/root") << folder;
    EXPECT_EQ(root.capture, "/captures/node/capture.json") << folder;
  }
}

TEST(HostRoot, IsTheFolderItselfWhereThereIsNoCapture) {
  const auto here = machine_with_capture();
  for (const std::string folder : {"/captures/tree", "/", "/nonexistent"}) {
    const HostRoot root = find_host_root(here, folder);
    EXPECT_EQ(root.folder, folder);
    EXPECT_EQ(root.capture, "");
  }
}

engine::Result<std::unique_ptr<engine::Engine>> observe_engine(const MemoryFiles& here,
                                                               const HostRoot& root,
                                                               const Request& request) {
  auto observed = observe(here, root, request, nullptr, nullptr);
  if (!observed) return std::unexpected(observed.error());
  return std::move(observed->engine);
}

/// What the engine of a request is called, or the error's code and where.
engine::Result<std::string> name_of(const MemoryFiles& here, const Request& request) {
  const auto engine = observe_engine(here, find_host_root(here, request.root), request);
  if (!engine) return std::unexpected(engine.error());
  return (*engine)->name();
}

TEST(ObserveEngine, TakesTheReleaseOfTheCapture) {
  const auto here = machine_with_capture();
  EXPECT_EQ(name_of(here, {.root = "/captures/node"}).value(), "containerd 1.7.27");
}

TEST(ObserveEngine, TheRequestBeatsTheCapture) {
  const auto here = machine_with_capture();
  EXPECT_EQ(name_of(here, {.root = "/captures/node", .release = "2.1.0"}).value(), "containerd 2.1.0");
}

TEST(ObserveEngine, NeedsARelease) {
  const auto here = machine_with_capture();
  const auto name = name_of(here, {.root = "/captures/tree"});
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, ErrorCode::unknown_release);
  EXPECT_THAT(name.error().hint, HasSubstr("--release"));
}

struct Host {
  std::string name = {};
  std::vector<std::string> files = {};
  std::string engine = {};  ///< "": it can't be told
};
void PrintTo(const Host& host, std::ostream* out) {
  *out << host.name;
}

class WhichDaemon : public testing::TestWithParam<Host> {};

TEST_P(WhichDaemon, IsToldByItsSettingsElseByWhoListens) {
  MemoryFiles here;
  for (const std::string& file : GetParam().files)
    here.add_file("/tree" + file, "");
  const std::string release = GetParam().engine.starts_with("CRI-O") ? "1.34.11" : "1.7.27";
  const auto name = name_of(here, {.root = "/tree", .release = release});
  if (!GetParam().engine.empty()) {
    EXPECT_THAT(name.value(), testing::StartsWith(GetParam().engine));
    return;
  }
  ASSERT_FALSE(name);
  EXPECT_THAT(name.error().message, HasSubstr("both containerd and CRI-O"));
}

const std::string kContainerd = "/etc/containerd/config.toml";
const std::string kK3sSocket = "/run/k3s/containerd/containerd.sock";
const std::string kCrioSocket = "/run/crio/crio.sock";

INSTANTIATE_TEST_SUITE_P(
    Hosts,
    WhichDaemon,
    testing::Values(
        Host{"Nothing", {}, "containerd"},
        Host{"ContainerdsSettings", {kContainerd, kCrioSocket}, "containerd"},
        Host{"CrioSettings", {"/etc/crio/crio.conf", kK3sSocket}, "CRI-O"},
        Host{"CrioDropIns", {"/etc/crio/crio.conf.d/10-crio.conf"}, "CRI-O"},
        Host{"BothSettingsAndOneListens", {kContainerd, "/etc/crio/crio.conf", kCrioSocket}, "CRI-O"},
        Host{"BothSettingsAndTheOtherListens", {kContainerd, "/etc/crio/crio.conf", kK3sSocket}, "containerd"},
        Host{"BothSettings", {kContainerd, "/etc/crio/crio.conf"}, ""},
        Host{"BothListen", {kK3sSocket, kCrioSocket}, ""},
        Host{"OneListens", {kCrioSocket}, "CRI-O"}),
    [](const auto& row) { return row.param.name; });

TEST(ObserveEngine, AConfigThatIsAGuessGivesWayToTheRunningDaemons) {
  const MemoryFiles here;
  const auto root_of = [&](bool is_guess, const LiveDaemon* daemon) {
    const Request request{.release = "1.7.27", .config = "/etc/guess.toml", .config_is_guess = is_guess};
    const auto observed = observe(here, {.folder = "/"}, request, daemon, nullptr);
    const MemoryFiles node{{"/etc/guess.toml", "version = 2\nroot = \"/guessed\"\n"},
                           {"/etc/own.toml", "version = 2\nroot = \"/own\"\n"}};
    return *find(observed->engine->effective(node, false)->config, "root")->string();
  };
  const LiveDaemon daemon{.config = "/etc/own.toml", .build = {.version = "containerd 1.7.27"}};
  EXPECT_EQ(root_of(true, &daemon), "/own");
  EXPECT_EQ(root_of(true, nullptr), "/guessed");
  EXPECT_EQ(root_of(false, &daemon), "/guessed");
}

TEST(ObserveEngine, ReadsTheConfigThatTheCaptureNames) {
  auto here = machine_with_capture(R"({"release": "1.7.27", "config": "/etc/k/c.toml", "cwd": "/run"})");
  const auto engine = observe_engine(here, find_host_root(here, "/captures/node"), {});
  ASSERT_TRUE(engine);
  const MemoryFiles node{{"/etc/k/c.toml", "version = 2\nroot = \"/data\"\nimports = [\"d/*.toml\"]\n"},
                         {"/run/d/x.toml", "version = 2\nstate = \"/state\"\n"}};
  const auto effective = (*engine)->effective(node, false);
  ASSERT_EQ(test::error_of(effective), "");
  EXPECT_EQ(*find(effective->config, "root")->string(), "/data");
}

TEST(ObserveEngine, ANamedConfigMustExist) {
  const auto here = machine_with_capture();
  const auto engine =
      observe_engine(here, find_host_root(here, "/captures/tree"), {.release = "1.7.27", .config = "/etc/other.toml"});
  ASSERT_TRUE(engine);
  const auto effective = (*engine)->effective(MemoryFiles{}, false);
  ASSERT_FALSE(effective);
  EXPECT_EQ(effective.error().code, ErrorCode::daemon_refuses);
}

TEST(ObserveEngine, TakesTheDefaultsOfTheCapture) {
  auto here = machine_with_capture(R"({"release": "1.7.27", "defaults": "defaults.toml"})");
  here.add_file("/captures/node/defaults.toml", "version = 2\nroot = \"/distro\"\n");
  const auto root_of = [&](const Request& request) {
    const auto engine = observe_engine(here, find_host_root(here, request.root), request);
    EXPECT_EQ(test::error_of(engine), "");
    const auto effective = (*engine)->effective(MemoryFiles{}, false);
    EXPECT_EQ(test::error_of(effective), "");
    return *find(effective->config, "root")->string();
  };
  EXPECT_EQ(root_of({.root = "/captures/node"}), "/distro");
  // They are those of the recorded release.
  EXPECT_EQ(root_of({.root = "/captures/node", .release = "1.7.0"}), "/var/lib/containerd");
}

struct Bad {
  std::string name;
  Request request;
  ErrorCode code;
  std::string where;
};
void PrintTo(const Bad& bad, std::ostream* out) {
  *out << bad.name;
}

class BadRequest : public testing::TestWithParam<Bad> {};

TEST_P(BadRequest, IsAnErrorThatSaysWhere) {
  auto here = machine_with_capture();
  here.add_file("/captures/broken/capture.json", "{");
  here.add_folder("/captures/broken/root");
  here.add_file("/captures/broken.toml", "version = 2\nx = = 1\n");
  here.add_file("/captures/secret.toml", "");
  here.mark_unreadable("/captures/secret.toml");
  const auto name = name_of(here, GetParam().request);
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, GetParam().code) << name.error().message;
  EXPECT_THAT(name.error().where, testing::StartsWith(GetParam().where));
}

INSTANTIATE_TEST_SUITE_P(
    Requests,
    BadRequest,
    testing::Values(
        Bad{"BrokenCapture", {.root = "/captures/broken"}, ErrorCode::usage, "/captures/broken/capture.json"},
        Bad{"BrokenDefaults",
            {.root = "/captures/tree", .release = "1.7.27", .defaults = "/captures/broken.toml"},
            ErrorCode::usage,
            "/captures/broken.toml:2"},
        Bad{"MissingDefaults",
            {.root = "/captures/tree", .release = "1.7.27", .defaults = "/captures/gone.toml"},
            ErrorCode::usage,
            "/captures/gone.toml"},
        Bad{"FolderAsDefaults",
            {.root = "/captures/tree", .release = "1.7.27", .defaults = "/captures/tree"},
            ErrorCode::usage,
            "/captures/tree"},
        Bad{"UnreadableDefaults",
            {.root = "/captures/tree", .release = "1.7.27", .defaults = "/captures/secret.toml"},
            ErrorCode::permission,
            "/captures/secret.toml"},
        Bad{"NoRelease", {.root = "/captures/tree", .release = "seven"}, ErrorCode::unknown_release, ""},
        Bad{"OldRelease", {.root = "/captures/tree", .release = "1.4.0"}, ErrorCode::unknown_release, ""}),
    [](const auto& item) { return item.param.name; });

}  // namespace
}  // namespace ctkit::installer
