#!/usr/bin/env python3
"""Rounds of apply and uninstall, killed at random moments, beside a hostile second writer: nothing of the writer's is lost.

In each round a second writer rewrites, adds and removes its own drop-ins, now as a whole, now in place with a half-written
file in between, and replaces the top-level config, while ctkit applies and uninstalls and is killed with SIGKILL at random
moments. Then the writer pauses, and:

 1. Each of its drop-ins is as it left it, byte for byte, and those it removed stay removed. Its top-level config is as it
    left it, or has our import besides.
 2. Apply succeeds; the handlers and the writer's last settings are effective; its drop-ins are still as it left them.
 3. In every third round or so uninstall follows: the tree is the writer's alone again, byte for byte.

The seed is printed; a run with the same seed makes the same choices, but not at the same moments.
Exit status 0 when all rounds hold, 1 at the first that doesn't."""

import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from tree import CONF_D, ROOT_FILE, STATE, Broken, Tree, difference, require  # noqa: E402

CRI = 'plugins."io.containerd.grpc.v1.cri"'
RELEASES = ("1.6.20", "1.7.27", "2.1.0", "2.3.4")
NAMES = ("00-first.toml", "10-runc.toml", "50-registry.toml", "99-z.toml", "notes.txt")
HANDLERS = {"nvidia", "nvidia-cdi", "nvidia-legacy"}
MOST_DELAY = 0.02  # seconds; a whole run of ctkit takes less
MEMORY = "/dev/shm" if os.path.isdir("/dev/shm") else None


