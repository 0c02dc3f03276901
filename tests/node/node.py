"""A throw-away node: systemd as PID 1, dbus, journald and a real containerd, in namespaces of their own.

It needs root, and nothing of the machine's own systemd or cgroups. It ends with this process, however that ends."""

import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
BOOT_LIMIT = 60  # seconds
COMMAND_LIMIT = 60
UNIT = "containerd.service"
SOCKET = "/run/containerd/containerd.sock"
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class NodeFailed(Exception):
    """The node did not come up or did not do what every node does."""


def wait_for(what, condition, limit=15.0, every=0.02):
    """The first true value of condition(); NodeFailed, which names what was awaited, after `limit` seconds."""
    deadline = time.monotonic() + limit
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise NodeFailed(f"waited {limit:g} s for {what}")
        time.sleep(every)


class Node:
    """A running node; `with` ends it in every case. `files` are put into it before it boots: path → (content, mode)."""

    def __init__(self, suite, rootfs, files):
        self.suite = suite
        self.name = f"ctkit-{suite}-{os.getpid()}"
        self._rootfs = rootfs
        self._files = files
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="ctkit-node."))
        self._nspawn = None
        self._leader = None
        self._leader_fd = None

    def __enter__(self):
        try:
            self._boot()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *_):
        self._end()

    def _boot(self):
        for path, (content, mode) in self._files.items():
            target = self._folder / "files" / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content if isinstance(content, bytes) else content.encode())
            target.chmod(mode)
        (self._folder / "files").mkdir(exist_ok=True)
        with open(self._folder / "console", "wb") as console:
            self._nspawn = subprocess.Popen(
                ["unshare", "--mount", str(HERE / "boot.sh"), self.name, str(self._rootfs), str(self._folder)],
                stdin=subprocess.DEVNULL, stdout=console, stderr=subprocess.STDOUT, start_new_session=True,
                preexec_fn=lambda: _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL))
        self._leader = wait_for("systemd of the node", self._find_leader, BOOT_LIMIT)
        self._leader_fd = os.pidfd_open(self._leader)
        state = self.output("systemctl", "is-system-running", "--wait", check=False).strip()
        if state != "running":
            failed = self.output("systemctl", "--failed", "--no-legend", "--plain", check=False)
            raise NodeFailed(f"the node is {state or 'not answering'}: {failed}{self.console()}")

    def _find_leader(self):
        if self._nspawn.poll() is not None:
            raise NodeFailed(f"systemd-nspawn ended with {self._nspawn.returncode}:\n{self.console()}")
        for child in children(self._nspawn.pid):
            if os.path.exists(f"/proc/{child}/root/run/systemd/private") and _name(child) == "systemd":
                return child
        return None

    def _end(self):
        # A killed PID 1 takes its whole namespace along; there is nothing on the node to put in order.
        if self._leader_fd is not None:
            try:
                signal.pidfd_send_signal(self._leader_fd, signal.SIGKILL)
            except ProcessLookupError:
                pass
            os.close(self._leader_fd)
        elif self._nspawn:
            self._nspawn.kill()
        if self._nspawn:
            self._nspawn.wait()
        self._remove_cgroups()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _remove_cgroups(self):
        """cgroups outlive their processes; they stand in the machine's own v2 tree."""
        for mount in pathlib.Path("/proc/mounts").read_text(encoding="utf-8").splitlines():
            _, where, kind = mount.split()[:3]
            if kind != "cgroup2":
                continue
            for folder, _, _ in os.walk(f"{where}/{self.name}", topdown=False):
                try:
                    wait_for("the node's processes to go", lambda at=folder: _remove_folder(at), 5)
                except NodeFailed:
                    return
            return

    def console(self):
        return (self._folder / "console").read_text(encoding="utf-8", errors="replace")[-3000:]

    def path(self, path):
        """The node's file, seen from here. Absolute links in it would lead out: for plain paths."""
        return pathlib.Path(f"/proc/{self._leader}/root{path}")

    def command(self, *words):
        """The command line that runs `words` on the node as a login of its root would."""
        return ["nsenter", "--target", str(self._leader), "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd", "--",
                "/usr/bin/env", "-i", f"PATH={PATH}", "TERM=dumb", *words]

    def run(self, *words, **options):
        return subprocess.run(self.command(*words), capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=options.pop("timeout", COMMAND_LIMIT), check=False, **options)

    def output(self, *words, check=True):
        done = self.run(*words)
        if check and done.returncode:
            raise NodeFailed(f"{' '.join(words)}: exit {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def property(self, name, unit=UNIT):
        return self.output("systemctl", "show", "--value", "--property", name, unit).strip()

    def journal(self, unit=UNIT, lines=40):
        return self.output("journalctl", "--unit", unit, "--lines", str(lines), "--no-pager", "--output", "short-precise",
                           check=False)


def children(pid):
    try:
        return [int(child) for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except FileNotFoundError:
        return []


def _name(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def _remove_folder(folder):
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True
