#include "installer/pass_request.h"

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemonset/resolve_settings.h"

namespace ctkit::installer {
namespace {

using daemonset::Dialect;
using daemonset::PassMode;
using engine::DesiredHandler;
using testing::ElementsAre;
using testing::HasSubstr;

engine::Result<Request> asked(const daemonset::Environment& environment, Dialect dialect = Dialect::own) {
  const auto resolved = daemonset::resolve_settings(dialect, {}, environment);
  if (!resolved) return std::unexpected(resolved.error());
  return make_pass_request(resolved->settings, {}, PassMode::install);
}

std::vector<std::string> names(const engine::Result<Request>& request) {
  if (!request) return {request.error().message};
  std::vector<std::string> names;
  for (const DesiredHandler& handler : request->desired.handlers)
    names.push_back(handler.name);
  return names;
}

TEST(PassRequest, TheFirstHandlerIsNamedAsTheSettingsSay) {
  EXPECT_THAT(names(asked({})), ElementsAre("nvidia", "nvidia-cdi", "nvidia-legacy"));
  EXPECT_THAT(names(asked({{"NVIDIA_RUNTIME_NAME", "gpu"}})), ElementsAre("gpu", "nvidia-cdi", "nvidia-legacy"));
  EXPECT_THAT(names(asked({{"NVIDIA_RUNTIME_NAME", "nvidia-cdi"}})),
              ElementsAre("nvidia", "nvidia-cdi", "nvidia-legacy"));
}

TEST(PassRequest, AnnotationsOfTheOperatorsPrefixesAreForEachHandler) {
  const auto request = asked({{"NVIDIA_CONTAINER_RUNTIME_MODES_CDI_ANNOTATION_PREFIXES", "nvidia.cdi.k8s.io/"}});
  ASSERT_TRUE(request);
  for (const DesiredHandler& handler : request->desired.handlers)
    EXPECT_THAT(handler.annotations, ElementsAre("nvidia.cdi.k8s.io/*")) << handler.name;
}

TEST(PassRequest, TheDefaultHandlerIsTheOneThatIsNamed) {
  EXPECT_EQ(asked({})->desired.default_handler, "");
  EXPECT_EQ(asked({{"CTKIT_SET_AS_DEFAULT", "true"}, {"NVIDIA_RUNTIME_NAME", "gpu"}})->desired.default_handler, "gpu");
  EXPECT_EQ(asked({{"CTKIT_SET_AS_DEFAULT", "true"}, {"NVIDIA_RUNTIME_NAME", "nvidia-cdi"}})->desired.default_handler,
            "nvidia-cdi");
}

TEST(PassRequest, OfOtherHandlersItIsTheFirst) {
  const daemonset::Environment environment = {
      {"CTKIT_HANDLERS", "kata=/opt/kata,wasm=/opt/wasm"}, {"RUNTIME", "containerd"}, {"NVIDIA_RUNTIME_NAME", "gpu"}};
  for (const Dialect dialect : {Dialect::own, Dialect::nvidia}) {
    const auto request = asked(environment, dialect);
    EXPECT_THAT(names(request), ElementsAre("kata", "wasm"));
    EXPECT_EQ(request->desired.default_handler, dialect == Dialect::nvidia ? "kata" : "");
  }
}

TEST(PassRequest, HandlersHaveTheirOwnTypeElseTheOneForAll) {
  const std::string list = "kata=/opt/kata,type=io.containerd.kata.v2,wasm=/opt/wasm,type=/opt/type";
  EXPECT_THAT(asked({{"CTKIT_HANDLERS", list}})->desired.handlers,
              ElementsAre(DesiredHandler{"kata", "/opt/kata", "io.containerd.kata.v2"},
                          DesiredHandler{"wasm", "/opt/wasm", ""},
                          DesiredHandler{"type", "/opt/type", ""}));
  EXPECT_THAT(asked({{"CTKIT_HANDLERS", list}, {"CONTAINERD_RUNTIME_TYPE", "x.y"}})->desired.handlers,
              ElementsAre(DesiredHandler{"kata", "/opt/kata", "io.containerd.kata.v2"},
                          DesiredHandler{"wasm", "/opt/wasm", "x.y"},
                          DesiredHandler{"type", "/opt/type", "x.y"}));
}

TEST(PassRequest, TheHookGoesWhereTheOperatorHasMountedItsFolder) {
  const std::string usual = "/usr/share/containers/oci/hooks.d";
  const daemonset::MappedFolder openshift{.host = "/run/containers/oci/hooks.d", .here = usual};
  const daemonset::MappedFolder other{.host = "/etc/hooks", .here = "/hooks"};
  const auto folder = [&](const daemonset::Environment& environment,
                          const std::vector<daemonset::MappedFolder>& folders) {
    const auto resolved = daemonset::resolve_settings(Dialect::own, {}, environment);
    return make_pass_request(resolved->settings, folders, PassMode::install)->hooks_folder;
  };
  EXPECT_EQ(folder({}, {}), "");
  EXPECT_EQ(folder({}, {openshift, other}), "/run/containers/oci/hooks.d");
  EXPECT_EQ(folder({}, {{.host = usual, .here = usual}}), "");
  EXPECT_EQ(folder({{"CRIO_HOOKS_DIR", "/hooks/"}}, {openshift, other}), "/etc/hooks");
  EXPECT_EQ(folder({{"CRIO_HOOKS_DIR", usual}}, {openshift}), "/run/containers/oci/hooks.d");
  EXPECT_EQ(folder({{"CRIO_HOOKS_DIR", usual}}, {}), usual);
}

TEST(PassRequest, AHookInsteadOfHandlersIsAskedForAsInApply) {
  EXPECT_FALSE(asked({})->hook_mode);
  const auto request = asked({{"CRIO_CONFIG_MODE", "hook"}, {"CRIO_HOOK_FILENAME", "x.json"}, {"ROOT", "/opt/nvidia"}});
  EXPECT_TRUE(request->hook_mode);
  EXPECT_EQ(request->hook_name, "x.json");
  EXPECT_EQ(request->toolkit_folder, "/opt/nvidia/toolkit");
  for (const std::string name : {"hook", "a/b.json", "../x.json"}) {
    const auto refused = asked({{"CRIO_HOOK_FILENAME", name}});
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code, engine::ErrorCode::usage);
  }
}

struct Weighed {
  std::string name = {};
  daemonset::Environment environment = {};
  std::string config = {};
  bool is_guess = false;
};
void PrintTo(const Weighed& weighed, std::ostream* out) {
  *out << weighed.name;
}

class WeighedConfig : public testing::TestWithParam<Weighed> {};

TEST_P(WeighedConfig, IsAGuessUnlessItIsOurs) {
  const auto resolved = daemonset::resolve_settings(Dialect::own, {}, GetParam().environment);
  auto request = make_pass_request(resolved->settings, {}, PassMode::install);
  weigh_config(*resolved, *request);
  EXPECT_EQ(request->config, GetParam().config);
  EXPECT_EQ(request->config_is_guess, GetParam().is_guess);
}

INSTANTIATE_TEST_SUITE_P(
    Settings,
    WeighedConfig,
    testing::Values(Weighed{"Containerd", {{"RUNTIME_CONFIG", "/x"}, {"RUNTIME", "containerd"}}, "/x", true},
                    Weighed{"Crio", {{"RUNTIME_CONFIG", "/x"}, {"RUNTIME", "crio"}}, "", true},
                    Weighed{"Found", {{"RUNTIME_CONFIG", "/x"}}, "", true},
                    Weighed{"Ours", {{"CTKIT_CONFIG", "/x"}, {"RUNTIME", "crio"}}, "/x", false},
                    Weighed{"OursFound", {{"CTKIT_CONFIG", "/x"}}, "/x", false}),
    [](const auto& row) { return row.param.name; });

TEST(PassRequest, HandlersThatCanNotBeAreAMistake) {
  for (const auto& [list, message] : {std::pair("kata", "not 'kata'"),
                                      std::pair("kata=opt/kata", "not 'kata=opt/kata'"),
                                      std::pair("kata=/opt/kata/", "not 'kata=/opt/kata/'"),
                                      std::pair("type=x", "not 'type=x'"),
                                      std::pair("kata=/a,type=b,type=c", "not 'kata=/a,type=b,type=c'"),
                                      std::pair("kata=/a,kata=/b", "'kata' twice")}) {
    const auto request = asked({{"CTKIT_HANDLERS", list}});
    ASSERT_FALSE(request) << list;
    EXPECT_EQ(request.error().code, engine::ErrorCode::usage);
    EXPECT_THAT(request.error().message, HasSubstr(message));
  }
}

}  // namespace
}  // namespace ctkit::installer
