#!/usr/bin/env python3
"""How often `ctkit effective --engine crio` equals what real CRI-O held, over testdata/crio (see its README).

Every recorded tree and every recorded TOML text, as the only drop-in, on every release: the handlers and all other keys must be
equal, keys that no file sets included. A recorded refusal must be a refusal: exit status 6 and nothing on stdout. And every recorded
start: `explain` must know whether the daemon comes up, `lint` which handlers it leaves out.

Exit status 0 only when everything agrees."""
import argparse
import json
import multiprocessing
import os
import pathlib
import subprocess
import sys
import tempfile

import recorded

DATA = pathlib.Path(__file__).resolve().parent.parent / "testdata" / "crio"
NAMES = {"main": "1.37.0-dev"}  # recorded from sources between two releases
ZERO = ("", False, 0, [], {}, None)
DEFAULTS = json.loads((DATA / "defaults.json").read_text(encoding="utf-8"))


def lines(name):
    with open(DATA / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def trees():
    """(name, case to lay, [(releases, loads, default runtime or None, handlers, changed keys)])"""
    for case in lines("cases.jsonl"):
        started = [f'{name}="{value}"' for name, value in (case.get("env") or {}).items()]
        if case.get("args"):
            # Quoted, since systemd splits the variable at white space.
            words = " ".join(word or "''" for word in case["args"])
            started.append(f'CRIO_CONFIG_OPTIONS="{words}"')
        if started:
            # The packaged unit's own file is how a daemon gets them.
            case = {**case, "files": {**case["files"], "/etc/sysconfig/crio": "\n".join(started) + "\n"}}
        results = [(group["versions"], not group["result"]["load_rc"], group["result"].get("default_runtime"),
                    group["result"].get("handlers", {}), group["result"].get("changed", {})) for group in case["expected"]]
        yield case["id"], {"dirs": ["/etc/crio"], **case}, results
    for text in lines("toml.jsonl"):
        case = {"dirs": ["/etc/crio"], "files": {"/etc/crio/crio.conf.d/50.conf": text["text"]}}
        results = [(group["versions"], group["loads"], None, group.get("handlers", {}), group.get("changed", {}))
                   for group in text["groups"]]
        yield "toml: " + text["name"], case, results


def without_zeros(handler):
    return {key: value for key, value in handler.items() if value not in ZERO}


def flat(table, path=()):
    """crio.* keys without the handlers, as defaults.json names them."""
    for key, value in table.items():
        if isinstance(value, dict):
            if path + (key,) not in {("crio", "runtime", "runtimes"), ("crio", "runtime", "workloads")}:
                yield from flat(value, path + (key,))
        else:
            yield ".".join(path + (key,)), value


def check(ctkit, root, release, loads, default, handlers, changed):
    """(what, recorded, ours) of each disagreement"""
    command = [ctkit, "effective", "--engine", "crio", "--root", root, "--release", NAMES.get(release, release), "-o", "json"]
    ours = subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if not loads:
        refused = ours.returncode == recorded.REFUSED and not ours.stdout.strip()
        return [] if refused else [("refusal", True, recorded.told(ours))]
    if ours.returncode:
        return [("result", "loads", recorded.told(ours))]
    got = json.loads(ours.stdout)
    runtime = got["crio"]["runtime"]
    wrong = []
    built_in = DEFAULTS[release]
    named = {name: without_zeros(handler) for name, handler in runtime["runtimes"].items()}
    # Of a text only what it adds is recorded.
    wanted = {**({} if default is not None else {name: without_zeros(handler) for name, handler in built_in["handlers"].items()}),
              **{name: without_zeros(handler) for name, handler in handlers.items()}}
    if named != wanted:
        wrong.append(("handlers", wanted, named))
    if default is not None and runtime["default_runtime"] != default:
        wrong.append(("default_runtime", default, runtime["default_runtime"]))
    keys = {**built_in["keys"], **changed}
    mine = dict(flat(got))
    for key in sorted(keys.keys() | mine.keys()):
        if keys.get(key) != mine.get(key) or isinstance(keys.get(key), bool) != isinstance(mine.get(key), bool):
            wrong.append((key, keys.get(key, "(absent)"), mine.get(key, "(absent)")))
    return wrong


def starts():
    """(name, case to lay, [(releases, started, handlers then)])"""
    for start in lines("starts.jsonl"):
        # What lay in a folder of PATH there lies in one of ours; /usr/bin was none of them.
        files = {"/etc/crio/" + path: text.replace("/usr/bin/conmon", "/usr/libexec/crio/conmon")
                 for path, text in start["files"].items()}
        tools = ["/usr/bin/" + tool for tool in ["true", *start["tools_in_path"]]]
        tools += ["/etc/crio/bin/nvidia-container-runtime", "/usr/libexec/crio/conmon"]
        case = {"dirs": ["/etc/crio"], "files": {**files, **{tool: "" for tool in tools}}}
        yield start["id"], case, [(row["versions"], row["started"], row.get("handlers")) for row in start["expected"]]


def check_start(work):
    """Whether the daemon starts, and with which handlers, as explain and lint foresee it."""
    ctkit, name, case, results = work
    rows = []
    with tempfile.TemporaryDirectory(prefix="crio.") as root:
        recorded.lay(root, case)
        for releases, started, handlers in results:
            for release in releases:
                options = ["--engine", "crio", "--root", root, "--release", NAMES.get(release, release), "-o", "json"]
                told = [json.loads(subprocess.run([ctkit, verb, *options], cwd="/", stdin=subprocess.DEVNULL, capture_output=True,
                                                  text=True, timeout=60).stdout) for verb in ("explain", "lint")]
                dropped = {finding["message"].split("'")[1] for finding in told[1]["findings"] if finding["rule"] == "CTK027"}
                ours = sorted({handler["name"] for handler in told[0]["handlers"]} - dropped)
                wrong = []
                if started == bool(told[0]["not_serving"]):
                    wrong.append(("starts", started, told[0]["not_serving"]))
                elif started and ours != handlers:
                    wrong.append(("handlers", handlers, ours))
                rows.append((name, release, wrong))
    return rows


def check_tree(work):
    ctkit, name, case, results = work
    with tempfile.TemporaryDirectory(prefix="crio.") as root:
        recorded.lay(root, case)
        return [(name, release, check(ctkit, root, release, *rest)) for releases, *rest in results for release in releases]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ctkit", type=os.path.abspath)
    parser.add_argument("--stride", type=int, default=1, metavar="N", help="only every Nth tree (slow builds)")
    parser.add_argument("--show", type=int, default=10, metavar="N", help="print the first N disagreements")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    work = [(options.ctkit, *tree) for tree in trees()][::options.stride]
    total, wrong = 0, []
    with multiprocessing.Pool(options.jobs) as pool:
        for rows in pool.imap(check_tree, work, chunksize=4):
            total += len(rows)
            wrong += [row for row in rows if row[2]]
        for rows in pool.imap(check_start, [(options.ctkit, *start) for start in starts()][::options.stride]):
            total += len(rows)
            wrong += [row for row in rows if row[2]]
    for name, release, found in wrong[:options.show]:
        print(f"-- {name} on {release}")
        for what, want, got in found[:4]:
            print(f"   {what}\n      daemon: {str(want)[:200]}\n      ctkit:  {str(got)[:200]}")
    print(f"{total - len(wrong)} passed, {len(wrong)} failed")
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
