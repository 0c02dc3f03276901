"""The base of all scenarios: they begin on a healthy node as the site has it, and no running container may die."""

import unittest

from cri import Refused
from node import NodeFailed, wait_for

HANDLERS = {"nvidia": "", "nvidia-cdi": ".cdi", "nvidia-legacy": ".legacy"}


def proven_by(stand_in):
    """Names what to run in ctkit's place to see the scenario fail: what it tests is switched off there."""
    def mark(test):
        test.stand_in = stand_in
        return test
    return mark


class Scenario(unittest.TestCase):
    world = None  # set by node_test.py
    suites = ("bookworm", "trixie", "forky")  # where it runs if it isn't asked for by name

    def setUp(self):
        self.world.reset()
        self.before = self.world.tree()

    def tearDown(self):
        self.assertTrue(self.world.survivor_lives(), "a container that ran before is gone")

    def apply(self, *words, code=0):
        return self.expect(code, self.world.on_node("apply", *words))

    def expect(self, code, done):
        codes = code if isinstance(code, tuple) else (code,)
        if done.code not in codes:
            self.fail(f"exit {done.code}, not {code}\n--- stdout\n{done.out}--- stderr\n{done.err}"
                      f"--- the daemon's journal\n{self.world.node.journal(lines=8)}")
        return done

    def assert_handlers(self):
        """Our handlers are loaded, with their binaries."""
        loaded = self.live(self.world.runtime.handlers)
        for name, kind in HANDLERS.items():
            self.assertEqual(loaded.get(name), f"/usr/local/nvidia/toolkit/nvidia-container-runtime{kind}",
                             f"handler {name}; loaded are {loaded}")

    def assert_no_handlers(self):
        self.assertEqual(set(self.live(self.world.runtime.handlers)) & HANDLERS.keys(), set())

    def live(self, question):
        """The running daemon's answer; it must serve."""
        try:
            self.world.runtime.wait_ready(10)
        except (Refused, KeyError) as error:
            self.fail(f"the daemon does not serve the CRI: {error}\n{self.world.node.journal(lines=8)}")
        return question()

    def assert_files_as_before(self):
        self.assertEqual(self.world.tree(), self.before)

    def assert_node_as_before(self):
        self.assert_files_as_before()
        self.assertEqual(self.live(self.world.runtime.config), self.world.pristine_config)

    def assert_pod_runs(self, handler=""):
        try:
            with self.world.start_pod(handler=handler, name="probe") as pod:
                answer = pod.execute("/bin/id", "-u")
        except Refused as refused:
            self.fail(f"a pod with handler '{handler}': {refused}")
        self.assertEqual(answer, (0, "0\n"))

    def assert_soon(self, what, condition, limit=20):
        """The condition comes true, within `limit` seconds."""
        try:
            wait_for(what, condition, limit, every=0.1)
        except NodeFailed as late:
            self.fail(f"{late}\n{self.world.node.journal(lines=8)}")

    def starts(self, action):
        """(what action returns, how often systemd began to start the daemon meanwhile)."""
        cursor, invocation = self.world.cursor(), self.world.invocation()
        result = action()
        return result, len(self.world.invocations_since(cursor) - {invocation, None})

    def when_starting(self, process):
        """Waits until the daemon is between stop and start; `before_start` has to have slowed it down."""
        def starting():
            if process.poll() is not None:
                output, errors = process.communicate()
                self.fail(f"ctkit ended with {process.returncode} before the restart\n{output}{errors}")
            return self.world.is_starting()
        wait_for("the restart to begin", starting)
