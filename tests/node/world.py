"""What the scenarios act on: a node with pods, ctkit in it and beside it, and the state every scenario begins with."""

import collections
import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading
import time

import cri
from node import SOCKET, UNIT, Node, NodeFailed, wait_for

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "deploy/image"))
import oci  # noqa: E402  (deploy/image/oci.py)
from tree import Tree  # noqa: E402

IMAGE = "registry.test/node"
CTKIT_IMAGE = "registry.test/gpu/ctkit"
TOOLKIT = "/usr/local/nvidia/toolkit"
CONTAINERD_FOLDER = "/etc/containerd"
ROOT_FILE = CONTAINERD_FOLDER + "/config.toml"
CONF_D = CONTAINERD_FOLDER + "/conf.d"
UNIT_DROP_INS = f"/etc/systemd/system/{UNIT}.d"
MASK = f"/etc/systemd/system/{UNIT}"
ANSWERS = "/run/answers"  # of ctkit runs in pods
STARTING_MARK = "/run/starting"
RUNTIME_LOG = "/run/nvidia-runtime.log"
APPLETS = ("sh", "sleep", "id", "cat", "env", "mv", "rm", "nsenter", "touch")
LIBSYSTEMD = f"/lib/{os.uname().machine}-linux-gnu/libsystemd.so.0"
LINKED = re.compile(r"(/\S+\.so\S*) \(0x")

RUNTIME = f"""#!/bin/sh
# Stands for the NVIDIA runtime: notes that it was asked, then leaves all to runc.
echo "$0 $*" >>{RUNTIME_LOG}
exec runc "$@"
"""

Done = collections.namedtuple("Done", "code out err")


