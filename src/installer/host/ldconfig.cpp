#include "installer/host/ldconfig.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "installer/host/system_error.h"

namespace ctkit::installer::host {

using engine::Error;
using engine::Result;

namespace {

constexpr unsigned kMostSeconds = 60;
constexpr int kSetUpFailed = 126;
constexpr std::size_t kMostBytes = std::size_t{64} << 20U;

/// Makes the container's root ours, in a mount namespace of our own. False: errno says why.
bool enter(int root) {
  // Cloned first: in the new namespace the open folder would be of a mount that belongs to another
  // one.
  const int tree = ::open_tree(root, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_EMPTY_PATH);
  if (tree < 0) return false;
  if (::unshare(CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWNET) != 0) return false;
  mount_attr propagation{};
  propagation.propagation = MS_SLAVE;
  if (::mount_setattr(AT_FDCWD, "/", AT_RECURSIVE, &propagation, sizeof propagation) != 0) return false;
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NODEV | MOUNT_ATTR_NOSUID;
  if (::mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0) return false;
  // Over the host's root, so that no name of a folder is needed.
  if (::move_mount(tree, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) != 0) return false;
  if (::fchdir(tree) != 0) return false;
  if (::syscall(SYS_pivot_root, ".", ".") == 0) {
    // The host's mounts are stacked on ours now; away with them.
    return ::umount2(".", MNT_DETACH) == 0 && ::chdir("/") == 0;
  }
  // An initramfs can't be pivoted away from.
  return ::chroot(".") == 0 && ::chdir("/") == 0;
}

[[noreturn]] void become_ldconfig(int program, int root) {
  if (!enter(root)) {
    const int error = errno;
    ::dprintf(STDERR_FILENO, "cannot enter the container's root: error %d\n", error);
    ::_exit(kSetUpFailed);
  }
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // A pipe or an endless tree in the container must not keep it from failing; the alarm outlives
  // exec.
  ::alarm(kMostSeconds);
  std::array<char, 9> name = {"ldconfig"};
  std::array<char, 3> config_flag = {"-f"};
  std::array<char, 16> config = {"/etc/ld.so.conf"};
  std::array<char, 3> cache_flag = {"-C"};
  std::array<char, 17> cache = {"/etc/ld.so.cache"};
  const std::array<char*, 6> arguments = {
      name.data(), config_flag.data(), config.data(), cache_flag.data(), cache.data(), nullptr};
  const std::array<char*, 1> environment = {nullptr};
  ::syscall(SYS_execveat, program, "", arguments.data(), environment.data(), AT_EMPTY_PATH);
  const int error = errno;
  ::dprintf(STDERR_FILENO, "cannot run ldconfig: error %d\n", error);
  ::_exit(kSetUpFailed);
}

Result<void> wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return std::unexpected(make_system_error(errno, "wait for", "ldconfig"));
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return std::unexpected(Error{.message = WIFSIGNALED(status)
                                              ? fmt::format("ldconfig was ended by signal {}", WTERMSIG(status))
                                              : fmt::format("ldconfig: exit status {}", WEXITSTATUS(status))});
}

}  // namespace

Result<UniqueFd> load_ldconfig(const std::string& path) {
  UniqueFd file(::open((path + ".real").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) file = UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file) return std::unexpected(make_system_error(errno, "open the host's ldconfig", path));
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<std::size_t>(status.st_size) > kMostBytes) {
    return std::unexpected(Error{.message = "the host's ldconfig is no program", .where = path});
  }
  UniqueFd copy(::memfd_create("ldconfig", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!copy) return std::unexpected(make_system_error(errno, "copy the host's ldconfig", path));
  off_t left = status.st_size;
  while (left > 0) {
    const ssize_t count = ::sendfile(copy.get(), file.get(), nullptr, static_cast<std::size_t>(left));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      return std::unexpected(make_system_error(count == 0 ? EIO : errno, "copy the host's ldconfig", path));
    left -= count;
  }
  if (::fcntl(copy.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) {
    return std::unexpected(make_system_error(errno, "seal the copy of ldconfig", path));
  }
  return copy;
}

Result<void> run_ldconfig(const UniqueFd& program, const RootFolder& root) {
  const auto folder = root.open("/", O_RDONLY | O_DIRECTORY);
  if (!folder) return std::unexpected(folder.error());
  const pid_t child = ::fork();
  if (child < 0) return std::unexpected(make_system_error(errno, "start a process for", "ldconfig"));
  if (child == 0) become_ldconfig(program.get(), folder->get());
  return wait_for(child);
}

}  // namespace ctkit::installer::host
