"""ctkit's image as the GPU Operator's toolkit DaemonSet runs it: its entry point, environment and mounts, on a node with a driver."""

import pathlib
import sys
import threading
import time

import cri
from ctkit_image import VERSIONS
from cri import Mount
from node import wait_for
from scenario import HANDLERS, Scenario
from world import CONF_D

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "cdi"))
import tree_case  # noqa: E402  (tests/cdi/tree_case.py)

VALIDATIONS = "/run/nvidia/validations"
DRIVER_READY = f"{VALIDATIONS}/driver-ready"
DRIVER_CONTAINER = "/run/nvidia/driver"
INSTALL_FOLDER = "/usr/local/nvidia"
ASIDE = "/usr/local/nvidia-aside"
READY_FILE = "/run/nvidia/toolkit/ctkit-ready"
METRICS_FILE = "/run/nvidia/toolkit/ctkit.prom"
PID_FILE = "/run/nvidia/toolkit/toolkit.pid"
SPEC = "/run/cdi/management.nvidia.com-gpu.yaml"
OTHER_FOLDERS = ("/run/nvidia/toolkit", VALIDATIONS, DRIVER_CONTAINER, "/var/run/cdi", "/run/containers/oci/hooks.d",
                 INSTALL_FOLDER)
FAKES = "/run/fakes"
ENTRY_POINT = f"{FAKES}/entrypoint.sh"
SERVED_LIMIT = 60  # seconds

# The steps of the operator's script. Its pauses are of five seconds.
ENTRY_SCRIPT = """#!/bin/sh
until [ -f /run/nvidia/validations/driver-ready ]; do
  echo "waiting for the driver"
  sleep 0.2
done
set -o allexport
cat /run/nvidia/validations/driver-ready
. /run/nvidia/validations/driver-ready
sleep 0.2
exec nvidia-toolkit
"""

HOST_DRIVER = {"IS_HOST_DRIVER": "true", "NVIDIA_DRIVER_ROOT": "/", "DRIVER_ROOT_CTR_PATH": "/host",
               "NVIDIA_DEV_ROOT": "/", "DEV_ROOT_CTR_PATH": "/host"}
CONTAINER_DRIVER = {"IS_HOST_DRIVER": "false", "NVIDIA_DRIVER_ROOT": DRIVER_CONTAINER, "DRIVER_ROOT_CTR_PATH": "/driver-root",
                    "NVIDIA_DEV_ROOT": DRIVER_CONTAINER, "DEV_ROOT_CTR_PATH": "/driver-root"}

# What the operator writes into the container's environment for containerd.
CDI_ON = {"CDI_ENABLED": "true", "NVIDIA_RUNTIME_SET_AS_DEFAULT": "false", "NVIDIA_CONTAINER_RUNTIME_MODE": "cdi",
          "CRIO_CONFIG_MODE": "config"}
ENVIRONMENT = {
    "ROOT": INSTALL_FOLDER,
    "NVIDIA_CONTAINER_RUNTIME_MODES_CDI_DEFAULT_KIND": "management.nvidia.com/gpu",
    "NVIDIA_VISIBLE_DEVICES": "void",
    "TOOLKIT_PID_FILE": PID_FILE,
    "NRI_NAMESPACE": "gpu-operator",
    "RUNTIME": "containerd",
    "CONTAINERD_RUNTIME_CLASS": "nvidia",
    "RUNTIME_CONFIG": "/runtime/config-dir/config.toml",
    "CONTAINERD_CONFIG": "/runtime/config-dir/config.toml",
    "RUNTIME_DROP_IN_CONFIG": "/runtime/config-dir.d/99-nvidia.toml",
    "RUNTIME_DROP_IN_CONFIG_HOST_PATH": f"{CONF_D}/99-nvidia.toml",
    "RUNTIME_SOCKET": "/runtime/sock-dir/containerd.sock",
    "CONTAINERD_SOCKET": "/runtime/sock-dir/containerd.sock",
}

