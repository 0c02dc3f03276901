"""What apply and uninstall leave, also when the disk fails them; for kills see ../crash."""

import os
import shutil
import subprocess
import tomllib
import unittest

from node_case import CONF_D, DROP_IN, INCIDENT, LAST_DROP_IN, LIMIT, ROOT, UNIMPORTED, NodeCase, may_mount, unshare


class WholePath(NodeCase):
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


@unittest.skipUnless(may_mount(), "may not mount here")
class Disks(NodeCase):
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


if __name__ == "__main__":
    unittest.main()
