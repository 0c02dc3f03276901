"""What apply must not touch, and what it must not restart."""

from scenario import Scenario, proven_by
from world import CONF_D

REFUSED, DECISION, PERMISSION = 6, 3, 77


class Refusing(Scenario):
    def assert_untouched(self, action, code):
        """The action ends with that code, writes nothing and restarts nothing."""
        before, invocation = self.world.tree(times=True), self.world.invocation()
        done = self.expect(code, action())
        self.assertEqual(self.world.tree(times=True), before)
        self.assertEqual(self.world.invocation(), invocation)
        self.assertEqual(self.world.node.property("ActiveState"), "active")
        self.assertEqual(self.live(self.world.runtime.config), self.world.pristine_config)
        return done

    @proven_by("careless")
    def test_a_broken_file_of_somebody_else(self):
        self.world.write(f"{CONF_D}/50-broken.toml", "version = 2\n[broken\n")
        done = self.assert_untouched(lambda: self.world.in_pod("apply"), REFUSED)
        self.assertIn(f"{CONF_D}/50-broken.toml:", done.err)

    @proven_by("careless")
    def test_a_folder_that_an_import_finds(self):
        """Every release refuses to start then, and some of their dumps don't."""
        self.world.node.path(f"{CONF_D}/50-folder.toml").mkdir()
        self.assert_untouched(lambda: self.world.on_node("apply"), REFUSED)

    @proven_by("careless")
    def test_a_handler_without_its_binary(self):
        done = self.assert_untouched(
            lambda: self.world.on_node("apply", "--handler", "gpu=/usr/local/nvidia/toolkit/none"), DECISION)
        self.assertIn("/usr/local/nvidia/toolkit/none", done.err)

    @proven_by("careless")
    def test_a_plan_whose_inputs_have_changed(self):
        self.expect(0, self.world.on_node("plan", "--out", "/run/plan.json", program="ctkit"))
        self.world.write(f"{CONF_D}/60-later.toml", f'version = {self.world.version}\n[debug]\nlevel = "warn"\n')
        self.assert_untouched(lambda: self.world.on_node("apply", "/run/plan.json"), DECISION)

    @proven_by("no-restart")
    def test_a_plan_whose_inputs_are_the_same_is_applied(self):
        self.expect(0, self.world.on_node("plan", "--out", "/run/plan.json", program="ctkit"))
        self.assert_files_as_before()
        self.apply("/run/plan.json")
        self.assert_handlers()

    @proven_by("careless")
    def test_a_plan_restarts_nothing_and_verify_and_status_neither(self):
        for verb in ("plan", "verify", "status"):
            self.assert_untouched(lambda verb=verb: self.world.on_node(*self.reading(verb)), 0)

    def reading(self, verb):
        # The stand-in knows apply: it is what has to be seen failing.
        return [verb] if self.world.program == "ctkit" else ["apply"]
