"""`ctkit run` on a tree: its life from the first pass to the stop. No daemon runs on a tree, so it is never ready."""

import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request

from node_case import (
    CONF_D, CTKIT, DROP_IN, INCIDENT, LAST_DROP_IN, LIMIT, ROOT, NodeCase, may_mount, unshare)
import killed_at

READY = "run/nvidia/toolkit/ctkit-ready"
METRICS = "run/nvidia/toolkit/ctkit.prom"
LOCK = "run/nvidia/toolkit/toolkit.pid"
REGISTRY = CONF_D + "/registry.toml"
SPEC = "management.nvidia.com-gpu.yaml"


class Running:
    """A life cycle that we started, with what it has said so far."""

    def __init__(self, command, environment):
        self.process = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.lines = []
        self.said = threading.Condition()
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            with self.said:
                self.lines.append(line.decode(errors="replace"))
                self.said.notify_all()
        with self.said:
            self.lines.append("")
            self.said.notify_all()

    @property
    def text(self):
        with self.said:
            return "".join(self.lines)

    def wait_for(self, what, times=1):
        """Until it has said that."""
        deadline = time.monotonic() + LIMIT
        with self.said:
            while sum(what in line for line in self.lines) < times:
                if self.lines and self.lines[-1] == "":
                    raise AssertionError(f"ended without {what!r}:\n{''.join(self.lines)}")
                if not self.said.wait(deadline - time.monotonic()):
                    raise AssertionError(f"never said {what!r}:\n{''.join(self.lines)}")

    def stop(self, number=signal.SIGTERM):
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.end()

    def end(self):
        status = self.process.wait(LIMIT)
        self.reader.join()
        self.process.stdout.close()
        self.process.stderr.close()
        return status


class RunCase(NodeCase):
    def setUp(self):
        super().setUp()
        (self.root / "run").mkdir()
        for name in ("nvidia-container-runtime", "nvidia-container-runtime.cdi", "nvidia-container-runtime.legacy"):
            self.write({"usr/local/nvidia/toolkit/" + name: "#!/bin/sh\n"}, 0o755)

    def run_command(self, *words, name="run", given=("--release=1.7.27", "--cdi-enabled=false"), **environment):
        """Its words and its environment; under another name than ours those of NVIDIA's installer count."""
        if name == "run":
            command = [CTKIT, "run", "--foreground", "--host-root=" + str(self.root)]
        else:
            link = self.base / name
            if not link.is_symlink():
                link.symlink_to(CTKIT)
            command = [str(link), "--host-root=" + str(self.root)]
        return [*command, *given, *words], {"PATH": os.environ["PATH"], **environment}

    def once(self, *words, **options):
        command, environment = self.run_command("--no-daemon", *words, **options)
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=LIMIT)
        self.assertNotIn("this is a bug", done.stderr)
        return done

    def start(self, *words, **options):
        running = Running(*self.run_command(*words, **options))
        self.addCleanup(lambda: running.process.poll() is None and running.stop(signal.SIGKILL))
        return running

    def metrics(self):
        text = (self.root / METRICS).read_text()
        return {name: float(value) for name, value in re.findall(r"^(\w+(?:{[^}]*})?) (\S+)$", text, re.M)}

    def wait_until(self, what, condition):
        deadline = time.monotonic() + LIMIT
        while not condition():
            self.assertLess(time.monotonic(), deadline, what)
            time.sleep(0.01)


