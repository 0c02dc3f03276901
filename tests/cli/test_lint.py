"""`ctkit lint` and `ctkit preflight` as a user meets them. CTKIT is the program's path. Python's own modules only.

Each rule has a page in docs/rules, and the example of a page triggers that rule and no other. A page says `release: R`, and
a fenced block that begins `# file: PATH` is a file of the example.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import recorded  # noqa: E402

PAGES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "rules"
CAPTURE = pathlib.Path(__file__).resolve().parents[2] / "testdata" / "captures" / "gpu-node-1.7.27"
CTKIT = os.path.abspath(os.environ.get("CTKIT", "build/release/ctkit"))
ROOT = "/etc/containerd/config.toml"
DROP_IN = "/etc/containerd/conf.d/99-nvidia.toml"


def ctkit(verb, *arguments, root, release=None):
    command = [CTKIT, verb, "--root", str(root), *arguments] + (["--release", release] if release else [])
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


def lint(root, release=None):
    done = ctkit("lint", "-o", "json", root=root, release=release)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def preflight(root, target, release=None):
    done = ctkit("preflight", "--to", target, "-o", "json", root=root, release=release)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def place(origin):
    return f"{origin['file']}:{origin['line']}" if origin else None


def example(page):
    """The release and the files of a page."""
    release, = re.findall(r"^release: (\S+)$", page, re.MULTILINE)
    files = dict(re.findall(r"^```\w+\n# file: (\S+)\n(.*?)^```$", page, re.MULTILINE | re.DOTALL))
    return release, files


class Tree(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="lint.")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, files):
        for path, text in files.items():
            file = self.root / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
            file.chmod(0o644)

    def recorded(self, name):
        recorded.lay(self.root, recorded.read_cases()[name])

    def rules(self, release):
        return {finding["rule"] for finding in lint(self.root, release)["findings"]}


SPEC = """cdiVersion: 0.5.0
kind: {kind}
devices:
  - name: "0"
    containerEdits:
      deviceNodes:
        - path: /dev/nvidia0
containerEdits:
  mounts:
    - hostPath: /usr/lib64/libcuda.so.{version}
      containerPath: /usr/lib64/libcuda.so.{version}
