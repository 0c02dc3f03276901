#include "installer/cri_message.h"

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ctkit::installer {
namespace {

using namespace std::literals;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

std::string recorded(std::string_view daemon) {
  std::ifstream stream(TESTDATA + "/cri_status/"s + std::string(daemon) + ".bin", std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << daemon;
  return {std::istreambuf_iterator<char>(stream), {}};
}

LoadedState loaded_by(std::string_view daemon) {
  const auto response = parse_status_response(recorded(daemon));
  EXPECT_TRUE(response) << response.error().message;
  if (!response) return {};
  auto state = make_loaded_state(*response);
  EXPECT_TRUE(state) << state.error().message;
  return state ? std::move(*state) : LoadedState{};
}

engine::Result<LoadedState> loaded_from(std::string config) {
  return make_loaded_state({.info = {{"config", std::move(config)}}});
}

constexpr auto kToolkit = "/usr/local/nvidia/toolkit/nvidia-container-runtime";

TEST(CriMessage, AsksForTheConfiguration) {
  EXPECT_EQ(make_status_request(), "\x08\x01");
}

TEST(CriMessage, ReadsContainerd16) {
  const LoadedState state = loaded_by("containerd-1.6.20");
  ASSERT_EQ(state.conditions.size(), 2U);
  EXPECT_EQ(state.conditions[0], (Condition{.type = "RuntimeReady", .holds = true}));
  EXPECT_EQ(state.conditions[1].type, "NetworkReady");
  EXPECT_FALSE(state.conditions[1].holds);
  EXPECT_EQ(state.conditions[1].reason, "NetworkPluginNotReady");
  EXPECT_THAT(state.conditions[1].message, testing::StartsWith("Network plugin returns error"));
  ASSERT_EQ(state.handlers.size(), 2U);
  EXPECT_EQ(state.handlers[0],
            (LoadedHandler{.name = "nvidia",
                           .runtime_type = "io.containerd.runc.v2",
                           .binary_name = kToolkit,
                           .options = {{"BinaryName", kToolkit}, {"SystemdCgroup", "true"}}}));
  EXPECT_EQ(state.handlers[1], (LoadedHandler{.name = "runc", .runtime_type = "io.containerd.runc.v2"}));
  EXPECT_EQ(state.default_handler, "runc");
  EXPECT_EQ(state.sandbox_image, "registry.k8s.io/pause:3.6");
  EXPECT_THAT(state.cni_binary_folders, ElementsAre("/opt/cni/bin"));
  EXPECT_EQ(state.cni_config_folder, "/etc/cni/net.d");
  EXPECT_EQ(state.enable_cdi, std::nullopt);
  EXPECT_THAT(state.cdi_spec_folders, IsEmpty());
}

TEST(CriMessage, ReadsContainerd17) {
  const LoadedState state = loaded_by("containerd-1.7.24");
  EXPECT_EQ(state.conditions.size(), 3U);
  ASSERT_TRUE(state.find_handler("nvidia"));
  EXPECT_EQ(state.find_handler("nvidia")->sandboxer, "podsandbox");
  EXPECT_EQ(state.sandbox_image, "registry.k8s.io/pause:3.8");
  EXPECT_THAT(state.cni_binary_folders, ElementsAre("/usr/lib/cni"));
  EXPECT_EQ(state.enable_cdi, false);
  EXPECT_THAT(state.cdi_spec_folders, ElementsAre("/etc/cdi", "/var/run/cdi"));
  EXPECT_TRUE(state.json.starts_with(R"({"containerd":{"snapshotter":"overlayfs")"));
}

TEST(CriMessage, ReadsContainerd21) {
  const LoadedState state = loaded_by("containerd-2.1.9");
  ASSERT_TRUE(state.find_handler("runc"));
  EXPECT_EQ(state.find_handler("runc")->binary_name, "");
  EXPECT_EQ(state.find_handler("runc")->options.size(), 9U);
  EXPECT_EQ(state.find_handler("runc")->sandboxer, "podsandbox");
  EXPECT_EQ(state.sandbox_image, "") << "2.x keeps it in another plugin";
  EXPECT_THAT(state.cni_binary_folders, ElementsAre("/usr/lib/cni", "/opt/cni/bin"));
  EXPECT_EQ(state.enable_cdi, true);
}

TEST(CriMessage, SkipsFieldsItDoesNotKnow) {
  // 9: a number; 2: info {"a": "b"} with a field 7; 2: the same key again, which wins.
  const auto response = parse_status_response(
      "\x48\x01\x12\x08\x0a\x01"
      "a\x12\x01"
      "b\x38\x01"
      "\x12\x06\x0a\x01"
      "a\x12\x01"
      "c"sv);
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_THAT(response->info, ElementsAre(Pair("a", "c")));
}

TEST(CriMessage, RefusesEveryCutThroughAField) {
  const std::string whole = recorded("containerd-2.1.9");
  std::size_t parsed = 0;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    if (parse_status_response(std::string_view(whole).substr(0, length))) ++parsed;
  }
  // Between two fields of the response itself a cut is a shorter response.
  EXPECT_LT(parsed, 15U);
}

TEST(CriMessage, RefusesNestedNonsense) {
  for (const std::string_view bytes : {"\x0a\x02\x0a\x05"sv, "\x0a\x04\x0a\x02\x0a\x05"sv, "\x12\x02\x0a\x05"sv}) {
    const auto response = parse_status_response(bytes);
    ASSERT_FALSE(response);
    EXPECT_THAT(response.error().message, testing::StartsWith("cannot read the daemon's status: malformed"));
  }
}

TEST(CriMessage, ConfigurationMayBeAbsent) {
  const auto state = make_loaded_state({.conditions = {{.type = "RuntimeReady", .holds = true}}});
  ASSERT_TRUE(state);
  EXPECT_EQ(state->conditions.size(), 1U);
  EXPECT_EQ(state->json, "");
}

TEST(CriMessage, ReadsWhatCrioGives) {
  const auto state = loaded_from(R"({"sandboxImage":"registry.k8s.io/pause:3.10"})");
  ASSERT_TRUE(state);
  EXPECT_EQ(state->sandbox_image, "registry.k8s.io/pause:3.10");
  EXPECT_THAT(state->handlers, IsEmpty());
}

TEST(CriMessage, OptionsAreText) {
  const auto state = loaded_from(
      R"({"containerd":{"runtimes":{"x":{"options":{"BinaryName":"/x","IoUid":7,"Nested":{"a":[1,"b"]},"No":null}}}}})");
  ASSERT_TRUE(state);
  EXPECT_THAT(
      state->handlers.front().options,
      ElementsAre(
          Pair("BinaryName", "/x"), Pair("IoUid", "7"), Pair("Nested", R"({"a":[1,"b"]})"), Pair("No", "null")));
}

TEST(CriMessage, WhatIsOfAnotherTypeIsAbsent) {
  const auto state = loaded_from(
      R"({"containerd":{"runtimes":{"x":7,"y":{"runtimeType":[],"options":"z"}},"defaultRuntimeName":1},
          "cni":[],"sandboxImage":{},"enableCDI":"yes","cdiSpecDirs":["/a",1]})");
  ASSERT_TRUE(state);
  EXPECT_THAT(state->handlers, ElementsAre(LoadedHandler{.name = "x"}, LoadedHandler{.name = "y"}));
  EXPECT_EQ(state->default_handler, "");
  EXPECT_EQ(state->enable_cdi, std::nullopt);
  EXPECT_THAT(state->cdi_spec_folders, ElementsAre("/a"));
}

TEST(CriMessage, RefusesWhatIsNoJsonObject) {
  const std::string deep(100'000, '[');
  const std::string deep_object = std::string(R"({"containerd":{"runtimes":{"x":{"options":{"a":)") +
                                  std::string(1000, '[') + std::string(1000, ']') + "}}}}}";
  for (const std::string& text : {""s, "null"s, "[]"s, "{"s, "{\"a\":\"\xff\"}"s, deep, deep_object}) {
    const auto state = loaded_from(text);
    ASSERT_FALSE(state) << text.substr(0, 20);
    EXPECT_EQ(state.error().message, "cannot read the daemon's status: its configuration is no JSON object");
  }
}

}  // namespace
}  // namespace ctkit::installer
