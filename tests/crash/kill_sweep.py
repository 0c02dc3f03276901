#!/usr/bin/env python3
"""SIGKILL at every system call of a run of ctkit.

One trace of the whole run lists its system calls as (name, n-th of that name). Then the run is repeated for each of them on
a fresh tree, and strace kills it on entry to that call. After each:

 1. The tree loads: `ctkit effective` succeeds, and so does real containerd's `config dump`, asked once for each state of
    the daemon's files that turns up.
 2. The same verb again gives the files of an undisturbed run, and uninstall gives back the tree of before, byte for byte;
    but for empty folders on the way to ctkit's own state, when the kill came before it could note that it made them.
 3. Uninstall right after the kill does so too.

What follows a kill depends on the tree alone, so 2 and 3 are done once for each tree that turns up.

Meant for the static build: a trace of the dynamic one begins with a hundred calls of the loader.
Exit status 0 when all hold, 75 when containerd could not be downloaded, 1 otherwise."""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from killed_at import CHANGES  # noqa: E402
from real_containerd import NOT_DOWNLOADABLE, SUITES, Daemon, fetch  # noqa: E402
import strace  # noqa: E402
from tree import CONF_D, ROOT_FILE, STATE, Broken, Tree, difference, require  # noqa: E402

CRI = 'plugins."io.containerd.grpc.v1.cri"'
MANY_FILES = {
    ROOT_FILE: 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n',
    f"{CONF_D}/10-runc.toml": f'version = 2\n[{CRI}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n'
                              f"[{CRI}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n",
    f"{CONF_D}/registry.toml": f'version = 2\n[{CRI}.registry]\nconfig_path = "/etc/containerd/certs.d"\n',
}
NOT_IMPORTED = {ROOT_FILE: "# theirs\nversion = 2\n"}
THEIRS_OF_OUR_NAME = {ROOT_FILE: MANY_FILES[ROOT_FILE], f"{CONF_D}/99-nvidia.toml": "# theirs\nversion = 2\n"}

Scene = collections.namedtuple("Scene", "name files before killed")
SCENES = (
    Scene("first apply", MANY_FILES, [], ["apply"]),
    Scene("first apply, root edited", NOT_IMPORTED, [], ["apply"]),
    Scene("first apply, no config", {}, [], ["apply"]),
    Scene("apply over a foreign file", THEIRS_OF_OUR_NAME, [], ["apply"]),
    Scene("later apply", NOT_IMPORTED, [["apply"]], ["apply", "--handler", "gpu=/opt/gpu"]),
    Scene("later apply, elsewhere", NOT_IMPORTED, [["apply"]], ["apply", "--drop-in", "/etc/containerd/gpu.d/gpu.toml"]),
    Scene("uninstall", NOT_IMPORTED, [["apply"]], ["uninstall"]),
)


