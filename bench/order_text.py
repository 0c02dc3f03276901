#!/usr/bin/env python3
"""Writes cmake/text_order.txt: the functions that the reading verbs run, in the order in which each is first called.

The linker puts them side by side in this order, so that a start touches a few stretches of a program of which it runs a
tenth: fewer page faults, and less memory. A function that is gone or new costs nothing but its place, so this needs to run
only after changes that move a lot.

A breakpoint stands at the begin of each function of a static build with symbols and is taken away when it is hit."""
import argparse
import ctypes
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import recorded  # noqa: E402  (tests/recorded.py)
import traced  # noqa: E402  (beside this file)

CAPTURE = ROOT / "testdata/captures/gpu-node-1.7.27"
# A node's whole config with two drop-ins, and the releases that read it; distributions add to the numbers.
WHOLE = {"default-1.7.34-nvidia-then-registry": ("1.6.20~ds1", "1.7.34"),
         "default-2.1.9-nvidia-then-registry": ("2.1.9+unknown", "2.3.4")}
CONT, GETREGS, SETREGS = 7, 12, 13
BREAKPOINT = b"\xcc"
RIP, WORDS = 16, 27  # struct user_regs_struct of x86-64


def functions_of(program):
    """Address of a function → its names: identical code may have several."""
    found = {}
    listing = subprocess.run(["nm", "--defined-only", program], check=True, capture_output=True, text=True).stdout
    for line in listing.splitlines():
        address, kind, name = line.split(maxsplit=2)
        if kind in "tTwW":
            found.setdefault(int(address, 16), []).append(name)
    return found


def text_of(program):
    """(address, size) of the section of the functions."""
    sections = subprocess.run(["readelf", "--wide", "--sections", program], check=True, capture_output=True, text=True).stdout
    for line in sections.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1] == ".text":
            return int(words[3], 16), int(words[5], 16)
    raise ValueError(f"{program}: no .text")


def first_calls(command, functions):
    """Addresses of functions (as in the file) in the order of their first call."""
    pid = traced.start(command)
    with open(f"/proc/{pid}/maps", encoding="utf-8") as maps:
        base = min(int(line.split("-")[0], 16) for line in maps if command[0] in line)
    begin, size = text_of(command[0])
    order = []
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        memory.seek(base + begin)
        code = memory.read(size)
        broken = bytearray(code)
        for address in functions:
            if begin <= address < begin + size:
                broken[address - begin] = BREAKPOINT[0]
        memory.seek(base + begin)
        memory.write(broken)
        while True:
            traced.ptrace(CONT, pid, None, None)
            _, status = os.waitpid(pid, 0)
            if not os.WIFSTOPPED(status):
                break
            if os.WSTOPSIG(status) != signal.SIGTRAP:
                sys.exit(f"order_text: signal {os.WSTOPSIG(status)} in {' '.join(command)}")
            registers = (ctypes.c_ulonglong * WORDS)()
            traced.ptrace(GETREGS, pid, None, registers)
            address = registers[RIP] - 1 - base
            memory.seek(base + address)
            memory.write(code[address - begin:address - begin + 1])
            registers[RIP] -= 1
            traced.ptrace(SETREGS, pid, None, registers)
            order.append(address)
    if os.waitstatus_to_exitcode(status) not in (0, 2):
        sys.exit(f"order_text: exit status {os.waitstatus_to_exitcode(status)} of {' '.join(command)}")
    return order


def commands(scratch):
    """What a start is for, the most frequent first."""
    node = ["--root", str(CAPTURE)]
    trees = [node, ["--root", os.path.relpath(CAPTURE), "--release", "1.7.24~ds1"]]
    for case, releases in WHOLE.items():
        root = os.path.join(scratch, case)
        recorded.lay(root, recorded.read_cases()[case])
        trees += [["--root", root, "--release", release] for release in releases]
    for words in (["effective"], ["plan"], ["explain"], ["lint"], ["effective", "-o", "json"], ["plan", "-o", "json"]):
        for tree in trees:
            yield [*words, *tree]
    yield ["preflight", "--to", "2.3.4", *node]
    yield ["status", *node]
    yield ["cdi", "validate", *node]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ctkit", type=os.path.abspath, required=True, help="a static build with its symbols")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "cmake/text_order.txt")
    options = parser.parse_args()
    functions = functions_of(options.ctkit)
    order = {}
    with tempfile.TemporaryDirectory(prefix="order.") as scratch:
        for words in commands(scratch):
            before = len(order)
            order.update(dict.fromkeys(first_calls([options.ctkit, *words], functions)))
            print(f"{len(order) - before:6} more functions: {' '.join(words)}")
    options.output.write_text("".join(f"{name}\n" for address in order for name in functions[address]), encoding="utf-8")
    print(f"{options.output}: {len(order)} functions")


if __name__ == "__main__":
    main()
