#!/usr/bin/env python3
"""ctkit beside the daemon's own `containerd config dump`: whole processes on the same files, in the same run.

For each suite's containerd (tests/conformance/get_debs.sh) and each tree, one run of every command after the other, --runs
times; a row has the median wall time, how many times faster than the dump that is, and the peak memory. The tree is bound
at /etc/containerd in a mount namespace of its own, so the daemon reads it where it reads it on a node. Then `cdi generate`
beside `containerd --version`, and the growth with the number of drop-ins. Goals (DESIGN section 6) stand beside the figures; nothing is asserted: machines differ.

Exit status 0, or 75 when no suite could be downloaded."""
import argparse
import gzip
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
sys.path.insert(0, str(HERE.parent / "tests/cdi"))
import recorded  # noqa: E402  (tests/recorded.py)
import traced  # noqa: E402  (beside this file)
import tree_case  # noqa: E402  (tests/cdi/tree_case.py)

SUITES = ("bookworm", "trixie", "forky")
NOT_DOWNLOADABLE = 75
CAPTURE = HERE.parent / "testdata" / "captures" / "gpu-node-1.7.27" / "root"
# A node's whole config with two drop-ins, by schema version.
LARGE = {"1": "default-1.7.34-nvidia-then-registry", "2": "default-2.1.9-nvidia-then-registry"}
DROP_INS = (10, 100, 1000, 2000, 4000)

# An /etc of our own, but for the dynamic loader's cache, without which programs start more slowly.
IN_NAMESPACE = """set -e
if [ -f /etc/ld.so.cache ]; then cp /etc/ld.so.cache "$1"; fi
mount -t tmpfs none /etc
if [ -f "$1" ]; then cp "$1" /etc/ld.so.cache; fi
mkdir /etc/containerd
shift
exec "$@"
"""


def run_timed(command):
    """Seconds from start to end of one process."""
    null = [(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_RDWR, 0) for fd in (0, 1, 2)]
    begun = time.perf_counter()
    pid = os.posix_spawn(command[0], command, os.environ, file_actions=null)
    _, status = os.waitpid(pid, 0)
    seconds = time.perf_counter() - begun
    if status:
        sys.exit(f"compare: exit status {os.waitstatus_to_exitcode(status)} of {' '.join(command)}")
    return seconds


def peak_memory(command):
    """The most memory a process had, in MB; None where it may not be traced.

    wait4 tells at least the memory of whoever started the process, and that is Python: so the process is stopped on its way
    out (PTRACE_O_TRACEEXIT) and asked."""
    cont, setoptions, traceexit = 7, 0x4200, 0x40
    pid = traced.start(command)
    traced.ptrace(setoptions, pid, None, traceexit)
    peak, deliver = None, 0
    while True:
        traced.ptrace(cont, pid, None, deliver)
        _, status = os.waitpid(pid, 0)
        if not os.WIFSTOPPED(status):
            return peak
        deliver = os.WSTOPSIG(status)
        if deliver == signal.SIGTRAP:
            deliver = 0
            for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
                if line.startswith("VmHWM:"):
                    peak = int(line.split()[1]) / 1024


class Table:
    """Rows printed as they come."""

    def __init__(self, title, first, *columns):
        print(f"\n{title}\n{first:<46}" + "".join(f"{name:>12}" for name in columns), flush=True)

    def row(self, first, *cells):
        print(f"{first:<46}" + "".join(f"{cell:>12}" for cell in cells), flush=True)


def verdict(text, met):
    return f"{text} {'ok' if met else 'MISSED'}"


class Tree:
    """Folders that take turns at /etc/containerd."""

    mounted = False

    @classmethod
    def use(cls, root):
        if cls.mounted:
            subprocess.run(["umount", "/etc/containerd"], check=True)
        subprocess.run(["mount", "--bind", f"{root}/etc/containerd", "/etc/containerd"], check=True)
        cls.mounted = True