class Sweep:
    def __init__(self, scene, daemon, scratch, options):
        self.scene, self._daemon, self._scratch, self._options = scene, daemon, scratch, options
        self._local = threading.local()
        self._dumped = {}  # state of the daemon's files → None or why the daemon refuses it
        self._repaired = {}  # state of the whole tree → what came of checks 2 and 3
        self._lock = threading.Lock()

    def _tree(self):
        if not hasattr(self._local, "tree"):
            folder = tempfile.mkdtemp(dir=self._scratch)
            self._local.tree = Tree(os.path.join(folder, "node"), self._options.ctkit, self._daemon.release)
        return self._local.tree

    def _set_scene(self, tree):
        tree.lay(self.scene.files)
        for verb in self.scene.before:
            tree.succeed(*verb)

    def _set_after_kill(self, tree, call):
        self._set_scene(tree)
        command = tree.command(*self.scene.killed)
        require(strace.killed(command, call), "was not killed: this run made other calls than the traced one")

    def prepare(self):
        """Notes what an undisturbed run leaves; returns the calls to kill at."""
        tree = self._tree()
        tree.lay(self.scene.files)
        self._clean = tree.files()
        self._set_scene(tree)
        tree.succeed(*self.scene.killed)
        self._done = tree.daemons_files()
        self._check_loads(tree)
        self._set_scene(tree)
        return strace.calls_of(tree.command(*self.scene.killed), self._scratch)

    def check(self, call):
        """None, or what is wrong after a kill at that call."""
        tree = self._tree()
        try:
            self._set_after_kill(tree, call)
            self._check_loads(tree)
            state = tuple(sorted(tree.files().items()))
            if state not in self._repaired:
                self._repaired[state] = self._repair(tree, call)
            return self._repaired[state]
        except Broken as broken:
            return str(broken)
        except subprocess.TimeoutExpired as error:
            return f"no end within {error.timeout} s: {' '.join(error.cmd)}"

    def _repair(self, tree, call):
        """None, or what is wrong with what the next run makes of the tree."""
        verb = self.scene.killed[0]
        try:
            if self._options.without != "repair":
                tree.succeed(*self.scene.killed)
            left = tree.daemons_files()
            require(left == self._done, f"the next {verb} left: {difference(self._done, left)}")
            self._uninstall(tree)
            self._set_after_kill(tree, call)
            self._uninstall(tree)
        except Broken as broken:
            return str(broken)
        return None

    def _uninstall(self, tree):
        tree.succeed("uninstall")
        left = tree.files()
        for folder in (f"{STATE}/.ctkit", STATE):
            if folder not in self._clean and not any(path.startswith(folder + "/") for path in left):
                left.pop(folder, None)
        require(left == self._clean, f"uninstall left: {difference(self._clean, left)}")

    def _check_loads(self, tree):
        tree.succeed("effective")
        state = tuple(sorted(tree.daemons_files().items()))
        with self._lock:
            if state not in self._dumped:
                # 1.x refuses a dump without a root file; the daemon itself starts on its defaults.
                missing = not (tree.root / ROOT_FILE).exists()
                self._dumped[state] = None if missing else self._daemon.dump(str(tree.root))[1]
            reason = self._dumped[state]
        require(reason is None, f"containerd {self._daemon.release} refuses the tree: {reason}")

    def states(self):
        return len(self._dumped), len(self._repaired)


def sweep_suite(suite, folder, options):
    """(kills that went well, failed)."""
    begun = time.monotonic()
    good = 0
    failures = []
    with tempfile.TemporaryDirectory(prefix="kill_sweep.", dir=options.scratch) as scratch:
        daemon = Daemon(folder, scratch)
        for scene in SCENES:
            if options.scene and options.scene not in scene.name:
                continue
            sweep = Sweep(scene, daemon, scratch, options)
            calls = [(name, n) for index, (name, n) in enumerate(sweep.prepare())
                     if index % options.stride == 0 or name in CHANGES.values()]
            with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
                problems = [(call, problem) for call, problem in zip(calls, pool.map(sweep.check, calls)) if problem]
            good += len(calls) - len(problems)
            failures += problems
            loaded, repaired = sweep.states()
            print(f"kill sweep {suite}: {scene.name}: {len(calls)} calls, {repaired} states of the tree, {loaded} of the "
                  f"daemon's files, {len(problems)} wrong", flush=True)
            for (name, n), problem in problems[:10]:
                print(f"-- {scene.name}, killed at {name} number {n}: {problem}")
    print(f"kill sweep {suite}: containerd {daemon.release}, {good + len(failures)} kills, {len(failures)} wrong, "
          f"{time.monotonic() - begun:.1f} s", flush=True)
    return good, len(failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=SUITES, help="whose containerd; default: trixie")
    parser.add_argument("--ctkit", type=os.path.abspath, default=os.path.abspath("build/static/ctkit"))
    parser.add_argument("--scene", help="only scenes whose name has this in it")
    parser.add_argument("--stride", type=int, default=1, help="of calls that change no name, every how many (default 1)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--scratch", default="/dev/shm" if os.path.isdir("/dev/shm") else None, help="where the trees are made")
    parser.add_argument("--without", choices=("repair",), help="leave out the run after the kill: the sweep has to fail then")
    parser.add_argument("--counts", metavar="FILE", help="append a line: kills passed, failed, skipped")
    options = parser.parse_args()
    if not os.access(options.ctkit, os.X_OK):
        parser.error(f"no program at {options.ctkit}")

    passed = failed = skipped = 0
    for suite in options.suite or ("trixie",):
        folder = fetch(suite)
        if folder is None:
            skipped += 1
            print(f"kill sweep {suite}: skipped, package not downloadable")
            continue
        good, bad = sweep_suite(suite, folder, options)
        passed, failed = passed + good, failed + bad
    if options.counts:
        with open(options.counts, "a", encoding="utf-8") as counts:
            counts.write(f"{passed} {failed} {skipped}\n")
    if failed:
        return 1
    return 0 if passed else NOT_DOWNLOADABLE


if __name__ == "__main__":
    sys.exit(main())
