#pragma once

#include <functional>
#include <optional>
#include <string>

namespace ctkit::test {

/// Runs the work in a forked child, which may lose rights, enter a mount namespace or deny itself
/// system calls, and gives what it returned (at most 4 kB). Nothing if it died. It comes back over
/// shared memory, so not even write(2) is needed.
std::optional<std::string> run_in_child(const std::function<std::string()>& work);

/// From now on the system call fails with this errno in this process, and does nothing; with 0 it
/// seems to succeed.
void deny_call(long number, int error_number);

/// openat(2) with O_TMPFILE fails as on a file system that has no unnamed files.
void deny_unnamed_files();

/// From now on the system call kills this process.
void die_at_call(long number);

/// Becomes the user nobody, unless we are not root and so without rights already.
void drop_rights();

/// In a mount namespace of its own, mounts a tmpfs of `size_kib` there. False if we may not.
bool mount_small_disk(const std::string& folder, int size_kib);

/// Turns what `mount_small_disk` mounted into one that programs don't run from.
bool make_noexec(const std::string& folder);

/// Turns what `mount_small_disk` mounted read-only.
bool make_read_only(const std::string& folder);

}  // namespace ctkit::test