class Once(RunCase):
    def test_sets_the_node_up_and_ends(self):
        self.write(INCIDENT)
        done = self.once()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("wrote '/" + LAST_DROP_IN + "'", done.stderr)
        self.assertIn("no-daemon = 'true' (--no-daemon)", done.stderr)
        self.assertIn("nvidia-container-runtime.cdi", (self.root / LAST_DROP_IN).read_text())
        self.assertFalse((self.root / READY).exists())
        self.assertEqual(self.metrics()["ctkit_ready"], 0)
        written = self.snapshot(times=True)[LAST_DROP_IN]
        again = self.once()
        self.assertEqual(again.returncode, 0)
        self.assertNotIn("wrote", again.stderr)
        self.assertEqual(self.snapshot(times=True)[LAST_DROP_IN], written)

    def test_uninstall_takes_off_what_it_set_up(self):
        self.write(INCIDENT)
        before = self.daemons_files()
        self.assertEqual(self.once().returncode, 0)
        self.succeed("uninstall")
        after = {name: item for name, item in self.daemons_files().items() if not name.startswith("run")}
        self.assertEqual(after, {name: item for name, item in before.items() if not name.startswith("run")})

    def test_nvidias_names_bring_nvidias_defaults(self):
        self.write({ROOT: INCIDENT[ROOT]})
        for name in ("nvidia-toolkit", "nvidia-ctk-installer"):
            with self.subTest(name):
                done = self.once(name=name, RUNTIME="containerd", NVIDIA_DRIVER_ROOT="/")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn('default_runtime_name = "nvidia"', (self.root / DROP_IN).read_text())
        done = self.once(name="nvidia-toolkit", RUNTIME="containerd", NVIDIA_DRIVER_ROOT="/",
                         NVIDIA_RUNTIME_SET_AS_DEFAULT="false", CONTAINERD_RUNTIME_CLASS="gpu")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.root / DROP_IN).read_text()
        self.assertNotIn("default_runtime_name", text)
        self.assertIn("runtimes.gpu]", text)

    def test_cdi_in_the_runtime(self):
        self.write({ROOT: INCIDENT[ROOT]})
        done = self.once(given=("--release=1.7.27", "--cdi-enabled=false", "--enable-cdi-in-runtime=true"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("enable_cdi = true", (self.root / DROP_IN).read_text())
        done = self.once(RUNTIME_ENABLE_CDI="0")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("enable_cdi", (self.root / DROP_IN).read_text())

    def test_docker_is_refused(self):
        before = self.snapshot()
        for environment in ({"RUNTIME": "docker"}, {}):
            done = self.once(name="nvidia-toolkit", **environment)
            self.assertEqual(done.returncode, 64)
            self.assertIn("docker is not supported", done.stderr)
        self.assertEqual(self.snapshot(), before)

    def test_debug_tells_every_look(self):
        self.write(INCIDENT)
        done = self.once("--debug")
        self.assertIn("looking at the node, to install\n", done.stderr)
        self.assertIn("looked at the node: settled, something was changed, drift: 0, handlers: 0 of 3, not ready: ", done.stderr)
        self.assertIn("resync = '300' (default)", done.stderr)
        self.assertNotIn("looked at the node", self.once().stderr)

    def test_handlers_that_can_not_be_are_refused_at_once(self):
        before = self.snapshot()
        for handlers in ("kata=/opt/kata,kata=/opt/other", "kata"):
            done = self.once("--ignore-errors", CTKIT_HANDLERS=handlers)
            self.assertEqual(done.returncode, 64, done.stderr)
            self.assertIn("handler ", done.stderr)
        self.assertEqual(self.snapshot(), before)

    def test_a_config_that_the_daemon_would_refuse_ends_it(self):
        self.write({ROOT: "version = 2\n[broken\n"})
        done = self.once()
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertIn("config.toml:3", done.stderr)

    def test_no_runtime_config_changes_no_config(self):
        self.write(INCIDENT)
        before = self.daemons_files()
        done = self.once("--no-runtime-config")
        self.assertEqual(done.returncode, 0, done.stderr)
        after = {name: item for name, item in self.daemons_files().items() if not name.startswith("run")}
        self.assertEqual(after, {name: item for name, item in before.items() if not name.startswith("run")})

    def test_somebody_elses_lock(self):
        self.write(INCIDENT)
        first = self.start()
        first.wait_for("not ready")
        done = self.once()
        self.assertEqual(done.returncode, 75, done.stderr)
        self.assertIn("toolkit.pid", done.stderr)
        self.assertEqual(first.stop(), 0)
        self.assertEqual(self.once().returncode, 0)


class Documented(unittest.TestCase):
    def test_every_name_of_every_setting_is_in_the_documentation(self):
        table = (pathlib.Path(__file__).parents[2] / "docs/daemonset.md").read_text()
        links = tempfile.mkdtemp(prefix="ctkit-")
        self.addCleanup(shutil.rmtree, links)
        os.symlink(CTKIT, links + "/nvidia-toolkit")
        for command in ([CTKIT, "run", "--help"], [links + "/nvidia-toolkit", "--help"]):
            done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT)
            names = [name for line in done.stdout.splitlines() if re.match(r"  \S", line) for name in line.strip().split(", ")]
            self.assertGreater(len(names), 100)
            for name in names:
                self.assertIn("`" + name + "`", table)


class Holding(RunCase):
    def test_a_stop_keeps_everything_and_takes_no_second(self):
        self.write(INCIDENT)
        running = self.start()
        running.wait_for("not ready")
        before = self.daemons_files()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            start = time.monotonic()
            self.assertEqual(running.stop(number), 0, running.text)
            self.assertLess(time.monotonic() - start, LIMIT)
            self.assertIn("stay", running.text)
            after = self.daemons_files()
            self.assertEqual(after.pop(METRICS)[0], before[METRICS][0])
            self.assertEqual(after, {name: item for name, item in before.items() if name != METRICS})
            running = self.start()
            running.wait_for("not ready")
        running.stop()

    def test_a_registry_drop_in_does_not_cost_the_handlers(self):
        self.write({name: text for name, text in INCIDENT.items() if name != REGISTRY})
        running = self.start()
        running.wait_for("not ready")
        self.assertTrue((self.root / DROP_IN).exists())
        self.write({REGISTRY: INCIDENT[REGISTRY]})
        running.wait_for("drift: '/" + LAST_DROP_IN + "' is not there; put right")
        self.assertIn("'/" + REGISTRY + "' changed: modified ", running.text)
        self.assertIn("certs.d", (self.root / LAST_DROP_IN).read_text())
        self.assertIn("runtimes.nvidia]", (self.root / LAST_DROP_IN).read_text())
        self.wait_until("the repair is counted", lambda: self.metrics()["ctkit_repairs_total"] == 1)
        self.wait_until("nothing is left to do", lambda: self.metrics()["ctkit_drift"] == 0)
        self.assertEqual(running.stop(), 0)

    def test_a_root_that_a_template_rewrites_gets_its_import_back(self):
        theirs = "# from the template\nversion = 2\n"
        self.write({ROOT: theirs})
        running = self.start()
        running.wait_for("not ready")
        self.assertIn("imports", (self.root / ROOT).read_text())
        staged = self.root / (ROOT + ".new")
        staged.write_text(theirs)
        staged.rename(self.root / ROOT)
        running.wait_for("drift: '/" + ROOT + "' is not what it has to be; put right")
        self.assertIn("imports", (self.root / ROOT).read_text())
        self.assertEqual(running.stop(), 0)

    def test_a_drop_in_that_somebody_removes_comes_back(self):
        self.write(INCIDENT)
        running = self.start()
        running.wait_for("not ready")
        text = (self.root / LAST_DROP_IN).read_text()
        (self.root / LAST_DROP_IN).unlink()
        running.wait_for("'/" + LAST_DROP_IN + "' is gone")
        running.wait_for("put right")
        self.assertEqual((self.root / LAST_DROP_IN).read_text(), text)
        self.assertEqual(running.stop(), 0)

    def test_a_whole_folder_that_goes_and_comes(self):
        self.write(INCIDENT)
        running = self.start()
        running.wait_for("not ready")
        (self.root / CONF_D).rename(self.root / "etc/containerd/elsewhere")
        running.wait_for("put right")
        self.assertIn("runtimes.nvidia]", (self.root / DROP_IN).read_text())
        self.write({REGISTRY: INCIDENT[REGISTRY]})
        running.wait_for("drift: '/" + LAST_DROP_IN + "' is not there; put right")
        self.assertEqual(running.stop(), 0)

    def test_drift_is_only_reported_if_told_so(self):
        self.write({name: text for name, text in INCIDENT.items() if name != REGISTRY})
        running = self.start("--on-drift=report")
        running.wait_for("not ready")
        self.write({REGISTRY: INCIDENT[REGISTRY]})
        running.wait_for("drift: '/" + LAST_DROP_IN + "' is not there")
        self.assertNotIn("put right", running.text)
        self.assertFalse((self.root / LAST_DROP_IN).exists())
        self.wait_until("drift is in the metrics", lambda: self.metrics()["ctkit_drift"] > 0)
        self.assertEqual(running.stop(), 0)

    def test_who_changes_things_back_all_the_time_is_only_reported_in_the_end(self):
        self.write(INCIDENT)
        running = self.start("--repair-limit=2", "--debounce=10")
        running.wait_for("not ready")
        for n in range(1, 3):
            (self.root / LAST_DROP_IN).unlink()
            running.wait_for("put right", n)
            self.wait_until("it looked again", lambda: self.metrics()["ctkit_drift"] == 0)
        (self.root / LAST_DROP_IN).unlink()
        running.wait_for("not put right: that was tried 2 times within 600 seconds already")
        self.assertFalse((self.root / LAST_DROP_IN).exists())
        self.assertEqual(self.metrics()["ctkit_repairs_limited"], 1)
        self.assertEqual(running.stop(), 0)

    def test_a_change_that_breaks_the_config_is_told_and_mending_it_too(self):
        self.write(INCIDENT)
        running = self.start()
        running.wait_for("not ready")
        self.write({CONF_D + "/20-broken.toml": "[broken\n"})
        running.wait_for("failed: ")
        self.assertIn("20-broken.toml:2", running.text)
        (self.root / CONF_D / "20-broken.toml").unlink()
        running.wait_for("20-broken.toml' is gone")
        self.wait_until("it settles", lambda: self.metrics()['ctkit_looks_total{end="settled"}'] > 1)
        self.assertEqual(running.stop(), 0)

    def test_what_a_killed_one_has_left_does_not_say_ready(self):
        self.write(INCIDENT)
        self.write({READY: "ready\n"})
        running = self.start()
        running.wait_for("not ready")
        self.assertFalse((self.root / READY).exists())
        self.assertEqual(running.stop(), 0)

    def test_a_probe_asks_for_the_file_and_for_who_stands_for_it(self):
        self.write(INCIDENT)
        running = self.start()
        running.wait_for("not ready")
        probe = [CTKIT, "status", "--ready", "--root", str(self.root)]
        absent = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=LIMIT)
        self.assertEqual((absent.returncode, absent.stdout), (1, f"not ready: '/{READY}' is not there\n"))
        self.assertEqual(running.stop(), 0)
        self.write({READY: "ready\n"})
        left = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=LIMIT)
        self.assertEqual(left.returncode, 1)
        self.assertIn("nobody stands for", left.stdout)
        with open(self.root / READY) as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            ready = subprocess.run(probe, capture_output=True, text=True, check=False, timeout=LIMIT)
        self.assertEqual((ready.returncode, ready.stdout), (0, "ready\n"))

    def test_it_answers_over_http(self):
        self.write(INCIDENT)
        running = self.start("--listen=127.0.0.1:0")
        running.wait_for("not ready")
        address = re.search(r"answering on (\S+)", running.text).group(1)
        with urllib.request.urlopen(address + "/metrics", timeout=LIMIT) as answer:
            self.assertIn(b"ctkit_handlers_wanted 3\n", answer.read())
        with urllib.request.urlopen(address + "/healthz", timeout=LIMIT) as answer:
            self.assertEqual(answer.read(), b"ok\n")
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address + "/readyz", timeout=LIMIT)
        self.assertEqual(refused.exception.code, 503)
        self.assertEqual(refused.exception.read(), b"no daemon runs here\n")
        refused.exception.close()
        # One that says nothing, and more than there are places for, keep nobody else from an answer for long.
        host, port = address.removeprefix("http://").split(":")
        silent = [socket.create_connection((host, int(port)), timeout=LIMIT) for _ in range(12)]
        with urllib.request.urlopen(address + "/healthz", timeout=LIMIT) as answer:
            self.assertEqual(answer.read(), b"ok\n")
        for connection in silent:
            connection.close()
        self.assertEqual(running.stop(), 0)

    def test_it_is_small_while_it_holds(self):
        self.write(INCIDENT)
        running = self.start()
        running.wait_for("not ready")
        self.wait_until("it looked again", lambda: self.metrics()['ctkit_looks_total{end="settled"}'] > 1)
        rollup = pathlib.Path(f"/proc/{running.process.pid}/smaps_rollup").read_text()
        self.assertLess(int(re.search(r"^Rss:\s+(\d+) kB", rollup, re.M).group(1)), 6 * 1024)
        self.assertEqual(running.stop(), 0)


