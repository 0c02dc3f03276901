"""The life of the toolkit DaemonSet's pod with ctkit's image: start, stop, update, other drivers."""

import os
import pathlib

from daemonset import (CONTAINER_DRIVER, DEVICES, DRIVER_CONTAINER, DRIVER_FILES, HOST_DRIVER, READY_FILE, SPEC,
                       DaemonSetScenario)
from scenario import proven_by

MOST_TO_STOP = 1.0      # seconds
MOST_RESIDENT = 6e6     # bytes


class Start(DaemonSetScenario):
    @proven_by("stock-like")
    def test_the_first_start_restarts_once_and_the_second_not_at_all(self):
        (pod, took), starts = self.starts(self.start_and_serve)
        self.assertEqual(starts, 1, self.log(pod))
        self.assertEqual(self.metric("ctkit_restarts_total"), 1)
        self.assertEqual(self.installed(), "1.20.0")
        self.assert_pod_runs("nvidia")
        print(f"   handlers served {took:.1f} s after driver-ready, restart included", flush=True)
        stopped = self.stop(pod)
        self.remove(pod)
        before = self.state()
        (pod, took), starts = self.starts(self.start_and_serve)
        self.assertEqual(starts, 0, self.log(pod))
        self.assertEqual(self.state(), before)
        print(f"   again after {took:.1f} s without a restart; SIGTERM to the end {1000 * stopped:.0f} ms", flush=True)

    def start_and_serve(self):
        pod = self.start()
        return pod, self.served(pod)

    def state(self):
        return [self.world.tree(folder, times=True) for folder in ("/etc/containerd", "/usr/local/nvidia/toolkit/")]

    @proven_by("stock-like")
    def test_without_cdi_nvidia_is_the_default(self):
        pod = self.start(cdi=False)
        self.served(pod)
        self.assertEqual(self.world.runtime.config()["containerd"]["defaultRuntimeName"], "nvidia")
        self.assertFalse(self.world.node.path(SPEC).exists())
        self.assert_pod_runs()

    @proven_by("stock-like")
    def test_the_spec_is_that_of_a_driver_on_the_host(self):
        self.served(self.start())
        spec = self.text_of(SPEC)
        self.assertIn("libcuda.so.580.95.05", spec)
        self.assertIn("/usr/local/nvidia/toolkit/nvidia-cdi-hook", spec)
        self.assertNotIn("/host", spec)

    @proven_by("stock-like")
    def test_the_spec_is_that_of_a_driver_container(self):
        for path in [*DRIVER_FILES, *DEVICES]:
            self.world.node.path(path).unlink()
        self.lay({DRIVER_CONTAINER + path: entry for path, entry in {**DRIVER_FILES, **DEVICES}.items()})
        self.served(self.start(driver=CONTAINER_DRIVER))
        spec = self.text_of(SPEC)
        self.assertIn(f"{DRIVER_CONTAINER}/usr/lib/x86_64-linux-gnu/libcuda.so.580.95.05", spec)
        self.assertNotIn("/driver-root", spec)

    @proven_by("stock-like")
    def test_what_is_left_on_the_host_needs_nothing_of_the_image(self):
        self.served(self.start())
        program = self.text_of("/usr/local/nvidia/toolkit/ctkit")
        self.assertNotIn("/ld-linux", program[:4096], "it wants the loader of some libc")
        self.assertIn("ctkit", self.world.node.output("/usr/local/nvidia/toolkit/ctkit", "--version"))

    @proven_by("fat")
    def test_it_stays_small(self):
        pod = self.start()
        self.served(pod)
        lines = pathlib.Path(self.world.node.path(f"/proc/{pod.process()}/smaps_rollup")).read_text().splitlines()
        resident = next(1024 * int(line.split()[1]) for line in lines if line.startswith("Rss:"))
        print(f"   resident {resident / 1e6:.1f} MB", flush=True)
        self.assertLessEqual(resident, MOST_RESIDENT)


