#!/usr/bin/env python3
"""Line coverage of src/ by the unit tests and a sample of the recorded results: Clang's counters, llvm-cov-19's lines.

Builds build/coverage, runs its tests (the slow ones only as the sample), prints the share of covered lines per folder and
lists the lines of src/engine that nothing ran. Exit status 1 if src/engine is below --at-least."""
import argparse
import collections
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"
FLAGS = "-fprofile-instr-generate -fcoverage-mapping"
JUDGED = "src/engine"


def run(*command, **environment):
    done = subprocess.run([str(word) for word in command], cwd=ROOT, env=os.environ | environment)
    if done.returncode:
        sys.exit(f"coverage: exit status {done.returncode} of {' '.join(map(str, command[:6]))}")


def collect(stride, jobs):
    """Build, run, and return (programs, merged profile)."""
    run("cmake", "--preset", "clang", "-B", BUILD, f"-DCMAKE_CXX_FLAGS={FLAGS}", "-DCTKIT_TESTS=ON", "--log-level=WARNING")
    run("cmake", "--build", BUILD, "-j", jobs)
    profiles = BUILD / "profiles"
    shutil.rmtree(profiles, ignore_errors=True)
    # %m: one file a program, into which each of its processes adds its counts.
    counted = {"LLVM_PROFILE_FILE": str(profiles / "%m.profraw")}
    run("ctest", "--test-dir", BUILD, "-j", jobs, "-LE", "slow", "--output-on-failure", "--quiet", **counted)
    run(sys.executable, ROOT / "tests/parity.py", BUILD / "ctkit", "--stride", stride, **counted)
    merged = BUILD / "merged.profdata"
    run("llvm-profdata-19", "merge", "--sparse", "-o", merged, *profiles.glob("*.profraw"))
    programs = [path for path in sorted(BUILD.iterdir())
                if path.name == "ctkit" or (path.name.endswith("_test") and os.access(path, os.X_OK))]
    return programs, merged


def lines_run(programs, profile):
    """File → {line: times run}, as llvm-cov counts."""
    command = ["llvm-cov-19", "export", "--format=lcov", "--skip-functions", f"--instr-profile={profile}", programs[0]]
    command += [f"--object={program}" for program in programs[1:]]
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files, file = {}, None
    for line in text.splitlines():
        tag, _, rest = line.partition(":")
        if tag == "SF":
            path = pathlib.Path(rest)
            file = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT / "src") else None
        elif tag == "DA" and file:
            number, count = rest.split(",")[:2]
            lines = files.setdefault(file, {})
            lines[int(number)] = max(lines.get(int(number), 0), int(count))
    return files


def spans(numbers):
    """1 2 3 7 → "1-3, 7"."""
    groups = []
    for number in sorted(numbers):
        if groups and groups[-1][-1] == number - 1:
            groups[-1][-1] = number
        else:
            groups.append([number, number])
    return ", ".join(f"{first}-{last}" if first != last else str(first) for first, last in groups)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stride", type=int, default=5, metavar="N", help="every Nth recorded tree (default 5)")
    parser.add_argument("--at-least", type=float, default=95.0, metavar="PERCENT")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    files = lines_run(*collect(options.stride, options.jobs))
    folders = collections.defaultdict(lambda: [0, 0])
    for name, lines in files.items():
        covered = sum(count > 0 for count in lines.values())
        for folder in map(str, pathlib.PurePath(name).parents):
            folders[folder][0] += covered
            folders[folder][1] += len(lines)
    print("\nnot run:")
    for name, lines in sorted(files.items()):
        missed = [number for number, count in lines.items() if not count]
        if missed and name.startswith(JUDGED + "/"):
            print(f"  {name}: {spans(missed)}")
    print("\nlines run:")
    for folder, (covered, total) in sorted(folders.items()):
        if folder.startswith("src"):
            print(f"  {folder:<32} {covered:>6} of {total:<6} {100 * covered / total:6.2f} %")
    covered, total = folders[JUDGED]
    share = 100 * covered / total if total else 0
    print(f"coverage of {JUDGED}: {share:.2f} %, asked for {options.at_least:g} %")
    return 0 if share >= options.at_least else 1


if __name__ == "__main__":
    sys.exit(main())
