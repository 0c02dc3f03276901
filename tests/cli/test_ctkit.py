"""What a user sees of ctkit: the program run on trees made here. CTKIT is its path. Python's own modules only."""

import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import tomllib
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import killed_at  # noqa: E402

CTKIT = os.path.abspath(os.environ.get("CTKIT", "build/main/ctkit"))
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


class Case(unittest.TestCase):
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


class WholePath(Case):
    def test_plan_after_apply_is_empty_and_a_second_apply_writes_nothing(self):
        for release in ("1.6.20", "1.7.27", "2.0.5", "2.1.0", "2.3.4"):
            for files in (INCIDENT, UNIMPORTED, {}):
                with self.subTest(release=release, files=list(files)):
                    shutil.rmtree(self.root)
                    (self.root / "usr/local").mkdir(parents=True)
                    self.write(files)
                    before = self.snapshot()
                    self.assertEqual(self.run_ctkit("plan", "--exit-code", release=release).returncode, 2)
                    self.assertEqual(self.snapshot(), before)
                    self.succeed("apply", release=release)
                    applied = self.snapshot(times=True)
                    self.assertIn("nothing to do", self.succeed("plan", "--exit-code", release=release).out)
                    self.assertIn("nothing to do", self.succeed("apply", release=release).out)
                    self.assertEqual(self.snapshot(times=True), applied)
                    self.succeed("uninstall", release=release)
                    self.assertEqual(self.snapshot(), before)
                    self.assertIn("nothing of ours", self.succeed("uninstall", release=release).out)

    def test_the_handlers_are_effective_after_apply(self):
        self.write(INCIDENT)
        self.succeed("apply")
        config = tomllib.loads(self.succeed("effective").out)
        cri = config["plugins"]["io.containerd.grpc.v1.cri"]
        self.assertEqual(set(cri["containerd"]["runtimes"]), {"nvidia", "nvidia-cdi", "nvidia-legacy", "runc"})
        self.assertTrue(cri["containerd"]["runtimes"]["nvidia"]["options"]["SystemdCgroup"])
        self.assertEqual(cri["registry"]["config_path"], "/etc/containerd/certs.d")

    def test_uninstall_takes_out_of_edited_files_only_what_is_ours(self):
        self.write(UNIMPORTED)
        self.succeed("apply")
        with open(self.root / ROOT, "a") as file:
            file.write('[debug]\nlevel = "debug"\n')
        with open(self.root / DROP_IN, "a") as file:
            file.write('\n[metrics]\naddress = "127.0.0.1:1338"\n')
        self.assertIn("nothing to do", self.succeed("plan").out + "nothing to do")
        done = self.succeed("uninstall")
        self.assertIn("took our part out of /etc/containerd/config.toml, which was edited since", done.out)
        self.assertIn("took our part out of /etc/containerd/conf.d/99-nvidia.toml, which was edited since", done.out)
        self.assertEqual((self.root / ROOT).read_text(), '# theirs\nversion = 2\n[debug]\nlevel = "debug"\n')
        left = (self.root / DROP_IN).read_text()
        self.assertIn('address = "127.0.0.1:1338"', left)
        self.assertNotIn("runtimes", left)
        self.assertFalse((self.root / "usr/local/nvidia").exists())

    def test_apply_keeps_owner_mode_and_acl_of_the_root_file_and_uninstall_too(self):
        self.write(UNIMPORTED, mode=0o640)
        path = self.root / ROOT
        # rw for the owner, r for user 1234, nothing for the group, mask r.
        acl = bytes.fromhex("02000000 01000600ffffffff 02000400d2040000 04000000ffffffff 10000400ffffffff 20000000ffffffff")
        try:
            os.setxattr(path, "system.posix_acl_access", acl)
        except OSError:
            acl = None
        if os.geteuid() == 0:
            os.chown(path, 1234, 4321)
        before = self.snapshot()
        for verb in ("apply", "uninstall"):
            self.succeed(verb)
            status = path.stat()
            self.assertEqual(status.st_mode & 0o7777, 0o640)
            if os.geteuid() == 0:
                self.assertEqual((status.st_uid, status.st_gid), (1234, 4321))
            if acl:
                self.assertEqual(os.getxattr(path, "system.posix_acl_access"), acl)
        self.assertEqual(self.snapshot(), before)

    def test_a_umask_does_not_show(self):
        self.write({})
        self.succeed("apply", preexec_fn=lambda: os.umask(0o077))
        self.assertEqual((self.root / DROP_IN).stat().st_mode & 0o777, 0o644)
        self.assertEqual((self.root / CONF_D).stat().st_mode & 0o777, 0o755)

    def test_a_drop_in_that_repeats_a_secret_is_closed(self):
        self.write(INCIDENT)
        self.write({CONF_D + "/20-secret.toml": "version = 2\n"
                    '[plugins."io.containerd.grpc.v1.cri".registry.configs."r.io".auth]\npassword = "hunter2"\n'}, 0o600)
        for verb, words in (("plan", []), ("plan", ["-o", "json"]), ("explain", []), ("explain", ["-o", "json"]),
                            ("explain", ["plugins"]), ("explain", ["plugins", "-o", "json"]), ("apply", [])):
            done = self.succeed(verb, *words)
            self.assertNotIn("hunter2", done.out + done.err, (verb, words))
        self.assertIn("hunter2", (self.root / LAST_DROP_IN).read_text())
        self.assertEqual((self.root / LAST_DROP_IN).stat().st_mode & 0o777, 0o600)
        self.assertIn("hunter2", self.succeed("effective").out)
        for path in (self.root / "usr/local/nvidia/.ctkit").iterdir():
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)

    def test_a_foreign_file_of_our_name_comes_back_with_its_mode(self):
        self.write({ROOT: INCIDENT[ROOT]})
        self.write({DROP_IN: '# theirs\nversion = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "p:1"\n'},
                   mode=0o604)
        before = self.snapshot()
        self.succeed("apply")
        self.assertIn("nvidia-cdi", (self.root / DROP_IN).read_text())
        self.succeed("uninstall")
        self.assertEqual(self.snapshot(), before)

    def test_links_stay_links_and_stay_inside_the_root(self):
        outside = self.base / "outside.toml"
        outside.write_text("version = 2\n")
        (self.root / "etc/containerd").mkdir(parents=True)
        os.symlink(outside, self.root / ROOT)
        # As the kernel sees it after a chroot: the target is below the root, where it does not exist.
        self.assertIn("built-in", self.succeed("explain").out)
        self.write({str(outside)[1:]: 'version = 2\nroot = "/inside"\n'})
        self.assertIn('root = "/inside"', self.succeed("effective").out)
        before = self.snapshot()
        self.succeed("apply")
        self.assertTrue((self.root / ROOT).is_symlink())
        self.assertEqual(outside.read_text(), "version = 2\n")
        self.assertIn("imports", (self.root / str(outside)[1:]).read_text())
        self.succeed("uninstall")
        self.assertEqual(self.snapshot(), before)

    def test_a_folder_that_is_a_link_out_of_the_root_stays_inside(self):
        outside = self.base / "outside"
        outside.mkdir()
        self.write({ROOT: INCIDENT[ROOT]})
        os.symlink("../../../../outside", self.root / CONF_D)
        self.run_ctkit("apply")
        self.assertEqual(list(outside.iterdir()), [])

    def test_another_state_folder(self):
        self.write(INCIDENT)
        before = self.snapshot()
        self.succeed("apply", "--state-dir", "/var/lib/ctkit")
        self.assertTrue((self.root / "var/lib/ctkit/journal.json").exists())
        self.succeed("uninstall", "--state-dir", "/var/lib/ctkit")
        self.assertEqual(self.snapshot(), before)