class Driver(RunCase):
    GIVEN = ("--release=1.7.27",)

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("device nodes want root")
        self.write(INCIDENT)
        self.driver = self.base / "driver"
        self.validations = self.base / "validations"
        self.validations.mkdir()
        self.specs = self.base / "cdi"

    def add_driver(self, version="580.95.05"):
        libraries = self.driver / "usr/lib/x86_64-linux-gnu"
        libraries.mkdir(parents=True, exist_ok=True)
        for old in libraries.iterdir():
            old.unlink()
        for name in ("libcuda.so.", "libnvidia-ml.so."):
            (libraries / (name + version)).write_bytes(b"")
        (self.driver / "dev").mkdir(exist_ok=True)
        for name, major, minor in (("nvidiactl", 195, 255), ("nvidia-uvm", 240, 0), ("nvidia0", 195, 0)):
            path = self.driver / "dev" / name
            if not path.exists():
                try:
                    os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(major, minor))
                except PermissionError:
                    self.skipTest("device nodes are not allowed here")

    def driver_ready(self, names=5, end="\n"):
        lines = ["IS_HOST_DRIVER=false", "NVIDIA_DRIVER_ROOT=/run/nvidia/driver", f"DRIVER_ROOT_CTR_PATH={self.driver}",
                 "NVIDIA_DEV_ROOT=/run/nvidia/driver", f"DEV_ROOT_CTR_PATH={self.driver}"]
        (self.validations / "driver-ready").write_text("\n".join(lines[:names]) + end)

    def begin(self, *words, **options):
        return self.start("--driver-ready-file=" + str(self.validations / "driver-ready"),
                          "--cdi-output-dir=" + str(self.specs), "--cdi-enabled", *words, name="nvidia-toolkit",
                          given=self.GIVEN, RUNTIME="containerd", **options)

    def test_a_driver_that_comes_in_pieces(self):
        self.driver.mkdir()
        running = self.begin()
        running.wait_for("waiting for the driver: '" + str(self.validations / "driver-ready") + "' is not there")
        self.driver_ready(3, "")
        running.wait_for("does not say yet: DRIVER_ROOT_CTR_PATH NVIDIA_DEV_ROOT DEV_ROOT_CTR_PATH")
        self.driver_ready()
        running.wait_for("waiting for the driver: the driver is not ready")
        self.assertFalse(self.specs.exists())
        self.assertFalse((self.root / LAST_DROP_IN).exists())
        self.assertEqual(self.metrics()["ctkit_driver_ready"], 0)
        self.add_driver()
        running.wait_for("wrote '/" + LAST_DROP_IN + "'")
        spec = (self.specs / SPEC).read_text()
        self.assertIn("/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", spec)
        self.wait_until("the metrics say so", lambda: self.metrics()["ctkit_cdi_spec_current"] == 1)
        self.assertEqual(running.stop(), 0)
        self.assertEqual((self.specs / SPEC).read_text(), spec)

    def test_the_spec_follows_the_driver_and_is_not_rewritten_when_equal(self):
        self.add_driver()
        self.driver_ready()
        running = self.begin()
        running.wait_for("not ready")
        written = (self.specs / SPEC).stat()
        self.assertIn("580.95.05", (self.specs / SPEC).read_text())
        (self.validations / "driver-ready").unlink()
        running.wait_for("driver-ready' is gone")
        self.add_driver("590.44.01")
        running.wait_for(SPEC + ": written", 2)
        self.assertIn("590.44.01", (self.specs / SPEC).read_text())
        self.assertNotEqual((self.specs / SPEC).stat().st_ino, written.st_ino)
        now = (self.specs / SPEC).stat()
        self.write({CONF_D + "/a.toml": "version = 2\n"})
        running.wait_for("a.toml' changed")
        looks = self.metrics()['ctkit_looks_total{end="settled"}']
        self.wait_until("it looked again", lambda: self.metrics()['ctkit_looks_total{end="settled"}'] > looks)
        self.assertEqual((self.specs / SPEC).stat().st_mtime_ns, now.st_mtime_ns)
        self.assertEqual(running.stop(), 0)

    def versions_in(self, spec):
        """Of the driver's two libraries, as the spec mounts them; a half spec has one of them or none."""
        return re.findall(r"containerPath: \S*/lib(?:cuda|nvidia-ml)\.so\.(\S+)", spec)

    def test_while_drivers_come_and_go_the_spec_is_always_whole(self):
        self.add_driver("1.1.1")
        self.driver_ready()
        running = self.begin()
        running.wait_for("not ready")
        seen, bad, ended = set(), [], threading.Event()

        def read():
            while not ended.is_set():
                versions = self.versions_in((self.specs / SPEC).read_text())
                seen.update(versions)
                if len(versions) != 2 or len(set(versions)) != 1:
                    bad.append(versions)

        reader = threading.Thread(target=read)
        reader.start()
        for n in range(2, 8):
            self.add_driver(f"{n}.1.1")
            self.wait_until("the spec is the new driver's", lambda n=n: f"{n}.1.1" in seen or bad or not reader.is_alive())
        ended.set()
        reader.join()
        self.assertEqual(bad, [])
        self.assertEqual(seen, {f"{n}.1.1" for n in range(1, 8)})
        self.assertEqual(running.stop(), 0)

    @unittest.skipUnless(killed_at.usable(), "ptrace is not to be had here")
    def test_killed_at_any_change_it_leaves_the_old_spec_or_the_new(self):
        command, _ = self.run_command(
            "--no-daemon", "--cdi-enabled", "--driver-root=" + str(self.driver), "--dev-root=" + str(self.driver),
            "--cdi-output-dir=" + str(self.specs), given=self.GIVEN)
        self.add_driver("1.1.1")
        self.assertEqual(subprocess.run(command, capture_output=True, check=False, timeout=LIMIT).returncode, 0)
        old = (self.specs / SPEC).read_text()
        self.assertEqual(self.versions_in(old), ["1.1.1"] * 2)
        self.add_driver("2.2.2")
        left = set()
        for n in range(1, 100):
            (self.specs / SPEC).write_text(old)
            code = killed_at.run_until(command, n)
            left.add(tuple(self.versions_in((self.specs / SPEC).read_text())))
            # The CDI library reads whatever is named so.
            self.assertEqual([path.name for path in self.specs.iterdir() if path.suffix in (".yaml", ".json")], [SPEC])
            if code is not None:
                break
        self.assertEqual(code, 0)
        self.assertGreater(n, 2)
        self.assertEqual(left, {("1.1.1",) * 2, ("2.2.2",) * 2})
        self.assertEqual([path.name for path in self.specs.iterdir()], [SPEC])

    def test_a_driver_that_goes_leaves_the_spec_and_the_handlers(self):
        self.add_driver()
        self.driver_ready()
        running = self.begin()
        running.wait_for("not ready")
        spec = (self.specs / SPEC).read_text()
        for node in (self.driver / "dev").iterdir():
            node.unlink()
        running.wait_for("waiting for the driver")
        self.wait_until("the metrics say so", lambda: self.metrics()["ctkit_driver_ready"] == 0)
        self.assertEqual((self.specs / SPEC).read_text(), spec)
        self.assertTrue((self.root / LAST_DROP_IN).exists())
        self.assertEqual(running.stop(), 0)

    def test_waiting_ends(self):
        running = self.begin("--driver-timeout=0")
        self.assertEqual(running.end(), 1)
        self.assertIn("driver-ready' is not there", running.text)

    def test_a_stop_while_it_waits(self):
        running = self.begin()
        running.wait_for("waiting for the driver")
        self.assertEqual(running.stop(), 0)

    def test_what_the_operators_script_has_read_is_enough(self):
        self.add_driver()
        running = self.begin(IS_HOST_DRIVER="false", NVIDIA_DRIVER_ROOT="/run/nvidia/driver",
                             DRIVER_ROOT_CTR_PATH=str(self.driver), NVIDIA_DEV_ROOT="/run/nvidia/driver",
                             DEV_ROOT_CTR_PATH=str(self.driver))
        running.wait_for("wrote '/" + LAST_DROP_IN + "'")
        self.assertTrue((self.specs / SPEC).exists())
        self.assertEqual(running.stop(), 0)

    def test_half_of_it_is_not(self):
        self.add_driver()
        running = self.begin(IS_HOST_DRIVER="false", NVIDIA_DRIVER_ROOT="/run/nvidia/driver")
        running.wait_for("driver-ready' is not there")
        self.driver_ready()
        running.wait_for("wrote '/" + LAST_DROP_IN + "'")
        self.assertEqual(running.stop(), 0)

    def test_with_nri_it_installs_and_holds_and_is_never_ready(self):
        self.add_driver()
        self.driver_ready()
        running = self.begin(ENABLE_NRI_PLUGIN="true")
        running.wait_for("not ready: NRI mode")
        self.assertEqual(running.text.count("error: ctkit has no NRI plugin"), 1)
        self.assertTrue((self.specs / SPEC).exists())
        self.assertFalse((self.root / LAST_DROP_IN).exists())
        self.assertFalse((self.root / READY).exists())
        self.assertEqual(running.stop(), 0)


