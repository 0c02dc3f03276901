"""A restart that goes wrong: the files and the node are as before, and the exit code says so.

What makes it go wrong is a script that the site's own unit drop-in runs before each start of the daemon. Most look for our
drop-in: like a config management that renders its own files anew, and badly, once it finds another one."""

import threading

from node import UNIT, wait_for
from scenario import HANDLERS, Scenario, proven_by
from world import CONF_D, IMAGE, TOOLKIT

ROLLED_BACK, ROLLBACK_FAILED, FAILED, DECISION = 4, 5, 1, 3
OURS = f"{CONF_D}/*99-nvidia.toml"
SITES = f"{CONF_D}/zzzz-site.toml"  # after every name of ours


def handler_text(cri_table, name, binary=""):
    """A handler's tables, as a site writes them."""
    table = f"{cri_table}.containerd.runtimes.{name}"
    options = f'[{table}.options]\nBinaryName = "{binary}"\n' if binary else ""
    return f'[{table}]\nruntime_type = "io.containerd.runc.v2"\n{options}'


class RollingBack(Scenario):
    def when_ours_is_there(self, then, otherwise=":"):
        self.world.before_start(f"if ls {OURS} >/dev/null 2>&1; then {then}; else {otherwise}; fi")

    def render_when_ours_is_there(self, text):
        self.world.write("/usr/local/share/site.toml", text)
        self.when_ours_is_there(f"cp /usr/local/share/site.toml {SITES}", f"rm -f {SITES}")

    def assert_rolled_back(self, run, starts=2):
        done, began = self.starts(run)
        self.expect(ROLLED_BACK, done)
        self.assertEqual(began, starts)
        self.assert_node_as_before()
        self.assertEqual(self.world.nvidia_folder(), [], "something of the run is left")
        return done

    def without_runc(self):
        """A file with which the daemon comes up, its dump looks right, and the CRI plugin is dead."""
        table = self.world.cri_table
        if self.world.old_merge:  # the last file's table is all there is, and it has no runc
            return "version = 2\n" + handler_text(table, "kata")
        return f'version = 3\n[{table}.containerd]\ndefault_runtime_name = "gone"\n'

    @proven_by("careless")
    def test_a_daemon_whose_cri_died_though_it_runs(self):
        self.render_when_ours_is_there(self.without_runc())
        self.assert_rolled_back(lambda: self.world.in_pod("apply"))
        self.assert_pod_runs()

    @proven_by("careless")
    def test_a_daemon_that_serves_without_the_handlers(self):
        table = self.world.cri_table
        if self.world.old_merge:
            text = f'version = 2\n[{table}]\nsandbox_image = "{IMAGE}:1"\n' + handler_text(table, "runc")
        else:
            text = "version = 3\n" + handler_text(table, "nvidia", "/usr/bin/other")
        self.render_when_ours_is_there(text)
        self.assert_rolled_back(lambda: self.world.on_node("apply"))

    @proven_by("careless")
    def test_a_daemon_that_lost_the_pause_image(self):
        table = self.world.cri_table
        if self.world.old_merge:
            ours = [(name, f"{TOOLKIT}/nvidia-container-runtime{kind}") for name, kind in HANDLERS.items()]
            handlers = "".join(handler_text(table, name, binary) for name, binary in [("runc", ""), *ours])
            text = "version = 2\n" + handlers
        else:
            text = 'version = 3\n[plugins."io.containerd.cri.v1.images".pinned_images]\nsandbox = "registry.test/other:1"\n'
        self.render_when_ours_is_there(text)
        self.assert_rolled_back(lambda: self.world.on_node("apply"))

    @proven_by("careless")
    def test_a_unit_that_fails(self):
        self.when_ours_is_there("exit 1")
        self.assert_rolled_back(lambda: self.world.in_pod("apply"))

    @proven_by("careless")
    def test_a_unit_that_fails_either_way(self):
        self.world.before_start("exit 1")
        done = self.expect(ROLLBACK_FAILED, self.world.on_node("apply"))
        self.assert_files_as_before()
        self.assertIn(UNIT, done.err)

    @proven_by("careless")
    def test_a_masked_unit(self):
        self.world.node.output("systemctl", "mask", UNIT)
        invocation = self.world.invocation()
        done = self.expect((FAILED, DECISION, ROLLED_BACK), self.world.on_node("apply"))
        self.assertIn("masked", done.err)
        self.assertEqual(self.world.invocation(), invocation)
        self.assert_node_as_before()

    @proven_by("careless")
    def test_somebody_stops_the_daemon_during_the_restart(self):
        self.when_ours_is_there("sleep 5")

        def stop():
            wait_for("the start to begin", self.world.is_starting, 20)
            self.world.node.run("systemctl", "stop", UNIT)

        def run():
            stopping = threading.Thread(target=stop)
            stopping.start()
            try:
                return self.world.on_node("apply")
            finally:
                stopping.join()

        self.assert_rolled_back(run)

    @proven_by("careless")
    def test_a_daemon_that_stays_down_is_told_with_its_last_words(self):
        self.when_ours_is_there("echo the site says no >&2; exit 1")
        done = self.assert_rolled_back(lambda: self.world.on_node("apply"))
        self.assertIn("exit-code", done.err)


class TakingBack(Scenario):
    def setUp(self):
        super().setUp()
        self.expect(0, self.world.on_node("apply", program="ctkit"))

    @proven_by("idle")
    def test_rollback_gives_the_state_before_the_last_apply(self):
        done, starts = self.starts(lambda: self.world.on_node("rollback"))
        self.expect(0, done)
        self.assert_node_as_before()
        self.assertEqual(starts, 1)

    @proven_by("idle")
    def test_verify_tells_files_that_the_daemon_has_not_loaded(self):
        self.expect(0, self.world.on_node("verify", "--exit-code"))
        table = self.world.cri_table
        # After ours: on 1.x nothing of the plugin's in an earlier file has an effect.
        self.world.write(f"{CONF_D}/zzz-late.toml", f"version = {self.world.version}\n" + handler_text(table, "late"))
        self.expect(2, self.world.on_node("verify", "--exit-code"))
