#!/usr/bin/env python3
"""`ctkit doctor` on trees laid like nodes: each with one thing broken, and records that don't show everything."""

import json
import os
import stat
import unittest

from node_case import DROP_IN, INCIDENT, TESTDATA, NodeCase

TOOLKIT = "usr/local/nvidia/toolkit"
CDI_HOOK = TOOLKIT + "/nvidia-cdi-hook"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
VALIDATIONS = "run/nvidia/validations"
MANAGEMENT = "var/run/cdi/management.nvidia.com-gpu.yaml"
GATES = ["module", "libraries", "devices", "toolkit", "handlers", "dump", "loaded", "cdi", "validator"]
NODES = {"null": (1, 3), "nvidiactl": (195, 255), "nvidia0": (195, 0), "nvidia-uvm": (510, 0)}


def module(version):
    return (f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Wed Sep  1 00:00:00 UTC 2025\n"
            "GCC version:  gcc version 12.2.0\n")


def spec(version, hook="/" + CDI_HOOK):
    return ("cdiVersion: 0.5.0\nkind: management.nvidia.com/gpu\ndevices:\n- name: all\n  containerEdits:\n    env:\n    - A=b\n"
            "containerEdits:\n  hooks:\n  - hookName: createContainer\n"
            f"    path: {hook}\n  mounts:\n  - hostPath: /{LIBRARIES}/libcuda.so.{version}\n"
            f"    containerPath: /{LIBRARIES}/libcuda.so.{version}\n")


class DoctorCase(NodeCase):
    """A node with the GPU Operator, a host driver and our handlers, on which nothing is wrong but that its daemon is not
    there to be asked, nor device nodes where we may make none."""

    def setUp(self):
        super().setUp()
        self.write(INCIDENT)
        self.write({
            "proc/sys/kernel/osrelease": "6.1.0-40-amd64\n",
            "proc/driver/nvidia/version": module("580.95.05"),
            VALIDATIONS + "/driver-ready": "IS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=/\nDRIVER_ROOT_CTR_PATH=/host\n"
                                           "NVIDIA_DEV_ROOT=/\nDEV_ROOT_CTR_PATH=/host\n",
            TOOLKIT + "/.config/nvidia-container-runtime/config.toml":
                '[nvidia-container-cli]\nroot = "/"\n[nvidia-container-runtime]\nmode = "cdi"\n'
                '[nvidia-container-runtime.modes.cdi]\ndefault-kind = "management.nvidia.com/gpu"\n',
        })
        for name in ("toolkit", "cuda", "plugin"):
            self.write({f"{VALIDATIONS}/{name}-ready": ""})
        for name in ("", ".cdi", ".legacy"):
            self.write({f"{TOOLKIT}/nvidia-container-runtime{name}": "#!/bin/sh\n",
                        f"{TOOLKIT}/nvidia-container-runtime{name}.real": "\x7fELF"}, mode=0o755)
        self.write({CDI_HOOK: "\x7fELF"}, mode=0o755)
        self.lay_libraries("580.95.05")
        self.write({MANAGEMENT: spec("580.95.05")})
        self.sees_devices = self.make_nodes()
        self.succeed("apply", "--restart", "none")

    def lay_libraries(self, version):
        folder = self.root / LIBRARIES
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            path.unlink()
        for name in ("libcuda", "libnvidia-ml"):
            (folder / f"{name}.so.{version}").write_text("")
            (folder / f"{name}.so.1").symlink_to(f"{name}.so.{version}")

    def make_nodes(self):
        (self.root / "dev").mkdir()
        try:
            for name, (major, minor) in NODES.items():
                os.mknod(self.root / "dev" / name, stat.S_IFCHR | 0o666, os.makedev(major, minor))
        except PermissionError:
            return False
        return True

    def doctor(self, *words, **options):
        done = self.run_ctkit("doctor", *words, "-o", "json", "--exit-code", **options)
        self.assertIn(done.returncode, (0, 2), done.err)
        report = json.loads(done.out)
        self.assertEqual([gate["gate"] for gate in report["gates"]], GATES)
        self.assertEqual(done.returncode == 2, report["first_failed"] is not None)
        report["gates"] = {gate["gate"]: gate for gate in report["gates"]}
        return report

    def expect_first(self, gate, says, *words, **options):
        before = self.snapshot(times=True)
        report = self.doctor(*words, **options)
        self.assertEqual(self.snapshot(times=True), before, "doctor changed something")
        self.assertEqual(report["first_failed"], gate, report)
        self.assertIn(says, report["gates"][gate]["problems"][0]["problem"])
        self.assertTrue(report["gates"][gate]["problems"][0]["remedy"])
        return report


