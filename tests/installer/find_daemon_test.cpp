#include "installer/find_daemon.h"

#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "installer/daemon_build.h"
#include "support/fake_clock.h"
#include "support/fake_command_runner.h"
#include "support/fake_daemon_status.h"
#include "support/fake_processes.h"
#include "support/memory_files.h"

namespace ctkit::installer {
namespace {

using engine::Error;
using engine::ErrorCode;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr auto kSocket = "/run/containerd/containerd.sock";
constexpr auto kK3s = "/run/k3s/containerd/containerd.sock";
constexpr auto kState = "/usr/local/nvidia/.ctkit";

class FindDaemon : public testing::Test {
 protected:
  FindDaemon() {
    processes.processes[100] = {.argv = {"containerd", "-c", "/etc/c.toml"},
                                .executable = "/usr/bin/containerd",
                                .program = {.device = 1, .inode = 2, .size = 3, .modified = 4},
                                .working_folder = "/",
                                .own_pid = 7};
    runner.answer = [](const Command& command) -> engine::Result<CommandResult> {
      if (command.argv.back() == "--version")
        return CommandResult{.exit_code = 0, .output = "containerd x 1.7.24~ds1 y\n"};
      return CommandResult{.exit_code = 0, .output = "version = 2\n"};
    };
  }

  std::optional<FoundDaemon> find(const Request& request = {}) {
    return find_daemon(request,
                       kState,
                       {.files = files, .processes = processes, .runner = runner, .clock = clock, .connect = connect});
  }

