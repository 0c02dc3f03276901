#!/usr/bin/env python3
"""The toolkit's files as `ctkit run` puts them in place: killed before any change of the file system, there is a whole
version under the paths that handlers name, and the next run finishes. And how they are taken off."""

import os
import re
import shutil
import subprocess
import unittest

from node_case import CTKIT, LIMIT, NodeCase
import killed_at

INSTALL = "usr/local/nvidia"
TOOLKIT = INSTALL + "/toolkit"
PROGRAMS = ("nvidia-ctk", "nvidia-container-runtime", "nvidia-container-runtime.cdi", "nvidia-container-runtime.legacy",
            "nvidia-container-cli", "nvidia-container-runtime-hook")
LIBRARIES = ("libnvidia-container", "libnvidia-container-go")


class ToolkitCase(NodeCase):
    def setUp(self):
        super().setUp()
        self.write({"etc/containerd/config.toml": "version = 2\n"})
        (self.root / "run").mkdir()

    def lay_artifacts(self, release):
        folder = self.base / "artifacts"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "usr/bin").mkdir(parents=True)
        (folder / "usr/lib64").mkdir()
        for name in (*PROGRAMS, "nvidia-cdi-hook"):
            path = folder / "usr/bin" / name
            path.write_text(f"{name} {release}")
            path.chmod(0o755)
        for name in LIBRARIES:
            (folder / "usr/lib64" / f"{name}.so.{release}").write_text(f"{name} {release}")
            (folder / "usr/lib64" / f"{name}.so.1").symlink_to(f"{name}.so.{release}")

    def lay_stock_toolkit(self):
        for name in PROGRAMS:
            self.write({f"{TOOLKIT}/{name}": "#!/bin/sh\n", f"{TOOLKIT}/{name}.real": f"{name} stock"}, mode=0o755)
        self.write({f"{TOOLKIT}/nvidia-cdi-hook": "nvidia-cdi-hook stock"}, mode=0o755)

    def run_command(self):
        return [CTKIT, "run", "--foreground", "--no-daemon", "--no-runtime-config", "--cdi-enabled=false", "--release=1.7.27",
                f"--host-root={self.root}", f"--toolkit-source-root={self.base}/artifacts"]

    def run_once(self):
        done = subprocess.run(self.run_command(), capture_output=True, check=False, timeout=LIMIT)
        self.assertEqual(done.returncode, 0, done.stderr)

    def whole(self):
        """The one release that all programs under their usual paths are of; None if one is not there."""
        releases = set()
        for name in PROGRAMS:
            wrapper, real = self.root / TOOLKIT / name, self.root / TOOLKIT / f"{name}.real"
            if not os.access(wrapper, os.X_OK) or not wrapper.read_text().startswith("#!/bin/sh\n") or not real.exists():
                return None
            releases.add(re.fullmatch(re.escape(name) + r" (\S+)", real.read_text())[1])
        hook = self.root / TOOLKIT / "nvidia-cdi-hook"
        if not os.access(hook, os.X_OK):
            return None
        releases.add(hook.read_text().split()[1])
        self.assertEqual(len(releases), 1, "two releases mixed")
        return releases.pop()


@unittest.skipUnless(killed_at.usable(), "ptrace is not to be had here")
class Killed(ToolkitCase):
    def sweep(self, lay, before, first):
        """Kills the run before every third of its changes, on a tree that `lay` makes anew. The scenes begin at different
        ones: what they have in common is covered."""
        n = first
        while True:
            n += 3
            self.assertLess(n, 500)
            shutil.rmtree(self.root / INSTALL, ignore_errors=True)
            lay()
            self.lay_artifacts("2.0.0")
            ended = killed_at.run_until(self.run_command(), n)
            there = self.whole() if (self.root / TOOLKIT).exists() else None
            self.assertIn(there, (before, "2.0.0"), f"killed before change {n}")
            if ended is not None:
                self.assertEqual((ended, there), (0, "2.0.0"))
                break
            self.run_once()
            self.assertEqual(self.whole(), "2.0.0", f"killed before change {n}")
            versions = sorted(os.listdir(self.root / INSTALL / ".toolkit"))
            self.assertIn(len(versions), (1, 2), versions)  # with the one that was just replaced
        self.assertGreater(n, 30, "that was not all of it")

    def test_the_first_installation(self):
        self.sweep(lambda: None, None, -2)

    def test_an_update(self):
        def lay():
            self.lay_artifacts("1.20.0")
            self.run_once()
        self.sweep(lay, "1.20.0", -1)

    def test_in_place_of_a_stock_installers_folder(self):
        self.sweep(self.lay_stock_toolkit, "stock", 0)


class TakenOff(ToolkitCase):
    SPEC = "var/run/cdi/management.nvidia.com-gpu.yaml"

    def setUp(self):
        super().setUp()
        for folder in (INSTALL, "var/run/cdi", "etc/containerd"):
            (self.root / folder).mkdir(parents=True, exist_ok=True)
        self.before = self.snapshot_without_run()
        self.lay_artifacts("1.20.0")
        self.run_once()
        self.succeed("apply", "--restart", "none")
        self.write({self.SPEC: "cdiVersion: 0.5.0\nkind: management.nvidia.com/gpu\ndevices:\n- name: all\n  containerEdits:\n"
                               f"    hooks:\n    - hookName: createContainer\n      path: /{TOOLKIT}/nvidia-cdi-hook\n"})

    def snapshot_without_run(self):
        return {name: item for name, item in self.snapshot().items() if name.split("/")[0] != "run"}

    def test_all_is_as_before(self):
        done = self.succeed("uninstall", "--toolkit")
        for path in (f"/{TOOLKIT}", f"/{INSTALL}/.toolkit", f"/{self.SPEC}"):
            self.assertIn(f"removed {path}\n", done.out)
        self.assertEqual(self.snapshot_without_run(), self.before)
        self.assertEqual(self.succeed("uninstall", "--toolkit").out, "nothing of ours is installed\n")

    def test_without_being_asked_it_stays(self):
        self.succeed("uninstall")
        self.assertEqual(self.whole(), "1.20.0")
        self.assertEqual(self.succeed("uninstall", "--toolkit").out,
                         f"removed /{self.SPEC}\nremoved /{TOOLKIT}\nremoved /{INSTALL}/.toolkit\n")
        self.assertEqual(self.snapshot_without_run(), self.before)

    def test_a_container_that_needs_it_is_a_decision(self):
        self.write({"run/containerd/io.containerd.runtime.v2.task/k8s.io/abc/runtime": f"/{TOOLKIT}/nvidia-container-runtime"})
        self.refuse(3, "uninstall", "--toolkit", where="'k8s.io/abc'")
        self.assertEqual(self.whole(), "1.20.0")

    def test_another_folder(self):
        self.refuse(64, "uninstall", "--toolkit", "--toolkit-folder", "/usr/local/nvidia", where="/usr/local/nvidia")


if __name__ == "__main__":
    unittest.main()
