#include "installer/cli.h"

#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/exit_code.h"

namespace ctkit::installer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::variant<Request, Printed> parse(const std::vector<std::string>& words) {
  std::vector<const char*> argv = {"ctkit"};
  for (const std::string& word : words)
    argv.push_back(word.c_str());
  return parse_command_line(argv);
}

Request request_of(const std::vector<std::string>& words) {
  const auto parsed = parse(words);
  if (const auto* printed = std::get_if<Printed>(&parsed)) {
    ADD_FAILURE() << printed->text;
    return {};
  }
  return std::get<Request>(parsed);
}

TEST(CommandLine, HasAVerbForEachRequest) {
  EXPECT_EQ(request_of({"effective"}).verb, Verb::effective);
  EXPECT_EQ(request_of({"explain"}).verb, Verb::explain);
  EXPECT_EQ(request_of({"plan"}).verb, Verb::plan);
  EXPECT_EQ(request_of({"apply"}).verb, Verb::apply);
  EXPECT_EQ(request_of({"uninstall"}).verb, Verb::uninstall);
}

TEST(CommandLine, UninstallTakesTheToolkitOnRequest) {
  EXPECT_FALSE(request_of({"uninstall"}).with_toolkit);
  const auto request = request_of({"uninstall", "--toolkit", "--toolkit-folder", "/opt/nvidia/toolkit"});
  EXPECT_TRUE(request.with_toolkit);
  EXPECT_EQ(request.toolkit_folder, "/opt/nvidia/toolkit");
  EXPECT_EQ(request_of({"uninstall", "--toolkit"}).toolkit_folder, "/usr/local/nvidia/toolkit");
}

TEST(CommandLine, FillsTheRequest) {
  const auto request = request_of(
      {"plan",       "--root",           "/t",           "--release",   "v1.7.27-k3s1", "--config",  "/c.toml",
       "--defaults", "/d.toml",          "--state-dir",  "/s",          "--drop-in",    "/d/x.toml", "--on-conflict",
       "keep",       "--set-as-default", "--enable-cdi", "--exit-code", "-o",           "json"});
  EXPECT_EQ(request.root, "/t");
  EXPECT_EQ(request.release, "v1.7.27-k3s1");
  EXPECT_EQ(request.config, "/c.toml");
  EXPECT_EQ(request.defaults, "/d.toml");
  EXPECT_EQ(request.state_dir, "/s");
  EXPECT_EQ(request.desired.drop_in, "/d/x.toml");
  EXPECT_EQ(request.desired.on_conflict, engine::OnConflict::keep);
  EXPECT_EQ(request.desired.default_handler, "nvidia");
  EXPECT_TRUE(request.desired.enable_cdi);
  EXPECT_TRUE(request.exit_code);
  EXPECT_EQ(request.format, Format::json);
}

TEST(CommandLine, AnnotationsArePassedToEachHandler) {
  for (const auto& handler : request_of({"plan", "--annotation-prefix", "a/,b/"}).desired.handlers)
    EXPECT_EQ(handler.annotations, (std::vector<std::string>{"a/*", "b/*"})) << handler.name;
  for (const auto& request : {request_of({"plan"}), request_of({"plan", "--annotation-prefix", ""})}) {
    for (const auto& handler : request.desired.handlers)
      EXPECT_TRUE(handler.annotations.empty()) << handler.name;
  }
}

TEST(CommandLine, StatusMayBeAskedWhetherAllIsReady) {
  const auto request = request_of({"status", "--ready", "--ready-file", "/run/x/ready"});
  EXPECT_TRUE(request.ready);
  EXPECT_EQ(request.ready_file, "/run/x/ready");
  EXPECT_FALSE(request_of({"status"}).ready);
}