"""


class Specs(Tree):
    def test_everybodys_specs_are_compared_with_the_driver(self):
        self.write({"/etc/cdi/a.yaml": SPEC.format(kind="nvidia.com/gpu", version="570.10"),
                    "/var/run/cdi/b.yaml": SPEC.format(kind="management.nvidia.com/gpu", version="580.95.05"),
                    "/var/run/cdi/c.yaml": "kind: nothing\n",
                    "/usr/lib64/libcuda.so.1": "", "/usr/lib64/libcuda.so.580.95.05": "",
                    "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Tue\n"})
        done = ctkit("status", "-o", "json", root=self.root, release="1.7.27")
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        rows = [(row["file"], row["spec"], row["module"], row["state"]) for row in told["cdi_specs"]]
        self.assertEqual(rows, [("/etc/cdi/a.yaml", "570.10", "580.95.05", "missing-files"),
                                ("/var/run/cdi/b.yaml", "580.95.05", "580.95.05", "current")])
        self.assertIn("/var/run/cdi/c.yaml", [fault["file"] for fault in told["cdi_faults"]])
        table = ctkit("status", root=self.root, release="1.7.27").stdout
        self.assertRegex(table, r"570\.10 +\S+ +580\.95\.05 +missing-files +/etc/cdi/a\.yaml")
        self.assertEqual(self.rules("2.1.9"), {"CTK031", "CTK033"})

    def test_the_daemons_own_folders_are_read_and_1_6_has_no_specs(self):
        self.write({"/etc/cdi/bad.yaml": "kind: nothing\n", "/opt/cdi/bad.yaml": "kind: nothing\n",
                    ROOT: 'version = 2\n[plugins."io.containerd.grpc.v1.cri"]\nenable_cdi = true\ncdi_spec_dirs = ["/opt/cdi"]\n'})
        files = [finding["origin"]["file"] for finding in lint(self.root, "1.7.27")["findings"] if finding["rule"] == "CTK031"]
        self.assertEqual(files, ["/opt/cdi/bad.yaml"])
        self.assertNotIn("CTK031", self.rules("1.6.39"))


class Rules(Tree):
    def sarif_rules(self):
        done = ctkit("lint", "-o", "sarif", root=CAPTURE)
        return json.loads(done.stdout)["runs"][0]["tool"]["driver"]["rules"]

    def test_each_has_a_page_and_each_page_a_rule(self):
        ids = [rule["id"] for rule in self.sarif_rules()]
        self.assertEqual(ids, [f"CTK{n:03}" for n in range(1, len(ids) + 1)])
        self.assertEqual(sorted(page.stem for page in PAGES.glob("*.md")), ids)
        for rule in self.sarif_rules():
            page = (PAGES / f"{rule['id']}.md").read_text()
            self.assertTrue(page.startswith(f"# {rule['id']} {rule['name']}\n\n{rule['shortDescription']['text']}."))

    def test_each_example_triggers_its_rule_and_no_other(self):
        for path in sorted(PAGES.glob("*.md")):
            with self.subTest(path.stem):
                release, files = example(path.read_text())
                self.assertTrue(files)
                with tempfile.TemporaryDirectory() as folder:
                    self.root = pathlib.Path(folder)
                    self.write(files)
                    findings = lint(self.root, release)["findings"]
                self.assertEqual({finding["rule"] for finding in findings}, {path.stem}, findings)
                for finding in findings:
                    self.assertIn(finding["origin"]["file"], files)
                    self.assertTrue(finding["hint"])

    def test_a_sound_node_has_no_findings(self):
        self.write({ROOT: "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n"})
        for release in ("1.6.39", "1.7.27", "2.0.11", "2.1.9", "2.2.7", "2.3.4"):
            self.assertEqual(lint(self.root, release)["findings"], [])

    def test_what_apply_writes_has_no_findings(self):
        for release in ("1.7.27", "2.2.7", "2.3.4"):
            with self.subTest(release), tempfile.TemporaryDirectory() as folder:
                self.root = pathlib.Path(folder)
                self.write({ROOT: "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n",
                            "/etc/containerd/conf.d/registry.toml":
                                "version = 2\n[plugins.\"io.containerd.grpc.v1.cri\".registry]\n"
                                "config_path = \"/etc/containerd/certs.d\"\n"})
                done = ctkit("apply", "--restart", "none", root=self.root, release=release)
                self.assertEqual(done.returncode, 0, done.stderr)
                problems = [f for f in lint(self.root, release)["findings"] if f["severity"] != "note"]
                self.assertEqual(problems, [])


class Lint(Tree):
    def test_names_the_file_that_erased_the_handlers(self):
        finding, = (f for f in lint(CAPTURE)["findings"] if f["rule"] == "CTK001")
        self.assertEqual(place(finding["origin"]), "/etc/containerd/conf.d/registry.toml:2")
        self.assertIn("containerd.runtimes.nvidia (/etc/containerd/conf.d/99-nvidia.toml:9)", finding["message"])
        done = ctkit("lint", root=CAPTURE)
        self.assertTrue(done.stdout.startswith("/etc/containerd/conf.d/registry.toml:2: error: CTK001 erases-others: "))
        self.assertTrue(done.stdout.endswith("containerd 1.7.27: 1 error, 0 warnings, 0 notes\n"))

    def test_exits_with_2_only_for_problems_and_on_request(self):
        self.assertEqual(ctkit("lint", root=CAPTURE).returncode, 0)
        self.assertEqual(ctkit("lint", "--exit-code", root=CAPTURE).returncode, 2)
        self.recorded("scenario-r01-nvidia-only")
        self.write({ROOT: "version = 2\n"})
        (self.root / DROP_IN.lstrip("/")).unlink()
        self.assertEqual(ctkit("lint", "--exit-code", root=self.root, release="1.7.27").returncode, 0)

    def test_a_refusal_is_a_finding(self):
        self.write({ROOT: "version = 2\nroot = 1\n"})
        for release in ("1.7.27", "2.3.4"):
            finding, = lint(self.root, release)["findings"]
            self.assertEqual((finding["rule"], finding["severity"], place(finding["origin"])),
                             ("CTK020", "error", f"{ROOT}:2"))

    def test_a_secret_is_never_printed(self):
        _, files = example((PAGES / "CTK014.md").read_text())
        self.write(files)
        for output in ("table", "json", "sarif"):
            self.assertNotIn("hunter2", ctkit("lint", "-o", output, root=self.root, release="2.1.9").stdout)
        (self.root / ROOT.lstrip("/")).chmod(0o600)
        self.assertEqual(self.rules("2.1.9"), set())

    def test_a_recorded_tree_misses_no_binaries(self):
        _, files = example((PAGES / "CTK018.md").read_text())
        self.write({path: text for path, text in files.items() if path.startswith("/etc")})
        self.assertEqual(self.rules("2.1.9"), set())


class Sarif(Tree):
    def check(self, log):
        """What the SARIF 2.1.0 schema requires of the properties that we write."""
        self.assertEqual(log["version"], "2.1.0")
        self.assertRegex(log["$schema"], r"^https://.*sarif.*2\.1\.0.*\.json$")
        self.assertLessEqual(set(log), {"$schema", "version", "runs"})
        for run in log["runs"]:
            driver = run["tool"]["driver"]
            self.assertTrue(driver["name"] and driver["version"])
            ids = [rule["id"] for rule in driver["rules"]]
            self.assertEqual(len(ids), len(set(ids)))
            for rule in driver["rules"]:
                self.assertTrue(rule["shortDescription"]["text"])
                self.assertRegex(rule["helpUri"], r"^[a-z]+://")
                self.assertIn(rule["defaultConfiguration"]["level"], {"none", "note", "warning", "error"})
            self.assertIsInstance(run["originalUriBaseIds"], dict)
            for result in run["results"]:
                self.assertEqual(ids[result["ruleIndex"]], result["ruleId"])
                self.assertIn(result["level"], {"none", "note", "warning", "error"})
                self.assertTrue(result["message"]["text"])
                for location in result["locations"]:
                    physical = location["physicalLocation"]
                    uri = physical["artifactLocation"]["uri"]
                    self.assertRegex(uri, r"^([A-Za-z0-9._~/-]|%[0-9A-F]{2})+$")
                    self.assertFalse(uri.startswith("/"))
                    self.assertIn(physical["artifactLocation"]["uriBaseId"], run["originalUriBaseIds"])
                    self.assertGreaterEqual(physical["region"]["startLine"], 1)
                    self.assertGreaterEqual(physical["region"].get("startColumn", 1), 1)

    def test_has_the_required_structure(self):
        for path in sorted(PAGES.glob("*.md")):
            with self.subTest(path.stem), tempfile.TemporaryDirectory() as folder:
                self.root = pathlib.Path(folder)
                release, files = example(path.read_text())
                self.write(files)
                log = json.loads(ctkit("lint", "-o", "sarif", root=self.root, release=release).stdout)
                self.check(log)
                self.assertEqual({result["ruleId"] for result in log["runs"][0]["results"]}, {path.stem})

    def test_says_the_same_as_json(self):
        log = json.loads(ctkit("lint", "-o", "sarif", root=CAPTURE).stdout)
        results = log["runs"][0]["results"]
        findings = lint(CAPTURE)["findings"]
        self.assertEqual([(r["ruleId"], r["level"]) for r in results], [(f["rule"], f["severity"]) for f in findings])

    def test_escapes_odd_paths(self):
        self.write({ROOT: "version = 2\nimports = [\"/etc/containerd/conf.d/*.toml\"]\n",
                    "/etc/containerd/conf.d/a b%é.toml": "version = 2\noom_score = \"x\"\n"})
        log = json.loads(ctkit("lint", "-o", "sarif", root=self.root, release="1.7.27").stdout)
        self.check(log)
        uri = log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        self.assertEqual(uri, "etc/containerd/conf.d/a%20b%25%C3%A9.toml")


class Preflight(Tree):
    def assert_names(self, report, rule, where, what):
        found = [f for f in report["findings"] if f["rule"] == rule and place(f["origin"]) == where]
        self.assertTrue(found, report["findings"])
        self.assertIn(what, found[0]["message"])
        self.assertTrue(found[0]["hint"])

    def test_a_17_node_with_nvidias_drop_in_meets_23(self):
        self.recorded("stock-v2-containerd1-7-command")
        report = preflight(self.root, "2.3.4", "1.7.27")
        self.assertIsNone(report["refused"])
        held = {s["key"].rsplit(".", 1)[1]: s for s in report["settings"] if s["kind"] == "held"}
        self.assertEqual(place(held["enable_cdi"]["origin"]), f"{DROP_IN}:14")
        self.assertEqual((held["enable_cdi"]["before"], held["enable_cdi"]["after"]), (False, True))
        # Moved by the migration, and so no loss.
        self.assertNotIn("lost", {s["kind"] for s in report["settings"]})
        # The installer's next run takes version 4 from the dump.
        self.assert_names(report, "CTK003", f"{ROOT}:2", "version 4")
        self.assertTrue(report["changes"])

    def test_the_aks_tree_meets_23(self):
        self.recorded("stock-v2top-containerd2-3-4-command-broken")
        report = preflight(self.root, "2.3.4", "2.2.7")
        self.assertTrue(report["breaks"])
        self.assertEqual(report["refused"]["where"].split(":")[:2], [DROP_IN, "1"])
        self.assertTrue(report["refused"]["hint"])
        self.assert_names(report, "CTK003", f"{DROP_IN}:1", "refuses to start")

    def test_the_v3_drop_in_under_a_v2_root_meets_22(self):
        self.recorded("scenario-r05b-v3-dropin-v2-root")
        for release in ("1.7.27", "2.3.5"):
            with self.subTest(release):
                report = preflight(self.root, "2.2.7", release)
                self.assertTrue(report["breaks"])
                self.assert_names(report, "CTK003", f"{DROP_IN}:1", "sandbox_image")
                ignored = {place(s["origin"]) for s in report["settings"] if s["kind"] == "ignored"}
                self.assertEqual(ignored, {f"{ROOT}:4", f"{ROOT}:6"})

    def test_the_incident_is_over_on_22(self):
        report = preflight(CAPTURE, "2.2.7")
        self.assertEqual({h["name"]: (h["before"], bool(h["after"])) for h in report["handlers"]},
                         {name: (None, True) for name in ("nvidia", "nvidia-cdi", "nvidia-legacy")})
        self.assertEqual({s["kind"] for s in report["settings"]}, {"revived"})
        self.assertFalse(report["breaks"])

    def test_the_same_release_changes_nothing(self):
        for name in ("stock-v2-containerd1-7-command", "scenario-r02-both"):
            self.recorded(name)
            report = preflight(self.root, "1.7.27", "1.7.27")
            self.assertEqual((report["breaks"], report["changes"], report["defaults"]), (False, False, []))
            self.assertEqual(ctkit("preflight", "--to", "1.7.27", "--exit-code", root=self.root,
                                   release="1.7.27").returncode, 0)

    def test_exits_with_2_only_on_request(self):
        self.assertEqual(ctkit("preflight", "--to", "2.2.7", root=CAPTURE).returncode, 0)
        self.assertEqual(ctkit("preflight", "--to", "2.2.7", "--exit-code", root=CAPTURE).returncode, 2)

    def test_wants_a_release_it_knows(self):
        self.assertEqual(ctkit("preflight", root=CAPTURE).returncode, 64)
        self.assertEqual(ctkit("preflight", "--to", "soon", root=CAPTURE).returncode, 6)


if __name__ == "__main__":
    unittest.main()
