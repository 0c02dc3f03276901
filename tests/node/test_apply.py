"""Apply on a running node, from a pod of the very daemon that is restarted, and taking it back."""

import statistics
import subprocess
import tempfile
import time

from scenario import Scenario, proven_by
from world import CONF_D, RUNTIME_LOG, time_without_socket

MOST_IDLE = 0.050  # seconds that an apply with nothing to do may take
MOST_GAP = 1.2     # time without socket, as a multiple of a plain restart's


class FromAPod(Scenario):
    @proven_by("no-restart")
    def test_apply_makes_the_handlers_live_with_one_restart(self):
        done, starts = self.starts(lambda: self.world.in_pod("apply"))
        self.expect(0, done)
        self.assert_handlers()
        self.assertEqual(starts, 1)
        self.assertEqual(self.world.node.property("NRestarts"), "0")

    @proven_by("no-restart")
    def test_a_pod_runs_through_the_handler(self):
        self.expect(0, self.world.in_pod("apply"))
        self.assert_pod_runs("nvidia")
        log = self.world.node.path(RUNTIME_LOG).read_text()
        self.assertIn("nvidia-container-runtime ", log)
        self.assertIn(" create ", log)
        self.assert_pod_runs()

    @proven_by("forgetful")
    def test_uninstall_gives_back_every_byte_and_the_loaded_config(self):
        root = f"# The site's, without imports.\nversion = {self.world.version}\n" + self.sandbox_of_the_site()
        self.world.write("/etc/containerd/config.toml", root)
        self.world.node.output("systemctl", "restart", "containerd")
        before, loaded = self.world.tree(), self.world.runtime.wait_ready()
        self.expect(0, self.world.in_pod("apply"))
        self.assert_handlers()
        self.assertNotEqual(self.world.tree(), before)
        done, starts = self.starts(lambda: self.world.in_pod("uninstall"))
        self.expect(0, done)
        self.assertEqual(self.world.tree(), before)
        self.assertEqual(self.world.nvidia_folder(), [])
        self.assertEqual(self.live(self.world.runtime.config), loaded)
        self.assertEqual(starts, 1)

    def sandbox_of_the_site(self):
        text = self.world.node.path("/etc/containerd/config.toml").read_text()
        return text[text.index("[plugins"):]

    @proven_by("heavy-handed")
    def test_running_containers_survive(self):
        with self.world.start_pod(name="workload") as pod:
            process = pod.process()
            for verb in ("apply", "uninstall"):
                self.expect(0, self.world.in_pod(verb))
                self.live(self.world.runtime.config)
                self.assertEqual(pod.process(), process)
                self.assertEqual(pod.execute("/bin/id", "-u"), (0, "0\n"))


