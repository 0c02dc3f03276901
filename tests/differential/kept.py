#!/usr/bin/env python3
"""The trees that once differed: testdata/containerd/cases/differential.jsonl with what Debian's containerds dumped.

Without options checks that `ctkit effective --as-dump` still says what is in expected-debian/RELEASE.jsonl.gz, where a
result is {id, dump}, or {id, lines} of a dump that is no valid TOML, or {id, error}; defaults-debian/ has each one's own
`config default`. --record asks the real containerds and writes both.

Exit status 0 when all agree, 75 when there is nothing to record from, 1 otherwise."""
import argparse
import gzip
import json
import os
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import recorded  # noqa: E402  (tests/recorded.py)
from differential import UNREADABLE, Bench, as_ours  # noqa: E402
from real_containerd import NOT_DOWNLOADABLE, SUITES, Daemon, can_make_namespace, fetch  # noqa: E402

CASES = recorded.DATA / "cases" / "differential.jsonl"
EXPECTED = recorded.DATA / "expected-debian"
DEFAULTS = recorded.DATA / "defaults-debian"
RELEASES = {"1.6.20": "1.6.20~ds1", "1.7.24": "1.7.24~ds1", "2.1.9": "2.1.9+unknown"}  # as the binaries call themselves


def read_kept_cases():
    with open(CASES, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def record(cases):
    folders = [fetch(suite) for suite in SUITES]
    if None in folders or not can_make_namespace():
        return NOT_DOWNLOADABLE
    with tempfile.TemporaryDirectory(prefix="kept.") as scratch:
        daemons = [Daemon(folder, scratch) for folder in folders]
        bench = Bench(None, daemons, scratch)
        results = {release: [] for release in RELEASES}
        for case in cases:
            bench.lay(case)
            for number, release in enumerate(RELEASES):
                if daemons[number].release != RELEASES[release]:
                    sys.exit(f"kept: {daemons[number].release} is not {RELEASES[release]}: the suite has moved on")
                document, reason = bench.real(number)
                what = {"error": reason} if document is None else {"lines": document[UNREADABLE]} if UNREADABLE in document else {"dump": document}
                results[release].append({"id": case["id"], **what})
        bench.close()
        for folder in (EXPECTED, DEFAULTS):
            folder.mkdir(exist_ok=True)
        for daemon, release in zip(daemons, RELEASES):
            (DEFAULTS / f"{release}.toml").write_bytes(pathlib.Path(daemon.defaults).read_bytes())
    for release, rows in results.items():
        text = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in rows)
        (EXPECTED / f"{release}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    return 0


def check(ctkit, cases):
    wrong = judged = 0
    for release, full in RELEASES.items():
        with gzip.open(EXPECTED / f"{release}.jsonl.gz", "rt", encoding="utf-8") as lines:
            results = {result["id"]: result for result in map(json.loads, lines)}
        for case in cases:
            judged += 1
            found = differences(ctkit, case, results[case["id"]], full, DEFAULTS / f"{release}.toml")
            if found:
                wrong += 1
                print(f"-- {case['id']} on containerd {full}")
            for path, want, got in found[:4]:
                print(f"   {'.'.join(path)}\n      containerd: {str(want)[:300]}\n      ctkit:      {str(got)[:300]}")
    print(f"kept trees: {judged - wrong} of {judged} as recorded")
    return 1 if wrong else 0


def differences(ctkit, case, result, release, defaults):
    with tempfile.TemporaryDirectory(prefix="kept.") as root:
        recorded.lay(root, case)
        form = "toml" if "lines" in result else "json"
        done = recorded.run_ctkit(ctkit, "effective", "--as-dump", "--defaults", str(defaults), "-o", form,
                                  root=root, release=release)
    ours, message = as_ours(done, release, form)
    if "error" in result or message:
        agree = "error" in result and ours is None
        return [] if agree else [(("verdict",), result.get("error", "loads"), message or "loads")]
    return recorded.differences(result.get("dump") or {UNREADABLE: result["lines"]}, ours)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ctkit", type=os.path.abspath, nargs="?", default=os.path.abspath("build/release/ctkit"))
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    cases = read_kept_cases()
    return record(cases) if options.record else check(options.ctkit, cases)


if __name__ == "__main__":
    sys.exit(main())
