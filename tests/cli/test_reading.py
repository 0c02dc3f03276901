"""What effective, explain and the reports say."""

import json
import os
import shutil
import subprocess
import tomllib
import unittest

from node_case import CTKIT, INCIDENT, LIMIT, ROOT, TESTDATA, NodeCase


class Effective(NodeCase):
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


class Explain(NodeCase):
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


class Captures(NodeCase):
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


class Reports(NodeCase):
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