class FromTheHost(Scenario):
    @proven_by("no-restart")
    def test_apply_makes_the_handlers_live(self):
        self.apply()
        self.assert_handlers()

    @proven_by("no-restart")
    def test_a_daemon_that_has_just_been_started(self):
        """1.6 tells systemd that it is ready before its CRI is."""
        self.world.node.output("systemctl", "restart", "containerd")
        self.apply()
        self.assert_handlers()

    @proven_by("no-restart")
    def test_what_one_file_took_from_another_is_live_again(self):
        """The incident: on 1.x a registry drop-in erased the handlers of the file before it, and the site's pause image."""
        version, cri_table = self.world.version, self.world.cri_table
        self.world.write(f"{CONF_D}/30-kata.toml", f'version = {version}\n[{cri_table}.containerd.runtimes.kata]\n'
                         'runtime_type = "io.containerd.runc.v2"\n[' + cri_table + '.containerd.runtimes.kata.options]\n'
                         'BinaryName = "/usr/local/sbin/runc"\n')
        registry = cri_table.replace("runtime", "images") + ".registry"
        self.world.write(f"{CONF_D}/40-registry.toml", f'version = {version}\n[{registry}]\nconfig_path = "/etc/certs.d"\n')
        self.world.node.output("systemctl", "restart", "containerd")
        self.assertEqual("kata" in self.live(self.world.runtime.handlers), not self.world.old_merge)
        self.apply()
        self.assert_handlers()
        self.assertIn("kata", self.world.runtime.handlers())
        self.assert_pod_runs("kata")

    @proven_by("no-restart")
    def test_the_bus_may_be_down(self):
        self.world.node.output("systemctl", "stop", "dbus.socket", "dbus.service")
        self.addCleanup(self.world.node.output, "systemctl", "start", "dbus.socket", "dbus.service")
        self.apply()
        self.assert_handlers()

    @proven_by("no-restart")
    def test_a_daemon_older_than_its_files_is_restarted_though_they_stay(self):
        self.apply("--restart", "none")
        self.assert_no_handlers()
        applied = self.world.tree(times=True)
        done, starts = self.starts(lambda: self.world.on_node("apply"))
        self.expect(0, done)
        self.assert_handlers()
        self.assertEqual(starts, 1)
        self.assertEqual(self.world.tree(times=True), applied)

    @proven_by("careless")
    def test_start_limit_does_not_keep_the_daemon_down(self):
        self.world.node.output("systemctl", "reset-failed", "containerd")
        for _ in range(5):
            self.world.node.output("systemctl", "restart", "containerd")
        self.live(self.world.runtime.config)
        self.apply()
        self.assert_handlers()

    @proven_by("slow")
    def test_no_longer_without_socket_than_a_plain_restart(self):
        plain, ours = [], []
        restart = lambda: self.world.node.output("systemctl", "restart", "containerd")
        for n in range(24):
            self.world.node.output("systemctl", "reset-failed", "containerd")
            plain.append(time_without_socket(self.world, restart))
            self.live(self.world.runtime.config)
            verb = "uninstall" if n % 2 else "apply"
            ours.append(time_without_socket(self.world, lambda: self.expect(0, self.world.on_node(verb))))
            self.assertIsNotNone(ours[-1], f"{verb} did not restart the daemon")
            self.live(self.world.runtime.config)
            ratio = statistics.median(ours) / statistics.median(plain)
            # A busy machine needs more samples to tell.
            if n >= 5 and n % 2 and ratio <= MOST_GAP:
                break
        print(f"   without socket, median of {len(ours)}: {1000 * statistics.median(ours):.0f} ms, plain restart "
              f"{1000 * statistics.median(plain):.0f} ms, ratio {ratio:.2f}", flush=True)
        self.assertLessEqual(ratio, MOST_GAP)


class NothingToDo(Scenario):
    def setUp(self):
        super().setUp()
        self.expect(0, self.world.on_node("apply", program="ctkit"))

    @proven_by("careless")
    def test_a_second_apply_restarts_nothing(self):
        invocation = self.world.invocation()
        self.expect(0, self.world.in_pod("apply"))
        self.assertEqual(self.world.invocation(), invocation)
        self.assert_handlers()

    @proven_by("careless")
    def test_a_second_apply_runs_no_other_program(self):
        self.assertEqual(self.programs_run("apply"), ["ctkit"])

    def programs_run(self, *words):
        """The names of the programs that a run of ctkit consists of."""
        command = self.world.node.command(f"/opt/ctkit/{self.world.program}", *words)
        with tempfile.NamedTemporaryFile("r", encoding="utf-8") as trace:
            strace = ["strace", "-f", "-qq", "-o", trace.name, "-e", "trace=execve", "-e", "status=successful"]
            done = subprocess.run([*strace, *command],
                                  capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            run = [line.split('"')[1].rpartition("/")[2] for line in trace if 'execve("' in line]
        return run[run.index("env") + 1:]

    @proven_by("careless")
    def test_a_second_apply_writes_nothing(self):
        before = [self.world.tree(folder, times=True) for folder in ("/etc/containerd", "/usr/local/nvidia")]
        self.expect(0, self.world.on_node("apply"))
        self.assertEqual([self.world.tree(folder, times=True) for folder in ("/etc/containerd", "/usr/local/nvidia")], before)
        self.assertEqual(self.world.node.property("ActiveState"), "active")
        self.assertEqual(self.starts(lambda: self.world.on_node("apply"))[1], 0)

    @proven_by("careless")
    def test_a_second_apply_is_quick(self):
        times, entering = [], []
        # A busy machine needs more tries.
        while len(times) < 9 or (min(times) - min(entering) >= MOST_IDLE and len(times) < 40):
            entering.append(self.time_of("true"))
            times.append(self.time_of(f"/opt/ctkit/{self.world.program}", "apply"))
        own = min(times) - min(entering)
        print(f"   apply with nothing to do, best of {len(times)}: {1000 * own:.0f} ms", flush=True)
        self.assertLess(own, MOST_IDLE)

    def time_of(self, *command):
        """Seconds, entering the node included."""
        begun = time.monotonic()
        done = self.world.node.run(*command)
        took = time.monotonic() - begun
        self.assertEqual(done.returncode, 0, done.stderr)
        return took
