#!/usr/bin/env python3
"""The container image that `./run image` makes: a valid OCI archive, the same each time, that runs (needs root for chroot).

Exit status 0 when everything holds, 1 otherwise."""

import argparse
import gzip
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = TOP / "deploy/image/build.py"
DATE = 1_700_000_000
OCI = "application/vnd.oci.image."
# The steps of the GPU Operator's entry point, which it mounts at /bin/entrypoint.sh.
ENTRY_POINT = """#!/bin/sh
until [ -f /run/nvidia/validations/driver-ready ]; do sleep 5; done
set -o allexport
cat /run/nvidia/validations/driver-ready
. /run/nvidia/validations/driver-ready
exec nvidia-toolkit "$@"
"""
DRIVER_READY = "IS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=/\n"
MOST_PACKED = 12e6    # bytes
MOST_UNPACKED = 30e6
options = None


def build(output, *words, **environment):
    done = subprocess.run([BUILD, "--ctkit", options.ctkit, "--static", options.static, "--output", output, *words],
                          env={**os.environ, "SOURCE_DATE_EPOCH": str(DATE), **environment}, capture_output=True, text=True,
                          check=False)
    if done.returncode:
        raise AssertionError(f"exit {done.returncode}\n{done.stdout}{done.stderr}")
    return output


