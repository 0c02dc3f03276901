"""Runs a program and kills it, with the processes it made, before its n-th change of the file system: ptrace(2) by ctypes, Linux
on x86_64 only."""

import ctypes
import os
import platform
import signal

# The calls that change names or contents for others to see; a write to a file without a name is none.
CHANGES = {
    82: "rename", 264: "renameat", 316: "renameat2", 265: "linkat", 266: "symlinkat", 87: "unlink", 263: "unlinkat",
    83: "mkdir", 258: "mkdirat", 84: "rmdir", 90: "chmod", 91: "fchmod", 268: "fchmodat",
}
_TRACEME, _PEEKUSER, _SYSCALL, _SETOPTIONS, _GETEVENTMSG = 0, 3, 24, 0x4200, 0x4201
_ORIG_RAX = 15 * 8
_O_TRACESYSGOOD, _O_FORKS, _O_EXITKILL = 1, 2 | 4 | 8, 0x100000
_WALL = 0x40000000

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
    _libc.ptrace(_SETOPTIONS, child, None, _O_TRACESYSGOOD | _O_FORKS | _O_EXITKILL)
    changes = 0
    entering = {child: True}  # by process: whether its next stop is on the way into a system call
    unseen = set()  # processes whose first stop, which every new one makes, is to come
    stopped, deliver = child, 0
    while True:
        _libc.ptrace(_SYSCALL, stopped, None, deliver)
        stopped, status = os.waitpid(-1, _WALL)
        while not os.WIFSTOPPED(status):
            del entering[stopped]
            if stopped == child:
                return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)
            stopped, status = os.waitpid(-1, _WALL)
        deliver = 0
        if stopped not in entering or stopped in unseen:
            entering[stopped] = True
            unseen.discard(stopped)
        elif status >> 16:
            made = ctypes.c_ulong()
            _libc.ptrace(_GETEVENTMSG, stopped, None, ctypes.addressof(made))
            if made.value not in entering:
                entering[made.value] = True
                unseen.add(made.value)
        elif os.WSTOPSIG(status) != signal.SIGTRAP | 0x80:
            deliver = os.WSTOPSIG(status)
        elif entering[stopped] and _libc.ptrace(_PEEKUSER, stopped, _ORIG_RAX, None) in CHANGES:
            changes += 1
            if changes == n:
                _kill(entering)
                return None
            entering[stopped] = False
        else:
            entering[stopped] = not entering[stopped]


def _kill(processes):
    """Ends processes of ours, all at once, and waits for their end."""
    for process in processes:
        os.kill(process, signal.SIGKILL)
    while processes:
        ended, status = os.waitpid(-1, _WALL)
        if not os.WIFSTOPPED(status):
            del processes[ended]
