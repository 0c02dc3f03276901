"""ctkit on a CRI-O node, as a user meets it. CTKIT is the program's path. Python's own modules only."""

import json
import os
import shutil
import subprocess
import unittest

from node_case import CTKIT, LIMIT, NodeCase

MAIN = "etc/crio/crio.conf"
FOLDER = "etc/crio/crio.conf.d"
OURS = FOLDER + "/99-nvidia.conf"
PACKAGED = {
    MAIN: "",
    FOLDER + "/10-crio.conf": '[crio.image]\nsignature_policy = "/etc/crio/policy.json"\n\n[crio.runtime]\n'
    'default_runtime = "crun"\n\n[crio.runtime.runtimes.crun]\nruntime_path = "/usr/libexec/crio/crun"\n'
    'runtime_root = "/run/crun"\nmonitor_path = "/usr/libexec/crio/conmon"\n'
    'allowed_annotations = [\n    "io.containers.trace-syscall",\n]\n',
}
STOCK = {FOLDER + "/99-nvidia.toml":
         '[crio.runtime.runtimes.nvidia]\nruntime_path = "/usr/bin/nvidia-container-runtime"\nruntime_type = "oci"\n'}
PROGRAMS = {name: "" for name in ("usr/bin/true", "usr/libexec/crio/crun", "usr/libexec/crio/conmon", "usr/bin/nvidia-container-runtime",
                                  "usr/local/nvidia/toolkit/nvidia-container-runtime",
                                  "usr/local/nvidia/toolkit/nvidia-container-runtime.cdi",
                                  "usr/local/nvidia/toolkit/nvidia-container-runtime.legacy")}
RELEASES = ("1.24.6", "1.28.11", "1.31.13", "1.34.11", "1.36.3")


class CrioCase(NodeCase):
    def handlers(self, release="1.34.11"):
        return json.loads(self.succeed("effective", "-o", "json", release=release).out)["crio"]["runtime"]["runtimes"]

    def findings(self, release="1.34.11"):
        return json.loads(self.succeed("lint", "-o", "json", release=release).out)["findings"]


class WholePath(CrioCase):
    def test_apply_then_uninstall_is_byte_for_byte(self):
        for release in RELEASES:
            for words in ((), ("--set-as-default",)):
                for files in (PACKAGED, {**PACKAGED, **STOCK}, {MAIN: "[crio]\n"}):
                    with self.subTest(release=release, words=words, files=list(files)):
                        shutil.rmtree(self.root)
                        (self.root / "usr/local").mkdir(parents=True)
                        self.write(files)
                        before = self.snapshot()
                        self.assertEqual(self.run_ctkit("plan", "--exit-code", *words, release=release).returncode, 2)
                        self.assertEqual(self.snapshot(), before)
                        self.succeed("apply", *words, release=release)
                        applied = self.snapshot(times=True)
                        self.assertIn("nothing to do", self.succeed("apply", *words, release=release).out)
                        self.assertEqual(self.snapshot(times=True), applied)
                        self.assertEqual([f for f in self.findings(release) if f["rule"] == "CTK026"], [])
                        served = self.handlers(release)
                        for name in ("nvidia", "nvidia-cdi", "nvidia-legacy"):
                            self.assertTrue(served[name]["runtime_path"].startswith("/usr/local/nvidia/toolkit/"))
                        self.succeed("uninstall", release=release)
                        self.assertEqual(self.snapshot(), before)

    def test_the_drop_in_keeps_the_monitor(self):
        self.write(PACKAGED)
        self.succeed("apply", release="1.34.11")
        self.assertEqual(self.handlers()["nvidia"]["monitor_path"], "/usr/libexec/crio/conmon")
        self.assertEqual(sorted(os.listdir(self.root / FOLDER)), ["10-crio.conf", "99-nvidia.conf"])

    def test_a_file_of_theirs_in_our_place_comes_back(self):
        self.write({**PACKAGED, OURS: STOCK[FOLDER + "/99-nvidia.toml"] + "[crio.runtime]\npids_limit = 9\n"}, mode=0o600)
        before = self.snapshot()
        self.succeed("apply", release="1.34.11")
        config = json.loads(self.succeed("effective", "-o", "json", release="1.34.11").out)
        self.assertEqual(config["crio"]["runtime"]["pids_limit"], 9)
        self.succeed("uninstall", release="1.34.11")
        self.assertEqual(self.snapshot(), before)

    def test_what_others_added_to_our_file_stays(self):
        self.write(PACKAGED)
        self.succeed("apply", release="1.34.11")
        with open(self.root / OURS, "a") as file:
            file.write('\n[crio.image]\npause_image = "mine"\n')
        self.succeed("uninstall", release="1.34.11")
        text = (self.root / OURS).read_text()
        self.assertIn("pause_image", text)
        self.assertNotIn("nvidia", text)

    def test_runc_survives_a_new_default_on_old_releases(self):
        self.write({MAIN: ""})
        self.succeed("apply", "--set-as-default", release="1.24.6")
        self.assertEqual(set(self.handlers("1.24.6")), {"runc", "nvidia", "nvidia-cdi", "nvidia-legacy"})


