#!/usr/bin/env python3
"""`ctkit cdi-hook` on the recorded runs of NVIDIA's nvidia-cdi-hook, and under attack.

usage: CTKIT=PATH test_hooks.py

Each recorded case is run on a host of its own (a tmpfs in a mount namespace); the container's root must look afterwards as it
did with the stock hook. Where it must not, the case is in DEVIATIONS with the reason (docs/cdi.md tells them too). Needs root;
exits with 77 where it may not mount."""
import json
import os
import re
import sys
import threading
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import fake_host
import tree_case

CTKIT = os.path.abspath(os.environ.get("CTKIT", "build/release/ctkit"))
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/cdi/hooks.jsonl")

# Case → what is expected instead. None: the root stays as it was.
DEVIATIONS = {
    # The stock hook follows an absolute link on the host and changes a file there.
    "chmod-link-out": {"outside": {"/f": {"mode": "0600", "file": "x"}}},
    # It drops the special bits that were asked for.
    "chmod-special-bits": {"root": {"/f": {"mode": "7755", "file": "x"}}},
    # It takes a link on the host for one in the container and makes none; in the container its folder leads nowhere.
    "links-current-escape": {"rc": 1, "error": True},
    # It leaves a writable copy and its folder in the container's root.
    "nodemod-one": {"without": "/run/nvidia-ctk-hook", "read_only": "/proc/driver/nvidia/params"},
    # It leaves the folder it mounted things at.
    "nodemod-no-target": {"root": "unchanged"},
}
# Of every update-ldcache: no folders for mounts are left in the container, and no /proc is made.
LEFT_BY_LDCACHE = re.compile(r"^/run/nvidia-ctk-hook(/|$)")


def normal(tree):
    """Random parts of names in one spelling."""
    spelled = {}
    for path, entry in tree.items():
        path = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|@UUID@|@RANDOM@", "@", path)
        spelled[path] = entry
    return spelled


def run_case(case):
    def work(folder):
        fake_host.furnish(folder, CTKIT)
        root = fake_host.root_folder(folder, case)
        tree_case.lay(case["root"], root)
        tree_case.lay(case.get("host", {}), folder)
        if "params" in case:
            tree_case.lay({"/proc/driver/nvidia/params": {"file": case["params"]}}, folder)
        before = tree_case.tell(root)
        result = fake_host.run_hook(folder, case)
        result["before"] = before
        result["root"] = tree_case.tell(root)
        result["mounts"] = [dict(mount, at=mount["at"][len(root):]) for mount in fake_host.mounts_below(root)]
        if os.path.isdir(folder + "/outside"):
            result["outside"] = tree_case.tell(folder + "/outside")
        return result
    return fake_host.in_namespace(work)


class Recorded(unittest.TestCase):
    maxDiff = None

    def check(self, case, expected):
        deviation = DEVIATIONS.get(case["id"], {})
        ours = run_case(case)
        self.assertEqual(ours["rc"], deviation.get("rc", expected["rc"]), ours["told"])
        want = deviation.get("root", expected["root"])
        want = ours["before"] if want == "unchanged" else want
        if "without" in deviation:
            want = {path: entry for path, entry in want.items() if not path.startswith(deviation["without"])}
        if case["argv"][:1] == ["update-ldcache"]:
            kept = set(ours["before"])
            want = {path: entry for path, entry in want.items()
                    if not LEFT_BY_LDCACHE.match(path) and (path not in ("/proc", "/run") or path in kept)}
        self.assertEqual(normal(ours["root"]), normal(want))
        if "outside" in expected:
            self.assertEqual(ours["outside"], deviation.get("outside", expected["outside"]))
        if expected["rc"] or deviation.get("error"):
            self.assertIn("error:", ours["told"])
        if expected.get("warning", "").startswith(("Unsupported", "No CDI hook")):
            self.assertIn(expected["warning"], ours["told"])
        covered = [mount["at"] for mount in ours["mounts"]]
        self.assertEqual(covered, [deviation["read_only"]] if "read_only" in deviation else [])
        if covered:
            self.assertIn("ro", ours["mounts"][0]["options"].split(","))


