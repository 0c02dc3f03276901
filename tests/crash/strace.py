"""The system calls of a run, and the run again, killed at one of them. By strace, whose injection counts calls per name."""

import collections
import os
import re
import signal
import subprocess
import threading

LIMIT = 60  # seconds
CALL = re.compile(r"^(\d+) +([a-z_0-9]+)\((.*)")
# One ends the program, the other is how it begins.
NOT_ITS_OWN = {"execve", "exit_group"}


class NotTraced(Exception):
    """The command failed under strace."""


def calls_of(command, scratch, program=None):
    """(name, n-th of that name) of each system call of a run, in order, of the process that became `program`.

    Without a program: of the command's own process. Calls that a helper of the command makes as often are left out: strace
    counts for each process, and the kill would hit either."""
    trace = os.path.join(scratch, f"trace-{threading.get_ident()}")
    done = subprocess.run(["strace", "-f", "-qq", "-o", trace, *command], capture_output=True, text=True, timeout=LIMIT,
                          check=False)
    if done.returncode:
        raise NotTraced(f"{' '.join(command)} under strace: exit {done.returncode}: {done.stderr[-400:]}")
    seen = collections.defaultdict(collections.Counter)  # process → name → count
    calls = []
    its_own = None
    with open(trace, encoding="utf-8", errors="replace") as lines:
        for process, name, rest in (match.groups() for match in map(CALL.match, lines) if match):
            if name == "execve" and its_own is None and (program is None or rest.split('"')[1].endswith(f"/{program}")):
                its_own = process
            seen[process][name] += 1
            if process == its_own and name not in NOT_ITS_OWN:
                calls.append((name, seen[process][name]))
    others = [counts for process, counts in seen.items() if process != its_own]
    return [(name, n) for name, n in calls if all(counts[name] < n for counts in others)]


def killed(command, call):
    """Runs the command and kills it on entry to that call; whether it came that far."""
    name, n = call
    done = subprocess.run(["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={name}",
                           "-e", f"inject={name}:signal=KILL:when={n}", *command],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT, check=False)
    return done.returncode == -signal.SIGKILL