def _linked_to(program):
    """The libraries that a program is linked to; none of a static one."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    return LINKED.findall(told.stdout) if told.returncode == 0 else []


def _image_of(ctkit):
    """The container image of ctkit: with the libraries it is linked to, a shell, and the stand-ins."""
    busybox = shutil.which("busybox")
    files = {"bin/busybox": (pathlib.Path(busybox).read_bytes(), 0o755), **programs(ctkit)}
    linked = _linked_to(ctkit)
    # libsystemd is loaded when it is needed, so that ldd doesn't tell of it.
    for library in linked + ([LIBSYSTEMD] + _linked_to(LIBSYSTEMD) if linked else []):
        files[library] = (pathlib.Path(library).read_bytes(), 0o755)
    layer = Tree()
    for path, (content, mode) in files.items():
        layer.add_file(path, content, mode)
    for name in APPLETS:
        layer.add_link(f"bin/{name}", "busybox")
    for folder in ("proc", "sys", "dev", "tmp", "etc", "host"):
        layer.add_folder(folder)
    return oci.Archive(IMAGE, "1", [("files", layer)], {"Cmd": ["/bin/sleep", "3600"], "Env": ["PATH=/bin"]}).bytes()


def programs(ctkit):
    found = {f"opt/ctkit/{path.name}": (path.read_bytes(), 0o755) for path in sorted((HERE / "stand_ins").iterdir())}
    return {**found, "opt/ctkit/ctkit": (pathlib.Path(ctkit).read_bytes(), 0o755)}


class World:
    """`with` boots the node and ends it. `program`: what runs as ctkit, a stand-in when a scenario is to be seen failing."""

    def __init__(self, suite, rootfs, ctkit, images=()):
        """images: archives of ctkit's own image, tags 1, 2, … of CTKIT_IMAGE."""
        self.program = "ctkit"
        self._images = {str(tag): path for tag, path in enumerate(images, 1)}
        self._imported = set()
        files = {f"/{path}": content for path, content in programs(ctkit).items()}
        files["/usr/local/sbin/runc"] = ((HERE / "runc-for-nodes").read_bytes(), 0o755)
        files["/opt/image.tar"] = (_image_of(ctkit), 0o644)
        for kind in ("", ".cdi", ".legacy"):
            files[f"{TOOLKIT}/nvidia-container-runtime{kind}"] = (RUNTIME, 0o755)
        self._runs = 0
        self._left_pods = False
        self._old_merge = "1.x" in _line_of(rootfs)
        self._pristine = self._daemons_files()
        self._ours = {path for path in files if path.startswith("/usr/local/nvidia")}
        files.update({path: (text, 0o644) for path, text in self._pristine.items()})
        self.node = Node(suite, rootfs, files)

    def __enter__(self):
        self.node.__enter__()
        try:
            self._set_up()
        except BaseException:
            self.node.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.node.__exit__()

    def _set_up(self):
        self.runtime = cri.Runtime(self.node.path(SOCKET))
        self.release = self.node.output("containerd", "--version").split()[2]
        if self.release.startswith("1.") != self._old_merge:
            raise NodeFailed(f"containerd is {self.release}, its package says otherwise")
        self.node.output("ctr", "-n", "k8s.io", "image", "import", "/opt/image.tar")
        self.pristine_config = self.runtime.wait_ready()
        self._pristine_tree = self.tree()
        self._start_survivor()

    def _start_survivor(self):
        self.survivor = self.start_pod(name="survivor")
        self._survivor_pid = self.survivor.process()
        self._survivor_since = self._since(self._survivor_pid)

    def _since(self, pid):
        """When the node's process `pid` began; None when it is gone."""
        try:
            return self.node.path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
        except FileNotFoundError:
            return None

    def survivor_lives(self):
        """Whether the container that every scenario has to leave alone still runs."""
        return self._since(self._survivor_pid) == self._survivor_since

    # The daemon's files and what it made of them.

    @property
    def old_merge(self):
        """1.x: the last file with a plugin's table has it alone."""
        return self._old_merge

    @property
    def cri_table(self):
        return 'plugins."io.containerd.grpc.v1.cri"' if self._old_merge else 'plugins."io.containerd.cri.v1.runtime"'

    @property
    def version(self):
        return 2 if self._old_merge else 3

    def _daemons_files(self):
        sandbox = (f'[{self.cri_table}]\n  sandbox_image = "{IMAGE}:1"\n' if self._old_merge else
                   f'[plugins."io.containerd.cri.v1.images".pinned_images]\n  sandbox = "{IMAGE}:1"\n')
        return {
            ROOT_FILE: f"# The site's, by hand.\nversion = {self.version}\nimports = [\"{CONF_D}/*.toml\"]\n{sandbox}",
            f"{CONF_D}/20-site.toml": f'version = {self.version}\n[debug]\n  level = "info"\n',
        }

    def write(self, path, text, mode=0o644):
        target = self.node.path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        target.chmod(mode)

    def tree(self, folder=CONTAINERD_FOLDER, times=False):
        """Path → mode, owner and content of what is below a folder of the node; with times inode and times of change too."""
        found = {}
        top = self.node.path(folder)
        for here, folders, files in os.walk(top):
            for name in [*folders, *files]:
                path = pathlib.Path(here, name)
                status = path.lstat()
                content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
                stamp = (status.st_ino, status.st_mtime_ns, status.st_ctime_ns) if times else None
                found[str(path.relative_to(top))] = (status.st_mode, status.st_uid, status.st_gid, content, stamp)
        return found

    def nvidia_folder(self):
        """What is below /usr/local/nvidia besides the runtime binaries."""
        return sorted(f"/usr/local/nvidia/{name}" for name in self.tree("/usr/local/nvidia")
                      if f"/usr/local/nvidia/{name}" not in self._ours and name != "toolkit")

    # ctkit.

    def image(self, tag="1"):
        """The name of a version of ctkit's own image, which the node has from here on."""
        if tag not in self._imported:
            self.node.path(f"/run/ctkit-{tag}.tar").write_bytes(pathlib.Path(self._images[tag]).read_bytes())
            self.node.output("ctr", "-n", "k8s.io", "images", "import", f"/run/ctkit-{tag}.tar")
            self._remove(f"/run/ctkit-{tag}.tar")
            self._imported.add(tag)
        return f"{CTKIT_IMAGE}:{tag}"

    def on_node(self, *words, program=None):
        done = self.node.run(f"/opt/ctkit/{program or self.program}", *words)
        return Done(done.returncode, done.stdout, done.stderr)

    def in_pod(self, verb, *words):
        """As the operator's DaemonSet has it: a privileged pod in the host's pid namespace, the host's root at /host."""
        return self.finish_in_pod(*self.start_in_pod(verb, *words))

    def start_in_pod(self, verb, *words):
        self._runs += 1
        answer = f"{ANSWERS}/{self._runs}"
        self.node.path(answer).mkdir(parents=True)
        inside = f"/host{answer}"
        script = (f'/opt/ctkit/{self.program} "$@" >{inside}/out 2>{inside}/err; echo $? >{inside}/unfinished\n'
                  f"mv {inside}/unfinished {inside}/code; sleep 60")
        pod = self.start_pod("/bin/sh", "-c", script, "sh", verb, "--root", "/host", *words, name=f"ctkit-{self._runs}",
                             privileged=True, host_pid=True, mounts=[("/", "/host")])
        return pod, answer

    def finish_in_pod(self, pod, answer):
        code = self.node.path(f"{answer}/code")
        wait_for("ctkit's end in its pod", code.exists, 60)
        read = lambda name: self.node.path(f"{answer}/{name}").read_text(encoding="utf-8", errors="replace")
        done = Done(int(read("code")), read("out"), read("err"))
        try:
            pod.remove()
        except cri.Refused:
            self._left_pods = True  # a daemon that is down; reset() takes what is left
        return done

    def start_pod(self, *command, **options):
        return self.runtime.start(f"{IMAGE}:1", command or ("/bin/sleep", "3600"), **options)

    # The unit.

    def invocation(self, unit=UNIT):
        """systemd's name for the present run of the unit."""
        return os.readlink(self.node.path(f"/run/systemd/units/invocation:{unit}"))

    def cursor(self):
        output = self.node.output("sh", "-c", "journalctl --sync; journalctl --lines 0 --show-cursor")
        return re.search(r"-- cursor: (\S+)", output)[1]

    def invocations_since(self, cursor):
        """The runs of the daemon's unit that the journal speaks of, those that failed included."""
        output = self.node.output("sh", "-c", "journalctl --sync; journalctl --quiet --output json --after-cursor \"$1\" "
                                  f"--output-fields INVOCATION_ID,_SYSTEMD_INVOCATION_ID UNIT={UNIT} + _SYSTEMD_UNIT={UNIT}",
                                  "sh", cursor)
        entries = map(json.loads, output.splitlines())
        return {entry.get("INVOCATION_ID") or entry.get("_SYSTEMD_INVOCATION_ID") for entry in entries}

    def before_start(self, script):
        """Makes each start of the daemon run a shell script first, as some site's own drop-in of the unit does."""
        self.node.path(STARTING_MARK).unlink(missing_ok=True)
        self.write("/usr/local/sbin/before-containerd", f"#!/bin/sh\n: >{STARTING_MARK}\n{script}\n", 0o755)
        self.write(f"{UNIT_DROP_INS}/site.conf", "[Service]\nExecStartPre=/usr/local/sbin/before-containerd\n")
        self.node.output("systemctl", "daemon-reload")

    def is_starting(self):
        """Whether the daemon began to start since `before_start`."""
        return self.node.path(STARTING_MARK).exists()

    def answers(self):
        """Whether somebody listens on the daemon's socket."""
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(self.node.path(SOCKET)))
            except OSError:
                return False
        return True

    def reset(self):
        """The state that every scenario begins with; cheap when little has changed. The survivor is left alone."""
        changed_units = False
        for path in (UNIT_DROP_INS, MASK):
            if os.path.lexists(self.node.path(path)):
                self._remove(path)
                changed_units = True
        if changed_units:
            self.node.output("systemctl", "daemon-reload")
        for path in ("/usr/local/nvidia/.ctkit", "/run/nvidia", RUNTIME_LOG):
            self._remove(path)
        if self.tree() != self._pristine_tree:
            for path in self.node.path(CONTAINERD_FOLDER).iterdir():
                self._remove(f"{CONTAINERD_FOLDER}/{path.name}")
            for path, text in self._pristine.items():
                self.write(path, text)
        if not self._healthy():
            self.node.output("systemctl", "reset-failed", UNIT, check=False)
            self.node.output("systemctl", "restart", UNIT)
            self.runtime.wait_ready()
        self._remove_installers()
        if not self.survivor_lives():
            self._start_survivor()

    def _remove(self, path):
        target = self.node.path(path)
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        else:
            target.unlink(missing_ok=True)

    def _healthy(self):
        if self.node.property("SubState") != "running":
            return False
        try:
            return self.runtime.config() == self.pristine_config
        except (cri.Refused, KeyError):
            return False

    def pods_are_left(self):
        """Pods that could not be removed now: reset() takes them."""
        self._left_pods = True

    def _remove_installers(self):
        if not self._left_pods:
            return
        self._left_pods = False
        left = self.node.output("ctr", "-n", "k8s.io", "container", "ls", "-q").split()
        kept = {self.survivor.id.decode(), self.survivor.container.decode()}
        for container in set(left) - kept:
            self.node.run("ctr", "-n", "k8s.io", "task", "rm", "--force", container)
            self.node.run("ctr", "-n", "k8s.io", "container", "rm", container)


def _line_of(rootfs):
    """1.x or 2.x: containerd's in the root's package list."""
    status = (rootfs / "var/lib/dpkg/status").read_text(encoding="utf-8")
    version = re.search(r"^Package: containerd\n(?:.+\n)*?Version: (\d+)\.", status, re.MULTILINE)[1]
    return f"{version}.x"


def time_without_socket(world, action):
    """Seconds, from the first connect that fails to the first that succeeds again, while action() runs and after it."""
    gone = back = None
    over = threading.Event()

    def watch():
        nonlocal gone, back
        while back is None and not (over.is_set() and gone is None):
            there = world.answers()
            now = time.monotonic()
            if gone is None and not there:
                gone = now
            elif gone is not None and there:
                back = now
            time.sleep(0.001)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    action()
    over.set()
    watcher.join(20)
    return (back - gone) if gone is not None and back is not None else None
