#!/usr/bin/env python3
"""ctkit against Debian's real containerds on random trees: `effective --as-dump` and `config dump` must say the same.

Same: equal as data (the 1.x list `imports` as a set), or both refuse (ctkit with exit status 6 and nothing on stdout).
A tree on which they differ is shrunk while they still differ in the same way, and printed as a line for
testdata/containerd/cases. What containerd itself answers differently from run to run is not held against ctkit.

Exit status 0 when no tree differs, 75 when no suite could be downloaded, 1 otherwise."""
import argparse
import collections
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
import tomllib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import recorded  # noqa: E402  (tests/recorded.py)
from generate import decoded, encoded, make_tree  # noqa: E402
from real_containerd import NOT_DOWNLOADABLE, SUITES, Daemon, DumpServer, can_make_namespace, fetch, parsed_dump  # noqa: E402

RUNS_TO_BE_SURE = 40  # what Go's random map order decides may go one way in one of eight runs
LONGEST_BY_BYTES = 1500
UNREADABLE = "lines of a dump that is no valid TOML"
MOST_SHRINK_STEPS = 1200


class Bench:
    """A root to lay trees in, and what answers for the tree that lies there."""

    def __init__(self, ctkit, daemons, scratch):
        self.ctkit, self.daemons = ctkit, daemons
        self._root = tempfile.mkdtemp(dir=scratch)
        self._place = pathlib.Path(self._root, "etc/containerd")
        self._place.mkdir(parents=True)
        for item in pathlib.Path("/").iterdir():  # 1.6 resolves relative patterns against its working folder
            if item.is_dir():
                pathlib.Path(self._root, item.name).mkdir(exist_ok=True)
            elif item.is_file():
                shutil.copy(item, self._root)
        self._server = DumpServer(self._root, [daemon.binary for daemon in daemons])

    def lay(self, case):
        for item in self._place.iterdir():
            if item.is_dir() and not item.is_symlink():
                shutil.rmtree(item)
            else:
                item.unlink()
        recorded.lay(self._root, case)

    def real(self, number):
        """(document, None) or (None, why containerd refuses) for the tree that lies here."""
        done = self._server.dump(number)
        try:
            return parsed_dump(done, self.daemons[number].release)
        except tomllib.TOMLDecodeError:
            return as_lines(done.stdout), None

    def ours(self, number, form="json"):
        """What ctkit says to the tree that lies here, as `as_ours` gives it."""
        daemon = self.daemons[number]
        done = recorded.run_ctkit(self.ctkit, "effective", "--as-dump", "--defaults", daemon.defaults, "-o", form,
                                  root=self._root, release=daemon.release)
        return as_ours(done, daemon.release, form)

    def close(self):
        self._server.close()

    def difference(self, number):
        """Where the two answers for the tree that lies here differ: [(path, real, ours)], and whether it loads."""
        return self._compare(number, self.ours(number))

    def settled_difference(self, number):
        """As `difference`, but none where containerd's answers vary and ours is one of them."""
        ours = self.ours(number)
        found, loads = self._compare(number, ours)
        for _ in range(RUNS_TO_BE_SURE if found else 0):
            if not self._compare(number, ours)[0]:
                return [], loads
        if found and self.ours(number) != ours:
            found.append((("ctkit", "itself"), "the same answer twice", "another one the second time"))
        return found, loads

    def _compare(self, number, ours):
        real, reason = self.real(number)
        ours, message = ours
        if real is None and ours is None:
            return [], False
        if real is None or ours is None or message:
            return [(("verdict",), reason or "loads", message or "loads")], real is not None
        if UNREADABLE in real:
            ours, _ = self.ours(number, "toml")
        return recorded.differences(real, ours), True


def as_lines(dump):
    """What stands for a dump that is no valid TOML (1.x prints empty keys and some characters bare): all but `imports`."""
    lines = [line.replace('.""', ".").replace('"" = ', " = ") for line in dump.splitlines()]
    return {UNREADABLE: [line for line in lines if not line.startswith("imports =")]}


def as_ours(done, release, form):
    """(document, None) or (None, what ctkit says). With both, ctkit refuses in a way it should not."""
    if done.returncode == 0:
        try:
            return recorded.document(json.loads(done.stdout), release) if form == "json" else as_lines(done.stdout), None
        except ValueError as error:
            return {"invalid JSON": str(error)}, None
    refused = done.returncode == recorded.REFUSED and not done.stdout.strip()
    return (None if refused else {"no proper refusal": True}), recorded.told(done)


_bench = None


def open_bench(*arguments):
    global _bench
    _bench = Bench(*arguments)


def judge(work):
    """(case, for each daemon: the difference, whether it loads) of one tree."""
    case, numbers = work
    _bench.lay(case)
    return case, {number: _bench.settled_difference(number) for number in numbers}


def shrink(work):
    """The smallest tree found on which the two still differ on daemon `number` in the same way, and its difference."""
    case, number = work
    return Shrinker(case, number).run()


