"""A node without Kubernetes objects: ctkit.service, and the path unit in its place."""

import pathlib

from ctkit_image import artifacts
from daemonset import INSTALL_FOLDER, READY_FILE, SPEC, DaemonSetScenario
from scenario import proven_by
from world import ROOT_FILE

UNITS = pathlib.Path(__file__).resolve().parents[2] / "deploy/systemd"
SETTINGS = "RUNTIME=containerd\nTOOLKIT_SOURCE_ROOT=/opt/artifacts/deb\nCDI_ENABLED=true\n"


class Service(DaemonSetScenario):
    def setUp(self):
        super().setUp()
        node = self.world.node
        for unit in UNITS.iterdir():
            text = unit.read_text().replace("@CMAKE_INSTALL_FULL_BINDIR@/ctkit", f"/opt/ctkit/{self.world.program}")
            self.world.write(f"/etc/systemd/system/{unit.name.removesuffix('.in')}", text)
        self.world.write("/etc/default/ctkit", SETTINGS)
        artifacts("1.20.0").unpack(str(node.path("/opt")))
        node.output("systemctl", "daemon-reload")
        self.addCleanup(self.remove_units)

    def remove_units(self):
        node = self.world.node
        node.output("systemctl", "stop", "ctkit.service", "ctkit-drift.path", "ctkit-drift.service", check=False)
        node.output("sh", "-c", "rm -r /etc/systemd/system/ctkit* /etc/default/ctkit /opt/artifacts; systemctl daemon-reload; "
                    "systemctl reset-failed")

    def wait_for_service(self, what, condition):
        self.assert_soon(what, condition, 60)

    def ready(self):
        return self.world.node.path(READY_FILE).exists()

    @proven_by("idle")
    def test_the_service_serves_the_handlers_and_its_end_takes_nothing_away(self):
        node = self.world.node

        def serve():
            node.output("systemctl", "start", "ctkit.service")
            self.wait_for_service("the handlers to be served", self.ready)
        _, starts = self.starts(serve)
        self.assertEqual(starts, 1)
        self.assert_handlers()
        self.assertEqual(self.installed(), "1.20.0")
        self.assertEqual(self.world.on_node("status", "--ready").code, 0)
        before = self.world.tree(times=True)
        _, starts = self.starts(lambda: node.output("systemctl", "stop", "ctkit.service"))
        self.assertEqual(starts, 0)
        self.assertEqual(node.property("Result", "ctkit.service"), "success")
        self.assertEqual(self.world.tree(times=True), before)
        self.assert_handlers()

    @proven_by("idle")
    def test_the_path_unit_puts_back_what_others_wrote_over(self):
        node = self.world.node
        node.output("systemctl", "start", "ctkit-drift.service")
        self.assert_handlers()
        self.assertTrue(node.path(SPEC).exists())
        node.output("systemctl", "start", "ctkit-drift.path")
        text = node.path(ROOT_FILE).read_text()
        self.world.write(ROOT_FILE, "\n".join(line for line in text.splitlines() if not line.startswith("imports")) + "\n")
        self.wait_for_service("the import to come back", lambda: "imports" in node.path(ROOT_FILE).read_text())
        self.wait_for_service("the end of the repair", lambda: node.property("ActiveState", "ctkit-drift.service") == "inactive")
        self.assert_handlers()
        node.output("systemctl", "restart", "containerd")
        self.assert_handlers()
        self.assertTrue(node.path(f"{INSTALL_FOLDER}/toolkit/nvidia-cdi-hook").exists())