TEST(CommandLine, KnowsARunningNode) {
  EXPECT_EQ(request_of({"verify"}).verb, Verb::verify);
  EXPECT_EQ(request_of({"status"}).verb, Verb::status);
  EXPECT_EQ(request_of({"rollback"}).verb, Verb::rollback);
  EXPECT_EQ(request_of({"apply"}).restart, RestartMode::automatic);
  const auto request = request_of({"apply",
                                   "/tmp/plan.json",
                                   "--restart",
                                   "always",
                                   "--trust",
                                   "dump",
                                   "--socket",
                                   "/s.sock",
                                   "--unit",
                                   "k3s.service",
                                   "--pid-file",
                                   "/run/x.pid",
                                   "--confirm-timeout",
                                   "90"});
  EXPECT_EQ(request.plan_file, "/tmp/plan.json");
  EXPECT_EQ(request.restart, RestartMode::always);
  EXPECT_EQ(request.trust, Trust::dump);
  EXPECT_EQ(request.socket, "/s.sock");
  EXPECT_EQ(request.unit, "k3s.service");
  EXPECT_EQ(request.lock, "/run/x.pid");
  EXPECT_EQ(request.confirm_timeout, 90);
  EXPECT_EQ(request_of({"rollback", "--if-unconfirmed", "7"}).if_unconfirmed, "7");
  EXPECT_EQ(request_of({"plan", "--out", "p.json"}).plan_out, "p.json");
  EXPECT_TRUE(request_of({"verify", "--exit-code"}).exit_code);
}

TEST(CommandLine, WantsTheThreeHandlersUnlessToldOtherwise) {
  std::vector<std::string> names;
  for (const auto& handler : request_of({"apply"}).desired.handlers)
    names.push_back(handler.name + " " + handler.binary);
  EXPECT_THAT(names,
              ElementsAre("nvidia /usr/local/nvidia/toolkit/nvidia-container-runtime",
                          "nvidia-cdi /usr/local/nvidia/toolkit/nvidia-container-runtime.cdi",
                          "nvidia-legacy /usr/local/nvidia/toolkit/nvidia-container-runtime.legacy"));
  EXPECT_EQ(request_of({"apply"}).desired.default_handler, "");
}

TEST(CommandLine, TakesOtherHandlers) {
  const auto request =
      request_of({"apply", "--handler", "kata=/opt/kata,type=io.containerd.kata.v2", "--handler", "wasm=/opt/wasm=1"});
  EXPECT_THAT(request.desired.handlers,
              ElementsAre(engine::DesiredHandler{"kata", "/opt/kata", "io.containerd.kata.v2"},
                          engine::DesiredHandler{"wasm", "/opt/wasm=1", ""}));
}

TEST(CommandLine, ExplainTakesKeys) {
  EXPECT_THAT(request_of({"explain", "a.b", "plugins.x"}).keys, ElementsAre("a.b", "plugins.x"));
}

TEST(CommandLine, PrintsHelpAndVersionToStdout) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--help"}, {"plan", "--help"}, {"--version"}, {"apply", "-h"}}) {
    const auto parsed = parse(words);
    const auto* printed = std::get_if<Printed>(&parsed);
    ASSERT_NE(printed, nullptr);
    EXPECT_FALSE(printed->mistake);
    EXPECT_NE(printed->text, "");
  }
}

std::string help_of(const std::vector<std::string>& words) {
  const auto parsed = parse(words);
  const auto* printed = std::get_if<Printed>(&parsed);
  return printed ? printed->text : "";
}

TEST(CommandLine, HelpNamesEveryVerbAndAVerbsHelpTheWholeCommand) {
  const std::string all = help_of({"--help"});
  for (const std::string verb :
       {"effective", "explain", "lint", "plan", "preflight", "apply", "verify", "status", "rollback", "uninstall"}) {
    EXPECT_THAT(all, HasSubstr("\n  " + verb + " "));
    EXPECT_THAT(help_of({verb, "--help"}), HasSubstr("Usage: ctkit " + verb + " "));
    EXPECT_THAT(help_of({verb, "--help"}), HasSubstr("\n  --root "));
  }
}

class Mistake : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Mistake, IsSaidOnStderr) {
  const auto parsed = parse(GetParam());
  const auto* printed = std::get_if<Printed>(&parsed);
  ASSERT_NE(printed, nullptr);
  EXPECT_TRUE(printed->mistake);
  EXPECT_THAT(printed->text, HasSubstr("ctkit: "));
}