class Diagnosis(CrioCase):
    def test_the_stock_drop_in_without_a_monitor_is_seen_before_the_restart(self):
        self.write({**PACKAGED, **STOCK})
        finding, = self.findings()
        self.assertEqual((finding["rule"], finding["severity"]), ("CTK026", "warning"))
        self.write(PROGRAMS, mode=0o755)
        finding, = self.findings()
        self.assertEqual((finding["rule"], finding["severity"]), ("CTK026", "error"))
        self.assertEqual(finding["origin"]["file"], "/" + FOLDER + "/99-nvidia.toml")
        self.assertIn("no 'conmon' is in PATH", self.succeed("explain", release="1.34.11").out)
        plan = self.succeed("plan", release="1.34.11").out
        self.assertIn("today Kubernetes finds no runtime here: handler 'nvidia' has no monitor_path", plan)
        self.succeed("apply", release="1.34.11")
        self.assertEqual(self.findings(), [])
        self.assertNotIn("no runtime here", self.succeed("explain", release="1.34.11").out)

    def test_a_handler_that_cri_o_would_leave_out_is_named_before_the_restart(self):
        self.write(PACKAGED)
        self.write({name: "" for name in PROGRAMS if "toolkit" not in name}, mode=0o755)
        done = self.succeed("plan", release="1.34.11")
        self.assertIn("handler 'nvidia' is left out, with a warning in the log only", done.err)
        self.refuse(3, "plan", "--set-as-default", release="1.34.11")

    def test_explain_says_what_a_handler_named_again_lost(self):
        self.write({FOLDER + "/10-a": '[crio.runtime.runtimes.nvidia]\nruntime_path = "/a"\nmonitor_path = "/m"\n',
                    FOLDER + "/20-b": '[crio.runtime.runtimes.nvidia]\nruntime_path = "/b"\n'})
        out = self.succeed("explain", "crio.runtime.runtimes.nvidia", release="1.34.11").out
        self.assertIn("erased by /etc/crio/crio.conf.d/20-b:1: its table replaces all of crio.runtime.runtimes.nvidia", out)
        self.assertIn('monitor_path = "/m"', out)

    def test_the_unread_folder_of_the_stock_toolkit_is_named(self):
        self.write({**PACKAGED, "etc/crio/conf.d/99-nvidia.toml": STOCK[FOLDER + "/99-nvidia.toml"]})
        finding, = self.findings()
        self.assertEqual((finding["rule"], finding["origin"]["file"]), ("CTK006", "/etc/crio/conf.d/99-nvidia.toml"))


PROGRAM = "usr/local/nvidia/toolkit/nvidia-container-runtime-hook"
HOOK = "usr/share/containers/oci/hooks.d/oci-nvidia-hook.json"