def add_recorded_tests():
    with open(DATA, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            case, expected = record["case"], record["expected"]
            name = "test_" + re.sub(r"\W", "_", case["id"])
            setattr(Recorded, name, lambda self, case=case, expected=expected: self.check(case, expected))


class Attacks(unittest.TestCase):
    """Whatever is in the container's root, and whoever changes it meanwhile, the host stays as it is."""

    HOST = {"/outside/secret": {"file": "untouched", "mode": "0600"}, "/outside/dir": {"dir": True, "mode": "0700"}}

    def attack(self, root, argv, meanwhile=None, times=1, timeout=60, before=None):
        def work(folder):
            fake_host.furnish(folder, CTKIT)
            tree_case.lay(root, folder + "/bundle/rootfs")
            tree_case.lay(self.HOST, folder)
            if before:
                before(folder)
            told = tree_case.tell(folder + "/outside")
            stop = threading.Event()
            thread = threading.Thread(target=meanwhile, args=(folder + "/bundle/rootfs", stop)) if meanwhile else None
            if thread:
                thread.start()
            begun = time.monotonic()
            results = [fake_host.run_hook(folder, {"argv": argv}, timeout) for _ in range(times)]
            seconds = time.monotonic() - begun
            stop.set()
            if thread:
                thread.join()
            return {"same": tree_case.tell(folder + "/outside") == told, "names": sorted(os.listdir(folder)),
                    "rc": [one["rc"] for one in results], "told": results[-1]["told"], "seconds": seconds,
                    "root": tree_case.tell(folder + "/bundle/rootfs") if len(root) < 1000 else {}}
        result = fake_host.in_namespace(work)
        self.assertTrue(result["same"], "the host was changed")
        self.assertNotIn("pwned", result["names"])
        return result

    @staticmethod
    def swap(path, targets):
        """Puts a folder and links in each other's place as fast as it goes."""
        def run(root, stop):
            real, other = root + path, root + path + ".other"
            os.makedirs(real, exist_ok=True)
            turn = 0
            while not stop.is_set():
                try:
                    os.rename(real, other)
                    os.symlink(targets[turn % len(targets)], real)
                    os.unlink(real)
                    os.rename(other, real)
                except OSError:
                    pass
                turn += 1
        return run

    def test_links_swapped_in_during_the_call(self):
        escape = ["../../../outside/dir", "/outside/dir", "/../../../../outside/dir"]
        links = [word for i in range(200) for word in ("--link", f"t{i}::/a/b/l{i}")]
        self.attack({"/a/b": {"dir": True}}, ["create-symlinks"] + links, self.swap("/a/b", escape), times=5)

    def test_modes_are_not_set_through_swapped_links(self):
        paths = [word for _ in range(500) for word in ("--path", "/d/secret")]
        self.attack({"/d/secret": {"file": "x"}}, ["chmod", "--mode", "777"] + paths,
                    self.swap("/d", ["../../../outside", "/outside"]), times=5)

    def test_configuration_is_not_written_through_swapped_links(self):
        self.attack({"/etc/ld.so.conf.d": {"dir": True}, "/usr/local/cuda/compat/libcuda.so.999.1": {"elf": "libcuda.so.1"}},
                    ["enable-cuda-compat", "--host-driver-version=1.1"],
                    self.swap("/etc/ld.so.conf.d", ["../../../../outside/dir", "/outside/dir"]), times=20)

    def test_the_cache_is_not_written_through_links(self):
        for target in ("../../../../outside/secret", "/outside/secret"):
            for path in ("/etc/ld.so.cache", "/etc/ld.so.cache~", "/etc/ld.so.conf", "/etc/ld.so.conf.d"):
                self.attack({"/lib": {"dir": True}, path: {"link": target}}, ["update-ldcache", "--folder", "/lib"])

    def test_the_cache_is_not_written_through_swapped_links(self):
        for path, targets in (("/etc", ["../../outside/dir", "/outside/dir"]), ("/lib", ["../../outside", "/outside"])):
            self.attack({"/etc/ld.so.conf": {"file": ""}, "/lib/libx.so.1": {"elf": "libx.so.1"}},
                        ["update-ldcache", "--folder", "/lib"], self.swap(path, targets), times=10)

    PARAMS = {"/proc/driver/nvidia/params": {"file": "ModifyDeviceFiles: 1\n"}}

    def test_the_drivers_parameters_are_not_mounted_through_links(self):
        lay_params = lambda folder: tree_case.lay(self.PARAMS, folder)
        for entry in ({"link": "/outside/secret"}, {"link": "../../../../../outside/secret"}, {"fifo": True}, {"char": [1, 1]}):
            with self.subTest(entry=entry):
                result = self.attack({"/proc/driver/nvidia/params": entry}, ["disable-device-node-modification"], timeout=10,
                                     before=lay_params)
                self.assertLess(result["seconds"], 5)
        for folder in ("/proc", "/proc/driver", "/proc/driver/nvidia"):
            with self.subTest(folder=folder):
                self.attack({folder: {"link": "/outside/dir"}}, ["disable-device-node-modification"], before=lay_params)
        self.attack(self.PARAMS, ["disable-device-node-modification"],
                    self.swap("/proc/driver/nvidia", ["../../../../outside/dir", "/outside/dir"]), times=10, before=lay_params)

    def test_modes_are_not_set_through_links_and_dots(self):
        root = {"/abs": {"link": "/outside/secret"}, "/up": {"link": "../../outside/secret"}, "/dir": {"link": "/outside"}}
        paths = ("/abs", "/up", "/dir/secret", "/../../outside/secret", "../outside/secret")
        self.attack(root, ["chmod", "--mode", "777"] + [word for path in paths for word in ("--path", path)])

    def test_folders_of_libraries_end_inside(self):
        self.attack({"/abs": {"link": "/outside/dir"}, "/up": {"link": "../../../outside/dir"}},
                    ["update-ldcache", "--folder", "/abs", "--folder", "/up", "--folder", "/../../outside/dir"])

    def test_a_tree_of_links_costs_little(self):
        # Forty links are the kernel's own limit; each of these doubles the way.
        root = {f"/l{i}": {"link": f"l{i + 1}/../l{i + 1}"} for i in range(60)}
        result = self.attack(root, ["create-symlinks"] + [word for _ in range(50) for word in ("--link", "t::/l0/x")], timeout=60)
        self.assertLess(result["seconds"], 20)

    def test_links_out_of_the_root_end_inside(self):
        result = self.attack({"/up": {"link": "../../.."}, "/abs": {"link": "/"}},
                             ["create-symlinks", "--link", "t::/up/pwned", "--link", "t::/abs/bundle/pwned",
                              "--link", "t::/../../../../pwned2"])
        self.assertEqual(result["rc"], [0])
        self.assertEqual(result["root"]["/pwned"], {"link": "t"})
        self.assertEqual(result["root"]["/bundle/pwned"], {"link": "t"})
        self.assertEqual(result["root"]["/pwned2"], {"link": "t"})

    def test_device_nodes_and_pipes_are_not_opened(self):
        nodes = {"/etc/ld.so.conf": {"fifo": True}, "/etc/ld.so.conf.d/a.conf": {"fifo": True},
                 "/usr/local/cuda/compat/libcuda.so.999.1": {"fifo": True}}
        result = self.attack(nodes, ["enable-cuda-compat", "--host-driver-version=1.1"], timeout=10)
        self.assertLess(result["seconds"], 5)
        result = self.attack({"/d/mem": {"char": [1, 1]}, "/d/pipe": {"fifo": True}},
                             ["chmod", "--mode", "640", "--path", "/d/mem", "--path", "/d/pipe"], timeout=10)
        self.assertEqual(result["rc"], [0])
        self.assertEqual(result["root"]["/d/pipe"]["mode"], "0640")

    def test_a_pipe_for_ldconfig_does_not_hang_for_ever(self):
        # Which ldconfig opens decides; it has a minute. Here the pipe is one it does not wait for long.
        result = self.attack({"/etc/ld.so.conf": {"file": ""}, "/lib/libx.so.1": {"fifo": True}, "/lib/liby.so.1": {"char": [1, 5]}},
                             ["update-ldcache", "--folder", "/lib"], timeout=70)
        self.assertLess(result["seconds"], 65)

    def test_a_huge_tree_costs_little(self):
        root = {f"/etc/ld.so.conf.d/{i}.conf": {"file": f"/opt/{i}\n"} for i in range(20000)}
        result = self.attack(root, ["update-ldcache", "--folder", "/lib"], timeout=60)
        self.assertLess(result["seconds"], 20)
        deep = "/" + "/".join("d" * 50 for _ in range(70))
        result = self.attack({}, ["create-symlinks", "--link", "t::" + deep + "/l"])
        self.assertEqual(result["rc"], [0])

    def test_the_host_is_no_container(self):
        for root in ("/", "//", "/../", ""):
            with self.subTest(root=root):
                def work(folder, root=root):
                    fake_host.furnish(folder, CTKIT)
                    result = fake_host.run_hook(folder, {"argv": ["create-symlinks", "--link", "t::/pwned"], "root_path": root})
                    return dict(result, names=os.listdir(folder))
                result = fake_host.in_namespace(work)
                self.assertEqual(result["rc"], 1)
                self.assertNotIn("pwned", result["names"])


if __name__ == "__main__":
    if not fake_host.possible():
        print("skipped: needs root and mounts")
        sys.exit(77)
    add_recorded_tests()
    unittest.main()