class KilledAnywhere(Case):
    """SIGKILL before each change of the file system: the node loads, and the next run completes it or takes it back."""

    @classmethod
    def setUpClass(cls):
        if not killed_at.usable():
            raise unittest.SkipTest("ptrace is not allowed here, or this is no x86_64")

    def start_over(self, files, verbs=()):
        shutil.rmtree(self.root)
        (self.root / "usr/local").mkdir(parents=True)
        self.write(files)
        for verb, *words in verbs:
            self.succeed(verb, *words)

    def without_state_leftovers(self):
        """Empty folders on the way to a journal that was not written yet are all that a kill may leave."""
        tree = self.snapshot()
        for name in ("usr/local/nvidia/.ctkit/.", "usr/local/nvidia/.ctkit", "usr/local/nvidia/.", "usr/local/nvidia"):
            tree.pop(name, None)
        return tree

    def sweep(self, files, before, killed, completed):
        """`before`: verbs that set the scene; `killed`: the verb to kill; `completed`: what must hold after it is repeated."""
        self.start_over(files)
        clean = self.without_state_leftovers()
        self.start_over(files, [*before, killed])
        done = self.daemons_files()
        for n in range(1, 200):
            self.start_over(files, before)
            code = killed_at.run_until(self.command(*killed), n)
            if code is not None:
                self.assertEqual(code, 0)
                self.assertGreater(n, 3)
                return
            with self.subTest(n=n):
                self.succeed("effective")
                self.succeed(*killed)
                if completed:
                    self.assertEqual(self.daemons_files(), done)
                self.succeed("uninstall")
                self.assertEqual(self.without_state_leftovers(), clean)
            with self.subTest(n=n, then="uninstall"):
                self.start_over(files, before)
                killed_at.run_until(self.command(*killed), n)
                self.succeed("uninstall")
                self.assertEqual(self.without_state_leftovers(), clean)
        self.fail("never came to an end")

    def test_first_apply(self):
        self.sweep(INCIDENT, [], ["apply"], True)

    def test_first_apply_with_a_root_edit(self):
        self.sweep(UNIMPORTED, [], ["apply"], True)

    def test_first_apply_without_any_config(self):
        self.sweep({}, [], ["apply"], True)

    def test_apply_over_a_foreign_file(self):
        self.sweep({ROOT: INCIDENT[ROOT], DROP_IN: "version = 2\n# theirs\n"}, [], ["apply"], True)

    def test_later_apply(self):
        self.sweep(UNIMPORTED, [["apply"]], ["apply", "--handler", "gpu=/opt/gpu"], True)

    def test_later_apply_to_another_place(self):
        self.sweep(UNIMPORTED, [["apply"]], ["apply", "--drop-in", "/etc/containerd/gpu.d/gpu.toml"], True)

    def test_uninstall(self):
        self.sweep(UNIMPORTED, [["apply"]], ["uninstall"], True)


