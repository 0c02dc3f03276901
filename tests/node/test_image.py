"""ctkit's image on a node, as far as it goes without a driver: containerd takes it, and it runs with the operator's mounts."""

from daemonset import DaemonSetScenario, ENVIRONMENT
from scenario import proven_by


class Image(DaemonSetScenario):
    def run_in_image(self, *command):
        pod = self.world.runtime.start(self.world.image(), ("/bin/sleep", "600"), name="image", privileged=True, host_pid=True,
                                       environment=ENVIRONMENT, mounts=self.mounts())
        self.pods.append(pod)
        return pod.execute(*command)

    @proven_by("idle")
    def test_containerd_takes_it_and_it_runs(self):
        code, output = self.run_in_image("ctkit", "--version")
        self.assertEqual(code, 0)
        self.assertRegex(output, r"\d+\.\d+\.\d+")

    @proven_by("idle")
    def test_with_the_operators_mounts_it_sees_the_node(self):
        code, output = self.run_in_image("ctkit", "status", "--root", "/host", "-o", "json")
        self.assertEqual(code, 0, output)
        self.assertIn(f'"engine": "containerd {self.world.release}', output)
