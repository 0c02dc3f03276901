#!/usr/bin/env python3
"""ctkit against real containerd, before and after `ctkit apply`.

For each suite (containerd fetched by get_debs.sh) and each recorded tree of the kinds scenario, stock, default, minimal2:

 1. `ctkit effective` equals the real `containerd config dump` on the tree, and refuses (exit 6) what the daemon refuses.
 2. `ctkit plan` writes nothing; `ctkit apply` succeeds if the daemon loads the tree, else refuses and writes nothing.
 3. The daemon starts on the changed tree. Its dump has the three nvidia handlers; apart from them, `imports` and the
    keys that the plan listed as `restored`, it is the dump of before. Restoring may add and change, never drop.
 4. `ctkit effective` equals that dump too.
 5. A second apply leaves every file as it is; `ctkit uninstall` leaves the tree byte for byte as it was.

The tree's /etc/containerd is bound at /etc/containerd in a mount namespace of its own, so nothing of the machine is
read or changed. `config dump` decides whether a tree loads; where ctkit says otherwise, the daemon itself is started.

Exit status 0 when all trees pass, 75 when no suite could be downloaded, 1 otherwise."""
import argparse
import concurrent.futures
import fnmatch
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import recorded  # noqa: E402  (tests/recorded.py)
from real_containerd import NOT_DOWNLOADABLE, SUITES, Daemon, can_make_namespace, fetch  # noqa: E402

KINDS = ("scenario-*", "stock-*", "default-*", "minimal2-*")
DECISION_NEEDED = 3
BINARY = "/usr/local/nvidia/toolkit/nvidia-container-runtime"
HANDLERS = {"nvidia": BINARY, "nvidia-cdi": BINARY + ".cdi", "nvidia-legacy": BINARY + ".legacy"}


class Failure(Exception):
    """What is wrong with a tree, in a few lines."""


def require(fact, message):
    if not fact:
        raise Failure(message)


def check_tree(daemon, run, refusal, root):
    """Run the five checks of the module's text on one laid tree; a Failure says which does not hold.

    Returns whether ctkit applied; if not, it refused as it should."""
    pristine = snapshot(root)
    before, loads = check_effective(daemon, run, root)

    plan = run("plan", "-o", "json")
    require(snapshot(root) == pristine, f"plan wrote: {changed_files(pristine, snapshot(root))}")
    apply = run("apply", "--restart", "none")
    applied = snapshot(root)
    if not loads or apply.returncode in (DECISION_NEEDED, recorded.REFUSED):
        allowed = (DECISION_NEEDED, recorded.REFUSED) if not loads else (refusal["exit"],) if refusal else ()
        require(apply.returncode in allowed,
                f"apply: {recorded.told(apply)}, the daemon {'loads' if loads else 'refuses'} the tree")
        require(applied == pristine, f"apply refused, yet wrote: {changed_files(pristine, applied)}")
        return False
    require(apply.returncode == 0, f"apply: {recorded.told(apply)}")
    require(not refusal, "apply succeeded: take the tree out of refusals.toml")

    after, _ = check_effective(daemon, run, root)
    require(after is not None, "`config dump` refuses the tree after apply")
    require(daemon.starts(root), "the daemon does not start after apply")
    check_handlers(after, daemon.cri)
    if before is not None:
        check_kept(before, after, restored_keys(plan), daemon.cri)

    again = run("apply", "--restart", "none")
    require(again.returncode == 0, f"second apply: {recorded.told(again)}")
    require(snapshot(root) == applied, f"second apply wrote: {changed_files(applied, snapshot(root))}")
    uninstall = run("uninstall")
    require(uninstall.returncode == 0, f"uninstall: {recorded.told(uninstall)}")
    restored = {path: state[:-1] for path, state in snapshot(root).items()}
    original = {path: state[:-1] for path, state in pristine.items()}
    require(restored == original, f"uninstall left: {changed_files(original, restored)}")
    return True


def check_effective(daemon, run, root):
    """(the daemon's dump or None, whether the daemon loads the tree), if ctkit says the same."""
    want, reason = daemon.dump(root)
    ours = run("effective", "-o", "json")
    loads = want is not None
    if loads != (ours.returncode == 0):
        loads = daemon.starts(root)
    if not loads:
        require(ours.returncode == recorded.REFUSED and not ours.stdout.strip(),
                f"effective: {recorded.told(ours)}, the daemon refuses: {reason or 'when it starts'}")
        return None, False
    require(ours.returncode == 0, f"effective: {recorded.told(ours)}, the daemon loads the tree")
    if want is not None:
        found = recorded.differences(want, recorded.document(json.loads(ours.stdout), daemon.release))
        require(not found, "effective is not the daemon's dump:" + show(found, "daemon", "ctkit"))
    return want, True


def check_handlers(dump, cri):
    runtimes = find(dump, ("plugins", cri, "containerd", "runtimes")) or {}
    for name, binary in HANDLERS.items():
        found = find(runtimes, (name, "options", "BinaryName"))
        require(found == binary, f"after apply the daemon has {name} with BinaryName {found!r}")


def check_kept(before, after, restored, cri):
    """Nothing but the handlers, `imports` and restored keys differs between two dumps, and nothing is lost."""
    handlers = [("plugins", cri, "containerd", "runtimes", name) for name in HANDLERS]

    def expected(path, was, now):
        if any(is_below(path, key) for key in [("imports",), *handlers]):
            return True
        if was == {} and isinstance(find(after, path), dict):  # an empty table that got members
            return any(is_below(key, path) for key in [*restored, *handlers])
        return now != recorded.ABSENT and any(is_below(path, key) for key in restored)

    wrong = [change for change in recorded.differences(before, after) if not expected(*change)]
    require(not wrong, "the daemon's dump changed beyond the plan:" + show(wrong, "before", "after"))


