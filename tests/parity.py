#!/usr/bin/env python3
"""How often `ctkit effective` equals what real containerd printed, over testdata/containerd (see its README).

A recorded dump must come back equal as data (the 1.x list `imports` as a set). A recorded refusal, a crash included,
must be a refusal: exit status 6 and nothing on stdout. Where the daemon itself was asked, the daemon is right; with
--as-dump the dump is, and `ctkit effective --as-dump` is asked.

Exit status 0 when the share of agreeing results is at least --at-least, both of all and of those that load, and
every case that matches an --exact pattern agrees."""
import argparse
import collections
import fnmatch
import json
import multiprocessing
import os
import sys
import tempfile

import recorded


def disagreements(ctkit, root, release, result, as_dump):
    """Why ctkit's answer for a laid tree is not the daemon's: a list of (path, daemon's, ours), empty if it is."""
    more = ["--as-dump"] if as_dump else []
    ours = recorded.run_ctkit(ctkit, "effective", "-o", "json", *more, root=root, release=release)
    if not loads(result, as_dump):
        refused = ours.returncode == recorded.REFUSED and not ours.stdout.strip()
        return [] if refused else [(("refusal",), result.get("daemon", result).get("error"), recorded.told(ours))]
    if ours.returncode:
        return [(("result",), "loads", recorded.told(ours))]
    if not result["ok"]:  # the daemon starts where its own `config dump` fails: no document to compare with
        return []
    try:
        got = json.loads(ours.stdout)
    except ValueError as error:
        return [(("JSON",), "valid", str(error))]
    return recorded.differences(recorded.document(result["dump"], release), recorded.document(got, release))


def loads(result, as_dump):
    """Whether the daemon starts with this tree: its own word before that of `config dump`, if that was not asked for."""
    if as_dump:
        return result["ok"]
    return result.get("daemon", {}).get("loads", result["ok"])


def check_case(work):
    """All releases on one tree, laid once: [(id, release, loads, disagreements)]."""
    ctkit, case, results, as_dump = work
    with tempfile.TemporaryDirectory(prefix="parity.") as root:
        recorded.lay(root, case)
        return [(case["id"], release, loads(result, as_dump), disagreements(ctkit, root, release, result, as_dump)[:4])
                for release, result in results.items()]


def cause(path):
    """A short name for a kind of disagreement: the plugin and the key's first parts."""
    return ".".join(path[:5])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ctkit", type=os.path.abspath)
    parser.add_argument("--release", nargs="+", default=[], help="only these releases")
    parser.add_argument("--case", nargs="+", default=["*"], metavar="GLOB", help="only these cases")
    parser.add_argument("--stride", type=int, default=1, metavar="N", help="only every Nth case (slow builds)")
    parser.add_argument("--as-dump", action="store_true", help="compare with what `config dump` does")
    parser.add_argument("--at-least", type=float, default=100.0, metavar="PERCENT")
    parser.add_argument("--exact", nargs="+", default=[], metavar="GLOB", help="these cases must all agree")
    parser.add_argument("--show", type=int, default=10, metavar="N", help="print the first N disagreements")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()

    by_release = recorded.read_results(options.release, options.as_dump)
    chosen = [case for case in recorded.read_cases().values()
              if any(fnmatch.fnmatchcase(case["id"], glob) for glob in options.case)][::options.stride]
    work = [(options.ctkit, case, {release: results[case["id"]] for release, results in by_release.items()
                                   if case["id"] in results}, options.as_dump) for case in chosen]

    total, agreed, loading, loading_agreed = collections.Counter(), collections.Counter(), 0, 0
    wrong = []
    with multiprocessing.Pool(options.jobs) as pool:
        for rows in pool.imap(check_case, work, chunksize=4):
            for case_id, release, starts, found in rows:
                total[release] += 1
                agreed[release] += not found
                loading += starts
                loading_agreed += starts and not found
                if found:
                    wrong.append((case_id, release, found))

    for release in total:
        print(f"{release:<14} {agreed[release]} of {total[release]}")
    for name, count in collections.Counter(cause(found[0][0]) for _, _, found in wrong).most_common(options.show):
        print(f"{count:5} first differ in {name}")
    for case_id, release, found in wrong[:options.show]:
        print(f"-- {case_id} on {release}")
        for path, want, got in found:
            print(f"   {'.'.join(path)}\n      daemon: {str(want)[:200]}\n      ctkit:  {str(got)[:200]}")

    must = sorted({case_id for case_id, _, _ in wrong
                   if any(fnmatch.fnmatchcase(case_id, glob) for glob in options.exact)})
    if must:
        print(f"must agree and do not: {', '.join(must)}")
    share, loading_share = percent(sum(agreed.values()), sum(total.values())), percent(loading_agreed, loading)
    print(f"of those that load: {loading_agreed} of {loading} ({loading_share:.2f} %)")
    print(f"parity: {sum(agreed.values())} of {sum(total.values())} ({share:.2f} %), asked for {options.at_least:g} %")
    return 0 if total and not must and min(share, loading_share) >= options.at_least else 1


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


if __name__ == "__main__":
    sys.exit(main())