def medians(commands, runs):
    """Name → median seconds; the commands take turns."""
    taken = {name: [] for name in commands}
    for turn in range(runs + 2):
        for name, command in commands.items():
            seconds = run_timed(command)
            if turn >= 2:  # files are in the page cache by then
                taken[name].append(seconds)
    return {name: statistics.median(values) for name, values in taken.items()}


def lay_drop_ins(root, count):
    folder = pathlib.Path(root) / "etc/containerd/conf.d"
    folder.mkdir(parents=True)
    (folder.parent / "config.toml").write_text('version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n')
    for i in range(10000, 10000 + count):
        (folder / f"{i}.toml").write_text(
            f'version = 2\n[plugins."io.containerd.grpc.v1.cri".registry.mirrors."r{i}.example"]\n'
            f'endpoint = ["https://r{i}.example"]\n')


def compare_on(root, title, release, containerd, options):
    """One table: every command on one tree."""
    Tree.use(root)
    dump = f"containerd config dump ({release})"
    node = ["--root", root, "--release", release]
    commands = {dump: [containerd, "config", "dump"], "ctkit effective": [options.ctkit, "effective", *node]}
    if options.static:
        commands["ctkit effective, static"] = [options.static, "effective", *node]
    commands["ctkit plan"] = [options.ctkit, "plan", *node]
    if options.static:
        commands["ctkit plan, static"] = [options.static, "plan", *node]
    commands["ctkit explain"] = [options.ctkit, "explain", *node]
    goals = {"ctkit effective": 15, "ctkit effective, static": 20}

    found = medians(commands, options.runs)
    table = Table(title, "", "median ms", "faster", "goal", "peak MB", "goal")
    for name, command in commands.items():
        ratio = found[dump] / found[name]
        memory = peak_memory(command)
        goal = goals.get(name)
        table.row(name, f"{1000 * found[name]:.2f}", "" if name == dump else f"{ratio:.1f} x",
                  verdict(f">={goal}", ratio >= goal) if goal else "",
                  "?" if memory is None else f"{memory:.1f}",
                  "" if name == dump or memory is None else verdict("<=6", memory <= 6))


