"""containerd's CRI as a kubelet uses it: what is loaded, and pods. Needs python3-grpcio; messages are put together by hand.

Field numbers are those of runtime.v1 in k8s.io/cri-api."""

import collections
import json
import time

import grpc

_NODE, _CONTAINER = 2, 1  # NamespaceMode
_HOST_TO_CONTAINER = 1    # MountPropagation
_EXITED = 2               # ContainerState
NOT_THERE_YET = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNKNOWN)


class Refused(Exception):
    """The daemon's answer to a call is an error; `code` is gRPC's."""

    def __init__(self, method, error):
        super().__init__(f"{method}: {error.code().name}: {error.details()}")
        self.code = error.code()


def varint(number):
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)


def number_field(field, value):
    return varint(field << 3) + varint(value)


def field(number, content):
    content = content.encode() if isinstance(content, str) else content
    return varint(number << 3 | 2) + varint(len(content)) + content


def parse(message):
    """(field number, int or bytes) of a message, in its order."""
    at = 0

    def read_varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(message):
        key = read_varint()
        kind = key & 7
        if kind == 0:
            yield key >> 3, read_varint()
            continue
        length = {1: 8, 5: 4}.get(kind)
        if length is None:
            length = read_varint()
        yield key >> 3, message[at:at + length]
        at += length


class Runtime:
    """The RuntimeService behind a socket. Each call connects anew: the daemon gets restarted under us."""

    def __init__(self, socket):
        self._target = f"unix:{socket}"

    def call(self, method, request=b"", limit=30):
        """The answer's fields, the last of each number."""
        return dict(self._fields(method, request, limit))

    def _fields(self, method, request, limit):
        options = [("grpc.default_authority", "localhost"), ("grpc.enable_http_proxy", 0)]
        with grpc.insecure_channel(self._target, options=options) as channel:
            try:
                answer = channel.unary_unary(f"/runtime.v1.RuntimeService/{method}", None, None)(request, timeout=limit)
            except grpc.RpcError as error:
                raise Refused(method, error) from None
        return list(parse(answer))

    def config(self):
        """CRI's own config as the daemon has loaded it."""
        for number, value in self._fields("Status", number_field(1, 1), 10):
            entry = dict(parse(value)) if number == 2 else {}
            if entry.get(1) == b"config":
                return json.loads(entry[2])
        raise KeyError("CRI Status has no config")

    def wait_ready(self, limit=15):
        """The loaded config, once the daemon answers."""
        deadline = time.monotonic() + limit
        while True:
            try:
                return self.config()
            except Refused as refused:
                if refused.code not in NOT_THERE_YET or time.monotonic() > deadline:
                    raise
            time.sleep(0.05)

    def handlers(self):
        """Name → binary, "" for the runtime's own, of every loaded handler."""
        runtimes = self.config()["containerd"]["runtimes"] or {}
        return {name: (runtime.get("options") or {}).get("BinaryName", "") for name, runtime in runtimes.items()}

    def start(self, image, command, *, handler="", name="c", privileged=False, host_pid=False, mounts=(), environment=None):
        """A pod on the node's network with one container; mounts: (host path, container path) or a Mount."""
        mounts = [mount if isinstance(mount, Mount) else Mount(*mount) for mount in mounts]
        return Pod(self, image, command, handler, name, privileged, host_pid, mounts, environment or {})


Mount = collections.namedtuple("Mount", "host inside read_only from_host", defaults=(False, False))
Mount.__doc__ = "A folder or file of the host; from_host: what is mounted below it later is seen too (HostToContainer)."


class Pod:
    """A running pod with one container; `with` removes it."""

    def __init__(self, runtime, image, command, handler, name, privileged, host_pid, mounts, environment):
        self._runtime = runtime
        unique = f"{name}-{time.monotonic_ns():x}"
        self.log = f"/run/pods/{unique}/log"
        namespaces = number_field(1, _NODE) + number_field(2, _NODE if host_pid else _CONTAINER) + number_field(3, _NODE)
        pod_security = field(1, namespaces) + (number_field(6, 1) if privileged else b"")
        pod_config = (field(1, field(1, unique) + field(2, unique) + field(3, "default")) + field(3, f"/run/pods/{unique}") +
                      field(8, field(2, pod_security)))
        self.id = runtime.call("RunPodSandbox", field(1, pod_config) + (field(2, handler) if handler else b""))[1]
        try:
            config = field(1, field(1, name)) + field(2, field(1, image))
            config += b"".join(field(3, word) for word in command)
            for variable, value in environment.items():
                config += field(6, field(1, variable) + field(2, value))
            for mount in mounts:
                config += field(7, field(1, mount.inside) + field(2, mount.host) +
                                (number_field(3, 1) if mount.read_only else b"") +
                                (number_field(5, _HOST_TO_CONTAINER) if mount.from_host else b""))
            config += field(11, "log") + field(15, field(2, (number_field(2, 1) if privileged else b"") + field(3, namespaces)))
            self.container = runtime.call("CreateContainer", field(1, self.id) + field(2, config) + field(3, pod_config))[1]
            runtime.call("StartContainer", field(1, self.container))
        except BaseException:
            self.remove()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()

    def execute(self, *command):
        """(exit code, stdout) of a command in the container."""
        request = field(1, self.container) + b"".join(field(2, word) for word in command) + number_field(3, 20)
        answer = self._runtime.call("ExecSync", request)
        return answer.get(3, 0), answer.get(1, b"").decode()

    def process(self):
        """The container's first process, as the node numbers them."""
        fields = self._runtime._fields("ContainerStatus", field(1, self.container) + number_field(2, 1), 10)
        information = (dict(parse(value)) for number, value in fields if number == 2)
        return next(json.loads(entry[2])["pid"] for entry in information if entry.get(1) == b"info")

    def exit_code(self):
        """The container's, once it has ended; None before."""
        status = self._status()
        return status.get(7, 0) if status.get(3, 0) == _EXITED else None

    def stop(self, limit=30):
        """As a kubelet does it: SIGTERM, and SIGKILL after `limit` seconds. Returns when it has ended."""
        self._runtime.call("StopContainer", field(1, self.container) + number_field(2, limit), limit + 10)

    def _status(self):
        return dict(parse(self._runtime.call("ContainerStatus", field(1, self.container))[1]))

    def remove(self):
        for method in ("StopPodSandbox", "RemovePodSandbox"):
            self._runtime.call(method, field(1, self.id))