class Archive:
    def __init__(self, path):
        self.tar = tarfile.open(path)
        self.names = self.tar.getnames()
        self.index = self.json("index.json")
        [self.entry] = self.index["manifests"]
        self.manifest = json.loads(self.blob(self.entry))
        self.config = json.loads(self.blob(self.manifest["config"]))

    def read(self, name):
        return self.tar.extractfile(name).read()

    def json(self, name):
        return json.loads(self.read(name))

    def blob(self, descriptor):
        """The content, which has the descriptor's digest and size."""
        content = self.read("blobs/" + descriptor["digest"].replace(":", "/"))
        found = (len(content), "sha256:" + hashlib.sha256(content).hexdigest())
        if found != (descriptor["size"], descriptor["digest"]):
            raise AssertionError(f"{found}, not as {descriptor} says")
        return content

    def layers(self):
        """(tar, bytes) of each."""
        for descriptor in self.manifest["layers"]:
            plain = gzip.decompress(self.blob(descriptor))
            with tempfile.TemporaryFile() as file:
                file.write(plain)
                file.seek(0)
                with tarfile.open(fileobj=file) as tar:
                    yield tar, plain


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.artifacts = cls.folder / "artifacts"
        for kind, library in (("deb", "x86_64-linux-gnu/lib"), ("rpm", "../lib64/lib")):
            tree = cls.artifacts / kind
            (tree / "usr/bin").mkdir(parents=True)
            (tree / "usr/bin/nvidia-ctk").write_text(f"#!/bin/sh\necho {kind}\n")
            (tree / "usr/bin/nvidia-ctk").chmod(0o775)
            (tree / "usr/bin/nvidia-container-toolkit").symlink_to("nvidia-ctk")
        cls.path = build(cls.folder / "image.tar", "--artifacts", cls.artifacts, "--name", "registry.test/gpu/ctkit",
                         "--unpacked", cls.folder / "unpacked")
        cls.archive = Archive(cls.path)
        cls.root = cls.folder / "root"
        cls.root.mkdir()
        for tar, _ in cls.archive.layers():
            tar.extractall(cls.root)

    def inside(self, *command):
        """Runs a command in the image, as root of its own mount namespace, with the image's environment only."""
        environment = self.archive.config["config"]["Env"]
        done = subprocess.run(["unshare", "--mount", "chroot", self.root, "/bin/env", "-i", *environment, *command],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_every_blob_is_what_its_descriptor_says(self):
        archive = self.archive
        self.assertEqual(archive.json("oci-layout"), {"imageLayoutVersion": "1.0.0"})
        self.assertEqual(archive.index["schemaVersion"], 2)
        self.assertEqual(archive.entry["mediaType"], OCI + "manifest.v1+json")
        self.assertEqual(archive.manifest["mediaType"], OCI + "manifest.v1+json")
        self.assertEqual(archive.manifest["config"]["mediaType"], OCI + "config.v1+json")
        self.assertEqual({layer["mediaType"] for layer in archive.manifest["layers"]}, {OCI + "layer.v1.tar+gzip"})
        named = {"oci-layout", "index.json", "blobs", "blobs/sha256"} | {
            "blobs/" + descriptor["digest"].replace(":", "/")
            for descriptor in (archive.entry, archive.manifest["config"], *archive.manifest["layers"])}
        self.assertEqual(set(archive.names), named)
        plain = ["sha256:" + hashlib.sha256(content).hexdigest() for _, content in archive.layers()]
        self.assertEqual(archive.config["rootfs"], {"type": "layers", "diff_ids": plain})
        self.assertEqual(len(archive.config["history"]), len(plain))

    def test_it_is_of_this_machine_and_runs_as_root(self):
        config = self.archive.config
        machine = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
        self.assertEqual((config["os"], config["architecture"]), ("linux", machine))
        self.assertEqual(self.archive.entry["platform"], {"os": "linux", "architecture": machine})
        self.assertEqual(config["config"]["User"], "0:0")
        self.assertEqual(config["config"]["Entrypoint"], ["nvidia-toolkit"])
        self.assertIn("NVIDIA_VISIBLE_DEVICES=void", config["config"]["Env"])

    def test_labels_say_what_it_is(self):
        labels = self.archive.config["config"]["Labels"]
        prefix = "org.opencontainers.image."
        self.assertEqual(labels[prefix + "title"], "ctkit")
        self.assertRegex(labels[prefix + "version"], r"^\d+\.\d+\.\d+$")
        self.assertIn(prefix + "description", labels)
        self.assertEqual(self.archive.entry["annotations"]["io.containerd.image.name"],
                         f"registry.test/gpu/ctkit:{labels[prefix + 'version']}")

    def test_the_same_files_give_the_same_bytes(self):
        again = build(self.folder / "again.tar", "--artifacts", self.artifacts, "--name", "registry.test/gpu/ctkit",
                      TZ="Asia/Tokyo", LC_ALL="C.UTF-8", TMPDIR="/dev/shm")
        self.assertEqual(again.read_bytes(), self.path.read_bytes())

    def test_entries_are_sorted_of_one_date_and_owned_by_root(self):
        for tar, _ in self.archive.layers():
            for entry in tar.getmembers():
                self.assertEqual((entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime), (0, 0, "", "", DATE), entry.name)
                self.assertFalse(entry.mode & 0o6000, entry.name)
                self.assertFalse(entry.mode & 0o022 and entry.isfile(), entry.name)
            for kind in (tarfile.TarInfo.isdir, lambda entry: not entry.isdir()):
                names = [entry.name for entry in tar.getmembers() if kind(entry)]
                self.assertEqual(names, sorted(names))

    def test_unpacked_it_is_the_same(self):
        def listing(folder):
            paths = sorted(folder.rglob("*"))
            return [(str(path.relative_to(folder)), oct(path.lstat().st_mode), path.is_symlink() and os.readlink(path),
                     path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest()) for path in paths]
        fresh = self.folder / "fresh"
        fresh.mkdir()
        for tar, _ in self.archive.layers():
            tar.extractall(fresh)
        self.assertEqual(listing(self.folder / "unpacked"), listing(fresh))

    def test_it_is_small(self):
        packed = self.path.stat().st_size
        unpacked = sum(entry.size for tar, _ in self.archive.layers() for entry in tar.getmembers())
        print(f"image: {packed / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked", flush=True)
        self.assertLess(packed, MOST_PACKED)
        self.assertLess(unpacked, MOST_UNPACKED)

    def test_its_packages_and_licences_are_on_record(self):
        records = sorted(path.name for path in (self.root / "var/lib/dpkg/status.d").iterdir())
        self.assertTrue({"base-files", "busybox-static", "libc6", "libsystemd0"} <= set(records), records)
        for name in records:
            record = (self.root / "var/lib/dpkg/status.d" / name).read_text()
            self.assertRegex(record, rf"(?m)^Package: {name}\n")
            self.assertRegex(record, r"(?m)^Version: \S+\n")
            self.assertTrue((self.root / f"usr/share/doc/{name}/copyright").is_file(), name)
        self.assertIn("ID=debian", (self.root / "etc/os-release").read_text())

    def test_ctkit_runs_under_each_of_its_names(self):
        version = self.archive.config["config"]["Labels"]["org.opencontainers.image.version"]
        code, output, errors = self.inside("ctkit", "--version")
        self.assertEqual((code, errors), (0, ""))
        self.assertIn(version, output)
        for name in ("nvidia-toolkit", "nvidia-ctk-installer"):
            code, output, errors = self.inside(name, "--help")
            self.assertEqual(code, 0, errors)
            self.assertTrue(output)

    def test_the_program_for_the_host_needs_nothing_of_the_image(self):
        empty = self.folder / "empty"
        empty.mkdir()
        (empty / "ctkit").write_bytes((self.root / "usr/lib/ctkit/static/ctkit").read_bytes())
        (empty / "ctkit").chmod(0o755)
        done = subprocess.run(["chroot", empty, "/ctkit", "--version"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_every_library_is_there_that_systemd_is_talked_to_with(self):
        [loader] = [*self.root.glob("lib64/ld-linux*"), *self.root.glob("lib/ld-linux*")]
        [library] = self.root.glob("usr/lib/*/libsystemd.so.0")
        code, output, errors = self.inside(f"/{loader.relative_to(self.root)}", "--list", f"/{library.relative_to(self.root)}")
        self.assertEqual(code, 0, errors)
        self.assertNotIn("not found", output)
        self.assertIn("libc.so.6 => ", output)

    def test_the_operators_entry_point_finds_all_it_calls(self):
        (self.root / "bin/entrypoint.sh").write_text(ENTRY_POINT)
        (self.root / "bin/entrypoint.sh").chmod(0o700)
        ready = self.root / "run/nvidia/validations"
        ready.mkdir(parents=True)
        (ready / "driver-ready").write_text(DRIVER_READY)
        code, output, errors = self.inside("/bin/sh", "-c", "/bin/entrypoint.sh --version")
        self.assertEqual(code, 0, errors)
        self.assertTrue(output.startswith(DRIVER_READY), output)
        self.assertGreater(len(output), len(DRIVER_READY))
        self.assertFalse((self.root / "bin").is_symlink(), "the operator mounts a file in /bin")
        for applet in sorted(path.name for path in (self.root / "bin").iterdir() if path.is_symlink()):
            self.assertIn(f"{applet}\n", self.inside("/bin/busybox", "--list")[1])

    def test_artifacts_are_where_the_operators_image_has_them(self):
        for kind in ("deb", "rpm"):
            self.assertEqual(self.inside(f"/artifacts/{kind}/usr/bin/nvidia-ctk"), (0, f"{kind}\n", ""))
            self.assertEqual(os.readlink(self.root / f"artifacts/{kind}/usr/bin/nvidia-container-toolkit"), "nvidia-ctk")
        self.assertEqual((self.root / "artifacts/deb/usr/bin/nvidia-ctk").stat().st_mode & 0o7777, 0o755)


class Refusals(unittest.TestCase):
    def refused(self, *words):
        done = subprocess.run([BUILD, "--ctkit", options.ctkit, "--static", options.static, *words],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        return done.stderr

    def test_a_folder_without_artifacts(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("neither deb nor rpm nor usr", self.refused("--artifacts", folder))

    def test_no_program(self):
        self.assertIn("no program at /nowhere/ctkit", self.refused("--ctkit", "/nowhere/ctkit"))


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ctkit", type=os.path.abspath, default=TOP / "build/release/ctkit")
    parser.add_argument("--static", type=os.path.abspath, default=TOP / "build/static/ctkit")
    parser.add_argument("--counts", metavar="FILE", help="append a line: tests passed, failed, skipped")
    parser.add_argument("--only", metavar="NAME", help="tests with this in their name")
    options = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("image test: running what is in the image needs root")
    loader = unittest.TestLoader()
    if options.only:
        loader.testNamePatterns = [f"*{options.only}*"]
    result = unittest.TextTestRunner(verbosity=2).run(loader.loadTestsFromModule(sys.modules[__name__]))
    failed = len(result.failures) + len(result.errors)
    if options.counts:
        with open(options.counts, "a", encoding="utf-8") as counts:
            counts.write(f"{result.testsRun - failed} {failed} 0\n")
    return 0 if result.testsRun and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
