#!/usr/bin/env python3
"""Executes the examples of docs/containerd-config-merging.md and docs/crio-config.md: check_examples.py CTKIT

A block ```node RELEASE… is one node: a comment line with an absolute path begins a file, a line `=> …` is a claim about what
the release makes of the files:

  => KEY = VALUE         effective, VALUE as TOML
  => not KEY = VALUE     effective with another value, or not at all
  => absent KEY          not effective
  => refused FILE:LINE   the daemon refuses, and that is where
  => not serving         loads, but CRI will not
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
PAGES = {"containerd": DOCS / "containerd-config-merging.md", "crio": DOCS / "crio-config.md"}


def examples(page):
    """(line number, releases, files, claims) of each block."""
    lines = page.read_text().splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("```node"):
            at += 1
            continue
        begin, files, claims, path = at + 1, {}, [], None
        releases = lines[at].split()[1:]
        at += 1
        while lines[at] != "```":
            if re.fullmatch(r"# /\S+", lines[at]):
                path = lines[at][2:]
                files[path] = ""
            elif lines[at].startswith("=> "):
                claims.append(lines[at][3:])
            else:
                files[path] += lines[at] + "\n"
            at += 1
        yield begin, releases, files, claims


def value_at(config, key):
    """The value at a dotted TOML key, or None."""
    at = tomllib.loads(f"{key} = 0")
    while isinstance(at, dict):
        (part, at), = at.items()
        if not isinstance(config, dict) or part not in config:
            return None
        config = config[part]
    return config


def holds(claim, refusal, config, not_serving):
    if refusal is not None:
        return claim.startswith("refused ") and claim.split()[1] in refusal
    if claim == "not serving":
        return bool(not_serving)
    if claim.startswith("refused"):
        return False
    if claim.startswith("absent "):
        return value_at(config, claim[len("absent "):]) is None
    wanted = not claim.startswith("not ")
    key, value = claim.removeprefix("not ").rsplit(" = ", 1)
    return (value_at(config, key) == tomllib.loads(f"x = {value}")["x"]) == wanted


def run(ctkit, verb, engine, root, release):
    return subprocess.run([ctkit, verb, "--engine", engine, "--root", root, "--release", release, "-o", "json"],
                          capture_output=True, text=True, timeout=20)


def check_page(ctkit, engine, page):
    """How many claims hold, and how many do not."""
    checked, wrong = 0, 0
    for line, releases, files, claims in examples(page):
        if not releases or not files or not claims:
            sys.exit(f"{page.name}:{line}: an example needs releases, files and claims")
        with tempfile.TemporaryDirectory() as root:
            for path, text in files.items():
                file = pathlib.Path(root + path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
            for release in releases:
                effective = run(ctkit, "effective", engine, root, release)
                refusal = effective.stderr if effective.returncode == 6 else None
                config = json.loads(effective.stdout) if effective.returncode == 0 else {}
                explained = run(ctkit, "explain", engine, root, release)
                not_serving = json.loads(explained.stdout)["not_serving"] if explained.returncode == 0 else []
                for claim in claims:
                    checked += 1
                    if not holds(claim, refusal, config, not_serving):
                        wrong += 1
                        print(f"{page.name}:{line}: {release}: not so: {claim}\n  {effective.stderr.strip()}")
    return checked - wrong, wrong


def main():
    counts = [check_page(sys.argv[1], engine, page) for engine, page in PAGES.items()]
    passed, failed = map(sum, zip(*counts))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not all(good for good, _ in counts) else 0


sys.exit(main())
