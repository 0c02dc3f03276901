#include "installer/host/pass_process.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installer/host/system_error.h"
#include "installer/host/write_all.h"

namespace ctkit::installer::host {

using daemonset::PassReport;
using engine::Result;

namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20U;

// Signals stay blocked: who started us decides when we end.
[[noreturn]] void run_in_child(pid_t holder, int report, const std::function<PassReport()>& pass) {
  // Its locks are ours as well: a pass that outlives who holds the node would keep the next one out.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != holder) ::_exit(1);
  int status = 1;
  try {
    // Where that fails nobody wants it any more.
    status = write_all(report, render_pass_report(pass()), "report") ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << "ctkit: this is a bug: " << error.what() << '\n';
  }
  std::cerr.flush();
  ::_exit(status);
}

void wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace

Result<PassProcess> PassProcess::start(const std::function<PassReport()>& pass) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::unexpected(make_system_error(errno, "make a pipe", ""));
  UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  if (::fcntl(reader.get(), F_SETFL, O_NONBLOCK) != 0) {
    return std::unexpected(make_system_error(errno, "make a pipe", ""));
  }
  const pid_t holder = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return std::unexpected(make_system_error(errno, "start a process", ""));
  if (pid == 0) run_in_child(holder, writer.get(), pass);
  return PassProcess(pid, std::move(reader));
}

PassProcess::~PassProcess() {
  if (pid_ > 0) end(std::chrono::milliseconds(0));
}

std::optional<PassReport> PassProcess::read() {
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t length = ::read(report_.get(), buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) return std::nullopt;
    if (length <= 0) break;
    if (text_.size() < kMostBytes) text_.append(buffer.data(), static_cast<std::size_t>(length));
  }
  wait_for(std::exchange(pid_, 0));
  return daemonset::parse_pass_report(text_);
}

std::optional<PassReport> PassProcess::end(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (pid_ > 0) {
    if (auto report = read()) return report;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    pollfd polled{.fd = report_.get(), .events = POLLIN, .revents = 0};
    ::poll(&polled, 1, static_cast<int>(left.count()));
  }
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    wait_for(std::exchange(pid_, 0));
  }
  return std::nullopt;
}

}  // namespace ctkit::installer::host
