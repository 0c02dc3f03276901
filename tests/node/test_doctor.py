"""What doctor says of a daemon that runs, from the node and from a pod. There is no GPU: the driver's gates fail."""

import json

from scenario import Scenario, proven_by


class Doctor(Scenario):
    def gates(self, done):
        """Gate → its part of the report. Doctor has changed nothing."""
        self.expect(0, done)
        self.assertTrue(done.out.startswith("{"), done.out)
        report = json.loads(done.out)
        self.assertEqual(report["first_failed"], "module")
        return {gate["gate"]: gate for gate in report["gates"]}

    def ask(self, run):
        before, invocation = self.world.tree(times=True), self.world.invocation()
        gates = self.gates(run("doctor", "-o", "json"))
        self.assertEqual(self.world.tree(times=True), before)
        self.assertEqual(self.world.invocation(), invocation)
        return gates

    @proven_by("no-restart")
    def test_a_daemon_that_has_loaded_our_handlers(self):
        self.apply()
        for run in (self.world.on_node, self.world.in_pod):
            gates = self.ask(run)
            self.assertNotEqual(gates["handlers"]["state"], "failed", gates["handlers"])
            self.assertEqual((gates["dump"]["state"], gates["loaded"]["state"]), ("passed", "passed"), gates)

    @proven_by("idle")
    def test_files_that_no_daemon_has_loaded(self):
        self.apply("--restart", "none")
        for run in (self.world.on_node, self.world.in_pod):
            loaded = self.ask(run)["loaded"]
            self.assertEqual(loaded["state"], "failed", loaded)
            problems = " ".join(problem["problem"] for problem in loaded["problems"])
            self.assertIn("handler 'nvidia': the files say /usr/local/nvidia/toolkit/nvidia-container-runtime, "
                          "the daemon has loaded nothing, and it was started before", problems)

    @proven_by("idle")
    def test_a_daemon_that_is_down(self):
        self.world.node.output("systemctl", "stop", "containerd")
        gates = self.gates(self.world.on_node("doctor", "-o", "json"))
        self.assertEqual(gates["loaded"]["state"], "failed", gates["loaded"])
        # What it said of itself before is not kept: nothing was applied here.
        self.assertEqual(gates["handlers"]["state"], "unseen", gates["handlers"])