using Words = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(CommandLine,
                         Mistake,
                         testing::Values(Words{},
                                         Words{"mend"},
                                         Words{"plan", "--nope"},
                                         Words{"plan", "extra"},
                                         Words{"plan", "-o", "yaml"},
                                         Words{"effective", "-o", "table"},
                                         Words{"plan", "--on-conflict", "shrug"},
                                         Words{"apply", "--restart", "never"},
                                         Words{"apply", "--trust", "nobody"},
                                         Words{"apply", "--confirm-timeout", "-1"},
                                         Words{"apply", "--socket", "relative.sock"},
                                         Words{"verify", "--restart", "none"},
                                         Words{"plan", "--engine", "docker"},
                                         Words{"plan", "--root"},
                                         Words{"plan", "--handler", "x"},
                                         Words{"plan", "--handler", "=/x"},
                                         Words{"plan", "--handler", "x=relative"},
                                         Words{"plan", "--handler", "x=/x,kind=y"},
                                         Words{"plan", "--handler", "x=/x,type="},
                                         Words{"plan", "--handler", "x=/x", "--handler", "x=/y"},
                                         Words{"plan", "--drop-in", "relative.toml"},
                                         Words{"plan", "--drop-in", "/etc/conf.d/"},
                                         Words{"plan", "--state-dir", "relative"},
                                         Words{"effective", "--handler", "x=/x"},
                                         Words{"uninstall", "--exit-code"}));

/// The environment of one test.
class CommandLineEnvironment : public testing::Test {
 protected:
  static void set(const char* name, const char* value) { ::setenv(name, value, 1); }
  void TearDown() override {
    for (const char* name : {"CTKIT_ROOT", "CTKIT_RELEASE", "CTKIT_ON_CONFLICT", "CTKIT_SET_AS_DEFAULT"})
      ::unsetenv(name);
  }
};

TEST_F(CommandLineEnvironment, FillsWhatTheFlagsDoNot) {
  set("CTKIT_ROOT", "/env");
  set("CTKIT_RELEASE", "1.7.27");
  set("CTKIT_ON_CONFLICT", "refuse");
  const auto request = request_of({"plan", "--root", "/flag"});
  EXPECT_EQ(request.root, "/flag");
  EXPECT_EQ(request.release, "1.7.27");
  EXPECT_EQ(request.desired.on_conflict, engine::OnConflict::refuse);
}

TEST_F(CommandLineEnvironment, IsCheckedAsFlagsAre) {
  set("CTKIT_ON_CONFLICT", "shrug");
  EXPECT_TRUE(std::holds_alternative<Printed>(parse({"plan"})));
}

TEST_F(CommandLineEnvironment, OfAnotherVerbDoesNotMatter) {
  set("CTKIT_ON_CONFLICT", "shrug");
  EXPECT_TRUE(std::holds_alternative<Request>(parse({"effective"})));
}

TEST_F(CommandLineEnvironment, SwitchesAFlagOnAndOff) {
  set("CTKIT_SET_AS_DEFAULT", "true");
  EXPECT_EQ(request_of({"plan"}).desired.default_handler, "nvidia");
  set("CTKIT_SET_AS_DEFAULT", "false");
  EXPECT_EQ(request_of({"plan"}).desired.default_handler, "");
}

TEST(ExitCodes, FollowFromTheError) {
  using enum engine::ErrorCode;
  EXPECT_EQ(exit_code(failed), ExitCode::failed);
  EXPECT_EQ(exit_code(not_found), ExitCode::failed);
  EXPECT_EQ(exit_code(is_directory), ExitCode::failed);
  EXPECT_EQ(exit_code(permission), ExitCode::permission);
  EXPECT_EQ(exit_code(daemon_refuses), ExitCode::daemon_refuses);
  EXPECT_EQ(exit_code(daemon_crashes), ExitCode::daemon_refuses);
  EXPECT_EQ(exit_code(unknown_release), ExitCode::daemon_refuses);
  EXPECT_EQ(exit_code(needs_decision), ExitCode::needs_decision);
  EXPECT_EQ(exit_code(usage), ExitCode::usage);
  EXPECT_EQ(exit_code(locked), ExitCode::locked);
}

}  // namespace
}  // namespace ctkit::installer
