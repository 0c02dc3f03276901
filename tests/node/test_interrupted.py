"""ctkit killed while it changes a running node, and two of them at once."""

import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile

from cri import Refused
from node import children
from scenario import Scenario, proven_by

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "crash"))
import strace  # noqa: E402  (tests/crash/strace.py)

LOCKED = 75
KILLS = int(os.environ.get("CTKIT_NODE_KILLS", "4"))
# The calls that change files or talk to systemd and the daemon.
TELLING = {"linkat", "renameat", "renameat2", "unlinkat", "mkdirat", "fsync", "connect", "sendmsg", "sendto", "recvmsg"}


class Interrupted(Scenario):
    def start(self, *words, program=None):
        process = subprocess.Popen(self.world.node.command(f"/opt/ctkit/{program or self.world.program}", *words),
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (process.kill(), process.communicate()))
        return process

    def kill(self, process):
        """SIGKILL for ctkit itself, which nsenter started."""
        [child] = children(process.pid)
        os.kill(child, signal.SIGKILL)
        process.communicate()

    @proven_by("no-restart")
    def test_killed_anywhere_the_next_apply_converges(self):
        command = self.world.node.command("/opt/ctkit/ctkit", "apply")
        with tempfile.TemporaryDirectory() as scratch:
            calls = [call for call in strace.calls_of(command, scratch, program="ctkit") if call[0] in TELLING]
        self.assert_handlers()
        self.expect(0, self.world.on_node("uninstall", program="ctkit"))
        seed = random.SystemRandom().randrange(2**32)
        for call in random.Random(seed).sample(calls, KILLS):
            with self.subTest(call=call, seed=seed):
                strace.killed(command, call)
                # A restart that was asked for goes on without the asker.
                self.assert_soon("the restart's end", lambda: self.world.node.property("ActiveState") == "active")
                self.live(self.world.runtime.config)
                dump = self.world.node.run("containerd", "config", "dump")
                self.assertEqual(dump.returncode, 0, dump.stderr)
                self.apply()
                self.assert_handlers()
                self.expect(0, self.world.on_node("uninstall", program="ctkit"))
                self.assert_node_as_before()

    def slow_start(self):
        self.world.before_start("ls /etc/containerd/conf.d/*99-nvidia.toml >/dev/null 2>&1 && sleep 2; :")

    @proven_by("without-dead-man")
    def test_killed_before_its_verdict_the_files_come_back_by_themselves(self):
        self.slow_start()
        process = self.start("apply", "--confirm-timeout=3")
        self.when_starting(process)
        self.kill(process)
        self.assertNotEqual(self.world.tree(), self.before, "the kill came too early")
        self.assert_soon("the files to come back", lambda: self.world.tree() == self.before)
        self.assert_soon("the daemon to be as before", lambda: self.loaded() == self.world.pristine_config)

    def loaded(self):
        try:
            return self.world.runtime.config()
        except (Refused, KeyError):  # it is being restarted
            return None

    @proven_by("careless")
    def test_the_second_of_two_gives_way(self):
        self.slow_start()
        process = self.start("apply", program="ctkit")
        self.when_starting(process)
        done = self.expect(LOCKED, self.world.on_node("apply"))
        self.assertIn("another", done.err)
        output, errors = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0, output + errors)
        self.assert_handlers()
