#!/usr/bin/env python3
"""`ctkit cdi validate` and `generate` on what real libraries and NVIDIA's installer made of the same folders.

usage: CTKIT=PATH test_specs.py

Where our spec is another than the recorded one, the run is in DEVIATIONS with what is expected instead (the reasons: docs/cdi.md).
Trees with device nodes need root; without it those tests are skipped."""
import copy
import ctypes
import gzip
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tree_case

CTKIT = os.path.abspath(os.environ.get("CTKIT", "build/release/ctkit"))
DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../testdata/cdi/")
LEVELS = ["0.5.4", "0.6.1", "0.7.2", "0.8.1", "1.0.0", "1.0.1", "1.1.0", "1.1.1-pre"]
HOOK = "/usr/local/nvidia/toolkit/nvidia-cdi-hook"


def records(name):
    with gzip.open(DATA + name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def ctkit(*words, **options):
    return subprocess.run([CTKIT, "cdi", *words], capture_output=True, text=True, timeout=60, check=False, **options)


def content(entry):
    return {"file": entry} if isinstance(entry, str) else entry


class Validate(unittest.TestCase):
    # The command line has no way to say "no folders at all"; read_spec_folders is tested with that.
    NOT_ON_THE_COMMAND_LINE = {"dir-none"}

    def test_every_level_judges_as_the_library_does(self):
        for record in records("validate.jsonl.gz"):
            case = record["case"]
            if case["id"] in self.NOT_ON_THE_COMMAND_LINE:
                continue
            with tempfile.TemporaryDirectory() as root:
                for folder, files in case.get("dirs", {}).items():
                    folder = "/" + folder.strip("/")
                    tree_case.lay({folder: {"dir": True}}, root)
                    tree_case.lay({folder + "/" + name: content(entry) for name, entry in files.items()}, root)
                tree_case.lay({path: {"link": target} for path, target in case.get("links", {}).items()}, root)
                dirs = [word for one in case.get("spec_dirs", []) for word in ("--spec-dir", one)]
                for result in record["results"]:
                    # Of the levels that agree on a case the first and the last; all with CTKIT_ALL_LEVELS.
                    levels = result["levels"]
                    for level in levels if "CTKIT_ALL_LEVELS" in os.environ else {levels[0], levels[-1]}:
                        with self.subTest(case=case["id"], level=level):
                            told = ctkit("validate", "--root", root, "--level", level, "-o", "json", *dirs)
                            self.assertEqual(told.returncode, 0, told.stderr)
                            ours = json.loads(told.stdout)
                            if "crash" in result:
                                self.assertEqual(ours["crash"], result["crash"])
                                continue
                            self.assertEqual(ours["devices"], result["devices"])
                            self.assertEqual(ours["why"], {file: sorted(set(why)) for file, why in result["why"].items()})


def words_of(root, run, output="-", form="json"):
    return ["generate", "--root", root, "--driver-root", run["driver_root"], "--driver-root-ctr-path", run["driver_root_ctr"],
            "--dev-root", run["dev_root"], "--dev-root-ctr-path", run["dev_root_ctr"],
            "--kind", run.get("kind", "management.nvidia.com/gpu"), "--nvidia-cdi-hook-path", HOOK, "--output", output, "-o", form]


def lay(layout, run, root):
    driver, dev = run["driver_root_ctr"], run["dev_root_ctr"]
    tree_case.lay(layout.get("self", {}), root)
    tree_case.lay(layout["tree"], root + driver)
    if dev.rstrip("/") != driver.rstrip("/") and "dev_tree" in layout:
        tree_case.lay(layout["dev_tree"], root + dev)


def spell(spec):
    return json.loads(json.dumps(spec).replace("@UNAME_R@", platform.release()))


def replaced(spec, old, new):
    return json.loads(json.dumps(spec).replace(old, new))


def rerooted(spec, driver_root):
    """A spec recorded at / as it must be for a driver root: all host paths below it."""
    spec = copy.deepcopy(spec)
    for node in spec["devices"][0]["containerEdits"]["deviceNodes"]:
        node["hostPath"] = driver_root + node["path"]
    for mount in spec["containerEdits"]["mounts"]:
        mount["hostPath"] = driver_root + mount["hostPath"]
    spec["cdiVersion"] = "0.5.0"
    return spec


def with_resolved_smi(spec):
    for mount in spec["containerEdits"]["mounts"]:
        if mount["containerPath"] == "/usr/bin/nvidia-smi":
            mount["hostPath"] = mount["hostPath"].replace("/usr/bin/", "/opt/nvidia/bin/")
    return spec


def with_mount(spec, after, source, path):
    """The spec with a read-only mount more, behind the one of `after`."""
    spec = copy.deepcopy(spec)
    mounts = spec["containerEdits"]["mounts"]
    at = [mount["containerPath"] for mount in mounts].index(after)
    mounts.insert(at, {"hostPath": source, "containerPath": path, "options": mounts[at]["options"]})
    return spec


FIRMWARE = "/lib/firmware/nvidia/580.95.05/"

# layout/run → what our spec must be, from what was recorded for the layout's runs. docs/cdi.md has the reasons.
DEVIATIONS = {
    "absolute-links/driver-container":
        lambda specs: with_resolved_smi(rerooted(specs["as-slash"], "/run/nvidia/driver")),
    "debian-alternatives/host": lambda specs: rerooted(specs["as-slash"], ""),
    "driver-container/dev-on-host-same-target": lambda specs: replaced(specs["dev-on-host-same-target"], '"/host/dev', '"/run/nvidia/driver/dev'),
    "driver-container/trailing-slash": lambda specs: replaced(specs["trailing-slash"], "LIBCUDA_DIR=usr", "LIBCUDA_DIR=/usr"),
    "firmware-everywhere/driver-container":
        lambda specs: with_mount(specs["driver-container"], FIRMWARE + "gsp_ga10x.bin",
                                 "/run/nvidia/driver" + FIRMWARE + "gsp_ga10x.bin", FIRMWARE + "gsp_abs.bin"),
    "odd-files/path-env": lambda specs: specs["driver-container"],
    "prefix-boundary/dev-ctr-longer-same-target":
        lambda specs: replaced(specs["dev-ctr-longer-same-target"], "/run/nvidia/driver/-dev/dev", "/run/nvidia/driver/dev"),
    "spaces/brackets": lambda specs: replaced(specs["blanks"], "/mnt/driver root", "/mnt/driver[1]"),
    # What follows has no recorded spec to compare with: see the tests of that name.
    "root-is-link/driver-container": None,
    "root-is-link/in-place": None,
    "version-mismatch/driver-container": None,
}


@unittest.skipUnless(os.geteuid() == 0, "device nodes need root")
class Generate(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.layouts = {record["layout"]["id"]: record for record in records("layouts.jsonl.gz")}

    def run_of(self, layout, name):
        return next(run for run in self.layouts[layout]["layout"]["runs"] if run["name"] == name)

    def generate(self, layout, name, change=None):
        run = self.run_of(layout, name)
        with tempfile.TemporaryDirectory() as root:
            lay(self.layouts[layout]["layout"], run, root)
            if change:
                tree_case.lay(change, root)
            told = ctkit(*words_of(root, run))
            specs = [told.stdout]
            if told.returncode == 0:
                self.check_file(root, run, told.stdout)
            return told, specs

    def check_file(self, root, run, wanted):
        """The same into a file: valid at every level, whole, readable, and written once."""
        path = "/specs/cdi/spec.yaml"
        self.assertEqual(ctkit(*words_of(root, run, path, "yaml")).returncode, 0)
        status = os.stat(root + path)
        self.assertEqual(status.st_mode & 0o7777, 0o644)
        self.assertEqual(os.listdir(root + "/specs/cdi"), ["spec.yaml"])
        told = ctkit(*words_of(root, run, path, "yaml"))
        self.assertIn("unchanged", told.stderr)
        again = os.stat(root + path)
        self.assertEqual((again.st_ino, again.st_mtime_ns), (status.st_ino, status.st_mtime_ns))
        os.chmod(root + path, 0o600)
        self.assertEqual(ctkit(*words_of(root, run, path, "yaml")).returncode, 0)
        self.assertEqual(os.stat(root + path).st_mode & 0o7777, 0o644)
        version = json.loads(wanted)["cdiVersion"]
        newest = {"0.5.4": "0.5.0", "0.6.1": "0.6.0", "0.7.2": "0.7.0"}
        kind = run.get("kind", "management.nvidia.com/gpu")
        for level in LEVELS:
            told = json.loads(ctkit("validate", "--root", root, "--level", level, "--spec-dir", "/specs/cdi", "-o", "json").stdout)
            if version <= newest.get(level, "0.8.0"):
                self.assertEqual(told["devices"], {kind + "=all": path}, level)
                self.assertEqual(told["why"], {}, level)

    def test_every_layout_is_as_recorded_or_a_listed_deviation(self):
        seen = set()
        for layout, record in self.layouts.items():
            specs = {name: spell(run["spec"]) for name, run in record["expected"].items() if "spec" in run}
            for name, expected in record["expected"].items():
                key = f"{layout}/{name}"
                with self.subTest(run=key):
                    told, _ = self.generate(layout, name)
                    if key in DEVIATIONS:
                        seen.add(key)
                        if DEVIATIONS[key]:
                            self.assertEqual(json.loads(told.stdout), DEVIATIONS[key](specs))
                    elif expected["rc"]:
                        self.assertNotEqual(told.returncode, 0)
                        self.assertEqual(told.stdout, "")
                        self.assertIn("not ready" if layout != "empty" or name != "missing-root" else "root", told.stderr)
                    else:
                        self.assertEqual(told.returncode, 0, told.stderr)
                        self.assertEqual(json.loads(told.stdout), specs[name])
        self.assertEqual(seen, set(DEVIATIONS))

    def test_a_root_that_is_a_link_is_followed(self):
        for name, prefix in (("driver-container", "/run/nvidia/driver"), ("in-place", "/driver-root")):
            told, _ = self.generate("root-is-link", name)
            edits = json.loads(told.stdout)["containerEdits"]
            self.assertEqual(edits["env"][0], "NVIDIA_CTK_LIBCUDA_DIR=/usr/lib/x86_64-linux-gnu")
            libraries = [path for path in self.layouts["root-is-link"]["layout"]["tree"] if path.endswith(".so.580.95.05")]
            self.assertEqual(len(libraries), 3)
            self.assertEqual({mount["hostPath"]: mount["containerPath"] for mount in edits["mounts"]},
                             {prefix + path: path for path in ["/usr/bin/nvidia-smi"] + libraries})

    def test_libraries_of_another_version_than_the_module_are_not_ready(self):
        proc = {"/proc/driver/nvidia/version": {"file": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  575.57.08  Tue Jan  1\n"}}
        told, _ = self.generate("version-mismatch", "driver-container", proc)
        self.assertEqual((told.returncode, told.stdout), (1, ""))
        self.assertIn("575.57.08", told.stderr)
        self.assertIn("580.95.05", told.stderr)
        told, _ = self.generate("version-mismatch", "driver-container")  # nobody says that they differ
        self.assertEqual(told.returncode, 0)

    def test_the_daemons_watch_sees_a_new_spec(self):
        # The library minds renames, removals and writes; a file that is new by a link it does not see.
        moved_from, deleted, modified = 0x40, 0x200, 0x2
        libc = ctypes.CDLL(None, use_errno=True)
        run = self.run_of("minimal", "host")
        with tempfile.TemporaryDirectory() as root:
            lay(self.layouts["minimal"]["layout"], run, root)
            os.makedirs(root + "/var/run/cdi")
            watch = libc.inotify_init1(os.O_NONBLOCK)
            self.assertGreaterEqual(libc.inotify_add_watch(watch, (root + "/var/run/cdi").encode(), moved_from | deleted | modified), 0)
            self.assertEqual(ctkit(*words_of(root, run, "/var/run/cdi/new.yaml", "yaml")).returncode, 0)
            self.assertGreater(len(os.read(watch, 4096)), 0)
            os.close(watch)
            self.assertEqual(os.listdir(root + "/var/run/cdi"), ["new.yaml"])

    def test_a_half_driver_leaves_the_old_spec(self):
        run = self.run_of("minimal", "host")
        with tempfile.TemporaryDirectory() as root:
            lay(self.layouts["minimal"]["layout"], run, root)
            path = "/var/run/cdi/management.nvidia.com-gpu.yaml"
            words = words_of(root, run, path, "yaml")
            self.assertEqual(ctkit(*words).returncode, 0)
            before = pathlib.Path(root + path).read_text(encoding="utf-8")
            for name in ("libcuda.so.580.95.05", "libnvidia-ml.so.580.95.05"):
                os.unlink(f"{root}/host/usr/lib/x86_64-linux-gnu/{name}")
            self.assertEqual(ctkit(*words).returncode, 1)
            self.assertEqual(pathlib.Path(root + path).read_text(encoding="utf-8"), before)

    def test_list_tells_stale_specs(self):
        run = self.run_of("minimal", "host")
        with tempfile.TemporaryDirectory() as root:
            tree_case.lay(self.layouts["minimal"]["layout"]["tree"], root)
            run = dict(run, driver_root_ctr="/", dev_root_ctr="/")
            self.assertEqual(ctkit(*words_of(root, run, "/var/run/cdi/m.yaml", "yaml")).returncode, 0)

            def state():
                told = ctkit("list", "--root", root, "--level", "1.1.0", "-o", "json")
                self.assertEqual(told.returncode, 0, told.stderr)
                return json.loads(told.stdout)["specs"][0]
            self.assertEqual(state()["state"], "current")
            tree_case.lay({"/proc/driver/nvidia/version": {"file": "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.1.2  Release\n"}}, root)
            self.assertEqual((state()["state"], state()["spec_version"], state()["module_version"]), ("old-version", "580.95.05", "590.1.2"))
            os.unlink(root + "/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05")
            self.assertEqual(state()["state"], "missing-files")
            self.assertEqual(state()["missing"], ["/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05"])


if __name__ == "__main__":
    unittest.main()
