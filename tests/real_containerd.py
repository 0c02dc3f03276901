"""Debian's real containerds, for the drivers that compare ctkit with them.

Each runs with a tree's /etc/containerd bound at /etc/containerd in a mount namespace of its own, so nothing of the
machine is read or changed.
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import tomllib

import recorded

SUITES = ("bookworm", "trixie", "forky")
NOT_DOWNLOADABLE = 75
GET_DEBS = pathlib.Path(__file__).resolve().parent / "conformance" / "get_debs.sh"

# The tree at /etc/containerd in an /etc with nothing else but daemons; empty folders where a daemon leaves things.
# Arguments: the root, binaries to have as /etc/bin/0, /etc/bin/1, …, then `--` and the command line.
IN_NAMESPACE = """set -e
mount -t tmpfs none /etc
mkdir /etc/containerd /etc/bin
mount --bind "$1/etc/containerd" /etc/containerd
shift
number=0
until [ "$1" = -- ]; do
  touch /etc/bin/$number
  mount --bind "$1" /etc/bin/$number
  number=$((number + 1))
  shift
done
shift
for folder in /run /opt /var/lib; do mount -t tmpfs none $folder; done
cd /
exec "$@"
"""

# Which binary to ask comes in on stdin, its exit status goes out; the descriptors $1 and $2 get its dump and messages.
DUMPS = """while read -r number; do
  timeout 20 /etc/bin/$number config dump >/proc/self/fd/$1 2>/proc/self/fd/$2
  echo $?
done"""


def in_namespace(root, binaries, command):
    """The command line that runs another one with the root's /etc/containerd in place, where /etc/bin/N is binary N."""
    mine = [] if os.geteuid() == 0 else ["--map-root-user"]
    unshare = ["unshare", *mine, "--mount", "--propagation", "private"]
    return [*unshare, "sh", "-c", IN_NAMESPACE, "sh", root, *binaries, "--", *command]


def can_make_namespace():
    with tempfile.TemporaryDirectory() as bare:
        os.makedirs(bare + "/etc/containerd")
        return subprocess.run(in_namespace(bare, [shutil.which("true")], ["/etc/bin/0"])).returncode == 0


def fetch(suite):
    """The folder with the suite's containerd, or None if it cannot be downloaded."""
    done = subprocess.run([GET_DEBS, suite], stdout=subprocess.PIPE, text=True)
    if done.returncode == NOT_DOWNLOADABLE:
        return None
    done.check_returncode()
    return done.stdout.strip()


class Daemon:
    """A real containerd of some suite."""

    def __init__(self, folder, scratch):
        self.binary = str(pathlib.Path(folder) / "usr/bin/containerd")
        self.release = self._output("--version").split()[2]
        self.defaults = os.path.join(scratch, f"default-{self.release}.toml")
        pathlib.Path(self.defaults).write_text(self._output("config", "default"), encoding="utf-8")
        self.cri = "io.containerd.grpc.v1.cri" if self.release.startswith("1.") else "io.containerd.cri.v1.runtime"

    def _output(self, *arguments):
        return subprocess.run([self.binary, *arguments], check=True, capture_output=True, text=True).stdout

    def _command(self, root, *arguments):
        return in_namespace(root, [self.binary], ["/etc/bin/0", *arguments])

    def dump(self, root):
        """(parsed `config dump` of the tree, None) or (None, why it refused)."""
        done = subprocess.run(self._command(root, "config", "dump"), capture_output=True, text=True, timeout=60)
        return parsed_dump(done, self.release)

    def starts(self, root):
        """Whether the daemon itself comes up on the tree."""
        command = self._command(root, "--root", "/run/root", "--state", "/run/state", "--address", "/run/socket")
        daemon = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            deadline = time.monotonic() + 30
            while daemon.poll() is None and time.monotonic() < deadline:
                if os.path.exists(f"/proc/{daemon.pid}/root/run/socket"):
                    return True
                time.sleep(0.02)
            return False
        finally:
            daemon.kill()
            daemon.wait()


def parsed_dump(done, release):
    """(the document that a finished `config dump` printed, None) or (None, why it refused)."""
    if done.returncode:
        return None, done.stderr.strip().rpartition("\n")[2]
    return recorded.document(tomllib.loads(done.stdout), release), None


class DumpServer:
    """`config dump` of several binaries on one root, in one namespace that stays: a few ms less for each dump.

    The root's etc/containerd may be emptied and filled between two dumps, but has to stay the same folder."""

    def __init__(self, root, binaries):
        self._out, self._err = os.memfd_create("out"), os.memfd_create("err")
        loop = ["sh", "-c", DUMPS, "sh", str(self._out), str(self._err)]
        self._shell = subprocess.Popen(in_namespace(root, binaries, loop), text=True, bufsize=1,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(self._out, self._err))

    def dump(self, number):
        """The finished `config dump` of binary `number` on what is in the root now."""
        print(number, file=self._shell.stdin)
        status = self._shell.stdout.readline()
        if not status:
            raise RuntimeError("the shell that runs containerd in a namespace is gone")
        return subprocess.CompletedProcess(("containerd", "config", "dump"), int(status),
                                           *(_content(descriptor) for descriptor in (self._out, self._err)))

    def close(self):
        self._shell.stdin.close()
        self._shell.wait()
        os.close(self._out)
        os.close(self._err)


def _content(descriptor):
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0).decode("utf-8", "replace")
