#include "installer/host/posix_command_runner.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "installer/clock.h"
#include "installer/host/child_process.h"
#include "installer/host/deadline.h"
#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Result;

namespace {

constexpr std::size_t kReadSize = 65536;
constexpr std::size_t kPipeSize = std::size_t{1} << 20U;  // the most a pipe can have

// A pipe's reading end and what came out of it.
struct Stream {
  UniqueFd fd = {};
  std::size_t most = 0;  // that is kept
  std::string text = {};
  bool truncated = false;
};

// Takes some of what is there. False at the end, or if there is nothing (yet).
bool read_some(Stream& stream) {
  std::array<char, kReadSize> buffer;  // not cleared on purpose
  const ssize_t count = ::read(stream.fd.get(), buffer.data(), buffer.size());
  if (count == 0) stream.fd = UniqueFd();
  if (count <= 0) return false;
  const std::string_view got(buffer.data(), static_cast<std::size_t>(count));
  const std::size_t room = stream.most - stream.text.size();
  stream.text += got.substr(0, room);
  stream.truncated = stream.truncated || got.size() > room;
  return true;
}

// Takes what is left in the pipe, but no more than a pipe holds: somebody may go on writing.
void drain(Stream& stream) {
  for (std::size_t read = 0; stream.fd && read < kPipeSize; read += kReadSize) {
    if (!read_some(stream)) return;
  }
}

struct Streams {
  Stream output = {};
  Stream errors = {};
  Stream report = {};
};

// Reads until the child has ended (its process descriptor is readable then), or the deadline:
// false. What it left running may hold the pipes open for ever, so that their end is not waited
// for.
bool follow(Streams& streams, int process, Moment deadline) {
  while (true) {
    const auto polled = [](const Stream& stream) {
      return pollfd{.fd = stream.fd.get(), .events = POLLIN, .revents = 0};
    };
    std::array waiting = {polled(streams.output),
                          polled(streams.errors),
                          polled(streams.report),
                          pollfd{.fd = process, .events = POLLIN, .revents = 0}};
    const int left = milliseconds_until(deadline);
    if (left == 0) return false;
    if (::poll(waiting.data(), waiting.size(), left) < 0) continue;  // EINTR
    for (Stream* stream : {&streams.output, &streams.errors, &streams.report}) {
      if (stream->fd) read_some(*stream);
    }
    if (waiting.back().revents != 0) return true;
  }
}

// The child's report: empty, or why the program never ran.
Result<void> check_started(const Stream& report, const std::string& executable) {
  StartFailure failure;
  if (report.text.size() != sizeof failure) return {};
  std::memcpy(&failure, report.text.data(), sizeof failure);
  return std::unexpected(make_system_error(
      failure.error_number, failure.in_root ? "enter the host root to run a program" : "run the program", executable));
}

// The root folder of a running process; none if it is ours: only root may change it.
Result<UniqueFd> root_of(std::int64_t pid) {
  const std::string path = "/proc/" + std::to_string(pid) + "/root";
  UniqueFd root(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  struct stat theirs{};
  struct stat ours{};
  if (!root || ::fstat(root.get(), &theirs) != 0 || ::stat("/", &ours) != 0) {
    return std::unexpected(make_system_error(errno, "enter the root folder of a process", path));
  }
  if (theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino) return UniqueFd();
  return root;
}

CommandResult make_result(Streams streams, int status, bool in_time) {
  CommandResult result{.output = std::move(streams.output.text),
                       .errors = std::move(streams.errors.text),
                       .timed_out = !in_time,
                       .truncated = streams.output.truncated || streams.errors.truncated};
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

}  // namespace

Result<std::unique_ptr<PosixCommandRunner>> PosixCommandRunner::open(const std::string& folder) {
  if (folder == "/") return std::make_unique<PosixCommandRunner>(UniqueFd());
  UniqueFd root(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root) return std::unexpected(make_system_error(errno, "open the host root", folder));
  return std::make_unique<PosixCommandRunner>(std::move(root));
}

Result<CommandResult> PosixCommandRunner::run(const Command& command) {
  const Moment deadline = Moment::clock::now() + command.timeout;
  const Result<UniqueFd> root = command.process > 0 ? root_of(command.process) : UniqueFd();
  if (!root) return std::unexpected(root.error());
  auto program = start_program(command, command.process > 0 ? root->get() : root_.get());
  if (!program) return std::unexpected(program.error());
  Streams streams{.output = {.fd = std::move(program->output), .most = command.most_output},
                  .errors = {.fd = std::move(program->errors), .most = command.most_output},
                  .report = {.fd = std::move(program->report), .most = sizeof(StartFailure)}};
  const bool in_time = follow(streams, program->process.get(), deadline);
  const int status = program->child.end();
  for (Stream* stream : {&streams.output, &streams.errors, &streams.report})
    drain(*stream);
  if (auto started = check_started(streams.report, command.executable); !started) {
    return std::unexpected(started.error());
  }
  return make_result(std::move(streams), status, in_time);
}

}  // namespace ctkit::installer::host
