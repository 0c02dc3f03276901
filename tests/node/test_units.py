"""Daemons that are not containerd.service with /etc/containerd/config.toml."""

from node import SOCKET
from scenario import Scenario, proven_by
from world import ROOT_FILE

SITES_UNIT = "site-runtime.service"
SITES_ROOT = "/etc/site/runtime.toml"


class OtherUnit(Scenario):
    def setUp(self):
        super().setUp()
        node = self.world.node
        self.world.write(SITES_ROOT, node.path(ROOT_FILE).read_text())
        self.world.write(f"/etc/systemd/system/{SITES_UNIT}",
                         "[Service]\nType=notify\nDelegate=yes\nKillMode=process\n"
                         f"ExecStart=/usr/bin/containerd --address {SOCKET} --config {SITES_ROOT}\n")
        node.output("systemctl", "daemon-reload")
        node.output("systemctl", "stop", "containerd")
        node.output("systemctl", "start", SITES_UNIT)
        self.addCleanup(self.back_to_the_usual_unit)
        self.world.runtime.wait_ready()

    def back_to_the_usual_unit(self):
        node = self.world.node
        node.output("systemctl", "stop", SITES_UNIT)
        node.output("rm", "-r", "/etc/site", f"/etc/systemd/system/{SITES_UNIT}")
        node.output("systemctl", "daemon-reload")
        node.output("systemctl", "start", "containerd")
        self.world.runtime.wait_ready()

    @proven_by("no-restart")
    def test_unit_and_config_are_found_through_the_running_daemon(self):
        before = self.world.tree("/etc/site"), self.world.tree()
        invocation = self.world.invocation(SITES_UNIT)
        self.expect(0, self.world.in_pod("apply"))
        self.assertNotEqual(self.world.invocation(SITES_UNIT), invocation)
        self.assertEqual(self.world.node.property("ActiveState"), "inactive")
        self.assert_handlers()
        self.expect(0, self.world.in_pod("uninstall"))
        self.assertEqual((self.world.tree("/etc/site"), self.world.tree()), before)
        self.assert_no_handlers()

    @proven_by("no-restart")
    def test_a_unit_that_is_named_is_the_one_restarted(self):
        invocation = self.world.invocation(SITES_UNIT)
        self.apply("--unit", SITES_UNIT, "--config", SITES_ROOT)
        self.assertNotEqual(self.world.invocation(SITES_UNIT), invocation)
        self.assert_handlers()