DRIVER_VERSION = "580.95.05"
LIBRARIES = "usr/lib/x86_64-linux-gnu"
DRIVER_FILES = {
    f"/{LIBRARIES}/libcuda.so.{DRIVER_VERSION}": {"elf": "libcuda.so.1"},
    f"/{LIBRARIES}/libcuda.so.1": {"link": f"libcuda.so.{DRIVER_VERSION}"},
    f"/{LIBRARIES}/libnvidia-ml.so.{DRIVER_VERSION}": {"elf": "libnvidia-ml.so.1"},
    f"/{LIBRARIES}/libnvidia-ml.so.1": {"link": f"libnvidia-ml.so.{DRIVER_VERSION}"},
    "/usr/bin/nvidia-smi": {"file": "#!/bin/sh\necho a driver\n", "mode": "755"},
}
DEVICES = {
    "/dev/nvidia0": {"char": [195, 0], "mode": "666"},
    "/dev/nvidiactl": {"char": [195, 255], "mode": "666"},
    "/dev/nvidia-modeset": {"char": [195, 254], "mode": "666"},
    "/dev/nvidia-uvm": {"char": [510, 0], "mode": "666"},
    "/dev/nvidia-uvm-tools": {"char": [510, 1], "mode": "666"},
}
# What the kernel says where the modules are loaded. /proc/modules can't be had everywhere: the runtimes' wrappers find none.
PROC_DEVICES = "Character devices:\n  1 mem\n195 nvidia\n510 nvidia-uvm\n\nBlock devices:\n259 blkext\n"
MODULE_VERSION = f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {DRIVER_VERSION}  Sun Nov  2 00:00:00 UTC 2025\n"


