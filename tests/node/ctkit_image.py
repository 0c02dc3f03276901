"""ctkit's own image in two versions, with artifacts that stand for NVIDIA's."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "deploy/image"))
import build  # noqa: E402  (deploy/image/build.py)
import oci  # noqa: E402
from tree import Tree  # noqa: E402

NAME = "registry.test/gpu/ctkit"
VERSIONS = ("1.20.0", "1.20.1")  # of NVIDIA's toolkit, in the images with the tags 1 and 2
RUNTIMES = ("nvidia-container-runtime", "nvidia-container-runtime.cdi", "nvidia-container-runtime.legacy")
PROGRAMS = ("nvidia-ctk", "nvidia-cdi-hook", "nvidia-container-cli", "nvidia-container-runtime-hook")


def make(ctkit, static, folder):
    """The paths of the archives, in the order of their tags."""
    found = []
    layers = build.make_layers(ctkit, static, None)
    for tag, version in enumerate(VERSIONS, 1):
        whole = [*layers[:1], (f"artifacts {version}", artifacts(version)), *layers[1:]]
        path = pathlib.Path(folder, f"ctkit-{tag}.tar")
        path.write_bytes(oci.Archive(NAME, str(tag), whole, build.config(""), tag).bytes())
        found.append(str(path))
    return found


def artifacts(version):
    """What NVIDIA's image has below /artifacts. The runtime leaves everything to runc."""
    tree = Tree()
    top = "artifacts/deb/usr"
    for name in RUNTIMES:
        tree.add_file(f"{top}/bin/{name}", b'#!/bin/sh\nexec runc "$@"\n', 0o755)
    for name in PROGRAMS:
        tree.add_file(f"{top}/bin/{name}", f'#!/bin/sh\necho "{name} {version}"\n'.encode(), 0o755)
    for name in ("libnvidia-container", "libnvidia-container-go"):
        tree.add_file(f"{top}/lib/x86_64-linux-gnu/{name}.so.{version}", b"\x7fELF of a stand-in\n")
        tree.add_link(f"{top}/lib/x86_64-linux-gnu/{name}.so.1", f"{name}.so.{version}")
    return tree
