#include "installer/host/child_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Result;

namespace {

// What the child has where: the standard descriptors, and until it is the program one more.
constexpr int kReportFd = 3;
constexpr int kFirstFree = 4;
constexpr int kNeverRan = 127;

struct Pipe {
  UniqueFd reader = {};
  UniqueFd writer = {};
};

// All that the child needs, ready before the fork: after it, only system calls.
struct Launch {
  const char* executable = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  int root = -1;
  int null = -1;
  int output = -1;
  int errors = -1;
  int report = -1;
  pid_t parent = 0;
};

[[noreturn]] void give_up(int report, bool in_root) {
  const StartFailure failure{.error_number = errno, .in_root = in_root};
  static_cast<void>(::write(report, &failure, sizeof failure) == sizeof failure);
  ::_exit(kNeverRan);
}

// Ignored signals and the mask would be inherited; handlers are reset by execve(2).
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal)
    ::signal(signal, SIG_DFL);
  sigset_t none{};
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(const Launch& launch) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launch.parent) ::_exit(kNeverRan);  // died before the line above
  reset_signals();
  if (launch.root >= 0 && (::fchdir(launch.root) != 0 || ::chroot(".") != 0)) give_up(launch.report, true);
  if (::chdir("/") != 0) give_up(launch.report, true);
  ::dup2(launch.null, STDIN_FILENO);
  ::dup2(launch.output, STDOUT_FILENO);
  ::dup2(launch.errors, STDERR_FILENO);
  ::dup2(launch.report, kReportFd);
  ::fcntl(kReportFd, F_SETFD, FD_CLOEXEC);
  ::closefrom(kFirstFree);
  ::execve(launch.executable, launch.argv, launch.environment);
  give_up(kReportFd, false);
}

// The descriptor, out of the way of those the child puts in place.
UniqueFd moved_up(UniqueFd fd) {
  if (fd.get() >= kFirstFree || !fd) return fd;
  return UniqueFd(::fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstFree));
}

Result<Pipe> make_pipe(const std::string& executable) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(make_system_error(errno, "make a pipe", executable));
  Pipe pipe{.reader = UniqueFd(ends[0]), .writer = moved_up(UniqueFd(ends[1]))};
  if (!pipe.writer || ::fcntl(pipe.reader.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(make_system_error(errno, "make a pipe", executable));
  }
  return pipe;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

int ChildProcess::end() {
  // While the child isn't waited for, its number and its group's are nobody else's.
  const pid_t pid = std::exchange(pid_, 0);
  ::kill(-pid, SIGKILL);
  ::kill(pid, SIGKILL);  // it may not lead its group yet
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

Result<StartedProgram> start_program(const Command& command, int root) {
  auto output = make_pipe(command.executable);
  auto errors = make_pipe(command.executable);
  auto report = make_pipe(command.executable);
  for (const auto* made : {&output, &errors, &report}) {
    if (!*made) return std::unexpected(made->error());
  }
  const UniqueFd null = moved_up(UniqueFd(::open("/dev/null", O_RDONLY | O_CLOEXEC)));
  if (!null) return std::unexpected(make_system_error(errno, "open the file", "/dev/null"));
  std::vector<std::string> argv = command.argv;
  std::vector<std::string> environment = command.environment;
  const std::vector<char*> argv_pointers = pointers_to(argv);
  const std::vector<char*> environment_pointers = pointers_to(environment);
  const Launch launch{.executable = command.executable.c_str(),
                      .argv = argv_pointers.data(),
                      .environment = environment_pointers.data(),
                      .root = root,
                      .null = null.get(),
                      .output = output->writer.get(),
                      .errors = errors->writer.get(),
                      .report = report->writer.get(),
                      .parent = ::getpid()};
  const pid_t pid = ::fork();
  if (pid == 0) become(launch);
  if (pid < 0) return std::unexpected(make_system_error(errno, "start a process for", command.executable));
  ChildProcess child(pid);
  ::setpgid(pid, pid);  // as the child does: whoever is first, the group is there
  UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process) return std::unexpected(make_system_error(errno, "watch the process of", command.executable));
  return StartedProgram{.child = std::move(child),
                        .process = std::move(process),
                        .output = std::move(output->reader),
                        .errors = std::move(errors->reader),
                        .report = std::move(report->reader)};
}

}  // namespace ctkit::installer::host
