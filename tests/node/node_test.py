#!/usr/bin/python3
"""ctkit on real nodes: systemd, containerd and pods of a Debian suite, booted in namespaces (needs root).

Each scenario begins on a healthy node and names a stand-in: a program that lacks what the scenario tests. With --prove the
stand-in runs in ctkit's place and every scenario has to fail.

Exit status 0 when all scenarios of all suites hold, 75 when no suite could be downloaded, 1 otherwise.
Python is Debian's own: python3-grpcio is made for it."""

import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ctkit_image  # noqa: E402
import rootfs  # noqa: E402
from daemonset import DaemonSetScenario  # noqa: E402
from scenario import Scenario  # noqa: E402
from world import World  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def scenarios(globs, suite=None):
    """Every scenario whose name, Class.test, fits one of the globs; without globs all that are meant for the suite."""
    found = []

    def add(tests):
        for item in tests:
            if isinstance(item, unittest.TestSuite):
                add(item)
            elif any(fnmatch.fnmatch(name_of(item), f"*{glob}*") for glob in globs or ()):
                found.append(item)
            elif not globs and (suite is None or suite in item.suites):
                found.append(item)
    add(unittest.defaultTestLoader.discover(str(HERE), "test_*.py"))
    return found


def name_of(test):
    return test.id().partition(".")[2]


class Result(unittest.TestResult):
    """Prints each scenario as it ends, and what is wrong with it."""

    def __init__(self, suite, prove):
        super().__init__()
        self._suite, self._prove = suite, prove
        self.held = self.missed = 0

    def startTest(self, test):
        super().startTest(test)
        self._begun = time.monotonic()
        self._problem = None
        self._by_check = False

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self._problem, self._by_check = self.failures[-1][1], True

    def addError(self, test, err):
        super().addError(test, err)
        self._problem = self._problem or self.errors[-1][1]

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err:
            failed = issubclass(err[0], test.failureException)
            self._problem = f"{subtest.params}\n{(self.failures if failed else self.errors)[-1][1]}"
            self._by_check = self._by_check or failed

    def stopTest(self, test):
        super().stopTest(test)
        # An error is no proof: the scenario has to fail by what it asserts.
        good = self._by_check if self._prove else self._problem is None
        self.held += good
        self.missed += not good
        verdict = ("fails" if good else "NOT SEEN FAILING") if self._prove else ("ok" if good else "FAILED")
        stand_in = f" with {stand_in_of(test)}" if self._prove else ""
        print(f"   {verdict:<6} {name_of(test)}{stand_in}, {time.monotonic() - self._begun:.1f} s", flush=True)
        if not good and self._problem:
            print("      " + self._problem.rstrip().replace("\n", "\n      "), flush=True)


def stand_in_of(test):
    return getattr(test, test._testMethodName).stand_in


def run_suite(suite, options):
    """(scenarios held, missed) of one suite; NotDownloadable."""
    begun = time.monotonic()
    folder = rootfs.fetch(suite)
    built = time.monotonic() - begun
    result = Result(suite, options.prove)
    tests = scenarios(options.only, suite)
    with World(suite, folder, options.ctkit, options.image) as world:
        Scenario.world = world
        print(f"node {suite}: containerd {world.release}, root {built:.1f} s, up after {time.monotonic() - begun:.1f} s",
              flush=True)
        for test in tests:
            world.program = stand_in_of(test) if options.prove else "ctkit"
            test.run(result)
    print(f"node {suite}: containerd {world.release}, {result.held} scenarios {'seen failing' if options.prove else 'held'}, "
          f"{result.missed} not, {time.monotonic() - begun:.1f} s", flush=True)
    return result.held, result.missed


def one_by_one(suites, options):
    """(scenarios held, missed, skipped)."""
    held = missed = skipped = 0
    for suite in suites:
        try:
            good, bad = run_suite(suite, options)
        except rootfs.NotDownloadable as reason:
            skipped += len(scenarios(options.only, suite))
            print(f"node {suite}: skipped, suite not downloadable: {reason}", flush=True)
            continue
        held, missed = held + good, missed + bad
    return held, missed, skipped


def side_by_side(suites, options):
    """The same, each suite in a process of its own, whose output is printed when it is whole."""
    running = []

    def run(suite):
        with tempfile.NamedTemporaryFile("r") as counts:
            command = [sys.executable, __file__, "--suite", suite, "--ctkit", options.ctkit, "--counts", counts.name,
                       *(f"--image={image}" for image in options.image),
                       *(["--prove"] if options.prove else []), *(f"--only={glob}" for glob in options.only or ())]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            running.append(process)
            print(process.communicate()[0], end="", flush=True)
            # A suite that ends before it counts is one failure.
            return [int(count) for count in counts.read().split()] or [0, 1, 0]

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        try:
            return [sum(counts) for counts in zip(*pool.map(run, suites))]
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in running:
                process.terminate()
            raise


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=rootfs.SUITES, help="default: all")
    parser.add_argument("--only", action="append", metavar="GLOB", help="scenarios whose name has this in it")
    parser.add_argument("--ctkit", type=os.path.abspath, default=os.path.abspath("build/release/ctkit"))
    parser.add_argument("--static", type=pathlib.Path, default=pathlib.Path("build/static/ctkit"),
                        help="the static build, for ctkit's image")
    parser.add_argument("--image", action="append", default=[], help="an archive of ctkit's image; default: made anew")
    parser.add_argument("--prove", action="store_true", help="run the stand-ins: each scenario has to fail")
    parser.add_argument("--jobs", type=int, default=3, help="suites at a time (default 3: all)")
    parser.add_argument("--counts", metavar="FILE", help="append a line: scenarios held, missed, skipped")
    options = parser.parse_args()
    if not os.access(options.ctkit, os.X_OK):
        parser.error(f"no program at {options.ctkit}")
    if os.geteuid() != 0:
        sys.exit("node test: booting a node needs root")
    if not scenarios(options.only):
        parser.error("no scenario has such a name")
    # Unwinds, so that the node goes down; unittest takes any other exception for a scenario's.
    signal.signal(signal.SIGTERM, signal.default_int_handler)

    suites = options.suite or rootfs.SUITES
    with tempfile.TemporaryDirectory() as folder:
        if not options.image and any(isinstance(test, DaemonSetScenario) for test in scenarios(options.only)):
            options.image = ctkit_image.make(pathlib.Path(options.ctkit), options.static, folder)
        return run_suites(suites, options)


def run_suites(suites, options):
    run = one_by_one if options.jobs == 1 or len(suites) == 1 else side_by_side
    held, missed, skipped = run(suites, options)
    if options.counts:
        with open(options.counts, "a", encoding="utf-8") as counts:
            counts.write(f"{held} {missed} {skipped}\n")
    if missed:
        return 1
    return 0 if held else rootfs.NOT_DOWNLOADABLE


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("node test: interrupted, its nodes are down")
