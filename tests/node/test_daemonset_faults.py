"""A node on which the toolkit DaemonSet's pod can't do its work, or not yet: it says why, and nothing is half done."""

import fcntl

from daemonset import (CONTAINER_DRIVER, DEVICES, DRIVER_CONTAINER, DRIVER_FILES, HOST_DRIVER, INSTALL_FOLDER, PID_FILE, SPEC,
                       DaemonSetScenario)
from scenario import proven_by

LOCKED = 75


class Driver(DaemonSetScenario):
    def assert_nothing_done(self, pod):
        self.assert_not_ready(pod)
        self.assert_files_as_before()
        self.assertFalse(self.world.node.path(SPEC).exists())
        self.assertIsNone(pod.exit_code())

    @proven_by("stock-like")
    def test_a_driver_ready_that_is_half_written_is_waited_for(self):
        pod = self.start(ready=False)
        self.say_driver_ready(HOST_DRIVER, lines=2)
        self.wait("the wait for the rest", lambda: "NVIDIA_DEV_ROOT" in self.log(pod), pod)
        self.assert_nothing_done(pod)
        self.say_driver_ready(HOST_DRIVER)
        self.served(pod)

    @proven_by("idle")
    def test_a_driver_that_comes_late_is_waited_for(self):
        pod = self.start(ready=False)
        self.wait("the entry point's wait", lambda: "waiting for the driver" in self.log(pod), pod)
        self.assert_files_as_before()
        self.say_driver_ready(HOST_DRIVER)
        self.served(pod)

    @proven_by("stock-like")
    def test_an_empty_driver_root_is_not_a_driver(self):
        for path in [*DRIVER_FILES, *DEVICES]:
            self.world.node.path(path).unlink()
        pod = self.start(driver=CONTAINER_DRIVER)
        self.wait("the wait for the driver", lambda: "waiting for the driver: " in self.log(pod), pod)
        self.assert_nothing_done(pod)
        self.lay({DRIVER_CONTAINER + path: entry for path, entry in {**DRIVER_FILES, **DEVICES}.items()})
        self.served(pod)


class Node(DaemonSetScenario):
    @proven_by("stock-like")
    def test_a_folder_that_nothing_may_run_from_gets_no_handler(self):
        self.world.node.output("mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", INSTALL_FOLDER)
        pod = self.start()
        self.assertNotIn(self.ended(pod), (0, None))
        self.assertIn("noexec", self.log(pod))
        self.assert_files_as_before()
        self.assert_no_handlers()


class Two(DaemonSetScenario):
    @proven_by("stock-like")
    def test_the_second_of_two_gives_way(self):
        first = self.start()
        self.served(first)
        before = self.world.tree(times=True)

        def another():
            second = self.start()
            self.assertEqual(self.ended(second), LOCKED, self.log(second))
            return second
        second, starts = self.starts(another)
        self.assertEqual(starts, 0)
        self.assertIn(PID_FILE, self.log(second))
        self.assertEqual(self.world.tree(times=True), before)
        self.assert_ready(first)

    @proven_by("stock-like")
    def test_the_stock_image_that_runs_is_left_alone(self):
        path = self.world.node.path(PID_FILE)
        with open(path, "w", encoding="ascii") as theirs:
            fcntl.flock(theirs, fcntl.LOCK_EX | fcntl.LOCK_NB)
            theirs.write("4711\n")
            theirs.flush()
            pod = self.start()
            self.assertEqual(self.ended(pod), LOCKED, self.log(pod))
            self.assertEqual(path.read_text(), "4711\n")
            self.assert_node_as_before()
        self.remove(pod)
        self.served(self.start())