ARTIFACTS = {
    "usr/bin/nvidia-ctk": "ctk", "usr/bin/nvidia-container-runtime": "runtime",
    "usr/bin/nvidia-container-runtime.cdi": "cdi", "usr/bin/nvidia-container-runtime.legacy": "legacy",
    "usr/bin/nvidia-container-cli": "cli", "usr/bin/nvidia-container-runtime-hook": "hook",
    "usr/bin/nvidia-cdi-hook": "cdi-hook", "usr/lib/x86_64-linux-gnu/libnvidia-container.so.1.20.0": "library",
    "usr/lib/x86_64-linux-gnu/libnvidia-container-go.so.1.20.0": "library in Go"}


class ArtifactsCase(RunCase):
    def setUp(self):
        super().setUp()
        shutil.rmtree(self.root / "usr/local/nvidia")
        self.artifacts = self.base / "artifacts"
        for name, text in ARTIFACTS.items():
            path = self.artifacts / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755)
            if ".so.1." in name:
                os.symlink(path.name, path.parent / (path.name.split(".so.")[0] + ".so.1"))


class Toolkit(ArtifactsCase):
    def test_its_files_come_before_the_handlers_that_name_them(self):
        self.write(INCIDENT)
        running = self.start("--toolkit-source-root=" + str(self.artifacts))
        running.wait_for("not ready")
        self.assertIn("installed toolkit 1.20.0-1 in '/usr/local/nvidia/toolkit'", running.text)
        self.assertLess(running.text.index("installed toolkit"), running.text.index("wrote '"))
        toolkit = self.root / "usr/local/nvidia/toolkit"
        self.assertEqual((toolkit / "nvidia-cdi-hook").read_text(), "cdi-hook")
        # Somebody breaks it.
        (toolkit / "nvidia-container-runtime").unlink()
        running.wait_for("the toolkit's files were not as they were installed; put right")
        self.assertIn("exec", (toolkit / "nvidia-container-runtime").read_text())
        self.assertEqual(running.stop(), 0)
        again = self.once("--toolkit-source-root=" + str(self.artifacts))
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("installed toolkit", again.stderr)

    def test_settings_of_its_config(self):
        self.write(INCIDENT)
        done = self.once("--toolkit-source-root=" + str(self.artifacts), NVIDIA_CONTAINER_RUNTIME_MODE="cdi",
                         NVIDIA_CONTAINER_RUNTIME_LOG_LEVEL="debug", NVIDIA_DRIVER_ROOT="/run/nvidia/driver")
        self.assertEqual(done.returncode, 0, done.stderr)
        text = (self.root / "usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml").read_text()
        for line in ('mode = "cdi"', 'log-level = "debug"', 'root = "/run/nvidia/driver"'):
            self.assertIn(line, text)

    def test_artifacts_that_are_not_whole_leave_all_as_it_is(self):
        self.write(INCIDENT)
        (self.artifacts / "usr/bin/nvidia-ctk").unlink()
        done = self.once("--toolkit-source-root=" + str(self.artifacts))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("nvidia-ctk", done.stderr)
        self.assertFalse((self.root / LAST_DROP_IN).exists())