class HookMode(CrioCase):
    def test_it_writes_the_hook_and_nothing_else_and_takes_it_back(self):
        for files in (PACKAGED, {**PACKAGED, HOOK: "theirs"}):
            with self.subTest(files=list(files)):
                shutil.rmtree(self.root)
                (self.root / "usr/local").mkdir(parents=True)
                self.write(files)
                before = self.snapshot()
                words = ("--crio-config-mode", "hook")
                self.assertEqual(self.run_ctkit("plan", "--exit-code", *words, release="1.34.11").returncode, 2)
                self.assertEqual(self.snapshot(), before)
                self.succeed("apply", *words, release="1.34.11")
                hook = json.loads((self.root / HOOK).read_text())
                self.assertEqual(hook["hook"]["path"], "/usr/local/nvidia/toolkit/nvidia-container-runtime-hook")
                self.assertEqual((hook["version"], hook["stages"], hook["when"]), ("1.0.0", ["prestart"], {"always": True, "commands": [".*"]}))
                self.assertNotIn("nvidia", self.handlers())
                self.assertIn("nothing to do", self.succeed("apply", *words, release="1.34.11").out)
                self.succeed("uninstall", release="1.34.11")
                self.assertEqual(self.snapshot(), before)

    def test_from_one_mode_to_the_other(self):
        self.write(PACKAGED)
        before = self.snapshot()
        self.succeed("apply", release="1.34.11")
        self.succeed("apply", release="1.34.11", env={**os.environ, "CRIO_CONFIG_MODE": "hook"})
        self.assertNotIn("nvidia", self.handlers())
        self.assertTrue((self.root / HOOK).exists())
        self.succeed("apply", release="1.34.11")
        self.assertIn("nvidia", self.handlers())
        self.assertFalse((self.root / HOOK).exists())
        self.succeed("uninstall", release="1.34.11")
        self.assertEqual(self.snapshot(), before)

    def test_the_life_cycle_writes_the_same(self):
        self.write(PACKAGED)
        self.write({PROGRAM: "#!/bin/sh\n"}, 0o755)
        self.write({name: text for name, text in PROGRAMS.items() if name.startswith("usr/local")}, 0o755)
        self.succeed("apply", "--crio-config-mode", "hook", release="1.34.11")
        before = {name: item for name, item in self.snapshot().items() if name.startswith(("etc", "usr/share"))}
        self.succeed("uninstall", release="1.34.11")
        command = [CTKIT, "run", "--no-daemon", "--foreground", "--host-root=" + str(self.root), "--release=1.34.11",
                   "--engine=crio", "--cdi-enabled=false"]
        for words, environment in ((["--crio-config-mode=hook"], {}), ([], {"CRIO_CONFIG_MODE": "hook"})):
            done = subprocess.run(command + words, env={"PATH": os.environ["PATH"], **environment},
                                  capture_output=True, text=True, check=False, timeout=LIMIT)
            self.assertEqual(done.returncode, 0, done.stderr)
            after = {name: item for name, item in self.snapshot().items() if name.startswith(("etc", "usr/share"))}
            self.assertEqual(after, before)

    def test_a_kept_plan_keeps_the_mode(self):
        self.write(PACKAGED)
        plan = self.base / "plan.json"
        self.succeed("plan", "--crio-config-mode", "hook", "--out", str(plan), release="1.34.11")
        self.succeed("apply", str(plan), release="1.34.11")
        self.assertTrue((self.root / HOOK).exists())
        self.assertNotIn("nvidia", self.handlers())

    def test_a_folder_that_cri_o_does_not_read_needs_a_decision(self):
        self.write(PACKAGED)
        self.refuse(3, "plan", "--crio-config-mode", "hook", "--hooks-dir", "/run/containers/oci/hooks.d",
                    where="/run/containers/oci/hooks.d", release="1.34.11")
        self.refuse(64, "plan", "--hook-filename", "hook", hint=False, release="1.34.11")