def restored_keys(plan):
    """The paths of the plan's `restored` records, whose `key` is a dotted TOML key."""
    require(plan.returncode in (0, 2), f"plan: {recorded.told(plan)}")
    return [key_path(record["key"]) for record in json.loads(plan.stdout)["restored"]]


def key_path(dotted):
    table = tomllib.loads(dotted + " = 0")
    path = []
    while isinstance(table, dict):
        [(key, table)] = table.items()
        path.append(key)
    return tuple(path)


def is_below(path, key):
    return path[:len(key)] == key


def find(value, path):
    return functools.reduce(lambda at, key: at.get(key) if isinstance(at, dict) else None, path, value)


def show(found, left, right):
    rows = [f"\n      {'.'.join(path)}\n         {left}: {str(a)[:160]}\n         {right}: {str(b)[:160]}"
            for path, a, b in found[:4]]
    return "".join(rows) + (f"\n      … {len(found) - 4} more" if len(found) > 4 else "")


def snapshot(root):
    """Path → mode, owner, content or target, and last the inode, which is new when a file was rewritten."""
    states = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = os.path.join(folder, name)
            status = os.lstat(path)
            if os.path.islink(path):
                content = os.readlink(path)
            else:
                content = None if name in folders else hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
            states[path.removeprefix(root)] = (status.st_mode, status.st_uid, status.st_gid, content, status.st_ino)
    return states


def changed_files(before, after):
    paths = sorted(before.keys() | after.keys())
    return ", ".join(path for path in paths if before.get(path) != after.get(path)) or "nothing"


def find_refusal(refusals, release, case_id):
    fits = [refusal for refusal in refusals if refusal["case"] == case_id
            and any(release.startswith(line + ".") for line in refusal["releases"])]
    return fits[0] if fits else None


def check_suite(suite, folder, cases, refusals, options):
    """(trees passed, trees failed) of one suite, printed as they come."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="conformance.") as scratch:
        daemon = Daemon(folder, scratch)

        def check(case):
            """(whether ctkit applied, None) or (None, what is wrong)."""
            root = os.path.join(scratch, case["id"])
            run = lambda verb, *arguments: recorded.run_ctkit(
                options.ctkit, verb, "--defaults", daemon.defaults, *arguments, root=root, release=daemon.release)
            recorded.lay(root, case)
            try:
                return check_tree(daemon, run, find_refusal(refusals, daemon.release, case["id"]), root), None
            except Failure as failure:
                return None, str(failure)
            except (ValueError, KeyError, subprocess.TimeoutExpired) as error:  # ctkit's JSON is not what was promised
                return None, f"{type(error).__name__}: {error}"
            finally:
                if not options.keep:
                    shutil.rmtree(root)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(check, cases))
        if options.keep:
            kept = tempfile.mkdtemp(prefix=f"conformance-{suite}.")
            shutil.copytree(scratch, kept, symlinks=True, dirs_exist_ok=True)
            print(f"   trees kept in {kept}")

    failures = [(case["id"], problem) for case, (_, problem) in zip(cases, answers) if problem]
    applied = sum(applied is True for applied, _ in answers)
    for case_id, problem in failures:
        print(f"-- {suite} {case_id}: {problem}")
    print(f"conformance {suite}: containerd {daemon.release}, {len(cases)} trees, {applied} applied, "
          f"{len(cases) - applied - len(failures)} rightly refused, {len(failures)} wrong, "
          f"{time.monotonic() - begun:.1f} s", flush=True)
    return len(cases) - len(failures), len(failures)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=SUITES, help="default: all")
    parser.add_argument("--case", nargs="+", default=KINDS, metavar="GLOB")
    parser.add_argument("--ctkit", type=os.path.abspath, default=os.path.abspath("build/release/ctkit"))
    parser.add_argument("--keep", action="store_true", help="keep the trees as the checks left them, and say where")
    parser.add_argument("--counts", metavar="FILE", help="append a line: trees passed, failed, skipped")
    options = parser.parse_args()

    if not os.access(options.ctkit, os.X_OK):
        parser.error(f"no program at {options.ctkit}")
    if not can_make_namespace():
        sys.exit("conformance: cannot make a mount namespace here (needs root, or user namespaces)")
    cases = [case for case in recorded.read_cases().values()
             if any(fnmatch.fnmatchcase(case["id"], glob) for glob in options.case)]
    if not cases:
        parser.error("no case matches")
    refusals = tomllib.loads((HERE / "refusals.toml").read_text(encoding="utf-8")).get("refusal", [])

    passed = failed = 0
    skipped = []
    for suite in options.suite or SUITES:
        folder = fetch(suite)
        if folder is None:
            skipped.append(suite)
            print(f"conformance {suite}: skipped, package not downloadable")
            continue
        good, bad = check_suite(suite, folder, cases, refusals, options)
        passed, failed = passed + good, failed + bad
    if options.counts:
        with open(options.counts, "a", encoding="utf-8") as counts:
            counts.write(f"{passed} {failed} {len(skipped) * len(cases)}\n")
    if failed:
        return 1
    return 0 if passed else NOT_DOWNLOADABLE


if __name__ == "__main__":
    sys.exit(main())
