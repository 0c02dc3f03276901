"""A process that is traced from its exec on (ptrace)."""
import ctypes
import os

TRACEME = 0

ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def start(command):
    """The pid of the command, silent, and stopped by its exec."""
    pid = os.fork()
    if pid == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in (0, 1, 2):
            os.dup2(null, fd)
        ptrace(TRACEME, 0, None, None)
        os.execv(command[0], command)
    os.waitpid(pid, 0)
    return pid
