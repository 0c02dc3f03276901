#include "installer/host/proc_processes.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/host/root_folder.h"
#include "installer/host/system_error.h"
#include "installer/host/unique_fd.h"
#include "installer/process_stat.h"

namespace ctkit::installer::host {

using engine::Result;

namespace {

constexpr std::int64_t kNanoseconds = 1'000'000'000;

std::string folder_of(std::int64_t pid) {
  return "/proc/" + std::to_string(pid);
}

Result<std::string> read_whole(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return std::unexpected(make_system_error(errno, "look at the process", path));
  std::string text;
  std::array<char, 16384> part;  // not cleared on purpose
  while (true) {
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    // ESRCH: it ended meanwhile.
    if (count < 0)
      return std::unexpected(make_system_error(errno == ESRCH ? ENOENT : errno, "look at the process", path));
    if (count == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(count));
  }
}

Result<std::string> read_link(const std::string& path) {
  std::array<char, PATH_MAX> target{};
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length < 0) return std::unexpected(make_system_error(errno, "look at the process", path));
  return std::string(target.data(), static_cast<std::size_t>(length));
}

std::vector<std::string> split_words(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

// The daemon was updated under its running process: the next start takes what lies there now.
std::string without_deleted(std::string path) {
  constexpr std::string_view kMark = " (deleted)";
  if (path.ends_with(kMark)) path.resize(path.size() - kMark.size());
  return path;
}

Result<FileIdentity> identity_below(std::int64_t pid, const std::string& path) {
  const auto root = RootFolder::open(folder_of(pid) + "/root");
  if (!root) return std::unexpected(root.error());
  const auto file = root->open(path, O_PATH);
  if (!file) return std::unexpected(file.error());
  struct stat status{};
  if (::fstat(file->get(), &status) != 0) {
    return std::unexpected(make_system_error(errno, "look at the program", path));
  }
  return FileIdentity{.device = status.st_dev,
                      .inode = status.st_ino,
                      .size = status.st_size,
                      .modified = (status.st_mtim.tv_sec * kNanoseconds) + status.st_mtim.tv_nsec};
}

}  // namespace

Result<ProcessFacts> ProcProcesses::look_at(std::int64_t pid) {
  const auto command_line = read_whole(folder_of(pid) + "/cmdline");
  if (!command_line) return std::unexpected(command_line.error());
  auto executable = read_link(folder_of(pid) + "/exe");
  if (!executable) return std::unexpected(executable.error());
  auto working_folder = read_link(folder_of(pid) + "/cwd");
  if (!working_folder) return std::unexpected(working_folder.error());
  const auto status = read_whole(folder_of(pid) + "/status");
  if (!status) return std::unexpected(status.error());
  const auto environment = read_whole(folder_of(pid) + "/environ");
  ProcessFacts facts{.argv = split_words(*command_line),
                     .environment = environment ? split_words(*environment) : std::vector<std::string>(),
                     .executable = without_deleted(*std::move(executable)),
                     .working_folder = *std::move(working_folder),
                     .own_pid = parse_own_pid(*status).value_or(pid)};
  const auto program = identity_below(pid, facts.executable);
  if (!program) return std::unexpected(program.error());
  facts.program = *program;
  return facts;
}

Result<std::string> ProcProcesses::own_program() {
  return read_link("/proc/self/exe");
}

Result<std::string> ProcProcesses::own_bytes() {
  return read_whole("/proc/self/exe");
}

bool ProcProcesses::shares_our_root(std::int64_t pid) {
  struct stat theirs{};
  struct stat ours{};
  const auto their_space = read_link(folder_of(pid) + "/ns/mnt");
  const auto our_space = read_link("/proc/self/ns/mnt");
  return ::stat((folder_of(pid) + "/root").c_str(), &theirs) == 0 && ::stat("/", &ours) == 0 &&
         theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino && their_space && our_space &&
         *their_space == *our_space;
}

}  // namespace ctkit::installer::host