class Container(ArtifactsCase):
    """The operator's mounts: the host read-only, what may be written mounted elsewhere."""

    # What the operator says, for paths of the container below $base.
    SCRIPT = """set -e
    mount -t tmpfs none "$node/run"
    mount --rbind "$node" "$base/host"
    mount -o remount,bind,ro "$base/host"
    bind() { mkdir -p "$1" "$2"; mount --bind "$1" "$2"; }
    {binds}
    mount -t tmpfs none /usr/local
    bind "$node/usr/local/nvidia" /usr/local/nvidia
    bind "$node/run/nvidia/toolkit" /run/nvidia/toolkit
    RUNTIME_CONFIG={config} CONTAINERD_CONFIG={config} \\
    RUNTIME_DROP_IN_CONFIG=$base/runtime/config-dir.d/99-nvidia.toml \\
    RUNTIME_DROP_IN_CONFIG_HOST_PATH=/etc/containerd/conf.d/99-nvidia.toml RUNTIME=containerd \\
    NVIDIA_DRIVER_ROOT=/ DRIVER_ROOT_CTR_PATH=$base/host HOST_ROOT_MOUNT=$base/host NVIDIA_RUNTIME_SET_AS_DEFAULT=false \\
    exec "$base/nvidia-toolkit" --no-daemon --release=1.7.27 --toolkit-source-root="$base/artifacts"
    """

    def setUp(self):
        super().setUp()
        if not may_mount():
            self.skipTest("mounting is not allowed here")
        (self.base / "host").mkdir()
        (self.base / "nvidia-toolkit").symlink_to(CTKIT)
        (self.root / CONF_D).mkdir(parents=True)

    def contained(self, *binds, config="$base/runtime/config-dir/config.toml"):
        script = self.SCRIPT.replace("{binds}", "\n".join(binds)).replace("{config}", config)
        return subprocess.run(
            unshare() + [script], env={"PATH": os.environ["PATH"], "base": str(self.base), "node": str(self.root)},
            capture_output=True, text=True, check=False, timeout=LIMIT)

    BINDS = ('bind "$node/etc/containerd" "$base/runtime/config-dir"',
             'bind "$node/etc/containerd/conf.d" "$base/runtime/config-dir.d"')

    def test_what_is_read_only_is_written_where_it_is_mounted(self):
        self.write({ROOT: "# theirs\nversion = 2\n"})
        done = self.contained(*self.BINDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.root / ROOT).read_text(),
                         '# theirs\nversion = 2\nimports = ["/etc/containerd/conf.d/99-nvidia.tom*l"]\n')
        text = (self.root / DROP_IN).read_text()
        self.assertIn('BinaryName = "/usr/local/nvidia/toolkit/nvidia-container-runtime.cdi"', text)
        self.assertTrue((self.root / "usr/local/nvidia/.ctkit/journal.json").exists())
        self.assertTrue((self.root / "usr/local/nvidia/toolkit/nvidia-ctk").exists())
        # A second start finds nothing to do, and the host's own ctkit takes it off.
        before = self.daemons_files()
        again = self.contained(*self.BINDS)
        self.assertEqual(again.returncode, 0, again.stderr)
        self.assertNotIn("wrote", again.stderr)
        self.assertEqual(self.daemons_files(), before)
        self.succeed("uninstall")
        self.assertEqual((self.root / ROOT).read_text(), "# theirs\nversion = 2\n")

    def test_a_root_that_is_a_link_of_the_host(self):
        self.write({"etc/real/config.toml": "version = 2\n"})
        (self.root / ROOT).symlink_to("/etc/real/config.toml")
        done = self.contained(*self.BINDS, 'bind "$node/etc/real" "$base/runtime/real"')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("imports", (self.root / "etc/real/config.toml").read_text())
        self.assertTrue((self.root / ROOT).is_symlink())

    def test_folders_that_are_mounted_nowhere_are_named_and_nothing_is_written(self):
        self.write({ROOT: "version = 2\n"})
        before = self.daemons_files()
        done = self.contained(config="/etc/containerd/config.toml")
        self.assertEqual(done.returncode, 1, done.stderr)
        for part in ("read-only", "RUNTIME_CONFIG", "RUNTIME_DROP_IN_CONFIG", "CONTAINERD_SOCKET", "conf.d"):
            self.assertIn(part, done.stderr)
        self.assertEqual(self.daemons_files(), before)


if __name__ == "__main__":
    unittest.main()
