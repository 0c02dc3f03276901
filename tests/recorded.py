"""What the drivers over recorded containerd trees share: read the records, lay a tree, compare two documents.

Documents are plain data in one spelling: tables are dicts, and what JSON lacks is written as ctkit writes it,
{"$float": "nan" | "inf" | "-inf"} and {"$datetime": "…"}.
"""
import base64
import datetime
import gzip
import json
import math
import pathlib
import subprocess

DATA = pathlib.Path(__file__).resolve().parent.parent / "testdata" / "containerd"
REFUSED = 6  # ctkit's exit status for "the daemon would refuse this configuration"


def read_cases():
    """Every recorded tree: id → case."""
    cases = {}
    for path in sorted((DATA / "cases").glob("*.jsonl")):
        with open(path, encoding="utf-8") as lines:
            for case in map(json.loads, lines):
                cases[case["id"]] = case
    return cases


def read_results(releases=(), as_dump=False):
    """What each release made of each tree: release → {id → result}. No releases named: all.

    Of some releases only the dump was recorded, not what the daemon does: they come with `as_dump`."""
    results = {}
    paths = list((DATA / "expected").glob("*.jsonl.gz"))
    if as_dump:
        paths += (DATA / "expected-dump-only").glob("*.jsonl.gz")
    for path in sorted(paths):
        release = path.name.removesuffix(".jsonl.gz")
        if releases and release not in releases:
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            results[release] = {result["id"]: result for result in map(json.loads, lines)}
    return results


def lay(root, case):
    """Write a case's files, empty folders and links below the folder root."""
    below = lambda path: pathlib.Path(root) / path.lstrip("/")
    for path in case.get("dirs", []):
        below(path).mkdir(parents=True, exist_ok=True)
    for path, content in case["files"].items():
        below(path).parent.mkdir(parents=True, exist_ok=True)
        below(path).write_bytes(base64.b64decode(content["b64"]) if isinstance(content, dict) else content.encode())
    for path, target in case.get("links", {}).items():
        below(path).parent.mkdir(parents=True, exist_ok=True)
        below(path).symlink_to(target)


def run_ctkit(ctkit, verb, *arguments, root, release):
    """The finished process of one ctkit command on a tree, started in / as the daemon is."""
    command = [ctkit, verb, *arguments, "--engine", "containerd", "--root", root, "--release", release]
    try:
        return subprocess.run(command, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, returncode=-1, stdout="", stderr="no answer within 60 s")


def plain(value):
    """A parsed JSON or TOML value in the one spelling."""
    if isinstance(value, dict):
        if value.keys() == {"$datetime"}:
            return {"$datetime": _moment(value["$datetime"])}
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return {"$datetime": value.isoformat()}
    return value


def _moment(text):
    for kind in (datetime.date, datetime.time, datetime.datetime):  # the last would take a date for its midnight
        try:
            return kind.fromisoformat(text).isoformat()
        except ValueError:
            continue
    return text


def document(parsed, release):
    """A whole parsed dump, ready to compare: 1.x prints `imports` in random order."""
    result = plain(parsed)
    if release.startswith("1.") and isinstance(result.get("imports"), list):
        result["imports"] = sorted(result["imports"])
    return result


def leaves(value, path=()):
    """Path → value of everything that is not a table with members."""
    if isinstance(value, dict) and value:
        return {at: leaf for key, item in value.items() for at, leaf in leaves(item, (*path, key)).items()}
    return {path: value}


ABSENT = "(absent)"


def differences(want, got):
    """(path, wanted, found) of every leaf in which two documents differ."""
    wanted, found = leaves(want), leaves(got)
    pairs = ((path, wanted.get(path, ABSENT), found.get(path, ABSENT)) for path in sorted(wanted.keys() | found.keys()))
    return [(path, a, b) for path, a, b in pairs if not _alike(a, b)]


def _alike(a, b):
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_alike, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_alike(a[key], b[key]) for key in a)
    return isinstance(a, bool) == isinstance(b, bool) and a == b  # in Python, True == 1


def told(process):
    """What a finished ctkit answered: its exit status and its messages on one line."""
    messages = " | ".join(line.strip() for line in process.stderr.splitlines() if line.strip())
    return f"exit {process.returncode}: {messages[:300] or '(nothing on stderr)'}"