class Writer:
    """The second writer. `files` is what it last left: path → text."""

    def __init__(self, tree, rng):
        self._tree, self._rng = tree, rng
        self._count = 0
        self.files = {}
        self._stop = threading.Event()
        self._failure = None

    def begin(self):
        self._write(ROOT_FILE, self._root_text())
        for name in NAMES[:3]:
            self._write(f"{CONF_D}/{name}", self._drop_in_text(name))

    def run(self):
        """Writes until `pause`, in a thread of its own."""
        try:
            while not self._stop.is_set():
                self._act()
                time.sleep(self._rng.uniform(0, MOST_DELAY / 4))
        except Exception as failure:  # pylint: disable=broad-except  # told by pause()
            self._failure = failure

    def start(self):
        self._stop.clear()
        self._thread = threading.Thread(target=self.run)
        self._thread.start()

    def pause(self):
        self._stop.set()
        self._thread.join()
        if self._failure:
            raise self._failure

    def _act(self):
        path = ROOT_FILE if self._rng.random() < 0.2 else f"{CONF_D}/{self._rng.choice(NAMES)}"
        if path != ROOT_FILE and self.files.get(path) is not None and self._rng.random() < 0.3:
            (self._tree.root / path).unlink()
            del self.files[path]
            return
        self._write(path, self._root_text() if path == ROOT_FILE else self._drop_in_text(os.path.basename(path)))

    def _write(self, path, text):
        target = self._tree.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        # The one file that both write has to be replaced as a whole: nobody can save what goes to a file that is no more.
        if path == ROOT_FILE or self._rng.random() < 0.6:
            unfinished = target.with_name(f".{target.name}.new")
            unfinished.write_text(text, encoding="utf-8")
            unfinished.rename(target)
        else:  # in place, as an editor or a shell does; in two parts, so that others see half a file
            with open(target, "w", encoding="utf-8", buffering=1) as file:
                file.write(text[:len(text) // 2])
                file.flush()
                time.sleep(self._rng.uniform(0, 0.002))
                file.write(text[len(text) // 2:])
        self.files[path] = text

    def _root_text(self):
        self._count += 1
        imports = 'imports = ["/etc/containerd/conf.d/*.toml"]\n' if self._rng.random() < 0.5 else ""
        return f"# theirs, number {self._count}\nversion = 2\noom_score = -{self._count}\n{imports}"

    def _drop_in_text(self, name):
        self._count += 1
        if name == "10-runc.toml":
            return (f"version = 2\n[{CRI}.containerd.runtimes.runc]\nruntime_type = \"io.containerd.runc.v2\"\n"
                    f"pod_annotations = [\"theirs-{self._count}\"]\n")
        if name == "50-registry.toml":
            return f"version = 2\n[{CRI}.registry]\nconfig_path = \"/etc/certs-{self._count}\"\n"
        return f"# theirs, number {self._count}\nversion = 2\n[debug]\nlevel = \"level-{self._count}\"\n"


class Soak:
    def __init__(self, folder, options, rng):
        self._options, self._rng = options, rng
        self._release = rng.choice(RELEASES)
        self._tree = Tree(os.path.join(folder, "node"), options.ctkit, self._release)
        self._tree.lay({})
        self._writer = Writer(self._tree, rng)
        self._writer.begin()
        self.runs = self.kills = self.refused = 0

    def round(self):
        self._writer.start()
        try:
            for _ in range(self._rng.randint(1, 4)):
                self._disturbed_run()
        finally:
            self._writer.pause()
        self._check_theirs("after the runs")
        if self._options.without == "care":
            (self._tree.root / CONF_D / "50-registry.toml").write_text("# ours now\n", encoding="utf-8")
        self._tree.succeed("apply")
        self._check_theirs("after apply")
        self._check_effective()
        if self._rng.random() < 0.35:
            self._tree.succeed("uninstall")
            self._check_alone()

    def _disturbed_run(self):
        verb = "apply" if self._rng.random() < 0.7 else "uninstall"
        process = subprocess.Popen(self._tree.command(verb), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.runs += 1
        if self._rng.random() < 0.7:
            time.sleep(self._rng.uniform(0, MOST_DELAY))
            process.kill()
        try:
            _, messages = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Broken(f"{verb} did not end within 30 s") from None
        code = process.returncode
        self.kills += code == -9
        self.refused += code > 0
        # 1: the writer was in between; 3 and 6: a half-written file, or none.
        require(code in (0, -9, 1, 3, 6), f"{verb} beside the writer: exit {code}: {messages.strip()[:400]}")
        require("this is a bug" not in messages, messages)

    def _theirs(self):
        return {path: self._read(path) for path in [ROOT_FILE, *(f"{CONF_D}/{name}" for name in NAMES)]}

    def _read(self, path):
        try:
            return (self._tree.root / path).read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _check_theirs(self, when):
        for path, found in self._theirs().items():
            wanted = self._writer.files.get(path)
            if path == ROOT_FILE and found is not None:
                found, wanted = without_imports(found), without_imports(wanted)
            require(found == wanted, f"{when}, {path} is not as its writer left it\n   left: {wanted!r}\n   found: {found!r}")

    def _check_effective(self):
        config = json.loads(self._tree.succeed("effective", "-o", "json"))
        plugins = config["plugins"]
        runtimes = [plugins[plugin]["containerd"]["runtimes"] for plugin in plugins
                    if "containerd" in plugins[plugin] and "runtimes" in plugins[plugin]["containerd"]]
        require(len(runtimes) == 1 and HANDLERS < runtimes[0].keys(), f"the effective handlers are {runtimes}")
        number = self._writer.files[ROOT_FILE].partition("oom_score = ")[2].split("\n")[0]
        require(config["oom_score"] == int(number), f"effective oom_score is {config['oom_score']}, written was {number}")

    def _check_alone(self):
        found = {path: (self._tree.root / path).read_text(encoding="utf-8")
                 for path in self._tree.daemons_files() if (self._tree.root / path).is_file()}
        require(found == self._writer.files, f"uninstall left: {difference(self._writer.files, found)}")
        # Not the folder itself: a kill may come after it was made and before that is noted.
        left = [path for path in self._tree.files(STATE) if (self._tree.root / path).is_file()]
        require(not left, f"uninstall left {left}")


def without_imports(text):
    """The lines but for the one that gets our import; the writer's are all on one line and the same but for being there."""
    return [line for line in text.splitlines() if not line.startswith("imports")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rounds", nargs="?", type=int, default=1000)
    parser.add_argument("--ctkit", type=os.path.abspath, default=os.path.abspath("build/release/ctkit"))
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--without", choices=("care",), help="overwrite a file of the writer's in each round: has to fail then")
    parser.add_argument("--keep", action="store_true", help="keep the tree of a failed round, and say where")
    parser.add_argument("--counts", metavar="FILE", help="append a line: rounds passed, failed, skipped")
    options = parser.parse_args()
    if not os.access(options.ctkit, os.X_OK):
        parser.error(f"no program at {options.ctkit}")
    seed = random.SystemRandom().randrange(2**32) if options.seed is None else options.seed
    print(f"soak: {options.rounds} rounds, --seed {seed}", flush=True)
    rng = random.Random(seed)
    begun = time.monotonic()
    passed = runs = kills = refused = 0
    failure = None
    while passed < options.rounds and not failure:
        # A fresh node, of another release, now and then.
        with tempfile.TemporaryDirectory(prefix="soak.", dir=MEMORY) as folder:
            soak = Soak(folder, options, rng)
            for _ in range(min(50, options.rounds - passed)):
                try:
                    soak.round()
                except Broken as broken:
                    failure = broken
                    if options.keep:
                        kept = tempfile.mkdtemp(prefix="soak-kept.")
                        os.rename(os.path.join(folder, "node"), os.path.join(kept, "node"))
                        failure = f"{broken}\n   tree kept in {kept}"
                    break
                passed += 1
            runs, kills, refused = runs + soak.runs, kills + soak.kills, refused + soak.refused
    if failure:
        print(f"-- round {passed + 1}: {failure}")
    print(f"soak: {passed} rounds held, {runs} runs of ctkit beside the writer, {kills} killed, {refused} refused or gave up, "
          f"{time.monotonic() - begun:.1f} s")
    if options.counts:
        with open(options.counts, "a", encoding="utf-8") as counts:
            counts.write(f"{passed} {1 if failure else 0} 0\n")
    return 1 if failure else 0


if __name__ == "__main__":
    sys.exit(main())
