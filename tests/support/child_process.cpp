#include "support/child_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <span>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace ctkit::test {

namespace {

constexpr std::size_t kMostBytes = 4096;
constexpr uid_t kNobody = 65534;

// What the child leaves for us; `length` is set last.
struct Answer {
  std::size_t length = 0;
  std::array<char, kMostBytes> text = {};
};

sock_filter load(std::size_t offset) {
  return {.code = BPF_LD | BPF_W | BPF_ABS, .jt = 0, .jf = 0, .k = static_cast<std::uint32_t>(offset)};
}

sock_filter skip_unless_equal(std::uint32_t value, std::uint8_t count) {
  return {.code = BPF_JMP | BPF_JEQ | BPF_K, .jt = 0, .jf = count, .k = value};
}

sock_filter mask(std::uint32_t bits) {
  return {.code = BPF_ALU | BPF_AND | BPF_K, .jt = 0, .jf = 0, .k = bits};
}

sock_filter answer(std::uint32_t action) {
  return {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = action};
}

void install(std::span<sock_filter> filter) {
  const sock_fprog program{.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) != 0) {
    ::_exit(1);  // a test must not go on without its obstacle
  }
}

void filter_call(long number, std::uint32_t action) {
  std::array filter = {load(offsetof(seccomp_data, nr)),
                       skip_unless_equal(static_cast<std::uint32_t>(number), 1),
                       answer(action),
                       answer(SECCOMP_RET_ALLOW)};
  install(filter);
}

}  // namespace

std::optional<std::string> run_in_child(const std::function<std::string()>& work) {
  void* shared = ::mmap(nullptr, sizeof(Answer), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return std::nullopt;
  auto* back = new (shared) Answer{};
  const pid_t child = ::fork();
  if (child == 0) {
    const std::string text = work();
    back->length = std::min(text.size(), kMostBytes);
    std::ranges::copy_n(text.begin(), static_cast<std::ptrdiff_t>(back->length), back->text.begin());
    ::_exit(0);
  }
  int status = 0;
  const bool ended = child > 0 && ::waitpid(child, &status, 0) == child;
  std::optional<std::string> result;
  if (ended && WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    result = std::string(back->text.data(), back->length);
  }
  ::munmap(shared, sizeof(Answer));
  return result;
}

void deny_call(long number, int error_number) {
  filter_call(number, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(error_number));
}

void deny_unnamed_files() {
  constexpr auto kFlags = static_cast<std::uint32_t>(O_TMPFILE);
  // The third argument, its low half on a little-endian machine.
  constexpr std::size_t kFlagsAt = offsetof(seccomp_data, args) + (2 * sizeof(std::uint64_t));
  std::array filter = {load(offsetof(seccomp_data, nr)),
                       skip_unless_equal(static_cast<std::uint32_t>(SYS_openat), 4),
                       load(kFlagsAt),
                       mask(kFlags),
                       skip_unless_equal(kFlags, 1),
                       answer(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(EOPNOTSUPP)),
                       answer(SECCOMP_RET_ALLOW)};
  install(filter);
}

void die_at_call(long number) {
  filter_call(number, SECCOMP_RET_KILL_PROCESS);
}

void drop_rights() {
  if (::geteuid() != 0) return;
  if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
      ::setresuid(kNobody, kNobody, kNobody) != 0) {
    ::_exit(1);
  }
}

bool mount_small_disk(const std::string& folder, int size_kib) {
  const std::string size = "size=" + std::to_string(size_kib) + "k";
  return ::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("tmpfs", folder.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, size.c_str()) == 0;
}

bool make_noexec(const std::string& folder) {
  return ::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_NOEXEC | MS_NOSUID | MS_NODEV, nullptr) == 0;
}

bool make_read_only(const std::string& folder) {
  return ::mount(nullptr, folder.c_str(), nullptr, MS_REMOUNT | MS_RDONLY | MS_NOSUID | MS_NODEV, nullptr) == 0;
}

}  // namespace ctkit::test