class Shrinker:
    def __init__(self, case, number):
        self._number, self._steps = number, 0
        self._files = {path: decoded(content) for path, content in case["files"].items()}
        self._rest = {"dirs": list(case.get("dirs", [])), "links": dict(case.get("links", {}))}
        self._id = case["id"]
        _bench.lay(case)
        found, _ = _bench.settled_difference(number)
        self._kind = kind_of(found)

    def _case(self):
        case = {"id": self._id, "files": {path: encoded(data) for path, data in self._files.items()}, "dirs": self._rest["dirs"]}
        return case | ({"links": self._rest["links"]} if self._rest["links"] else {})

    def _still(self):
        self._steps += 1
        if self._steps > MOST_SHRINK_STEPS:
            return False
        try:
            _bench.lay(self._case())
        except OSError:  # a file where a folder has to be
            return False
        found, _ = _bench.difference(self._number)
        return kind_of(found) == self._kind

    def _try(self, holder, key, value):
        """Put a value in place, or take the key away when the value is None, if they then still differ."""
        before = dict(holder)
        if value is None:
            del holder[key]
        else:
            holder[key] = value
        if self._still():
            return True
        holder.clear()
        holder.update(before)
        return False

    def run(self):
        if not self._kind:
            return self._case(), []
        for path in sorted(self._files, reverse=True):
            self._try(self._files, path, None)
        for path in sorted(self._rest["links"]):
            self._try(self._rest["links"], path, None)
        for dirs in ([], *([item] for item in self._rest["dirs"])):
            if len(dirs) < len(self._rest["dirs"]) and self._try(self._rest, "dirs", dirs):
                break
        for by_lines in (True, False, True, False):
            for path in sorted(self._files):
                data = self._files[path]
                if by_lines or len(data) <= LONGEST_BY_BYTES:
                    self._fewer(path, data.splitlines(keepends=True) if by_lines else [data[at:at + 1] for at in range(len(data))])
        _bench.lay(self._case())
        found, _ = _bench.settled_difference(self._number)
        return self._case(), found

    def _fewer(self, path, parts):
        """Leaves out runs of parts, long ones first."""
        size = max(1, len(parts) // 2)
        while parts:
            at, less = 0, False
            while at < len(parts):
                rest = parts[:at] + parts[at + size:]
                if self._try(self._files, path, b"".join(rest)):
                    parts, less = rest, True
                else:
                    at += size
            if size == 1 and not less:
                return
            size = max(1, size // 2)


def kind_of(found):
    """What has to stay the same while a tree shrinks."""
    if not found:
        return None
    path, real, ours = found[0]
    if path == ("verdict",):
        return real == "loads", ours == "loads", ours.partition(":")[0]
    return "value"


def print_tree(daemon, case, found):
    print(f"\n-- {case['id']} on containerd {daemon.release}")
    for path, real, ours in found[:4]:
        print(f"   {'.'.join(path)}\n      containerd: {str(real)[:300]}\n      ctkit:      {str(ours)[:300]}")
    print(json.dumps(case, ensure_ascii=False, sort_keys=True), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees", type=int, metavar="N")
    parser.add_argument("--seed", help="default: a fresh one")
    parser.add_argument("--first", type=int, default=0, metavar="NUMBER", help="of the first tree, to see one again")
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--ctkit", type=os.path.abspath, default=os.path.abspath("build/release/ctkit"))
    parser.add_argument("--shrink", type=int, default=10, metavar="N", help="shrink and print the first N that differ")
    parser.add_argument("--counts", metavar="FILE", help="append a line: trees passed, failed, skipped")
    options = parser.parse_args()
    seed = options.seed or str(random.SystemRandom().randrange(10**8))
    print(f"differential: seed {seed}", flush=True)

    if not os.access(options.ctkit, os.X_OK):
        parser.error(f"no program at {options.ctkit}")
    if not can_make_namespace():
        sys.exit("differential: cannot make a mount namespace here (needs root, or user namespaces)")
    suites = options.suite or SUITES
    folders = [folder for folder in map(fetch, suites) if folder]
    skipped = len(suites) - len(folders)
    if not folders:
        return NOT_DOWNLOADABLE

    begun = time.monotonic()
    loading, differing, kinds = collections.Counter(), [], collections.Counter()
    with tempfile.TemporaryDirectory(prefix="differential.") as scratch:
        daemons = [Daemon(folder, scratch) for folder in folders]
        work = ((make_tree(seed, number), range(len(daemons))) for number in range(options.first, options.first + options.trees))
        with multiprocessing.Pool(options.jobs, open_bench, (options.ctkit, daemons, scratch)) as pool:
            for case, answers in pool.imap(judge, work, chunksize=4):
                for number, (found, loads) in answers.items():
                    loading[number] += loads
                    if found:
                        path, real, ours = found[0]
                        print(f"{case['id']} on containerd {daemons[number].release}: {'.'.join(path)} is {str(real)[:200]} "
                              f"there, {str(ours)[:200]} here", flush=True)
                        differing.append((case, number))
                        kinds[(number, ".".join(found[0][0][:3]))] += 1
            seconds = time.monotonic() - begun
            chosen = first_of_each(differing, options.shrink)
            for (_, number), (case, found) in zip(chosen, pool.imap(shrink, chosen)):
                print_tree(daemons[number], case, found)
            pool.close()
            pool.join()

    for number, daemon in enumerate(daemons):
        wrong = sum(number == at for _, at in differing)
        print(f"containerd {daemon.release}: {options.trees - wrong} of {options.trees} the same, "
              f"{100 * loading[number] / max(options.trees, 1):.0f} % load")
    for (number, name), count in kinds.most_common(10):
        print(f"{count:5} on {daemons[number].release} first differ in {name}")
    judged = options.trees * len(daemons)
    print(f"differential: {judged - len(differing)} of {judged} the same, seed {seed}, {seconds:.0f} s", flush=True)
    if options.counts:
        with open(options.counts, "a", encoding="utf-8") as counts:
            counts.write(f"{judged - len(differing)} {len(differing)} {options.trees * skipped}\n")
    return 1 if differing else 0


def first_of_each(differing, most):
    """The first trees that differ, each tree once."""
    seen, chosen = set(), []
    for case, number in differing:
        if case["id"] not in seen:
            seen.add(case["id"])
            chosen.append((case, number))
    return chosen[:most]


if __name__ == "__main__":
    sys.exit(main())
