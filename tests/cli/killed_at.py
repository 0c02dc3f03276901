"""Runs a program and kills it before its n-th change of the file system: ptrace(2) by ctypes, Linux on x86_64 only."""

import ctypes
import os
import platform
import signal

# The calls that change names or contents for others to see; a write to a file without a name is none.
CHANGES = {
    82: "rename", 264: "renameat", 316: "renameat2", 265: "linkat", 87: "unlink", 263: "unlinkat", 83: "mkdir",
    258: "mkdirat", 84: "rmdir", 90: "chmod", 91: "fchmod", 268: "fchmodat",
}
_TRACEME, _PEEKUSER, _SETOPTIONS, _SYSCALL, _KILL = 0, 3, 0x4200, 24, 8
_ORIG_RAX = 15 * 8
_O_TRACESYSGOOD, _O_EXITKILL = 1, 0x100000

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def usable():
    if platform.machine() != "x86_64":
        return False
    try:
        return run_until(["/bin/true"], 1) == 0
    except OSError:
        return False


def run_until(argv, n):
    """The exit code of argv, or None if it was killed before its n-th change (1 is the first)."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        if _libc.ptrace(_TRACEME, 0, None, None) != 0:
            os._exit(126)
        try:
            os.execv(argv[0], argv)
        finally:
            os._exit(127)
    _, status = os.waitpid(child, 0)
    if not os.WIFSTOPPED(status):
        raise OSError("ptrace is not allowed here")
    _libc.ptrace(_SETOPTIONS, child, None, _O_TRACESYSGOOD | _O_EXITKILL)
    changes = 0
    entering = True
    deliver = 0
    while True:
        _libc.ptrace(_SYSCALL, child, None, deliver)
        _, status = os.waitpid(child, 0)
        if os.WIFEXITED(status):
            return os.WEXITSTATUS(status)
        if os.WIFSIGNALED(status):
            return -os.WTERMSIG(status)
        if os.WSTOPSIG(status) != signal.SIGTRAP | 0x80:
            deliver = os.WSTOPSIG(status)
            continue
        deliver = 0
        if entering and _libc.ptrace(_PEEKUSER, child, _ORIG_RAX, None) in CHANGES:
            changes += 1
            if changes == n:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return None
        entering = not entering
