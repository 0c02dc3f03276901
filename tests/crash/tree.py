"""A node's files in a folder, and ctkit run on them, whole or killed."""

import hashlib
import os
import pathlib
import shutil
import stat
import subprocess

LIMIT = 30  # seconds; nothing here takes one
ROOT_FILE = "etc/containerd/config.toml"
CONF_D = "etc/containerd/conf.d"
STATE = "usr/local/nvidia"


class Broken(Exception):
    """What a check found, in a few lines."""


def require(fact, message):
    if not fact:
        raise Broken(message)


class Tree:
    def __init__(self, folder, ctkit, release):
        self.root = pathlib.Path(folder)
        self._ctkit = ctkit
        self._release = release

    def lay(self, files):
        shutil.rmtree(self.root, ignore_errors=True)
        (self.root / "usr/local").mkdir(parents=True)
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def command(self, verb, *words):
        restart = ["--restart", "none"] if verb in RESTARTING else []
        return [self._ctkit, verb, "--root", str(self.root), "--release", self._release, *restart, *words]

    def run(self, verb, *words):
        return subprocess.run(self.command(verb, *words), capture_output=True, text=True, timeout=LIMIT, check=False)

    def succeed(self, verb, *words):
        done = self.run(verb, *words)
        require(done.returncode == 0, f"{verb}: exit {done.returncode}: {done.stderr.strip()[:400]}")
        return done.stdout

    def files(self, below=""):
        """Path → kind, mode, owner and content of everything below the root, but for what a killed run may leave aside."""
        tree = {}
        for folder, folders, files in os.walk(self.root / below):
            for name in [*folders, *files]:
                path = pathlib.Path(folder, name)
                status = path.lstat()
                content = ""
                if stat.S_ISLNK(status.st_mode):
                    content = os.readlink(path)
                elif stat.S_ISREG(status.st_mode):
                    content = hashlib.sha256(path.read_bytes()).hexdigest()
                tree[str(path.relative_to(self.root))] = (status.st_mode, status.st_uid, status.st_gid, content)
        return tree

    def daemons_files(self):
        return self.files("etc")


RESTARTING = ("apply",)


def difference(left, right):
    """The paths in which two listings differ."""
    names = sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))
    return ", ".join(f"{name} ({'only before' if name not in right else 'only now' if name not in left else 'changed'})"
                     for name in names)