class Gates(DoctorCase):
    def test_nothing_is_wrong(self):
        report = self.doctor()
        self.assertIsNone(report["first_failed"], report)
        states = {name: gate["state"] for name, gate in report["gates"].items()}
        self.assertEqual(states.pop("devices"), "passed" if self.sees_devices else "unseen")
        # A given release asks what another daemon would do.
        self.assertEqual(states, {"module": "passed", "libraries": "passed", "toolkit": "passed", "handlers": "passed",
                                  "dump": "unseen", "loaded": "unseen", "cdi": "passed", "validator": "passed"})

    def test_module(self):
        (self.root / "proc/driver/nvidia/version").unlink()
        self.expect_first("module", "not loaded")
        self.write({"proc/modules": "nvidia_uvm 1 0 - Live 0x0\nnvidia 2 1 nvidia_uvm, Live 0x0\n"})
        self.assertIsNone(self.doctor()["first_failed"])

    def test_libraries(self):
        self.lay_libraries("570.1.2")
        self.write({MANAGEMENT: spec("570.1.2")})
        self.expect_first("libraries", "570.1.2, the loaded module is 580.95.05")

    def test_driver_container_that_is_away(self):
        self.write({VALIDATIONS + "/driver-ready": "IS_HOST_DRIVER=false\nNVIDIA_DRIVER_ROOT=/run/nvidia/driver\n"
                                                   "DRIVER_ROOT_CTR_PATH=/driver-root\nNVIDIA_DEV_ROOT=/\nDEV_ROOT_CTR_PATH=/host\n"})
        (self.root / "run/nvidia/driver").mkdir(parents=True)
        self.expect_first("libraries", "'/run/nvidia/driver' is empty")

    def test_devices(self):
        if not self.sees_devices:
            self.skipTest("may not make device nodes")
        (self.root / "dev/nvidia-uvm").unlink()
        self.expect_first("devices", "/dev/nvidia-uvm")

    def test_links_of_devices(self):
        if not self.sees_devices:
            self.skipTest("may not make device nodes")
        (self.root / "dev/char").mkdir()
        self.assertEqual(self.doctor()["gates"]["devices"]["state"], "attention")
        for name, (major, minor) in NODES.items():
            (self.root / f"dev/char/{major}:{minor}").symlink_to("../" + name)
        self.assertEqual(self.doctor()["gates"]["devices"]["state"], "passed")

    def test_toolkit(self):
        (self.root / TOOLKIT / "nvidia-container-runtime.real").unlink()
        self.expect_first("toolkit", "nvidia-container-runtime.real' is not there")

    def test_toolkit_of_an_older_release(self):
        for name in ("nvidia-container-runtime.cdi", "nvidia-container-runtime.legacy"):
            (self.root / TOOLKIT / name).unlink()
            (self.root / TOOLKIT / (name + ".real")).unlink()
        (self.root / CDI_HOOK).rename(self.root / TOOLKIT / "nvidia-ctk")
        self.write({MANAGEMENT: spec("580.95.05", hook=f"/{TOOLKIT}/nvidia-ctk")})
        self.succeed("apply", "--restart", "none", "--handler", f"nvidia=/{TOOLKIT}/nvidia-container-runtime")
        self.assertIsNone(self.doctor()["first_failed"])

    def test_toolkit_whose_hooks_become_nothing(self):
        self.write({CDI_HOOK: "#!/bin/sh\n"}, mode=0o755)
        self.expect_first("toolkit", "nvidia-cdi-hook.real' is not there")

    def test_toolkit_behind_a_link_of_ours(self):
        (self.root / TOOLKIT).rename(self.root / "usr/local/nvidia/.moved")
        (self.root / TOOLKIT).symlink_to(".toolkit/1.20.0-3")
        self.expect_first("toolkit", "is not there")
        (self.root / "usr/local/nvidia/.toolkit").mkdir()
        (self.root / "usr/local/nvidia/.moved").rename(self.root / "usr/local/nvidia/.toolkit/1.20.0-3")
        report = self.doctor()
        self.assertIsNone(report["first_failed"])
        self.assertEqual(report["gates"]["toolkit"]["found"], "1.20.0-3")

    def test_toolkit_config(self):
        self.write({TOOLKIT + "/.config/nvidia-container-runtime/config.toml": "a = = 1\n"})
        self.expect_first("toolkit", "config.toml:1")

    def test_handlers(self):
        (self.root / "etc/containerd/conf.d/zz-99-nvidia.toml").unlink()
        self.write({DROP_IN: 'version = 2\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia]\n'
                             'runtime_type = "io.containerd.runc.v2"\n'
                             '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.nvidia.options]\n'
                             'BinaryName = "/usr/local/nvidia/toolkit/nvidia-container-runtime"\n'})
        report = self.expect_first("handlers", "no handler 'nvidia' is effective")
        problems = [problem["problem"] for problem in report["gates"]["handlers"]["problems"]]
        self.assertTrue(any("registry.toml" in problem and "(CTK001)" in problem for problem in problems), problems)

    def test_files_that_the_daemon_refuses(self):
        self.write({"etc/containerd/conf.d/a.toml": "version = = 2\n"})
        self.expect_first("handlers", "would not start")

    def test_unknown_release(self):
        report = self.doctor(release=None)
        self.assertIsNone(report["first_failed"])
        self.assertEqual(report["gates"]["handlers"]["state"], "unseen")
        self.assertIn("--release", report["gates"]["handlers"]["found"])

    def test_cdi_after_a_reboot(self):
        (self.root / MANAGEMENT).unlink()
        self.expect_first("cdi", "unresolvable")

    def test_cdi_of_the_former_driver(self):
        self.write({MANAGEMENT: spec("570.1.2")})
        self.expect_first("cdi", "libcuda.so.570.1.2")

    def test_cdi_without_its_hooks(self):
        self.write({"usr/bin/true": ""})  # a host's tree, in which programs can be missed
        self.assertIsNone(self.doctor()["first_failed"])
        self.write({MANAGEMENT: spec("580.95.05", hook="/usr/bin/nvidia-cdi-hook")})
        self.expect_first("cdi", "'/usr/bin/nvidia-cdi-hook' is not there")

    def test_cdi_of_another_vendor(self):
        self.write({"usr/bin/true": "", "etc/cdi/vendor.yaml": spec("1", hook="/opt/nic-hook").replace(
            "management.nvidia.com/gpu", "vendor.com/nic")})
        report = self.doctor()
        self.assertIsNone(report["first_failed"])
        self.assertEqual(report["gates"]["cdi"]["state"], "attention")
        self.assertIn("vendor.yaml", report["gates"]["cdi"]["problems"][0]["problem"])

    def test_cdi_in_the_folders_of_the_daemon(self):
        registry = next(path for path in INCIDENT if path.endswith("registry.toml"))
        self.write({registry: INCIDENT[registry].replace(
            '[plugins."io.containerd.grpc.v1.cri".registry]',
            '[plugins."io.containerd.grpc.v1.cri"]\ncdi_spec_dirs = ["/opt/cdi"]\n'
            '[plugins."io.containerd.grpc.v1.cri".registry]')})
        self.succeed("apply", "--restart", "none")
        self.expect_first("cdi", "unresolvable")
        self.write({"opt/cdi/management.yaml": spec("580.95.05")})
        self.assertIsNone(self.doctor()["first_failed"])

    def test_cdi_that_is_refused(self):
        self.write({"etc/cdi/nvidia.yaml": "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n- name: '0'\n"
                                           "  containerEdits: {}\n"})
        self.expect_first("cdi", "/etc/cdi/nvidia.yaml")

    def test_validator(self):
        (self.root / VALIDATIONS / "toolkit-ready").unlink()
        self.expect_first("validator", "nvidia-smi has not run")

    def test_half_written_driver_ready(self):
        self.write({VALIDATIONS + "/driver-ready": "IS_HOST_DRIVER=true\nNVIDIA_DRIV"})
        self.expect_first("validator", "NVIDIA_DRIVER_ROOT")

    def test_text(self):
        (self.root / VALIDATIONS / "plugin-ready").unlink()
        done = self.succeed("doctor")
        self.assertTrue(done.out.startswith("first gate that fails: validator"), done.out)
        self.assertIn("\nhandlers   ok      containerd 1.7.27: nvidia, nvidia-cdi, nvidia-legacy\n", done.out)


class Records(NodeCase):
    def test_the_incident(self):
        done = self.succeed("doctor", release=None, root=TESTDATA / "captures/gpu-node-1.7.27")
        self.assertTrue(done.out.startswith(
            "first gate that fails: handlers (before it not seen: module, libraries, devices, toolkit)\n"), done.out)
        self.assertIn("registry.toml:2", done.out)

    def test_an_empty_tree(self):
        done = self.succeed("doctor", "--exit-code", release=None)
        self.assertIn("no gate fails that can be seen here; not seen: " + ", ".join(GATES) + "\n", done.out)

    def test_crio(self):
        self.write({"etc/crio/crio.conf": '[crio.runtime]\ndefault_runtime = "crun"\n'})
        done = self.succeed("doctor", release="1.31.0")
        self.assertIn("no handler 'nvidia' is effective", done.out)

    def test_usage(self):
        done = self.run_ctkit("doctor", "--nonsense", release=None)
        self.assertEqual(done.returncode, 64)
        self.assertIn("ctkit doctor --help", done.err)


if __name__ == "__main__":
    unittest.main()
