#!/usr/bin/env python3
"""ctkit's container image as an OCI archive, without a container engine.

It holds ctkit, also as nvidia-toolkit and nvidia-ctk-installer, the libraries it is linked to, a shell for the GPU
Operator's entry point, NVIDIA's artifacts if they are given, and the static ctkit that is copied onto the host. The same
files and packages give the same digest; all dates are SOURCE_DATE_EPOCH, by default that of the last commit."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import debian
import oci
from tree import Tree

TOP = pathlib.Path(__file__).resolve().parents[2]
NAMES = ("nvidia-toolkit", "nvidia-ctk-installer")
ON_THE_HOST = "usr/lib/ctkit/static/ctkit"
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    # On a node whose default runtime is NVIDIA's this container gets no GPU, and asks for none.
    "NVIDIA_VISIBLE_DEVICES": "void",
    "NVIDIA_DISABLE_REQUIRE": "true",
    "NVIDIA_DRIVER_CAPABILITIES": "utility",
}


def main():
    parser = argparse.ArgumentParser(prog="./run image", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=TOP / "build/image/ctkit.tar", help="default: build/image/ctkit.tar")
    parser.add_argument("--unpacked", type=pathlib.Path, metavar="DIR", help="lay the image's files into a new folder too")
    parser.add_argument("--artifacts", type=pathlib.Path, metavar="DIR",
                        help="NVIDIA's toolkit: their image's /artifacts, or one of the folders deb and rpm below it")
    parser.add_argument("--name", default="localhost/ctkit", help="the image's name, without tag")
    parser.add_argument("--tag", help="default: the version")
    parser.add_argument("--revision", help="of the sources, for the label; default: git's")
    parser.add_argument("--ctkit", type=pathlib.Path, default=TOP / "build/release/ctkit")
    parser.add_argument("--static", type=pathlib.Path, default=TOP / "build/static/ctkit")
    options = parser.parse_args()
    for program in (options.ctkit, options.static):
        if not os.access(program, os.X_OK):
            parser.error(f"no program at {program}")
    try:
        artifacts = artifacts_layer(options.artifacts) if options.artifacts else None
    except ValueError as problem:
        parser.error(str(problem))
    layers = make_layers(options.ctkit, options.static, artifacts)
    if options.unpacked:
        options.unpacked.mkdir(parents=True)
        for _, tree in layers:
            tree.unpack(options.unpacked)
    date = int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct") or 0)
    tag = options.tag or version()
    archive = oci.Archive(options.name, tag, layers, config(options.revision or git("rev-parse", "HEAD")), date)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(archive.bytes())
    for (what, tree), layer in zip(layers, archive.layers):
        print(f"{layer['size'] / 1e6:6.1f} MB, {tree.size() / 1e6:5.1f} MB unpacked  {what.partition(':')[0]}")
    print(f"{options.name}:{tag} {archive.digest}\n{options.output}")


def make_layers(ctkit, static, artifacts):
    """The image's layers, what changes least first: (what it is, Tree). artifacts: a Tree, or None."""
    with tempfile.TemporaryDirectory() as folder:
        stripped = strip(ctkit, folder)
        root, packages = debian.make_root(stripped)
        root.add_folder("artifacts")
        ours = own_layer(stripped, strip(static, folder))
    said = " ".join(f"{name}={version}" for name, version in packages.items())
    return [(f"Debian: {said}", root), *([("NVIDIA's toolkit artifacts", artifacts)] if artifacts else []), ("ctkit", ours)]


def own_layer(ctkit, static):
    layer = Tree()
    layer.add_file("usr/bin/ctkit", ctkit.read_bytes(), 0o755)
    for name in NAMES:
        layer.add_link(f"usr/bin/{name}", "ctkit")
    layer.add_file(ON_THE_HOST, static.read_bytes(), 0o755)
    return layer


def artifacts_layer(folder):
    """NVIDIA's image has a tree for Debian-like systems and one for others. ValueError if the folder is neither."""
    layer = Tree()
    kinds = [kind for kind in ("deb", "rpm") if (folder / kind).is_dir()]
    if kinds:
        for kind in kinds:
            layer.add_tree(folder / kind, f"artifacts/{kind}")
    elif (folder / "usr").is_dir():
        layer.add_tree(folder, f"artifacts/{'rpm' if folder.resolve().name == 'rpm' else 'deb'}")
    else:
        raise ValueError(f"'{folder}' has neither deb nor rpm nor usr")
    return layer


def strip(program, folder):
    stripped = pathlib.Path(folder, f"{program.parent.name}-{program.name}")
    subprocess.run(["strip", "-o", stripped, program], check=True)
    return stripped


def config(revision):
    labels = {
        "org.opencontainers.image.title": "ctkit",
        "org.opencontainers.image.description": "NVIDIA runtime handlers on a Kubernetes node, in place of NVIDIA's container-toolkit image",
        "org.opencontainers.image.version": version(),
    }
    if revision:
        labels["org.opencontainers.image.revision"] = revision
    return {"User": "0:0", "Env": [f"{name}={value}" for name, value in ENVIRONMENT.items()], "Entrypoint": ["nvidia-toolkit"],
            "WorkingDir": "/", "Labels": labels}


def version():
    return re.search(r"^project\(ctkit VERSION (\S+)", (TOP / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)[1]


def git(*words):
    """What git says of the sources; nothing outside of a clone."""
    try:
        told = subprocess.run(["git", "-C", TOP, *words], capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return told.stdout.strip() if told.returncode == 0 else ""


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as problem:
        sys.exit(f"image: {problem}")