class CommandLine(CrioCase):
    def test_explain_names_the_flag_and_the_file_it_is_in(self):
        self.write({**PACKAGED, "etc/sysconfig/crio": "CRIO_RUNTIME_OPTIONS=--pids-limit=5\nCONTAINER_LOG_LEVEL=debug\n"})
        out = self.succeed("explain", "crio.runtime.pids_limit", "crio.runtime.log_level", release="1.34.11").out
        self.assertIn("/etc/sysconfig/crio:1", out)
        self.assertIn("/etc/sysconfig/crio:2", out)

    def test_a_flag_that_undoes_the_plan_needs_a_decision(self):
        self.write({**PACKAGED, "etc/sysconfig/crio": "CRIO_RUNTIME_OPTIONS=--default-runtime=crun\n"})
        self.succeed("plan", release="1.34.11")
        done = self.refuse(3, "plan", "--set-as-default", release="1.34.11")
        self.assertIn("'nvidia' would not be the default runtime: that is 'crun', which /etc/sysconfig/crio:1 says", done.err)
        self.write({"etc/sysconfig/crio": "CRIO_RUNTIME_OPTIONS=--runtimes=nvidia:/usr/bin/other:/run/x\n"})
        done = self.refuse(3, "plan", release="1.34.11")
        self.assertIn("handler 'nvidia' would start '/usr/bin/other', which /etc/sysconfig/crio:1 says", done.err)

    def test_the_drop_in_goes_where_the_flag_points(self):
        self.write({**PACKAGED, "etc/sysconfig/crio": 'CRIO_CONFIG_OPTIONS="--config-dir /etc/crio/other.d"\n'})
        self.succeed("apply", release="1.34.11")
        self.assertEqual(os.listdir(self.root / "etc/crio/other.d"), ["99-nvidia.conf"])
        self.write({"etc/sysconfig/crio": "CRIO_CONFIG_OPTIONS=--config-dir=\n"})
        self.refuse(3, "plan", where="reads no drop-ins", release="1.34.11")


class Refusing(CrioCase):
    def test_what_the_daemon_refuses(self):
        for name, text in (("README", "This folder holds settings.\n"), ("50", "[crio]\nruntime = 1\n"), ("60", "[crio\n")):
            with self.subTest(name):
                shutil.rmtree(self.root)
                self.write({**PACKAGED, FOLDER + "/" + name: text})
                self.refuse(6, "effective", where=f"/{FOLDER}/{name}:", release="1.34.11")
                self.refuse(6, "plan", where=f"/{FOLDER}/{name}:", release="1.34.11")

    def test_links_that_stop_it(self):
        self.write(PACKAGED)
        os.symlink("../gone", self.root / FOLDER / "50")
        self.refuse(6, "effective", where="/etc/crio/crio.conf.d/50", release="1.34.11")
        os.unlink(self.root / FOLDER / "50")
        os.symlink("/dev/null", self.root / FOLDER / "50")
        self.succeed("effective", release="1.34.11")

    def test_a_drop_in_where_nothing_is_read_needs_a_decision(self):
        self.write(PACKAGED)
        self.refuse(3, "plan", "--drop-in", "/etc/crio/conf.d/99-nvidia.toml", where="/etc/crio/conf.d", release="1.34.11")

    def test_defaults_are_for_containerd(self):
        self.write(PACKAGED)
        self.refuse(64, "effective", "--defaults", str(self.root / MAIN), release="1.34.11")


class Finding(CrioCase):
    def name(self, *words, **options):
        return json.loads(self.succeed("lint", "-o", "json", *words, **options).out)["engine"]

    def test_the_engine_is_found_from_the_files(self):
        self.write(PACKAGED)
        self.assertEqual(self.name(release="1.34.11"), "CRI-O 1.34.11")
        self.assertEqual(self.name("--engine", "containerd", release="1.7.27"), "containerd 1.7.27")
        self.write({"etc/containerd/config.toml": "version = 2\n"})
        self.refuse(64, "lint", where="both", release="1.34.11")
        self.write({"run/crio/crio.sock": ""})
        self.assertEqual(self.name(release="1.34.11"), "CRI-O 1.34.11")

    def test_the_capture_says_it(self):
        self.write({"capture.json": '{"engine": "crio", "release": "crio version 1.30.14"}',
                    "root/etc/containerd/config.toml": "version = 2\n"})
        self.assertEqual(self.name(release=None), "CRI-O 1.30.14")


if __name__ == "__main__":
    unittest.main()