class DaemonSetScenario(Scenario):
    """Begins on a node with a driver on the host and nothing of NVIDIA's toolkit."""

    suites = ("trixie", "forky")  # a 1.x and a 2.x: on 1.6 its life is that on 1.7, and a run has to end in time

    def setUp(self):
        super().setUp()
        node = self.world.node
        self.pods = []
        node.output("mv", INSTALL_FOLDER, ASIDE)
        self.addCleanup(self.clean_up)
        for folder in OTHER_FOLDERS:
            node.output("mkdir", "-p", folder)
        self.world.write(ENTRY_POINT, ENTRY_SCRIPT, 0o700)
        self.world.write(f"{FAKES}/devices", PROC_DEVICES)
        self.world.write(f"{FAKES}/driver/nvidia/version", MODULE_VERSION)
        self.lay({**DRIVER_FILES, **DEVICES})

    def lay(self, tree):
        """Driver files on the node: tests/cdi/tree_case.py says how they are described."""
        tree_case.lay(tree, str(self.world.node.path("")))

    def clean_up(self):
        for pod in self.pods:
            self.remove(pod)
        for path in [*DRIVER_FILES, *DEVICES]:
            self.world.node.path(path).unlink(missing_ok=True)
        self.world.node.output("sh", "-c", f"umount {INSTALL_FOLDER} 2>/dev/null; rm -rf {INSTALL_FOLDER} {FAKES} {SPEC} "
                               f"/run/nvidia/driver/* && mv {ASIDE} {INSTALL_FOLDER}")

    # The pod.

    def start(self, tag="1", driver=HOST_DRIVER, *, cdi=True, environment=None, ready=True):
        """The DaemonSet's pod. With `ready` the driver is, once the pod waits for it; else a scenario says when."""
        self.world.node.path(DRIVER_READY).unlink(missing_ok=True)
        given = {**ENVIRONMENT, **(CDI_ON if cdi else {}), **(environment or {})}
        pod = self.world.runtime.start(self.world.image(tag), ("/bin/sh", "-c", "/bin/entrypoint.sh"), name="toolkit",
                                       privileged=True, host_pid=True, environment=given, mounts=self.mounts())
        self.pods.append(pod)
        self.load_modules(pod)
        self.begun = time.monotonic()
        if ready:
            self.say_driver_ready(driver)
        return pod

    def mounts(self):
        found = [
            Mount("/run/nvidia/toolkit", "/run/nvidia/toolkit"),
            Mount(VALIDATIONS, VALIDATIONS),
            Mount(INSTALL_FOLDER, INSTALL_FOLDER),
            Mount("/run/containers/oci/hooks.d", "/usr/share/containers/oci/hooks.d"),
            Mount(DRIVER_CONTAINER, "/driver-root", from_host=True),
            Mount("/", "/host", read_only=True, from_host=True),
            Mount("/var/run/cdi", "/var/run/cdi"),
            Mount("/etc/containerd", "/runtime/config-dir/"),
            Mount(CONF_D, "/runtime/config-dir.d/"),
            Mount("/run/containerd", "/runtime/sock-dir/"),
            Mount(ENTRY_POINT, "/bin/entrypoint.sh", read_only=True),
        ]
        if self.world.program != "ctkit":
            found += [Mount("/opt/ctkit", "/opt/ctkit"), Mount(f"/opt/ctkit/{self.world.program}", "/usr/bin/ctkit")]
        return found

    def load_modules(self, pod):
        """In the pod, which waits for the driver, the kernel seems to have loaded NVIDIA's modules."""
        script = "".join(f"mount --bind /host{FAKES}/{name} /proc/{name}\n" for name in ("devices", "driver"))
        self.world.node.output("nsenter", "-t", str(pod.process()), "-m", "--root", "/bin/sh", "-ec", script)

    def say_driver_ready(self, driver, lines=5):
        text = "".join(f"{name}={value}\n" for name, value in list(driver.items())[:lines])
        self.world.write(f"{VALIDATIONS}/.new", text)
        self.world.node.path(f"{VALIDATIONS}/.new").rename(self.world.node.path(DRIVER_READY))

    def served(self, pod):
        """Waits until the pod says that the handlers are served, and asks everybody whether they are; seconds since the start."""
        self.wait_served(pod)
        took = time.monotonic() - self.begun
        self.assert_handlers()
        self.assert_ready(pod)
        return took

    def wait_served(self, pod):
        def done():
            if pod.exit_code() is not None:
                self.fail(f"the container ended with {pod.exit_code()}\n{self.log(pod)}")
            return self.world.node.path(READY_FILE).exists()
        self.wait("the handlers to be served", done, pod, SERVED_LIMIT)

    def wait(self, what, condition, pod, limit=20):
        def patient():
            try:
                return condition()
            except cri.Refused:  # the daemon is being restarted
                return False
        try:
            wait_for(what, patient, limit)
        except Exception as late:
            self.fail(f"{late}\n{self.log(pod)}")

    def assert_ready(self, pod):
        """Probe, file, metrics and CRI are of one mind."""
        self.assertEqual(pod.execute("ctkit", "status", "--ready")[0], 0, self.log(pod))
        self.assertTrue(self.world.node.path(READY_FILE).exists())
        self.assertEqual(self.metric("ctkit_handlers_ready"), len(HANDLERS))

    def assert_not_ready(self, pod):
        self.assertNotEqual(pod.execute("ctkit", "status", "--ready")[0], 0, self.log(pod))
        self.assertFalse(self.world.node.path(READY_FILE).exists())

    def metric(self, name, labels=""):
        """Its value in the text file; None without it."""
        try:
            lines = self.world.node.path(METRICS_FILE).read_text().splitlines()
        except FileNotFoundError:
            return None
        return next((float(line.split()[-1]) for line in lines if line.startswith(f"{name}{labels} ")), None)

    def ended(self, pod, limit=30):
        """The exit status of a pod that is to end by itself."""
        self.wait("the container's end", lambda: pod.exit_code() is not None, pod, limit)
        return pod.exit_code()

    def stop(self, pod):
        """Seconds from the order to stop it to the end of its process; its exit status has to be 0."""
        process = self.world.node.path(f"/proc/{pod.process()}")
        begun = time.monotonic()
        stopping = threading.Thread(target=self.ask_to_stop, args=[pod])
        stopping.start()
        wait_for("the end of the container's process", lambda: not process.exists(), 40, every=0.002)
        took = time.monotonic() - begun
        stopping.join()
        self.assertEqual(pod.exit_code(), 0, self.log(pod))
        return took

    def ask_to_stop(self, pod):
        try:
            pod.stop()
        except cri.Refused:
            pass  # a daemon that is restarted gives no answer; its end is what counts

    def remove(self, pod):
        try:
            pod.remove()
        except cri.Refused:
            self.world.pods_are_left()
        if pod in self.pods:
            self.pods.remove(pod)

    def log(self, pod):
        """What the container wrote, without the columns that containerd adds."""
        path = self.world.node.path(pod.log)
        lines = path.read_text(errors="replace").splitlines() if path.exists() else []
        said = [line.split(" ", 3)[-1] for line in lines]
        return "--- the container's log\n" + "\n".join(line for line in said if not line.startswith("  "))[-4000:]

    def text_of(self, path):
        """A file that has to be there."""
        target = self.world.node.path(path)
        self.assertTrue(target.exists(), f"{path} is not there")
        return target.read_text(encoding="utf-8", errors="replace")

    def installed(self):
        """The version of NVIDIA's toolkit that the node has; None without one."""
        done = self.world.node.run(f"{INSTALL_FOLDER}/toolkit/nvidia-ctk", "--version")
        return next((version for version in VERSIONS if version in done.stdout), None)

    def drop_ins(self):
        """Our drop-ins, by name."""
        return sorted(path.name for path in self.world.node.path(CONF_D).iterdir() if path.name.endswith("99-nvidia.toml"))