class ExitCodes(Case):
    def test_0_and_2_tell_no_changes_from_changes(self):
        self.write(INCIDENT)
        self.assertEqual(self.run_ctkit("plan").returncode, 0)
        self.assertEqual(self.run_ctkit("plan", "--exit-code").returncode, 2)
        self.assertEqual(self.run_ctkit("plan", "--exit-code", "-o", "json").returncode, 2)
        self.succeed("apply")
        self.assertEqual(self.run_ctkit("plan", "--exit-code").returncode, 0)

    def test_3_a_decision_is_needed(self):
        self.write(INCIDENT)
        for verb in ("plan", "apply"):
            self.refuse(3, verb, "--on-conflict", "refuse", where="/etc/containerd/conf.d/10-runc.toml:5")

    def test_3_drop_in_folder_is_a_file(self):
        self.write({ROOT: "version = 2\n", CONF_D: "text"})
        for verb in ("plan", "apply"):
            self.refuse(3, verb, where="/etc/containerd/conf.d")

    def test_3_something_loads_after_us(self):
        self.write({ROOT: 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml", "/etc/last.toml"]\n',
                    "etc/last.toml": 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nsandbox_image = "x"\n'})
        self.refuse(3, "apply", where="/etc/last.toml")

    def test_3_cri_is_disabled(self):
        self.write({ROOT: 'disabled_plugins = ["cri"]\n'})
        self.refuse(3, "apply", where="/etc/containerd/config.toml:1")

    def test_3_generated_root(self):
        path = "/var/lib/rancher/k3s/agent/etc/containerd/config.toml"
        self.write({path[1:]: "# File generated by k3s. DO NOT EDIT. Use config.toml.tmpl instead.\nversion = 2\n"})
        self.refuse(3, "apply", "--config", path, where=path)

    def test_6_where_the_daemon_refuses(self):
        for name, files, where in (
                ("broken", {ROOT: "version = 2\nx = = 1\n"}, "config.toml:2"),
                ("open bracket", {ROOT: "version = 2\n[plugins\n"}, "config.toml:"),
                ("wrong type", {ROOT: "version = 2\nimports = 7\n"}, "config.toml:2"),
                ("wrong type of a plugin", {ROOT: 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\n'
                                            "sandbox_image = 7\n"}, "config.toml:3"),
                ("gone", {ROOT: 'version = 2\nimports = ["/etc/gone.toml"]\n'}, "config.toml:2"),
                ("folder", {ROOT: 'version = 2\nimports = ["/etc/containerd/conf.d/*"]\n',
                            CONF_D + "/old/x": ""}, "/etc/containerd/conf.d/old"),
                ("NUL", {ROOT: b"version = 2\nroot = \"a\0b\"\n"}, "config.toml:2"),
                ("binary", {ROOT: bytes(range(256)) * 50}, "config.toml:1"),
                ("import", {ROOT: INCIDENT[ROOT], CONF_D + "/x.toml": "\n\n=\n"}, "conf.d/x.toml:3")):
            for verb in ("effective", "explain", "plan", "apply"):
                with self.subTest(name=name, verb=verb):
                    shutil.rmtree(self.root)
                    self.root.mkdir()
                    self.write(files)
                    self.refuse(6, verb, where=where, hint=False)

    def test_6_bad_utf8_on_2_which_1_reads_as_replacement_characters(self):
        self.write({ROOT: b'version = 2\nroot = "\xff"\n'})
        for verb in ("effective", "explain", "plan", "apply"):
            self.refuse(6, verb, where="config.toml:2", release="2.1.0", hint=False)
        self.assertEqual(tomllib.loads(self.succeed("effective").out)["root"], "\ufffd")

    def test_6_version_too_new(self):
        self.write({ROOT: "version = 9\n"})
        self.refuse(6, "effective", where="config.toml:1", release="2.1.0", hint=False)

    def test_6_a_named_config_is_missing(self):
        self.refuse(6, "effective", "--config", "/etc/k.toml", where="/etc/k.toml")

    def test_6_unknown_release(self):
        self.write(INCIDENT)
        self.refuse(6, "effective", release=None, where="--release")
        self.refuse(6, "plan", release="seven", where="seven")
        self.refuse(6, "apply", release="1.3.9", where="1.3.9")

    def test_64_usage(self):
        for words in ([], ["mend"], ["plan", "--nope"], ["plan", "-o", "xml"], ["plan", "extra"],
                      ["apply", "--restart", "always"], ["plan", "--handler", "x"], ["effective", "--exit-code"]):
            with self.subTest(words=words):
                done = subprocess.run([CTKIT, *words], capture_output=True, check=False, timeout=LIMIT)
                self.assertEqual(done.returncode, 64)
                self.assertEqual(done.stdout, b"")
                self.assertIn(b"ctkit: ", done.stderr)

    def test_64_a_key_that_is_none(self):
        self.write(INCIDENT)
        for key in ("a..b", "'open", "a b"):
            self.refuse(64, "explain", key, hint=False)

    def test_64_broken_capture_and_defaults(self):
        self.write(INCIDENT)
        broken = self.base / "broken.toml"
        broken.write_text("x = = 1\n")
        self.refuse(64, "effective", "--defaults", str(broken), where="broken.toml:1", hint=False)
        self.refuse(64, "effective", "--defaults", str(self.base / "gone"), where="/gone", hint=False)
        self.refuse(64, "effective", "--defaults", str(self.base), where=str(self.base), hint=False)
        node = self.base / "capture"
        shutil.copytree(self.root, node / "root")
        for text in ("{", "[]", '{"release": 7}', ""):
            (node / "capture.json").write_text(text)
            for root in (node, node / "root"):
                self.refuse(64, "effective", release=None, root=root, where="capture.json")

    def test_75_while_another_one_holds_the_lock(self):
        self.write(INCIDENT)
        holder = os.open(self.root, os.O_RDONLY)
        self.addCleanup(os.close, holder)
        fcntl.flock(holder, fcntl.LOCK_EX)
        for verb in ("apply", "uninstall"):
            self.refuse(75, verb)
        self.succeed("plan")
        self.succeed("effective")
        fcntl.flock(holder, fcntl.LOCK_UN)
        self.succeed("apply")

    def test_77_a_file_that_only_we_cannot_read(self):
        program = self.base / "ctkit"
        shutil.copy(CTKIT, program)
        self.write(INCIDENT)
        (self.root / CONF_D / "registry.toml").chmod(0)
        words = {"preexec_fn": as_nobody, "executable": str(program)}
        for verb in ("effective", "explain", "plan"):
            self.refuse(77, verb, where="/etc/containerd/conf.d/registry.toml", hint=False, **words)

    def test_77_a_tree_that_we_may_not_write(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give the tree to somebody else")
        program = self.base / "ctkit"
        shutil.copy(CTKIT, program)
        self.write(INCIDENT)
        self.refuse(77, "apply", hint=False, preexec_fn=as_nobody, executable=str(program))

    def test_1_a_root_that_is_none(self):
        for root in ("/nonexistent/root", str(self.base / "file"), ""):
            (self.base / "file").write_text("")
            done = subprocess.run([CTKIT, "effective", "--root=" + root, "--release", "1.7.27"],
                                  capture_output=True, check=False, timeout=LIMIT)
            self.assertEqual(done.returncode, 1 if root else 64, done.stderr)
            self.assertEqual(done.stdout, b"")
            self.assertIn(b"ctkit: ", done.stderr)

    def test_1_stdout_that_is_full(self):
        self.write(INCIDENT)
        with open("/dev/full", "w") as full:
            done = subprocess.run(self.command("effective"), stdout=full, stderr=subprocess.PIPE, check=False,
                                  timeout=LIMIT)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)


class BadInput(Case):
    def test_a_fifo_is_not_waited_for(self):
        (self.root / "etc/containerd").mkdir(parents=True)
        os.mkfifo(self.root / ROOT)
        for verb in ("effective", "explain", "plan", "apply"):
            done = self.run_ctkit(verb)
            self.assertIn(done.returncode, (1, 6))
            self.assertEqual(done.out, "")
            self.assertIn("/etc/containerd/config.toml", done.err)

    def test_a_fifo_beside_is_not_waited_for(self):
        self.write({ROOT: INCIDENT[ROOT], CONF_D + "/x": ""})
        os.mkfifo(self.root / DROP_IN)
        done = self.run_ctkit("apply")
        self.assertIn(done.returncode, (1, 3, 6))
        self.assertEqual(done.out, "")

    def test_50_megabytes(self):
        self.write({ROOT: "version = 2\n" + "# " + "x" * 98 + "\n" * 1})
        with open(self.root / ROOT, "a") as file:
            for _ in range(500):
                file.write(("# " + "x" * 98 + "\n") * 1000)
            file.write('root = "/end"\n')
        self.assertIn('root = "/end"', self.succeed("effective").out)

    def test_a_file_that_is_too_large(self):
        self.write({ROOT: ""})
        os.truncate(self.root / ROOT, 1 << 32)
        self.refuse(1, "effective", where="/etc/containerd/config.toml", hint=False)

    def test_deep_nesting(self):
        depth = 10000
        for name, text in (
                ("arrays", "version = 2\nx = " + "[" * depth + "]" * depth + "\n"),
                ("open arrays", "version = 2\nx = " + "[" * depth + "\n"),
                ("inline tables", "version = 2\nx = " + "{a=" * depth + "1" + "}" * depth + "\n"),
                ("open inline tables", "version = 2\nx = " + "{a=" * depth + "\n"),
                ("dotted key", "version = 2\n[plugins]\n" + ".".join(["a"] * depth) + " = 1\n"),
                ("header", "version = 2\n[plugins." + ".".join(["a"] * depth) + "]\n"),
                ("headers", "version = 2\n" + "".join(f"[plugins.t{n}]\n" for n in range(depth))),
                ("nested headers", "version = 2\n" +
                 "".join("[plugins." + ".".join(["a"] * n) + "]\n" for n in range(1, 1000)))):
            for release in ("1.7.27", "2.1.0"):
                with self.subTest(name=name, release=release):
                    self.write({ROOT: text})
                    for verb in ("effective", "explain", "plan"):
                        done = self.run_ctkit(verb, release=release)
                        self.assertIn(done.returncode, (0, 1, 6), done.err[:1000])
                        if done.returncode:
                            self.assertEqual(done.out, "")
                            self.assertIn("/etc/containerd/config.toml", done.err)
                            self.assertLess(len(done.err), 10000)

    def test_an_import_cycle_ends(self):
        self.write({ROOT: 'version = 2\nimports = ["/etc/a.toml"]\n',
                    "etc/a.toml": 'version = 2\nimports = ["/etc/containerd/config.toml"]\nroot = "/a"\n'})
        self.assertIn('root = "/a"', self.succeed("effective").out)

    def test_a_link_cycle_ends(self):
        (self.root / "etc/containerd").mkdir(parents=True)
        os.symlink("config.toml", self.root / ROOT)
        done = self.run_ctkit("effective")
        self.assertIn(done.returncode, (1, 6))
        self.assertEqual(done.out, "")

    def test_a_broken_journal_is_no_reason_to_write(self):
        self.write(INCIDENT)
        self.succeed("apply")
        for text in ("", "{", "[]", '{"schema": 7}', '{"schema": "ctkit/v1/journal", "files": 3}', "\0"):
            self.write({"usr/local/nvidia/.ctkit/journal.json": text})
            for verb in ("plan", "apply", "uninstall"):
                self.refuse(1, verb, where="journal.json")

    def test_names_that_are_no_utf8(self):
        self.write({ROOT: INCIDENT[ROOT]})
        path = os.fsencode(self.root / CONF_D) + b"/\xff.toml"
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as file:
            file.write('version = 2\nroot = "/x"\n')
        json.loads(self.succeed("explain", "-o", "json").out)
        before = self.snapshot()
        self.succeed("apply")
        self.succeed("uninstall")
        self.assertEqual(self.snapshot(), before)
        self.refuse(1, "apply", "--drop-in", b"/etc/containerd/conf.d/zz\xff.toml")


@unittest.skipUnless(may_mount(), "may not mount here")
class Disks(Case):
    """Disks of our own, in a mount namespace of our own."""

    def on_disk(self, options, script, before=""):
        """Mounts a tmpfs with a copy of the tree over the root, does something to it and runs the script."""
        copy = self.base / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.root, copy, symlinks=True)
        lines = ["set -eu", f"mount -t tmpfs -o {options} none {self.root}", f"cp -a {copy}/. {self.root}", before,
                 "set +e", script]
        return subprocess.run(unshare() + ["\n".join(lines)], capture_output=True, check=False, timeout=LIMIT, text=True)

    def test_read_only(self):
        self.write(INCIDENT)
        command = " ".join(self.command("apply"))
        done = self.on_disk("size=1m", command, before=f"mount -o remount,ro {self.root}")
        self.assertIn(done.returncode, (1, 3), done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertIn("read-only", done.stderr)
        self.assertIn("hint", done.stderr)

    def test_full_at_any_point(self):
        self.write(UNIMPORTED)
        apply, uninstall, effective = (" ".join(self.command(verb)) for verb in ("apply", "uninstall", "effective"))
        list_tree = f"cd {self.root}; find . ! -name fill ! -path './usr/local/nvidia*' -exec sha256sum {{}} + 2>/dev/null | sort; cd /"
        for blocks in range(0, 14):
            with self.subTest(free_pages=blocks):
                # Pages of 4 KiB: all but some are taken by a file.
                fill = f"""
                    dd if=/dev/zero of={self.root}/fill bs=4k 2>/dev/null || true
                    truncate -s -{blocks * 4096} {self.root}/fill"""
                script = f"""
                    {list_tree} > {self.base}/before
                    {apply} >/dev/null; echo $? > {self.base}/code
                    {effective} >/dev/null || exit 101
                    {list_tree} > {self.base}/after
                    rm {self.root}/fill
                    {apply} >/dev/null || exit 102
                    {uninstall} >/dev/null || exit 103
                    {list_tree} > {self.base}/end
                    test ! -e {self.root}/usr/local/nvidia || exit 104"""
                done = self.on_disk("size=256k", script, before=fill)
                self.assertEqual(done.returncode, 0, done.stderr)
                code = (self.base / "code").read_text().strip()
                before = (self.base / "before").read_text()
                self.assertIn(code, ("0", "1"))
                if code == "1":
                    self.assertIn("no space left on device", done.stderr)
                    self.assertIn("as before", done.stderr)
                    self.assertEqual((self.base / "after").read_text(), before)
                self.assertEqual((self.base / "end").read_text(), before)

    def test_a_root_file_that_is_a_mount_point(self):
        self.write(UNIMPORTED)
        command = " ".join(self.command("apply"))
        path = self.root / ROOT
        done = self.on_disk("size=1m", command, before=f"mount --bind {path} {path}")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("mount its folder", done.stderr)
        self.assertIn("as before", done.stderr)


class Effective(Case):
    def test_of_an_empty_tree_is_the_recorded_config_default(self):
        for path in sorted((TESTDATA / "containerd/defaults").glob("*.toml")):
            release = path.name.removesuffix(".toml")
            if release.startswith("1.5"):
                continue
            with self.subTest(release=release):
                done = self.succeed("effective", release=release)
                recorded = tomllib.loads(path.read_text())
                ours = tomllib.loads(done.out)
                self.assertEqual(ours, recorded)
                self.assertEqual(done.out, path.read_text())

    def test_json_is_the_same_document(self):
        self.write(INCIDENT)
        for release in ("1.6.20", "1.7.27", "2.1.0", "2.3.4"):
            document = json.loads(self.succeed("effective", "-o", "json", release=release).out)
            self.assertEqual(document, tomllib.loads(self.succeed("effective", release=release).out))
            with_origins = json.loads(self.succeed("effective", "-o", "json", "--show-origin", release=release).out)
            self.assertEqual(with_origins["schema"], "ctkit/v1/effective")
            self.assertEqual(with_origins["config"], document)
            self.assertEqual(set(with_origins), {"schema", "config", "origins", "diagnostics"})

    def test_show_origin_names_file_and_line(self):
        self.write(INCIDENT)
        text = self.succeed("effective", "--show-origin").out
        self.assertRegex(text, r"/etc/containerd/conf.d/registry.toml:3 +plugins.*\.config_path = ")
        self.assertRegex(text, r"built-in +root = ")

    def test_crlf_and_bom(self):
        self.write({ROOT: b"version = 2\r\nroot = \"/x\"\r\n"})
        self.assertIn('root = "/x"', self.succeed("effective").out)
        before = self.snapshot()
        self.succeed("apply")
        self.assertEqual((self.root / ROOT).read_bytes().count(b"\n"), (self.root / ROOT).read_bytes().count(b"\r\n"))
        self.succeed("uninstall")
        self.assertEqual(self.snapshot(), before)


class Explain(Case):
    KEY = 'plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options.SystemdCgroup'

    def test_names_the_eraser_and_the_author(self):
        self.write(INCIDENT)
        for key in (self.KEY, self.KEY.replace('"', ""), self.KEY.replace('"', "'")):
            text = self.succeed("explain", key).out
            self.assertIn("erased by /etc/containerd/conf.d/registry.toml:2", text)
            self.assertIn("/etc/containerd/conf.d/10-runc.toml:5", text)
            self.assertIn("SystemdCgroup = false", text)

    def test_follows_an_old_id_on_2(self):
        self.write(INCIDENT)
        text = self.succeed("explain", self.KEY, release="2.1.0").out
        self.assertIn('plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options.SystemdCgroup = true', text)
        self.assertIn("moved", text)

    def test_an_unknown_key_is_no_failure(self):
        self.write(INCIDENT)
        self.assertIn("not effective", self.succeed("explain", "no.such.key").out)

    def test_overview(self):
        self.write(INCIDENT)
        text = self.succeed("explain").out
        self.assertIn("lost to /etc/containerd/conf.d/registry.toml:2", text)
        document = json.loads(self.succeed("explain", "-o", "json").out)
        self.assertEqual(document["schema"], "ctkit/v1/explain")
        self.assertEqual(document["lost"][0]["by"]["line"], 2)


class Captures(Case):
    def test_by_either_folder_and_with_another_release(self):
        capture = TESTDATA / "captures/gpu-node-1.7.27"
        for root in (capture, capture / "root", f"{capture}/", f"{capture}/root/"):
            text = self.succeed("explain", release=None, root=root).out
            self.assertIn("registry.toml", text)
            self.assertIn("are lost to", text)
        here = self.succeed("explain", release=None, root="root", cwd=capture).out
        self.assertEqual(here, text)
        newer = self.succeed("explain", release="2.1.0", root=capture).out
        self.assertIn("nothing that a file sets is lost", newer)

    def test_flags_beat_the_environment(self):
        self.write(INCIDENT)
        environment = {**os.environ, "CTKIT_ROOT": "/nonexistent", "CTKIT_RELEASE": "2.1.0"}
        text = self.succeed("effective", env=environment).out
        self.assertEqual(text, self.succeed("effective").out)
        environment = {**os.environ, "CTKIT_ROOT": str(self.root), "CTKIT_RELEASE": "1.7.27"}
        done = subprocess.run([CTKIT, "effective"], env=environment, capture_output=True, check=False, timeout=LIMIT, text=True)
        self.assertEqual(done.stdout, text)


class Reports(Case):
    def test_json_names_its_schema(self):
        self.write(INCIDENT)
        for verb in ("explain", "plan", "apply", "uninstall"):
            document = json.loads(self.succeed(verb, "-o", "json").out)
            self.assertEqual(document["schema"], "ctkit/v1/" + verb)

    def test_plan_is_stable(self):
        self.write(INCIDENT)
        self.assertEqual(self.succeed("plan").out, self.succeed("plan").out)

    def test_the_same_tree_elsewhere_gives_the_same_report(self):
        self.write(INCIDENT)
        here = self.succeed("plan").out
        shutil.copytree(self.root, self.base / "elsewhere")
        self.assertEqual(self.succeed("plan", root=self.base / "elsewhere").out, here)


if __name__ == "__main__":
    unittest.main()
