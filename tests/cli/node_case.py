"""A node made in a temporary folder, and ctkit run on it. CTKIT is its path. Python's own modules only."""

import hashlib
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))

CTKIT = os.path.abspath(os.environ.get("CTKIT", "build/release/ctkit"))
TESTDATA = pathlib.Path(__file__).parents[2] / "testdata"
NOBODY = 65534
LIMIT = 60  # seconds; nothing here takes one

ROOT = "etc/containerd/config.toml"
CONF_D = "etc/containerd/conf.d"
DROP_IN = CONF_D + "/99-nvidia.toml"
LAST_DROP_IN = CONF_D + "/zz-99-nvidia.toml"
INCIDENT = {
    ROOT: 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n',
    CONF_D + "/10-runc.toml": "version = 2\n"
    '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n'
    '[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]\nSystemdCgroup = true\n',
    CONF_D + "/registry.toml": "version = 2\n"
    '[plugins."io.containerd.grpc.v1.cri".registry]\nconfig_path = "/etc/containerd/certs.d"\n',
}
UNIMPORTED = {ROOT: "# theirs\nversion = 2\n"}


def may_mount():
    done = subprocess.run(
        unshare() + ["mount -t tmpfs none /tmp"], capture_output=True, check=False, timeout=LIMIT)
    return done.returncode == 0


def unshare():
    """A shell in a mount namespace of its own."""
    return ["unshare", "-m" if os.geteuid() == 0 else "-rm", "sh", "-c"]


def as_nobody():
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)


class NodeCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.mkdtemp(prefix="ctkit-")
        self.addCleanup(shutil.rmtree, folder)
        os.chmod(folder, 0o755)
        self.base = pathlib.Path(folder)
        self.root = self.base / "node"
        (self.root / "usr/local").mkdir(parents=True)

    def write(self, files, mode=0o644):
        for name, text in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            path.chmod(mode)

    def command(self, verb, *words, release="1.7.27", root=None):
        given = [] if release is None else ["--release", release]
        return [CTKIT, verb, "--root", str(root or self.root), *given, *words]

    def run_ctkit(self, verb, *words, release="1.7.27", root=None, **options):
        done = subprocess.run(
            self.command(verb, *words, release=release, root=root), capture_output=True, check=False, timeout=LIMIT,
            **options)
        self.assertGreaterEqual(done.returncode, 0, f"killed by a signal: {done.stderr!r}")
        self.assertNotIn(b"this is a bug", done.stderr)
        done.out = done.stdout.decode(errors="replace")
        done.err = done.stderr.decode(errors="replace")
        return done

    def succeed(self, verb, *words, **options):
        done = self.run_ctkit(verb, *words, **options)
        self.assertEqual(done.returncode, 0, done.err)
        return done

    def refuse(self, code, *words, where="", hint=True, **options):
        """Exit code, nothing on stdout, one message that says where, a hint, and a tree as before."""
        before = self.snapshot()
        done = self.run_ctkit(*words, **options)
        self.assertEqual(done.returncode, code, done.err)
        self.assertEqual(done.out, "")
        self.assertIn("ctkit: ", done.err)
        self.assertIn(where, done.err)
        if hint:
            self.assertIn("  hint: ", done.err)
        self.assertEqual(self.snapshot(), before)
        return done

    def snapshot(self, times=False):
        """Everything below the root: kind, mode, owner and content; with times those of last change too."""
        tree = {}
        for folder, folders, files in os.walk(self.root):
            for name in [*folders, *files, "."]:
                path = pathlib.Path(folder, name)
                status = path.lstat()
                content = ""
                if stat.S_ISLNK(status.st_mode):
                    content = os.readlink(path)
                elif stat.S_ISREG(status.st_mode):
                    try:
                        content = hashlib.sha256(path.read_bytes()).hexdigest()
                    except PermissionError:
                        content = "?"
                tree[str(path.relative_to(self.root))] = (
                    status.st_mode, status.st_uid, status.st_gid, content,
                    (status.st_ino, status.st_mtime_ns, status.st_ctime_ns) if times else None)
        return tree

    def daemons_files(self):
        return {name: item for name, item in self.snapshot().items() if not name.startswith("usr")}