def show_growth(release, containerd, options, scratch):
    commands = {"dump": [containerd, "config", "dump"], "ctkit": [options.ctkit], "static": [options.static]}
    names = [name for name, command in commands.items() if command[0]]
    table = Table(f"growth with the number of drop-ins, as {release}", "drop-ins", *[f"{name} ms" for name in names],
                  *[f"{name} x" for name in names], "goal")
    before, count_before = {}, 0
    for count in DROP_INS:
        root = os.path.join(scratch, f"{release}-{count}")
        lay_drop_ins(root, count)
        Tree.use(root)
        tree = ["effective", "--root", root, "--release", release]
        turn = {name: commands[name] if name == "dump" else [*commands[name], *tree] for name in names}
        found = medians(turn, max(5, options.runs // 4))
        growth = [found[name] / before[name] if before else 1 for name in names]
        twice = count == 2 * count_before
        met = all(ratio <= 2.2 for name, ratio in zip(names, growth) if name != "dump")
        table.row(str(count), *[f"{1000 * found[name]:.2f}" for name in names],
                  *[f"{ratio:.2f}" if before else "" for ratio in growth], verdict("<=2.2", met) if twice else "")
        before, count_before = found, count
        subprocess.run(["umount", "/etc/containerd"], check=True)
        Tree.mounted = False
        shutil.rmtree(root)


def driver_root():
    """The tree of a recorded driver container."""
    with gzip.open(HERE.parent / "testdata/cdi/layouts.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            if record["layout"]["id"] == "driver-container":
                return record["layout"]["tree"]
    raise KeyError("driver-container")


def compare_cdi(release, containerd, options, scratch):
    """`cdi generate` beside the least that the daemon's program does, and with many libraries that are not the driver's."""
    if os.geteuid() != 0:
        print("\ncdi generate: skipped, making device nodes needs root")
        return
    version = f"containerd --version ({release})"
    commands = {version: [containerd, "--version"]}
    for others in (0, 3000):
        root = os.path.join(scratch, f"driver-{others}")
        tree_case.lay(driver_root(), root)
        folder = pathlib.Path(root) / "usr/lib/x86_64-linux-gnu"
        for i in range(others):
            (folder / f"libother{i}.so.1.{i}").write_bytes(b"\x7fELF" + bytes(2000))
            (folder / f"libother{i}.so.1").symlink_to(f"libother{i}.so.1.{i}")
        name = "ctkit cdi generate" + (f", {others} other libraries" if others else "")
        for suffix, program in (("", options.ctkit), (", static", options.static)):
            if program:
                commands[name + suffix] = [program, "cdi", "generate", "--root", root, "--driver-root", "/", "--output", "-"]
    found = medians(commands, options.runs)
    table = Table("a driver root", "", "median ms", "faster", "goal", "peak MB", "goal")
    for name, command in commands.items():
        ratio = found[version] / found[name]
        memory = peak_memory(command)
        table.row(name, f"{1000 * found[name]:.2f}", "" if name == version else f"{ratio:.1f} x",
                  verdict(">=3", ratio >= 3) if name.startswith("ctkit cdi generate") and "other" not in name else "",
                  "?" if memory is None else f"{memory:.1f}",
                  "" if name == version or memory is None else verdict("<=6", memory <= 6))


def measure(options):
    """In the namespace: all tables of one suite."""
    containerd = str(pathlib.Path(options.inside) / "usr/bin/containerd")
    version = subprocess.run([containerd, "--version"], check=True, capture_output=True, text=True).stdout
    release = version.split()[2]
    with tempfile.TemporaryDirectory(prefix="compare.") as scratch:
        if not options.growth_only:
            compare_on(str(CAPTURE), "the recorded GPU node, three small files", release, containerd, options)
            case = recorded.read_cases()[LARGE[release[0]]]
            large = os.path.join(scratch, "large")
            recorded.lay(large, case)
            compare_on(large, f"a node's whole config with two drop-ins ({case['id']})", release, containerd, options)
        if not options.growth_only:
            compare_cdi(release, containerd, options, scratch)
        show_growth(release, containerd, options, scratch)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ctkit", type=os.path.abspath, default=os.path.abspath("build/release/ctkit"))
    parser.add_argument("--static", type=os.path.abspath, help="the static build; default: build/static/ctkit if there")
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all")
    parser.add_argument("--runs", type=int, default=41)
    parser.add_argument("--growth-only", action="store_true")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    usual = os.path.abspath("build/static/ctkit")
    options.static = options.static or (usual if os.access(usual, os.X_OK) else None)
    if options.inside:
        return measure(options)

    print(f"{options.runs} runs of each command in turn, medians; load average {os.getloadavg()[0]:.1f} on "
          f"{os.cpu_count()} processors")
    for name in filter(None, (options.ctkit, options.static)):
        print(f"{os.path.relpath(name)}: {os.path.getsize(name) / 2**20:.1f} MB")
    measured = 0
    for suite in options.suite or SUITES:
        done = subprocess.run([HERE.parent / "tests/conformance/get_debs.sh", suite], stdout=subprocess.PIPE, text=True)
        if done.returncode == NOT_DOWNLOADABLE:
            print(f"{suite}: skipped, package not downloadable")
            continue
        done.check_returncode()
        with tempfile.TemporaryDirectory(prefix="compare.") as scratch:
            mine = [] if os.geteuid() == 0 else ["--map-root-user"]
            arguments = [*sys.argv[1:], "--ctkit", options.ctkit, "--inside", done.stdout.strip()]
            if options.static:
                arguments += ["--static", options.static]
            subprocess.run(["unshare", *mine, "--mount", "--propagation", "private", "sh", "-c", IN_NAMESPACE, "sh",
                            scratch + "/cache", sys.executable, __file__, *arguments], check=True)
        measured += 1
    return 0 if measured else NOT_DOWNLOADABLE


if __name__ == "__main__":
    sys.exit(main())