class Stop(DaemonSetScenario):
    @proven_by("stock-like")
    def test_the_end_of_the_pod_takes_nothing_away(self):
        pod = self.start()
        self.served(pod)
        before = self.world.tree(times=True)
        took, starts = self.starts(lambda: self.stop(pod))
        self.assertEqual(starts, 0)
        self.assertLess(took, MOST_TO_STOP)
        print(f"   SIGTERM to the end: {1000 * took:.0f} ms", flush=True)
        self.assertEqual(self.world.tree(times=True), before)
        self.assertFalse(self.world.node.path(READY_FILE).exists(), "nobody verifies it any more")
        self.assert_handlers()
        self.assertEqual(self.installed(), "1.20.0")
        self.assertTrue(self.world.node.path(SPEC).exists())

    @proven_by("stock-like")
    def test_another_version_of_the_image_restarts_nothing(self):
        first = self.start("1")
        self.served(first)

        def update():
            self.stop(first)
            self.remove(first)
            pod = self.start("2")
            self.served(pod)
            return pod
        pod, starts = self.starts(update)
        self.assertEqual(starts, 0, self.log(pod))
        self.assertEqual(self.installed(), "1.20.1")
        self.assert_pod_runs("nvidia")

    @proven_by("stock-like")
    def test_a_pod_that_is_stopped_while_it_waits_ends_at_once(self):
        pod = self.start(driver=HOST_DRIVER, ready=False)
        self.say_driver_ready(HOST_DRIVER, lines=2)
        self.wait("the wait for the rest", lambda: "NVIDIA_DEV_ROOT" in self.log(pod), pod)
        before = self.world.tree(times=True)
        took, starts = self.starts(lambda: self.stop(pod))
        self.assertLess(took, MOST_TO_STOP)
        self.assertEqual(starts, 0)
        self.assertEqual(self.world.tree(times=True), before)

    @proven_by("stock-like")
    def test_uninstalled_on_the_node_nothing_is_left_in_the_daemon(self):
        pod = self.start()
        self.served(pod)
        self.stop(pod)
        self.remove(pod)
        self.assert_handlers()
        node = self.world.node
        done = node.run("/usr/local/nvidia/toolkit/ctkit", "uninstall", "--restart", "none")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assert_files_as_before()
        node.output("systemctl", "restart", "containerd")
        self.assert_node_as_before()

    @proven_by("stock-like")
    def test_the_toolkit_goes_once_no_container_needs_it(self):
        pod = self.start()
        self.served(pod)
        self.stop(pod)
        self.remove(pod)
        with self.world.start_pod(handler="nvidia", name="worker") as worker:
            self.assert_toolkit_stays("--restart", "none", because="the running daemon has the handler")
            self.assertEqual(self.uninstall("--restart", "none").returncode, 0)
            self.world.node.output("systemctl", "restart", "containerd")
            self.assert_node_as_before()
            self.assert_toolkit_stays(because="containers run with a runtime from there, 'k8s.io/")
            # containerd 2.x lets nobody in any more: "no runtime for \"nvidia\" is configured".
            self.assertIsNone(worker.exit_code(), "containerd has lost the container")
        done = self.uninstall("--toolkit")
        self.assertEqual(done.returncode, 0, done.stderr)
        for path in ("/usr/local/nvidia/toolkit", "/usr/local/nvidia/.toolkit", SPEC):
            self.assertFalse(os.path.lexists(self.world.node.path(path)), path)
        self.assert_node_as_before()
        self.assert_pod_runs()

    def uninstall(self, *words):
        return self.world.node.run("/usr/local/nvidia/toolkit/ctkit", "uninstall", *words)

    def assert_toolkit_stays(self, *words, because):
        done = self.uninstall("--toolkit", *words)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(because, done.stderr)
        self.assertEqual(self.installed(), "1.20.0")
