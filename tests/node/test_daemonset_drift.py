"""Others write while the toolkit DaemonSet's pod runs."""

from daemonset import DaemonSetScenario
from scenario import HANDLERS, proven_by
from world import CONF_D, ROOT_FILE


class Drift(DaemonSetScenario):
    def setUp(self):
        super().setUp()
        self.pod = None

    def hold(self, **environment):
        self.pod = self.start(environment=environment)
        self.served(self.pod)

    def imports_of_root(self):
        return [line for line in self.world.node.path(ROOT_FILE).read_text().splitlines() if line.startswith("imports")]

    def registry(self):
        table = self.world.cri_table.replace("runtime", "images") + ".registry"
        return f'version = {self.world.version}\n[{table}]\nconfig_path = "/etc/certs.d"\n'

    @proven_by("stock-like")
    def test_a_registry_file_erases_nothing(self):
        """The incident: on 1.x the daemon would have lost the handlers with its next start."""
        self.hold()
        _, starts = self.starts(self.add_registry)
        # The handlers are served all along; when the new setting becomes effective is for its author to say.
        self.assertEqual(starts, 0)
        self.world.node.output("systemctl", "restart", "containerd")
        self.assert_handlers()
        dump = self.world.node.output("containerd", "config", "dump")
        self.assertIn("/etc/certs.d", dump)
        self.assertIn("nvidia-container-runtime.cdi", dump)

    def add_registry(self):
        self.world.write(f"{CONF_D}/registry.toml", self.registry())
        if self.world.old_merge:
            self.wait("a drop-in that loads last", lambda: "zz-99-nvidia.toml" in self.drop_ins(), self.pod)
        self.wait_looked()

    def wait_looked(self):
        """Until the pod has looked at what was changed last, and is ready again."""
        looked = self.looks()
        self.world.node.path(f"{CONF_D}/notes.txt").write_text("something to look at\n")
        self.wait("another look", lambda: self.looks() > looked, self.pod, 60)
        self.wait_served(self.pod)

    def looks(self):
        return self.metric("ctkit_looks_total", '{end="settled"}') or 0

    def rewrite_root(self):
        """As a template of somebody's does it: without our import, and without that of the site."""
        text = self.world.node.path(ROOT_FILE).read_text()
        lines = [line for line in text.splitlines() if not line.startswith("imports")]
        self.world.write(ROOT_FILE, "\n".join(lines) + "\n")

    @proven_by("stock-like")
    def test_a_root_that_a_template_wrote_gets_its_import_back(self):
        self.hold()

        def rewrite():
            self.rewrite_root()
            self.wait("the import to come back", self.imports_of_root, self.pod)
            self.wait_served(self.pod)
        _, starts = self.starts(rewrite)
        self.assertEqual(starts, 0)
        self.world.node.output("systemctl", "restart", "containerd")
        self.assert_handlers()
        self.assert_ready(self.pod)

    @proven_by("stock-like")
    def test_reported_only_it_stays_as_it_is(self):
        self.hold(CTKIT_ON_DRIFT="report")

        def rewrite():
            self.rewrite_root()
            self.wait("drift to be reported", lambda: self.metric("ctkit_drift"), self.pod, 60)
        _, starts = self.starts(rewrite)
        self.assertEqual(starts, 0)
        self.assertEqual(self.imports_of_root(), [])
        self.assert_not_ready(self.pod)
        self.assertIn(ROOT_FILE, self.log(self.pod))

    @proven_by("stock-like")
    def test_a_drop_in_that_is_removed_comes_back(self):
        self.hold()
        [name] = self.drop_ins()
        before = self.world.node.path(f"{CONF_D}/{name}").read_bytes()

        def remove():
            self.world.node.path(f"{CONF_D}/{name}").unlink()
            self.wait("the drop-in to come back", self.drop_ins, self.pod)
            self.wait_served(self.pod)
        _, starts = self.starts(remove)
        self.assertEqual(starts, 0)
        self.assertEqual(self.world.node.path(f"{CONF_D}/{name}").read_bytes(), before)
        self.assert_handlers()

    @proven_by("stock-like")
    def test_a_daemon_that_is_restarted_by_others_stays_ready(self):
        self.hold()
        _, starts = self.starts(lambda: self.world.node.output("systemctl", "restart", "containerd"))
        self.assertEqual(starts, 1)  # theirs
        self.wait_looked()
        self.assertEqual(len(HANDLERS), self.metric("ctkit_handlers_ready"))
        self.assert_ready(self.pod)
