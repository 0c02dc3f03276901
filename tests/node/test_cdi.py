"""A pod gets the fake GPU through the spec that ctkit writes, containerd's own CDI injection and ctkit as the hooks."""

import os
import pathlib
import re
import stat
import sys

from cri import Refused
from scenario import Scenario, proven_by
from world import ROOT_FILE, TOOLKIT

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cdi"))
from elf_stub import elf_stub  # noqa: E402

DEVICE = "management.nvidia.com/gpu=all"
SPEC = "/var/run/cdi/management.nvidia.com-gpu.yaml"
HOOK = TOOLKIT + "/nvidia-cdi-hook"
MACHINE = os.uname().machine
LIBRARIES = f"/usr/lib/{MACHINE}-linux-gnu"
NODES = {"nvidia0": (195, 0), "nvidiactl": (195, 255), "nvidia-uvm": (510, 0)}
DRIVER = "580.95.05"
NEXT_DRIVER = "590.10.01"


class Pods(Scenario):
    def setUp(self):
        super().setUp()
        if self.has_cdi():
            self.lay_driver(DRIVER)
            for name, numbers in NODES.items():
                path = self.world.node.path(f"/dev/{name}")
                if not path.exists():
                    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(*numbers))
                    path.chmod(0o666)
                self.addCleanup(path.unlink, missing_ok=True)
            hook = self.world.node.path(HOOK)
            hook.write_bytes(self.world.node.path("/opt/ctkit/ctkit").read_bytes())
            hook.chmod(0o755)
            self.addCleanup(hook.unlink)
            self.addCleanup(self.world.node.path(SPEC).unlink, missing_ok=True)
            self.turn_cdi_on()

    def has_cdi(self):
        return not self.world.release.lstrip("v").startswith("1.6.")

    def lay_driver(self, version):
        folder = self.world.node.path(LIBRARIES)
        for library in ("libcuda", "libnvidia-ml"):
            for old in folder.glob(f"{library}.so.*"):
                old.unlink()
            (folder / f"{library}.so.{version}").write_bytes(elf_stub(f"{library}.so.1", MACHINE))
            (folder / f"{library}.so.1").symlink_to(f"{library}.so.{version}")
            self.addCleanup((folder / f"{library}.so.{version}").unlink, missing_ok=True)
            self.addCleanup((folder / f"{library}.so.1").unlink, missing_ok=True)

    def turn_cdi_on(self):
        """2.x has it on by itself; on 1.7 the table with the sandbox image is the one that counts."""
        if not self.world.old_merge:
            return
        root = self.world.node.path(ROOT_FILE).read_text()
        self.world.write(ROOT_FILE, re.sub(r"(\n  sandbox_image = )", r"\n  enable_cdi = true\1", root))
        self.world.node.output("systemctl", "restart", "containerd")
        self.live(self.world.runtime.config)

    def generate(self):
        return self.expect(0, self.world.on_node("cdi", "generate", "--nvidia-cdi-hook-path", HOOK))

    def in_pod_with(self, devices, *commands):
        """What each command says in a pod with these devices."""
        try:
            with self.world.start_pod(name="gpu", devices=devices) as pod:
                return [pod.execute("/bin/busybox", *command) for command in commands]
        except Refused as refused:
            self.fail(f"a pod with {devices}: {refused}\n{self.world.node.journal(lines=8)}")

    @proven_by("idle")
    def test_a_pod_gets_the_devices_libraries_and_links(self):
        if not self.has_cdi():
            self.expect(6, self.world.on_node("cdi", "list"))
            return
        self.generate()
        commands = [("stat", "-c", "%t:%T", f"/dev/{name}") for name in NODES]
        answers = self.in_pod_with([DEVICE], *commands, ("readlink", f"{LIBRARIES}/libcuda.so.1"),
                                   ("stat", "-c", "%s", f"{LIBRARIES}/libcuda.so.{DRIVER}"),
                                   ("grep", "-c", "libcuda.so.1", "/etc/ld.so.cache"), ("env",))
        for (name, (major, minor)), answer in zip(NODES.items(), answers):
            self.assertEqual(answer, (0, f"{major:x}:{minor:x}\n"), name)
        link, size, cache, environment = answers[len(NODES):]
        self.assertEqual(link, (0, f"libcuda.so.{DRIVER}\n"), "hook create-symlinks")
        self.assertEqual(size[0], 0, "the library is mounted")
        self.assertEqual(cache[0], 0, "hook update-ldcache")
        self.assertIn("NVIDIA_VISIBLE_DEVICES=void", environment[1])
        (code, _), = self.in_pod_with([], ("stat", "/dev/nvidia0"))
        self.assertNotEqual(code, 0, "a pod without the device has none")

    @proven_by("idle")
    def test_a_new_driver_is_seen_as_stale_and_then_served(self):
        if not self.has_cdi():
            self.expect(6, self.world.on_node("cdi", "list"))
            return
        self.generate()
        self.assertIn(" current ", self.expect(0, self.world.on_node("status")).out)
        self.lay_driver(NEXT_DRIVER)
        status = self.expect(0, self.world.on_node("status")).out
        self.assertIn(" missing-files ", status)
        self.assertIn("CTK033", self.expect(0, self.world.on_node("lint")).out)
        with self.assertRaises(Refused, msg="a pod with the stale spec"):
            self.world.start_pod(name="stale", devices=[DEVICE])
        self.generate()
        self.assertNotIn("CTK033", self.expect(0, self.world.on_node("lint")).out)
        answer, = self.in_pod_with([DEVICE], ("readlink", f"{LIBRARIES}/libcuda.so.1"))
        self.assertEqual(answer, (0, f"libcuda.so.{NEXT_DRIVER}\n"))