  test::MemoryFiles files;
  test::FakeProcesses processes;
  test::FakeCommandRunner runner;
  test::FakeClock clock;
  std::map<std::string, Error> without_cri;
  std::function<engine::Result<std::unique_ptr<DaemonStatus>>(const std::string&)> connect =
      [this](const std::string& socket) -> engine::Result<std::unique_ptr<DaemonStatus>> {
    auto status = std::make_unique<test::FakeDaemonStatus>();
    if (without_cri.contains(socket)) status->answers = {std::unexpected(without_cri.at(socket))};
    return status;
  };
};

TEST(ConfigPath, IsTheCommandLinesElseTheUsualOneOfThatDaemon) {
  const auto path = [](const std::string& config, const std::string& version) {
    return config_path_of({.config = config, .build = {.version = version}});
  };
  EXPECT_EQ(path("/etc/c.toml", "containerd 1.7.27"), "/etc/c.toml");
  EXPECT_EQ(path("", "containerd github.com/containerd/containerd v1.7.27 05044ec"), "/etc/containerd/config.toml");
  EXPECT_EQ(path("", "crio version 1.34.11"), "/etc/crio/crio.conf");
}

TEST(AsksDaemon, WhoReadsATreeOrAnotherReleaseDoesNot) {
  for (const Verb verb : {Verb::effective, Verb::explain, Verb::lint, Verb::preflight}) {
    EXPECT_TRUE(asks_daemon({.verb = verb}, false));
    EXPECT_FALSE(asks_daemon({.verb = verb, .release = "1.7.27"}, false));
    EXPECT_FALSE(asks_daemon({.verb = verb}, true));
  }
  for (const Verb verb : {Verb::plan, Verb::apply, Verb::uninstall, Verb::verify, Verb::status, Verb::rollback}) {
    EXPECT_TRUE(asks_daemon({.verb = verb, .release = "1.7.27"}, false));
    EXPECT_FALSE(asks_daemon({.verb = verb}, true));
  }
}

TEST(CheckFound, ApplyOnTheMachineItselfWantsADaemonToRestart) {
  const Request apply{.verb = Verb::apply};
  EXPECT_TRUE(check_found(apply, "/", true));
  EXPECT_TRUE(check_found(apply, "/tree", false));
  EXPECT_TRUE(check_found({.verb = Verb::apply, .restart = RestartMode::none}, "/", false));
  EXPECT_TRUE(check_found({.verb = Verb::plan}, "/", false));
  const auto refused = check_found(apply, "/", false);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::unreachable);
}

TEST_F(FindDaemon, WithoutASocketThereIsNone) {
  EXPECT_FALSE(find());
}

TEST_F(FindDaemon, TellsItsProgramConfigAndRelease) {
  files.add_file(kSocket, "");
  const auto found = find();
  ASSERT_TRUE(found && found->daemon);
  EXPECT_EQ(found->daemon->config, "/etc/c.toml");
  EXPECT_EQ(found->daemon->build.version, "containerd x 1.7.24~ds1 y");
  EXPECT_EQ(found->daemon->build.defaults, "version = 2\n");
  EXPECT_FALSE(found->daemon->build_is_kept);
  ASSERT_EQ(runner.log().size(), 2U);
  EXPECT_EQ(runner.log().front().process, 100);
  EXPECT_EQ(runner.log().front().executable, "/usr/bin/containerd");
}

TEST_F(FindDaemon, AsksAProgramOnce) {
  files.add_file(kSocket, "");
  files.add_folder(kState);
  const auto first = find();
  ASSERT_TRUE(write_build(files, kState, first->daemon->build));
  const auto asked = runner.log().size();
  const auto second = find();
  ASSERT_TRUE(second && second->daemon);
  EXPECT_TRUE(second->daemon->build_is_kept);
  EXPECT_EQ(second->daemon->build, first->daemon->build);
  EXPECT_EQ(runner.log().size(), asked);
  // An upgrade is another file.
  processes.processes[100].program.inode = 9;
  EXPECT_FALSE(find()->daemon->build_is_kept);
  EXPECT_GT(runner.log().size(), asked);
}

TEST_F(FindDaemon, OfTwoTheOneThatServesKubernetes) {
  files.add_file(kSocket, "");
  files.add_file(kK3s, "");
  without_cri[kSocket] = {.code = ErrorCode::not_found, .message = "no CRI"};
  EXPECT_EQ(find()->socket, kK3s);
  without_cri.clear();
  EXPECT_EQ(find()->socket, kSocket);
  EXPECT_EQ(find({.socket = kK3s})->socket, kK3s);
}

TEST_F(FindDaemon, CriOIsFoundByItsSocketAndAskedForItsVersionOnly) {
  constexpr auto kCrio = "/run/crio/crio.sock";
  files.add_file(kCrio, "");
  runner.answer = [](const Command& command) -> engine::Result<CommandResult> {
    EXPECT_EQ(command.argv.back(), "--version");
    return CommandResult{.exit_code = 0, .output = "crio version 1.34.11\nVersion: 1.34.11\n"};
  };
  const auto found = find();
  ASSERT_TRUE(found && found->daemon);
  EXPECT_EQ(found->socket, kCrio);
  EXPECT_EQ(found->daemon->build.defaults, "");
  files.add_file(kSocket, "");
  EXPECT_EQ(find({.engine = "crio"})->socket, kCrio);
  EXPECT_EQ(find({.engine = "containerd"})->socket, kSocket);
}

TEST_F(FindDaemon, AProcessThatCannotBeSeenIsAnError) {
  files.add_file(kSocket, "");
  processes.processes.clear();
  const auto found = find();
  ASSERT_TRUE(found);
  ASSERT_FALSE(found->daemon);
  EXPECT_EQ(found->daemon.error().code, ErrorCode::unreachable);
}

struct CommandLine {
  std::vector<std::string> argv;
  std::string folder;
  std::string config;
};
class ConfigOf : public testing::TestWithParam<CommandLine> {};

TEST_P(ConfigOf, IsWhatTheDaemonWasToldToRead) {
  EXPECT_EQ(config_of({.argv = GetParam().argv, .working_folder = GetParam().folder}), GetParam().config);
}

INSTANTIATE_TEST_SUITE_P(All,
                         ConfigOf,
                         testing::Values(CommandLine{{"containerd"}, "/", ""},
                                         CommandLine{{"containerd", "--config", "/a"}, "/", "/a"},
                                         CommandLine{{"containerd", "--config=/a", "--log-level", "info"}, "/", "/a"},
                                         CommandLine{{"containerd", "-c", "/a"}, "/", "/a"},
                                         CommandLine{{"containerd", "-c=/a"}, "/", "/a"},
                                         CommandLine{{"containerd", "-config", "x.toml"}, "/srv", "/srv/x.toml"},
                                         CommandLine{{"containerd", "--config", "x.toml"}, "/", "/x.toml"},
                                         CommandLine{{"containerd", "--config"}, "/", ""}));

}  // namespace
}  // namespace ctkit::installer
