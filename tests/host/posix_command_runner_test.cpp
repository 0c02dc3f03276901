#include "installer/host/posix_command_runner.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temp_folder.h"

namespace ctkit::installer::host {
namespace {

using namespace std::literals;
using engine::ErrorCode;
using test::TempFolder;
using testing::HasSubstr;

constexpr auto kShort = 50ms;
constexpr auto kLong = 30s;

Command shell(std::string script) {
  return {.executable = "/bin/sh",
          .argv = {"sh", "-c", std::move(script)},
          .environment = {"PATH=/usr/bin:/bin"},
          .timeout = kLong};
}

CommandResult run(const Command& command) {
  const auto runner = PosixCommandRunner::open("/");
  auto result = (*runner)->run(command);
  EXPECT_TRUE(result) << result.error().message;
  return result ? std::move(*result) : CommandResult{};
}

TEST(PosixCommandRunner, GivesWhatTheProgramWrote) {
  EXPECT_EQ(run(shell("echo out; echo err >&2; exit 3")),
            (CommandResult{.exit_code = 3, .output = "out\n", .errors = "err\n"}));
}

TEST(PosixCommandRunner, ArgumentsComeAsTheyAre) {
  const auto result = run({.executable = "/bin/sh",
                           .argv = {"other name", "-c", "printf '%s|' \"$0\" \"$@\"", "a b", "", "*", "\n"},
                           .timeout = kLong});
  EXPECT_EQ(result.output, "a b||*|\n|");
}

TEST(PosixCommandRunner, EnvironmentIsWhatWasGiven) {
  ASSERT_EQ(::setenv("CTKIT_TEST_LEAK", "1", 1), 0);
  const auto result =
      run({.executable = "/usr/bin/env", .argv = {"env"}, .environment = {"A=1", "B=x y"}, .timeout = kLong});
  EXPECT_EQ(result.output, "A=1\nB=x y\n");
}

TEST(PosixCommandRunner, InputIsEmptyAndTheFolderIsTheRoot) {
  EXPECT_EQ(run(shell("cat; pwd")).output, "/\n");
}

TEST(PosixCommandRunner, InheritsNoDescriptor) {
  const UniqueFd leaky(::fcntl(STDERR_FILENO, F_DUPFD, 50));  // not closed by execve(2)
  ASSERT_TRUE(leaky);
  // 3 is the folder that ls looks at.
  EXPECT_EQ(run(shell("exec ls /proc/self/fd")).output, "0\n1\n2\n3\n");
}

TEST(PosixCommandRunner, SignalsAreAsUsualThere) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  const auto result = run(shell("exec grep -E '^Sig(Blk|Ign):' /proc/self/status"));
  ::signal(SIGPIPE, before);
  EXPECT_EQ(result.output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(PosixCommandRunner, TakesMuchOutputOnBothSides) {
  const auto result = run(shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; echo end"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output.size(), 300'004U);
  EXPECT_EQ(result.errors.size(), 300'000U);
  EXPECT_FALSE(result.truncated);
}

TEST(PosixCommandRunner, KeepsNoMoreThanIsWanted) {
  Command command = shell("head -c 300000 /dev/zero; echo on its way >&2; exit 2");
  command.most_output = 10;
  const auto result = run(command);
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_EQ(result.output, std::string(10, '\0'));
  EXPECT_EQ(result.errors, "on its way");
  EXPECT_TRUE(result.truncated);
}

TEST(PosixCommandRunner, NamesTheSignal) {
  const auto result = run(shell("kill -TERM $$"));
  EXPECT_EQ(result.exit_code, std::nullopt);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_FALSE(result.timed_out);
}

TEST(PosixCommandRunner, EndsWhatTakesTooLong) {
  Command command = shell("echo begun; trap '' TERM; exec sleep 1000");
  command.timeout = kShort;
  const auto result = run(command);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.signal, SIGKILL);
}

TEST(PosixCommandRunner, EndsWhatWritesWithoutEnd) {
  Command command = shell("while :; do echo y; done");
  command.timeout = kShort;
  EXPECT_TRUE(run(command).timed_out);
}

TEST(PosixCommandRunner, EndsTheWholeGroup) {
  TempFolder folder;
  const std::string fifo = folder.path_of("fifo");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  // The grandchild holds our pipes and the FIFO; a reader of the FIFO sees its end when the
  // grandchild is gone.
  const UniqueFd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto result = run(shell("exec 3>" + fifo + "; sleep 1000 & exec 3>&-; echo parent done"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.output, "parent done\n");
  EXPECT_FALSE(result.timed_out);
  char byte = 0;
  ASSERT_EQ(::fcntl(reader.get(), F_SETFL, 0), 0);
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0);
}

TEST(PosixCommandRunner, LeavesNoZombie) {
  run(shell("exit 0"));
  const auto runner = PosixCommandRunner::open("/");
  EXPECT_FALSE((*runner)->run({.executable = "/nonexistent", .argv = {"x"}, .timeout = kLong}));
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

TEST(PosixCommandRunner, SaysWhyItCannotRun) {
  TempFolder folder;
  folder.write("text", "no program");
  folder.write("nonsense", "no program");
  std::filesystem::permissions(folder.path_of("nonsense"), std::filesystem::perms::all);
  const auto runner = PosixCommandRunner::open("/");
  const auto error_of = [&](const std::string& path) {
    const auto result = (*runner)->run({.executable = path, .argv = {"x"}, .timeout = kLong});
    EXPECT_FALSE(result);
    return result ? engine::Error{} : result.error();
  };
  EXPECT_EQ(error_of("/nonexistent/x").code, ErrorCode::not_found);
  EXPECT_EQ(error_of("/nonexistent/x").message, "cannot run the program: no such file or directory");
  EXPECT_EQ(error_of("/nonexistent/x").where, "/nonexistent/x");
  EXPECT_EQ(error_of(folder.path_of("text")).code, ErrorCode::permission);
  EXPECT_EQ(error_of(folder.path_of("nonsense")).message, "cannot run the program: exec format error");
}

TEST(PosixCommandRunner, WorksWithoutStandardDescriptors) {
  const pid_t child = ::fork();
  if (child == 0) {
    for (int fd = 0; fd < 10; ++fd)
      ::close(fd);
    const auto runner = PosixCommandRunner::open("/");
    const auto result = (*runner)->run(shell("echo out; echo err >&2"));
    ::_exit(result && result->output == "out\n" && result->errors == "err\n" ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(PosixCommandRunner, HostRootIsTheProgramsRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may change its root";
  TempFolder folder;
  folder.write("etc/x", "inside");
  // Something that runs without libraries of its own: the loader itself, which prints what it is.
  folder.make_folder("lib64");
  std::filesystem::copy_file("/lib64/ld-linux-x86-64.so.2", folder.path_of("lib64/loader"));
  const auto runner = PosixCommandRunner::open(folder.path());
  ASSERT_TRUE(runner);
  const auto inside =
      (*runner)->run({.executable = "/lib64/loader", .argv = {"loader", "--version"}, .timeout = kLong});
  ASSERT_TRUE(inside) << inside.error().message;
  EXPECT_THAT(inside->output, HasSubstr("ld.so"));
  const auto outside = (*runner)->run({.executable = "/bin/sh", .argv = {"sh"}, .timeout = kLong});
  ASSERT_FALSE(outside);
  EXPECT_EQ(outside.error().code, ErrorCode::not_found);
}

TEST(PosixCommandRunner, NeedsItsRoot) {
  EXPECT_EQ(PosixCommandRunner::open("/nonexistent").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace ctkit::installer::host
