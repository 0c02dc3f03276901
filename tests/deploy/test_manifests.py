#!/usr/bin/env python3
"""deploy/: the DaemonSet is what the GPU Operator's is, plus what makes it calm, by kustomize and by Helm alike.

test_manifests.py CLASS…: Kustomize needs kubectl and RealHelm needs helm. Exit status 77 when they are not there; chart.py
renders the chart without helm."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import yaml

import chart

TOP = pathlib.Path(__file__).resolve().parents[2]
DEPLOY = TOP / "deploy"
CHART = DEPLOY / "helm/ctkit"
VERSION = re.search(r"^project\(ctkit VERSION (\S+)", (TOP / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
IMAGE = f"registry.example.com/gpu/ctkit:{VERSION}"

# The operator's: volume → (host, in the container, more about the mount).
MOUNTS = {
    "toolkit-root": ("/run/nvidia/toolkit", "/run/nvidia/toolkit", {}),
    "run-nvidia-validations": ("/run/nvidia/validations", "/run/nvidia/validations", {}),
    "toolkit-install-dir": ("/usr/local/nvidia", "/usr/local/nvidia", {}),
    "crio-hooks": ("/run/containers/oci/hooks.d", "/usr/share/containers/oci/hooks.d", {}),
    "driver-install-dir": ("/run/nvidia/driver", "/driver-root", {"mountPropagation": "HostToContainer"}),
    "host-root": ("/", "/host", {"readOnly": True, "mountPropagation": "HostToContainer"}),
    "cdi-root": ("/var/run/cdi", "/var/run/cdi", {}),
    "config": ("/etc/containerd", "/runtime/config-dir/", {}),
    "drop-in-config": ("/etc/containerd/conf.d", "/runtime/config-dir.d/", {}),
    "socket": ("/run/containerd", "/runtime/sock-dir/", {}),
}
ENVIRONMENT = {
    "ROOT": "/usr/local/nvidia",
    "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND": "management.nvidia.com/gpu",
    "NVIDIA_VISIBLE_DEVICES": "void",
    "TOOLKIT_PID_FILE": "/run/nvidia/toolkit/toolkit.pid",
    "CDI_ENABLED": "true",
    "NVIDIA_RUNTIME_SET_AS_DEFAULT": "false",
    "NVIDIA_CONTAINER_RUNTIME_MODE": "cdi",
    "RUNTIME": "containerd",
    "CONTAINERD_RUNTIME_CLASS": "nvidia",
    "RUNTIME_CONFIG": "/runtime/config-dir/config.toml",
    "RUNTIME_DROP_IN_CONFIG": "/runtime/config-dir.d/99-nvidia.toml",
    "RUNTIME_DROP_IN_CONFIG_HOST_PATH": "/etc/containerd/conf.d/99-nvidia.toml",
    "RUNTIME_SOCKET": "/runtime/sock-dir/containerd.sock",
    # The operator's script takes these five from a file of its validator.
    "IS_HOST_DRIVER": "true",
    "NVIDIA_DRIVER_ROOT": "/",
    "DRIVER_ROOT_CTR_PATH": "/host",
    "NVIDIA_DEV_ROOT": "/",
    "DEV_ROOT_CTR_PATH": "/host",
}


def by_name(objects):
    return {(one["kind"], one["metadata"]["name"]): one for one in objects}


def pod_of(daemon_set):
    return daemon_set["spec"]["template"]["spec"]


def environment_of(daemon_set):
    [container] = pod_of(daemon_set)["containers"]
    return {variable["name"]: variable["value"] for variable in container["env"]}


def mounts_of(daemon_set):
    """As MOUNTS; each volume has its mount."""
    [container] = pod_of(daemon_set)["containers"]
    volumes = {volume["name"]: volume["hostPath"]["path"] for volume in pod_of(daemon_set)["volumes"]}
    return {mount["name"]: (volumes.pop(mount["name"]), mount["mountPath"],
                            {key: value for key, value in mount.items() if key not in ("name", "mountPath")})
            for mount in container["volumeMounts"]} | {name: None for name in volumes}


class Facts:
    """What holds of the objects however they are rendered."""

    def setUp(self):
        self.objects = self.render()
        self.daemon_set = self.objects["DaemonSet", "ctkit"]
        self.pod = pod_of(self.daemon_set)
        [self.container] = self.pod["containers"]

    def test_mounts_are_the_operators(self):
        self.assertEqual(mounts_of(self.daemon_set), MOUNTS)

    def test_environment_is_the_operators(self):
        self.assertEqual(environment_of(self.daemon_set), ENVIRONMENT)

    def test_every_value_of_the_environment_is_text(self):
        self.assertEqual({type(value) for value in environment_of(self.daemon_set).values()}, {str})

    def test_it_starts_as_the_operator_starts_it(self):
        self.assertEqual(self.container["command"], ["nvidia-toolkit"])
        self.assertEqual(self.container["image"], IMAGE)
        self.assertEqual(self.container["securityContext"], {"privileged": True, "runAsUser": 0})
        self.assertIs(self.pod["hostPID"], True)
        self.assertEqual(self.pod["nodeSelector"], {"nvidia.com/gpu.deploy.container-toolkit": "true"})
        self.assertEqual(self.pod["tolerations"], [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}])
        self.assertEqual(self.pod["priorityClassName"], "system-node-critical")
        self.assertFalse({"hostNetwork", "hostIPC", "runtimeClassName", "initContainers"} & self.pod.keys())

    def test_a_pod_is_ready_only_when_the_handlers_are_served(self):
        self.assertEqual(self.container["readinessProbe"]["exec"], {"command": ["ctkit", "status", "--ready"]})
        # Killing it mends nothing, and would end a wait for the driver.
        self.assertFalse({"livenessProbe", "startupProbe", "lifecycle"} & self.container.keys())

    def test_one_node_at_a_time(self):
        self.assertEqual(self.daemon_set["spec"]["updateStrategy"],
                         {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}})

    def test_no_token_of_the_api(self):
        self.assertIs(self.pod["automountServiceAccountToken"], False)
        account = self.objects["ServiceAccount", self.pod["serviceAccountName"]]
        self.assertIs(account["automountServiceAccountToken"], False)
        self.assertFalse({kind for kind, _ in self.objects if "Role" in kind and kind != "RuntimeClass"})

    def test_requests_are_tiny(self):
        self.assertEqual(self.container["resources"], {"requests": {"cpu": "10m", "memory": "16Mi"}})

    def test_the_selector_finds_the_pods(self):
        wanted = self.daemon_set["spec"]["selector"]["matchLabels"]
        self.assertTrue(wanted.items() <= self.daemon_set["spec"]["template"]["metadata"]["labels"].items())

    def test_every_handler_has_its_runtime_class(self):
        classes = {name: one["handler"] for (kind, name), one in self.objects.items() if kind == "RuntimeClass"}
        self.assertEqual(classes, {name: name for name in ("nvidia", "nvidia-cdi", "nvidia-legacy")})


@unittest.skipUnless(shutil.which("kubectl"), "no kubectl here (Debian: kubernetes-client)")
class Kustomize(Facts, unittest.TestCase):
    def render(self):
        done = subprocess.run(["kubectl", "kustomize", DEPLOY / "kustomize"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return by_name(yaml.safe_load_all(done.stdout))

    def test_its_namespace_admits_privileged_pods(self):
        labels = self.objects["Namespace", "ctkit"]["metadata"]["labels"]
        self.assertEqual(labels["pod-security.kubernetes.io/enforce"], "privileged")


class Chart(Facts, unittest.TestCase):
    def render(self, **values):
        return by_name(chart.render(CHART, values))

    def test_another_driver_and_other_folders(self):
        daemon_set = self.render(installDir="/opt/nvidia", socket="/run/k3s/containerd/containerd.sock",
                                 driver={"onHost": False, "root": "/run/nvidia/driver", "rootInContainer": "/driver-root"},
                                 cdi=False, env=[{"name": "TOOLKIT_DEBUG", "value": "true"}])["DaemonSet", "ctkit"]
        found, mounts = environment_of(daemon_set), mounts_of(daemon_set)
        self.assertEqual(mounts["toolkit-install-dir"][:2], ("/opt/nvidia", "/opt/nvidia"))
        self.assertEqual(mounts["socket"][0], "/run/k3s/containerd")
        self.assertEqual(found["ROOT"], "/opt/nvidia")
        self.assertEqual(found["DRIVER_ROOT_CTR_PATH"], "/driver-root")
        self.assertEqual((found["IS_HOST_DRIVER"], found["CDI_ENABLED"]), ("false", "false"))
        self.assertNotIn("NVIDIA_CONTAINER_RUNTIME_MODE", found)
        self.assertEqual(found["TOOLKIT_DEBUG"], "true")

    def test_a_crio_node(self):
        daemon_set = self.render(runtime="crio", config="/etc/crio/crio.conf", socket="",
                                 dropIn="/etc/crio/crio.conf.d/99-nvidia.conf")["DaemonSet", "ctkit"]
        found, mounts = environment_of(daemon_set), mounts_of(daemon_set)
        self.assertEqual((found["RUNTIME"], found["RUNTIME_CONFIG"]), ("crio", "/runtime/config-dir/crio.conf"))
        self.assertEqual(mounts["drop-in-config"][:2], ("/etc/crio/crio.conf.d", "/runtime/config-dir.d/"))
        self.assertNotIn("RUNTIME_SOCKET", found)
        self.assertNotIn("socket", mounts)

    def test_runtime_classes_can_be_somebody_elses(self):
        self.assertNotIn("RuntimeClass", {kind for kind, _ in self.render(createRuntimeClasses=False)})

    def test_secrets_and_tags(self):
        objects = self.render(image={"tag": "9.9"}, imagePullSecrets=[{"name": "pull"}])
        pod = pod_of(objects["DaemonSet", "ctkit"])
        self.assertEqual(pod["containers"][0]["image"], "registry.example.com/gpu/ctkit:9.9")
        self.assertEqual(pod["imagePullSecrets"], [{"name": "pull"}])

    def test_its_version_is_the_programs(self):
        about = yaml.safe_load((CHART / "Chart.yaml").read_text())
        self.assertEqual((about["version"], about["appVersion"]), (VERSION, VERSION))


@unittest.skipUnless(chart.helm(), "no helm here, and Debian has no package of it")
class RealHelm(Chart):
    def render(self, **values):
        with tempfile.TemporaryDirectory() as folder:
            return by_name(chart.render_with_helm(CHART, values, folder))


class Operator(unittest.TestCase):
    def test_its_values_name_an_image_that_it_accepts(self):
        values = yaml.safe_load((DEPLOY / "gpu-operator-values.yaml").read_text())
        toolkit = values["toolkit"]
        # The operator's resource refuses anything but letters, digits and hyphens here.
        self.assertRegex(toolkit["image"], r"^[a-zA-Z0-9-]+$")
        self.assertEqual(f"{toolkit['repository']}/{toolkit['image']}:{toolkit['version']}", IMAGE)
        self.assertIs(toolkit["enabled"], True)
        self.assertEqual(values["daemonsets"]["rollingUpdate"]["maxUnavailable"], "1")


class Containerfile(unittest.TestCase):
    def test_it_says_of_the_image_what_the_archive_says(self):
        sys.path.insert(0, str(DEPLOY / "image"))
        import build  # deploy/image/build.py
        wanted = build.config("")
        text = (DEPLOY / "Containerfile").read_text().replace("\\\n", " ")
        last = text[text.rindex("\nFROM scratch"):]
        self.assertIn('ENTRYPOINT ["nvidia-toolkit"]', last)
        self.assertIn(f"USER {wanted['User']}\n", last)
        self.assertIn(f"WORKDIR {wanted['WorkingDir']}\n", last)
        self.assertEqual(re.search(r"^ENV (.*)$", last, re.MULTILINE)[1].split(), wanted["Env"])
        labels = dict(re.findall(r'(org\.opencontainers\.\S+?)=(?:"(.*?)"|\S+)', last))
        self.assertEqual({*labels} - {"org.opencontainers.image.revision"}, {*wanted["Labels"]})
        self.assertEqual(labels["org.opencontainers.image.description"], wanted["Labels"]["org.opencontainers.image.description"])
        self.assertIn(f"org.opencontainers.image.version={VERSION}", last)


def main():
    module = sys.modules[__name__]
    tests = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[1:], module)
    result = unittest.TextTestRunner().run(tests)
    if result.testsRun and result.testsRun == len(result.skipped):
        print(f"skipped: {result.skipped[0][1]}")
        return 77
    return 0 if result.testsRun and result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
