"""Random nasty containerd trees: the same seed and number give the same tree.

Most trees load. What a daemon may refuse comes in two sorts: a *fault* is wrong nearly everywhere and a tree has at most
two, so that each is seen alone; *spice* is legal in one of the two TOML libraries at least and comes as it likes.
"""
import base64
import json
import random
import string

import recorded

OLD, RUNTIME, IMAGES = "io.containerd.grpc.v1.cri", "io.containerd.cri.v1.runtime", "io.containerd.cri.v1.images"
ROOT = "/etc/containerd/"
SCHEMAS = ("1.6.20", "1.7.13", "1.7.27", "2.1.9", "2.3.4")
ONCE_RECORDED = ("random.jsonl", "rules.jsonl", "real.jsonl")

WORDS = ["a", "b", "x y", "overlayfs", "runc", "nvidia", "/opt/x", "registry.k8s.io/pause:3.9", "tab\t", "é", "", "cri",
         "io.containerd.runc.v2", "/usr/bin/nvidia-container-runtime", "127.0.0.1:10010", "日本", "0", "true", "1.5",
         "it's", 'say "x"', "two\nlines", "back\\slash", "#no comment", "a=b", "[x]", "{}", "\x7f", "\u2028", "😀", "%d",
         "  padded  ", "end\\", "\n", "''", '""', "\x01", "\x1f\x00", "cr\rlf\r\n", "\u0085", "\ufeff", "-", "~/x"]
DURATIONS = ["0s", "100ms", "1m30s", "90s", "1h", "5m0s", "0", "1.5h", "-5s", "+3s", ".5s", "5.s", "1µs", "1μs", "1us",
             "1ns", "1h1h", "100h", "-0", "+0", "2562047h47m16.854775807s", "0.000000000000001s", "-1.5ms", "1000000us",
             "0.1ms", "1.0s", "00001s", "9223372036854775807ns", "-9223372036854775808ns", "1m0.5s", "1h0m0.000000001s",
             "0.3333333333333333333h", "1.00000000000000000000000001s", "9223372036.854775807s", "1h2m3s4ms5us6ns"]
NO_DURATIONS = ["", "5", "1d", "abc", "1h 2m", "9223372036854775808ns", "3000000h", "1e3s", ".s", "-", "s", "1", " 1s",
                "1s ", "1S", "--1s", "1.2.3s", "∞", "99999999999999999999ns", "-9223372036854775809ns", "1m-5s", "0x1s",
                "1_000s", "9223372036.854775808s", "2562047h47m16.854775808s", "1h\u0000", "１s"]
INTEGERS = ["0", "1", "7", "-1", "+5", "-0", "+0", "42", "1_000", "0x10", "0o17", "0b11", "0xdead_beef", "0xFf", "0b1_0",
            "9223372036854775807", "-9223372036854775808", "16777216", "2147483648", "4294967296", "1_2_3", "0o0", "0x0",
            "0x7fffffffffffffff", "0b0"]
NO_INTEGERS = ["9223372036854775808", "-9223372036854775809", "18446744073709551615", "18446744073709551616", "007", "00",
               "1__0", "_1", "1_", "0x", "0b2", "0o8", "0X10", "0B1", "0O7", "+0x10", "-0b1", "0x_1", "0x1_", "+", "-",
               "--1", "+-1", "1 2", "0xg", "-00", "+01", "0xffffffffffffffff", "0x8000000000000000", "1a", "0b", "0o_7",
               "99999999999999999999999", "- 1", "0_1", "1e", "0.", "0x1.5", "0o1e1", "-_1", "0b1_", "+0_0", "0_0"]
FLOATS = ["1.5", "0.0", "-0.0", "+1.0", "1e3", "1E3", "1e+3", "1.5e-3", "6.626e-34", "1_0.5", "inf", "+inf", "-inf", "nan",
          "-nan", "+nan", "0.1", "1e30", "123456789.123", "1.0", "0.02", "1e-400", "5e-324", "1.7976931348623157e308",
          "9007199254740993.0", "0.30000000000000004", "1e1_0", "1.2_5", "1e05", "1e22", "1e21", "0e0", "100.0", "3.0e-5"]
NO_FLOATS = ["1.", ".5", "1.e3", "1e400", "00.5", "1_.5", "1._5", "1e_3", "1e", "1.5e", "1e3.5", "1.2.3", "Inf", "NaN",
             "infinity", "1__0.5", "01.5", "-.5", "+.5", "1e+", "1.5_", "0x1p3", "-1.", "1.0e1_", "in", "na", "i", "n",
             "1e9999999999999999999", "+-1.0", "_1.5", "1.5f", "1,5", "--inf", "inf_", "nanx", "infx", "1e3_", "1e0_3"]
DATES = ["1979-05-27T07:32:00Z", "1979-05-27T00:32:00-07:00", "1979-05-27T00:32:00.999999-07:00", "1979-05-27 07:32:00Z",
         "1979-05-27T07:32:00", "1979-05-27T00:32:00.999999", "1979-05-27", "07:32:00", "00:32:00.999999",
         "2024-02-29T23:59:59.123456789Z", "1979-05-27 07:32:00", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59",
         "1979-05-27T07:32:00.1Z", "1979-05-27T07:32:00+00:00", "07:32:00.5", "1979-05-27T07:32:00.120000", "0000-01-01"]
NO_DATES = ["1979-05-27t07:32:00z", "1979-5-27", "1979-13-01", "1979-02-30", "2023-02-29", "1979-05-27T7:32:00Z",
            "1979-05-27T07:32Z", "24:00:00", "23:60:00", "23:59:60", "07:32", "1979-05-27T07:32:00.Z", "1979-05-27T",
            "1979-05-27T07:32:00+0700", "1979-05-27T07:32:00+24:00", "1979-05-27T07:32:00.1234567891Z", "79-05-27",
            "1979-05-27  07:32:00", "1979-05-27T07:32:00z", "10000-01-01", "1979-05-27T07:32:00-", "1979-05-27x",
            "1979-00-10", "1979-01-00", "1979-05-27T07:32:00+07:60", "07:32:00Z", "1979-05-27Z", "1979-05-27T07:32:60Z",
            "1979-05-27_07:32:00", "0000-00-00", "-1979-05-27", "1979-05-27T07:32:00 Z", "1979-05-27T07:32:00+7",
            "1979-05-27\t07:32:00", "1979-05-27T07:32:00.1 ", "07:32:00.", "7:32:00", "1979-05-27T25:00:00", "1979-04-31",
            "1979-05-27T07:32:00.1234567890", "07:32:00.12345678901", "1979-05-27T07:32:00,5Z", "1979-06-31T00:00:00Z"]
WORDS_OF_TOML = ["True", "TRUE", "tru", "truefalse", "yes", "bare", "null", "", "$x", "a b", "{", "[", "]", "}", ",", "=", '"',
                 "'", "1,", "true false", "\"a\" \"b\"", "[1 2]", "[,]", "[1,,2]", "{a=1,}", "{,}", "{a 1}", "{a=1 b=2}",
                 "{a=1,a=2}", "{\n a = 1 }", "{ a = 1,\n b = 2 }", "[1, 2", "{a.b=1,a.c=2}", "{a=1,a.b=2}", "{a={b=1},a.c=2}",
                 "\"\"\"x", "'''", "\"a\nb\"", "'a\nb'", "{ a = 1 # c\n }", "[ # c\n 1 ]", "{a=[1,{b=2}]}", "{\"\"=1}", "{''=1}",
                 "{1=2}", "{a.1=2}", "{1.2=3}", "{\"a\".'b'=1}", "{a=1}}", "[[1],[\"a\"],[]]", "[{},[],1]", "[{a=1},{}]", "[{}]",
                 "[1.0, 1]", "[[]]", "{a.b.c={}}", "{a=1, b.c=2}", "{ }", "{\t}", "[\t]", "[\r\n]", "[\"a\",\r\n]", "{a=1}#c",
                 "[1]#c", "1#c", "true#c", "\"x\"#c", "1979-05-27#c", "{a.b=1, a={}}", "[1,\"a\",2.5,true,[1],{b=1},1979-05-27]",
                 "[1979-05-27, 1979-05-27T07:32:00Z]", "[07:32:00]", "{a=1979-05-27}", "{a=1979-05-27 }", "{a=inf}", "[nan,inf]",
                 "{true=1}", "{inf=1}", "{-1=2}", "{0x1=2}", "{1979-05-27=1}", "{-=1}", "{_=1}", "[true,false,]"]
STRINGS_OF_TOML = [r'"\x41"', r'"\e"', r'"\a"', r'"\/"', r'"\u12"', r'"\uD800"', r'"\U00110000"', r'"\U0001F600"', r'"\u0000"',
                   r'"\U0000d800"', r'"\ "', r'"""\ """', '"""\\\n  a"""', '"""a\\  \n\n  b"""', '"""\na"""', '"""\r\na"""',
                   "'''\na'''", "'''\r\na'''", '"""a"b""c"""', '""""a""""', '"""""a"""""', "''''a''''", "'''''a'''''", '""""""',
                   "''''''", '"a\tb"', '"a\x01b"', "'a\x01b'", '"""a\x01b"""', "'a\x7fb'", '"a\x7fb"', "'\x00'", '"\x00"', '"a\\',
                   '"\\"', "'\\'", '"""a\rb"""', "'''a\rb'''", '"a\rb"', '"""a\r\nb"""', "'''a\r\nb'''", '"""a\\b"""', '"""a\\"""',
                   r'"\U12345678"', r'"\uFFFF"', r'"\uFEFF"', '"""a\\ b"""', '"a\\\nb"', '"""\\\r\n  x"""', '"""\\u0041\\\n"""',
                   r'"\b\t\n\f\r\"\\"', r'"\N"', r'"\u 041"', r'"\u+041"', r'"\u004G"', '"""x\\\t\n y"""', '"""x\\ y"""', "'\t'",
                   '"""\\\n\\\n"""', '"\u0080"', "'\u2028'", '"\\x4g"', '"\\xe9"', r'"\0"', r'"\'"', '"""\\""" """', '"""a""""""']
KEYS_OF_TOML = ["a b", "a.", ".a", "a..b", "", "=", '"a', "'a", "a'b", '"a"b', '"a"."b', "é", "a$", "a/b", "a:b", '"""a"""',
                "'''a'''", '"a\\nb"', '"\\x41"', '"\\u0041"', '"a\\"b"', "'a\"b'", '"a\'b"', '""', "''", '""."a"', "a . b",
                "a\t.\tb", "1", "1.2", "-", "_", "true", "inf", "1979-05-27", '"a.b"', "'a.b'", '"a".b', "a.\"b\"", '"\\u00e9"',
                '" a "', "' '", '"#"', '"="', '"]"', "'['", '"a\tb"', '"\\t"', '"\x7f"', "a#b", "[a]", '"\\q"', "\"a\nb\"",
                '"\\ud800"', "'\x01'", '"\\u0000"', "a\u00a0b", "+1", "a+b", '"a" "b"', "'a' . \"b\"", '"" . \'\'', "a. b", "a .b"]
HEADERS_OF_TOML = ["[]", "[[]]", "[a", "[a]]", "[[a]", "[ a ]", "[\ta\t]", "[a] b = 1", "[a] # c", "[a]#c", "[[a]]#c", "[a.]", "[.a]",
                   "[a..b]", "[\"a]", "['a']", "[\"a\".'b']", "[a . b]", "[[ a ]]", "[ [a]]", "[[a] ]", "[a\n]", "[é]", "[a b]",
                   "[\"a]b\"]", "['a[b']", "[\"a\\\"b\"]", "[\"\"]", "['']", "[1]", "[1.2]", "[a]\r", "[\"\\u0061\"]", "[a]\n[a]",
                   "[a]\n[\"a\"]", "[a.b]\n[a]\n[a.b]", "[[a]]\n[a]", "[a]\n[[a]]", "[[a]]\n[[a]]", "[[a]]\n[a.b]\n[[a]]\n[a.b]",
                   "a.b = 1\n[a]\nc = 1", "[a]\nb.c = 1\n[a.b]\nd = 1", "[a]\nb = 1\n[a.b]", "[a]\nb = {}\n[a.b]", "a = 1\na = 2",
                   "a = 1\n\"a\" = 2", "a.b = 1\na.c = 2", "a.b = 1\na = 2", "a = {b = 1}\na.c = 2", "a = []\n[[a]]", "a = [{}]\n[[a]]",
                   "a = [{}]\n[a.b]", "[[a.b]]\nc = 1\n[a]\nd = 1", "[a.b.c]\n[a.b]\n[a]", "[a]\n[a.b]\nc.d = 1\n[a.b.c]", "[a]\nA = 1\na = 2",
                   "[a]\nb.c = 1\nb.c = 2", "[a.b]\nc = 1\n[a]\nb.d = 1", "[[a.b]]\n[a.b]", "[[a.b]]\n[[a.b.c]]\n[[a.b]]\n[a.b.c]",
                   "[[a]]\nb.c = 1\n[a.b]", "[a]\n[b]\n[a]", "a.b.c = 1\n[a.b]\nd = 1", "[a.b]\n[[a]]", "[[a]]\n[[a.b]]\n[a.b.c]\nd = 1",
                   "[a]b = 1", "[[a]]b = 1", "[[a]]\nb = 1\nb = 2", "[a]\n a = 1\n [a.a]", "[\"a\\nb\"]", "[a.\"b.c\".d]\ne = 1"]
JUNK = ["\x00", "\x01", "\x0b", "\x0c", "\r", "\xa0", "\x7f", "\ufeff", "\u2028", "\x1f", "\x08", "\x1b"]
BYTES = [b"\xff", b"\xc3", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xfe\xff", b"\x80"]
MARKS = ["[", "]", "{", "}", "=", '"', "'", "\\", ",", ".", "#", "\n", "\r", "\t", " ", "\0", "-", "+", "_", ":", "0", "9", "e", "x",
         "T", "Z", '"""', "'''", "[[", "]]", "\\\n", "\\u", "\r\n", "é", "A", "1979-05-27", "nan", "true", "= =", "\n\n"]
NAMES = ["10-a.toml", "99-nvidia.toml", "zz-nvidia.toml", "registry.toml", ".hidden.toml", "Z.toml", "a.toml", "_u.toml",
         "50-x.toml", "00-a.toml", "a.toml~", "b.conf", "a b.toml", "x[1].toml", "q?.toml", "star*.toml", "é.toml", "sub/s.toml",
         "sub/deep/t.toml", "a-b/c.toml", "a/c.toml", "[a].toml", "back\\slash.toml", "toml", "a.TOML", "sub.toml"]
IMPORTS = ["/etc/containerd/conf.d/*.toml", "/etc/containerd/conf.d/*.toml", "/etc/containerd/conf.d/*.toml", "conf.d/*.toml",
           "/etc/containerd/conf.d/*", "./conf.d/../conf.d/*nvidia*.toml", "conf.d/[az]*.toml", "/etc/containerd/conf.d/?0-*.toml",
           "/etc/containerd/*/*.toml", "conf.d/sub/*.toml", "conf.d/**", "conf.d/**/*.toml", "/etc/containerd/conf.d/*.tom[k-m]",
           "conf.d/[^0-9]*.toml", "/etc/containerd/c*.d/9*", "/etc//containerd/./conf.d/*.toml", "*/a.toml", "conf.d/*/*.toml",
           "conf.d/\\*", "conf.d/{a,b}*.toml", "/etc/containerd/conf.d/x/*/../a.toml", "/etc/containerd/[c]onf.d/*.toml",
           "/etc/containerd/conf.d/*[.]toml", "/etc/containerd/conf.d/\\[a*", "/etc/containerd/config.toml", "config.toml", "./config.toml",
           "/etc/containerd/conf.d/.*", "/etc/*/conf.d/*a*.toml", "/etc/containerd/conf?d/*.toml", "/etc/containerd/conf.d/*é*"]
BAD_IMPORTS = ["/etc/containerd/conf.d", "conf.d", "", ".", "/", "missing.toml", "/etc/containerd/conf.d/[*", "conf.d/[a-]*.toml",
               "conf.d/?.toml", "conf.d/[a].toml", "~/x.toml", "$HOME/*.toml", "/etc/containerd/conf.d/[]a]*", "conf.d/a\\*\\", "*\\",
               "/etc/containerd/conf.d/*.toml ", "/etc/containerd/conf.d/a.toml/", "/etc/containerd/conf.d/*/", "/nowhere/*.toml", "*[",
               "conf.d/[^]*", "conf.d/[b-a]*", "../containerd/*", "/etc/containerd/conf.d/*/.", "\x00*", "a\x00b", "/etc/containerd/config.toml/*"]
TIMEOUTS = ["io.containerd.timeout.shim.load", "io.containerd.timeout.task.state", "io.containerd.timeout.shim.cleanup",
            "io.containerd.timeout.bolt.open", "my.own", "x", ""]
SHORT_IDS = ["cri", "cgroups", "linux", "scheduler", "bolt", "task", "opt", "restart", "tracing", "otlp", "aufs", "overlayfs",
             "diff-service", "tasks-service", "windows", "nri", "nonsense", "local"]
OTHER_IDS = ["io.containerd.nonsense.v1.x", "io.containerd.server.v1.grpc", "io.containerd.server.v1.debug", "a.b", "io.containerd.x",
             "io.containerd.monitor.v1.cgroups", "io.containerd.internal.v1.restart", "io.containerd.runtime.v1.linux",
             "io.containerd.snapshotter.v1.aufs", "io.containerd.service.v1.diff-service", "linux.shim.v1.x", "x.y.z.w",
             "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.monitor.task.v1.cgroups"]
RUNTIMES = ["runc", "runc", "nvidia", "nvidia", "nvidia-cdi", "kata", "crun", "a.b", "untrusted", "Runc", "x y", ""]
OPTIONS = ["BinaryName", "SystemdCgroup", "Root", "NoNewKeyring", "IoUid", "binaryName", "systemdCgroup", "whatever", "nested", "TypeUrl"]
ODD_KEYS = ["no_such_key", "unknown", "zzz", "Version", "containerD", "x.y", "snapshot", "sandbox_mode", "sandboxer", "bin_dir", "bin_dirs",
            "privileged_without_host_devices_all_devices_allowed", "systemd_cgroup", "untrusted_workload_runtime", "", "-", "0", "é"]


class Text(str):
    """A value as it stands in the file."""


class Tree:
    """One random tree; `case` is it, in the form of testdata/containerd/cases."""

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}-{number}")
        self.faults = self.random.choices((0, 1, 2), (45, 45, 10))[0]
        self.spice = self.random.choice((0.0, 0.0, 0.03, 0.12))
        self.case = {"id": f"diff-{seed}-{number}", "files": {}, "dirs": []}
        if self.chance(0.2):
            self._mutant()
        else:
            self._fresh()
        self.case["files"] = {path: encoded(content) for path, content in self.case["files"].items()}

    # Dice.

    def chance(self, share):
        return self.random.random() < share

    def one(self, items):
        return self.random.choice(items)

    def some(self, items, low, high):
        items = list(items)
        return self.random.sample(items, min(len(items), self.random.randint(low, high)))

    def fault(self, share):
        """Whether to do something wrong now."""
        if self.faults and self.chance(share):
            self.faults -= 1
            return True
        return False

    # The tree.

    def _mutant(self):
        """A recorded tree with a few edits."""
        recorded_case = self.one(recorded_cases())
        self.case["dirs"] = list(recorded_case.get("dirs", []))
        if recorded_case.get("links"):
            self.case["links"] = dict(recorded_case["links"])
        files = {path: decoded(content) for path, content in recorded_case["files"].items()}
        if files:
            for _ in range(self.random.randint(0, 3)):
                path = self.one(sorted(files))
                files[path] = self._edited(files[path], [line for text in files.values() for line in text.split(b"\n")])
        if self.chance(0.3) and files:
            path = self.one(sorted(files))
            files[path] = files[path].rstrip(b"\n") + b"\n" + self._file(self._era(), []).encode()
        self.case["files"] = files

    def _fresh(self):
        era = self._era()
        mixed = self.chance(0.2)
        names = self.some(NAMES, 0, 4)
        if self.chance(0.4):
            names = [name for name in names if name.endswith(".toml") and "/" not in name] or ["99-nvidia.toml"]
        paths = [ROOT + "conf.d/" + name for name in names]
        files = self.case["files"]
        if not self.fault(0.03):
            files[ROOT + "config.toml"] = self._finished(self._file(era, self._imports(paths, top=True)))
        for path in paths:
            other = self._era() if mixed and self.chance(0.5) else era
            files[path] = self._finished(self._file(other, self._imports(paths, top=False)))
        if paths and self.chance(0.06):
            target = self.one([paths[0], self.one(paths).removeprefix(ROOT + "conf.d/"), "../config.toml", "missing.toml",
                               "loop.toml", "/etc/containerd", "."])
            self.case["links"] = {ROOT + "conf.d/" + self.one(["link.toml", "loop.toml", "zlink.toml"]): target}
        if self.fault(0.04):
            self.case["dirs"].append(ROOT + self.one(["conf.d/dir.toml", "conf.d/sub2", "empty", "conf.d/a.toml.d"]))
        elif self.chance(0.1):
            self.case["dirs"].append(ROOT + self.one(["conf.d", "empty", "certs.d"]))

    def _era(self):
        return self.random.choices((1, 2, 3, 4, 0, "none", "odd"), (10, 40, 30, 3, 2, 12, 3))[0]

    def _imports(self, paths, top):
        if not self.chance(0.85 if top and paths else 0.12):
            return None
        patterns = [self.one(IMPORTS) for _ in range(self.random.choices((0, 1, 2, 3), (5, 70, 20, 5))[0])]
        if paths and self.chance(0.25):
            patterns.append(self.one([self.one(paths), "conf.d/" + self.one(paths).rpartition("/")[2], self.one(paths).removeprefix(ROOT)]))
        if self.fault(0.15):
            patterns.insert(self.random.randint(0, len(patterns)), self.one(BAD_IMPORTS))
        return patterns

    # One file.

    def _file(self, era, imports):
        version = {"none": None, "odd": self.one(["5", "-1", "0x2", "2.0", '"2"', "true", "3_0", "99999999999", "+2", "-0", "0b10"])}.get(era, era)
        era = era if isinstance(era, int) and era > 0 else self.one([1, 2, 3, 3]) if era == "none" else self.one([2, 3])
        content = {}
        if version is not None and self.chance(0.95):
            content["version"] = Text(version)
        if imports is not None:
            content["imports"] = self._array([self._string(item) for item in imports])
        self._top_keys(content)
        plugins = self._plugins(era)
        if self.fault(0.01):
            plugins = self._wrong("table")
        if plugins or self.chance(0.05):
            content["plugins"] = plugins
        statements, headers = [], []
        self._render(content, (), statements, headers)
        text = self._layout(statements, headers)
        if self.fault(0.10):
            text = self._odd_statement(text)
        return text

    def _top_keys(self, content):
        top = schema()["top"]
        for name in self.some(["root", "state", "temp", "plugin_dir", "oom_score"], 0, 2) if self.chance(0.3) else []:
            content[self._key(name)] = self._value(top.get(name, {"kind": "string"}))
        for name in ("disabled_plugins", "required_plugins"):
            if self.chance(0.1):
                ids = self.some([*sorted(schema()["plugins"]), OLD, "cri", *OTHER_IDS, *SHORT_IDS], 0, 3)
                if not self.fault(0.3):
                    ids = [id for id in ids if id.startswith("io.containerd.") and id.count(".") > 3]
                if ids and self.chance(self.spice):
                    ids += ids[:1]
                content[name] = self._array([self._string(id) for id in ids])
        for name in self.some(["grpc", "ttrpc", "debug", "metrics", "cgroup"], 0, 2) if self.chance(0.35) else []:
            content[self._key(name)] = self._fill(top[name])
        if self.chance(0.15):
            content["timeouts"] = {name: self._string(self.one(DURATIONS + WORDS) if self.chance(0.1) else self.one(DURATIONS))
                                   for name in self.some(TIMEOUTS, 0, 3)}
        if self.chance(0.12):
            content["proxy_plugins"] = {self.one(["a", "b", "a.b", "my"]): self._proxy() for _ in range(self.random.randint(1, 2))}
            if self.fault(0.1):
                content["proxy_plugins"][self.one(["overlayfs", "native", "content", "x"])] = self._proxy()
        if self.chance(0.1):
            content["stream_processors"] = {self.one(["io.containerd.ocicrypt.decoder.v1.tar", "x"]): self._fill(top["stream_processors"]["elem"])
                                            for _ in range(self.random.randint(1, 2))}
        if self.chance(0.06):
            content[self.one(ODD_KEYS)] = self._any(2)

    def _proxy(self):
        types = ["snapshot", "content", "snapshot", "content", "io.containerd.snapshotter.v1", "io.containerd.content.v1"]
        bad = ["", "diff", "sandbox", "nonsense", "Snapshot", "io.containerd.sandbox.controller.v1", "io.containerd.differ.v1"]
        entry = self._fill(schema()["top"]["proxy_plugins"]["elem"])
        entry.pop("type", None)
        if not self.fault(0.1):
            entry["type"] = self._string(self.one(bad if self.fault(0.2) or self.chance(0.1) else types))
        return entry

    def _plugins(self, era):
        plugins = {}
        known = schema()["plugins"]
        if self.chance(0.8):
            ids = {1: ["cri"], 2: [OLD], 3: [RUNTIME, IMAGES, OLD], 4: [RUNTIME, IMAGES]}[era]
            if self.chance(0.06):
                ids = [OLD, RUNTIME, IMAGES, "cri"]
            for id in self.some(ids, 1, 2):
                plugins[id] = self._cri(known[OLD if id == "cri" else id])
        for id in self.some(sorted(known), 0, 2) if self.chance(0.6) else []:
            plugins[id if era > 1 or self.chance(0.2) else id.rpartition(".")[2]] = self._fill(known[id])
        if self.chance(0.1):
            id = self.one(OTHER_IDS if not self.chance(0.3) else SHORT_IDS)
            plugins[id] = self._fill(known.get(id, known["io.containerd.gc.v1.scheduler"])) if self.chance(0.5) else self._any_table(2)
        if self.chance(0.1):
            plugins[self.one(["io.containerd.runtime.v2.task", "io.containerd.shim.v1.manager", "io.containerd.monitor.v1.cgroups"])] = {
                self.one(["sched_core", "env", "no_prometheus", "platforms"]): self.one([Text("true"), Text("false"), self._array([Text('"A=b"')])])
                for _ in range(self.random.randint(0, 1))}
        if plugins and self.fault(0.02):
            plugins[self.one(sorted(plugins))] = self._wrong("table")
        return plugins

    def _cri(self, type):
        section = self._fill(type)
        containerd = section.get("containerd")
        if self.chance(0.6) and (containerd is None or isinstance(containerd, dict)):
            containerd = section.setdefault("containerd", {}) if containerd is None else containerd
            old = schema()["plugins"][OLD]["containerd"]
            runtime = old["runtimes"]["elem"]
            containerd["runtimes"] = {self.one(RUNTIMES): self._runtime(runtime) for _ in range(self.random.randint(0, 3))}
            if self.chance(0.3):
                containerd["default_runtime_name"] = self._string(self.one(["nvidia", "runc", "", "x"]))
            if self.chance(0.1):
                containerd[self.one(["default_runtime", "untrusted_workload_runtime"])] = self._runtime(runtime)
        if self.chance(0.1):
            section["registry"] = {"mirrors": {self.one(["docker.io", "*", "reg.local:5000"]): {"endpoint": self._array([self._string("https://x")])}},
                                   "configs": {"reg.local:5000": {"tls": {"insecure_skip_verify": Text("true")},
                                                                  "auth": {"username": Text('"u"')}}}}
        return section

    def _runtime(self, type):
        runtime = self._fill(type)
        if self.chance(0.5):
            runtime["options"] = {self.one(OPTIONS): self._any(2) if self.chance(0.5) else self._string(self.one(WORDS))
                                  for _ in range(self.random.randint(0, 3))}
        if self.chance(0.1):
            runtime[self.one(["sandbox_mode", "sandboxer", "runtime_engine", "snapshotter", "snapshot", "unknown_key"])] = self._string(self.one(WORDS))
        return self._wrong("table") if self.fault(0.02) else runtime

    # Values of a type.

    def _fill(self, type, depth=0):
        """A table with some of a struct's fields, given as {name: type} or {kind: map}."""
        if type.get("kind") == "map":
            return {self.one(["x", "a.b", "nvidia", "docker.io", "sandbox", "K"]): self._value(type["elem"], depth + 1)
                    for _ in range(self.random.randint(0, 2))}
        names = self.some([name for name in type if name != "kind"], 0, 5 if depth == 0 else 3)
        table = {self._key(name): self._value(type[name], depth + 1) for name in names}
        if self.chance(0.08):
            table[self.one(ODD_KEYS)] = self._any(2)
        if names and self.chance(self.spice / 2):
            table[self._case_variant(names[0])] = self._value(type[names[0]], depth + 1)
        return table

    def _value(self, type, depth=0):
        kind = type.get("kind", "table")
        if isinstance(kind, dict):  # a field that is called kind
            kind = "table"
        if self.fault(0.02):
            return self._wrong(kind)
        if kind in ("table", "map"):
            return self._fill(type, depth)
        if kind == "bool":
            return Text(self.one(["true", "false"]))
        if kind == "int":
            return Text(self.one(NO_INTEGERS) if self.fault(0.03) else self.one(INTEGERS))
        if kind == "float":
            pool = FLOATS if not self.fault(0.05) else NO_FLOATS
            return Text(self.one(pool) if not self.chance(self.spice) else self.one(INTEGERS))
        if kind in ("text", "int_duration"):
            if self.chance(self.spice):
                return Text(self.one(["0", "5", "1.5", "true", "[]", "{}", "1979-05-27", "0.0", "-0", "-0.0", "07:32:00", "nan", "0x0", "1_0"]))
            return self._string(self.one(NO_DURATIONS) if self.fault(0.1) else self.one(DURATIONS))
        if kind == "array":
            element = type.get("elem", {"kind": "string"})
            if element.get("kind", "table") == "table":
                items = [self._fill(element, 2) for _ in range(self.random.randint(0, 2))]
                return items if items and all(isinstance(item, dict) for item in items) else Text("[]")
            return self._array([self._value(element, depth + 1) for _ in range(self.random.randint(0, 3))])
        if kind == "any":
            return self._any(2)
        pool = DURATIONS if "timeout" in type.get("name", "") or self.chance(0.05) else WORDS
        return self._string(self.one(pool))

    def _wrong(self, kind):
        """A value of any kind, mostly not of this one."""
        return self.one([Text("true"), Text(self.one(INTEGERS)), Text(self.one(FLOATS)), Text(self.one(DATES)), self._string(self.one(WORDS)), {},
                         Text("[]"), Text("{}"), {"a": Text("1")}, [{}], [{"a": Text("1")}], Text("[1]"), Text('["a"]'), Text("[[]]"), Text('""'),
                         Text("0"), Text('[1, "a"]'), Text('["a", 1]'), Text("[true]"), Text("[{}]"), Text("{a = {b = 1}}"), Text("0.0"), Text("false")])

    def _any(self, depth):
        if self.fault(0.04):
            return Text(self.one(WORDS_OF_TOML + NO_INTEGERS + NO_FLOATS + NO_DATES))
        if depth and self.chance(0.25):
            return self._any_table(depth - 1)
        if depth and self.chance(0.1):
            return [self._any_table(depth - 1) for _ in range(self.random.randint(1, 2))]
        if self.chance(0.2):
            return self._array([self._scalar() for _ in range(self.random.randint(0, 3))] if self.chance(0.5) else
                               [self._string(self.one(WORDS)) for _ in range(self.random.randint(0, 3))])
        return self._scalar()

    def _any_table(self, depth):
        return {self.one(["a", "b", "c", "a.b", "x y", "A", "é"]): self._any(depth) for _ in range(self.random.randint(0, 3))}

    def _scalar(self):
        return self._string(self.one(WORDS)) if self.chance(0.4) else Text(self.one(self.one([INTEGERS, FLOATS, DATES, ["true", "false"]])))

    def _array(self, items):
        inner = [item if isinstance(item, Text) else Text("1") for item in items]
        if self.chance(0.6):
            return Text("[" + ", ".join(inner) + "]")
        blank = lambda: self.one(["", " ", "\n", "\n  ", "\t", " # c\n", "\n\n", "#]\n", " # 'x\n"] if self.chance(0.5) else [" "])
        text = "[" + blank()
        for number, item in enumerate(inner):
            text += item + blank()
            if number + 1 < len(inner) or self.chance(0.4):
                text += "," + blank()
        return Text(text + "]")

    def _string(self, content):
        if self.fault(0.008):
            return Text(self.one(STRINGS_OF_TOML))
        forms = ["basic"] * 6 + ["multi", "escaped"]
        if not any(c < " " and c != "\t" or c == "\x7f" for c in content):
            forms += ["literal"] * 3 * ("'" not in content) + ["literal3"] * ("'" not in content)
        form = self.one(forms)
        if form == "literal":
            return Text(f"'{content}'")
        if form == "literal3":
            return Text("'''" + self.one(["", "\n"]) + content + "'''")
        if form == "multi":
            kept = content.replace("\\", "\\\\").replace('"', '\\"')
            kept = "".join(c if c >= " " and c != "\x7f" or c in "\n\t" else f"\\u{ord(c):04x}" for c in kept)
            return Text('"""' + self.one(["", "\n", "\\\n  ", "\\\n\n "]) + kept + self.one(["", "\\\n  "]) + '"""')
        escapes = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
        text = "".join(escapes.get(c) or (f"\\u{ord(c):04x}" if c < " " or c == "\x7f" else c) for c in content)
        if form == "escaped" and content:
            text = "".join(f"\\u{ord(c):04X}" if ord(c) < 0x10000 and self.chance(0.4) else f"\\U{ord(c):08x}" for c in content)
        return Text(f'"{text}"')

    # Keys and statements.

    def _key(self, name):
        if self.chance(self.spice):
            return self._case_variant(name)
        return name

    def _case_variant(self, name):
        return self.one([name.upper(), name.lower(), name[:1].upper() + name[1:], name[:1].lower() + name[1:], name.title(), name.swapcase(),
                         "".join(c.upper() if self.chance(0.5) else c for c in name), name.replace("_", ""), name.replace("_", "-"),
                         name.replace("s", "ſ").replace("k", "\u212a"), name + "_", name.replace("i", "İ")])

    def _spell(self, key):
        bare = key and all(c in string.ascii_letters + string.digits + "-_" for c in key)
        if self.fault(0.002):
            return self.one(KEYS_OF_TOML)
        forms = ["bare"] * 12 * bool(bare) + ["basic"] * 3 + ["literal"] * 2 * ("'" not in key) + ["escaped"] * self.chance(self.spice)
        form = self.one(forms)
        if form == "bare":
            return key
        if form == "literal":
            return f"'{key}'"
        if form == "escaped" and key:
            at = self.random.randrange(len(key))
            return json.dumps(key[:at])[:-1] + f"\\u{ord(key[at]) & 0xffff:04x}" + json.dumps(key[at + 1:])[1:]
        return json.dumps(key, ensure_ascii=False)

    def _path(self, path):
        dot = self.one(["."] * 30 + [" . ", ".\t", " ."]) if self.chance(max(self.spice, 0.01)) else "."
        return dot.join(self._spell(key) for key in path)

    def _inline(self, node):
        if isinstance(node, dict):
            inner = ", ".join(f"{self._path((key,))} = {self._inline(item)}" for key, item in node.items())
            return "{" + (f" {inner} " if self.chance(0.7) else inner) + "}"
        if isinstance(node, list):
            return self._array([Text(self._inline(item)) for item in node])
        return node.replace("\n", " ") if "#" not in node and '"""' not in node and "'''" not in node and self.chance(0.5) else node

    def _assignment(self, path, value):
        equals = self.one([" = "] * 12 + ["=", "  = ", " =\t", "= "])
        return self._path(path) + equals + value + ("" if not self.chance(0.04) else self.one(["  # note", "#", "\t# \"x\" é", "  ", "\t", " #]"]))

    def _render(self, table, path, statements, headers):
        """Puts a table's statements: in `statements` what stands under its own header, in `headers` tables of their own."""
        for key, item in table.items():
            if isinstance(item, dict):
                form = self.one(["header"] * 14 + ["dotted"] * 2 + ["inline"])
                if form == "header":
                    mine, below = [], []
                    self._render(item, (*path, key), mine, below)
                    if mine or not below or self.chance(0.15):
                        headers.append(["[" + self._path((*path, key)) + "]", *mine])
                    headers.extend(below)
                elif form == "dotted" and item:
                    self._dotted(item, (key,), statements)
                else:
                    statements.append(self._assignment((key,), self._inline(item)))
            elif isinstance(item, list):
                if self.chance(0.3) or not item:
                    statements.append(self._assignment((key,), self._inline(item)))
                    continue
                blocks = []
                for entry in item:
                    mine, below = [], []
                    self._render(entry, (*path, key), mine, below)
                    blocks += [["[[" + self._path((*path, key)) + "]]", *mine], *below]
                headers.append(["\n".join("\n".join(block) for block in blocks)])
            else:
                statements.append(self._assignment((key,), item))
                if self.fault(0.004):
                    statements.append(self._assignment((key,), self._any(0)))

    def _dotted(self, table, path, statements):
        for key, item in table.items():
            if isinstance(item, dict) and item and self.chance(0.7):
                self._dotted(item, (*path, key), statements)
            else:
                statements.append(self._assignment((*path, key), self._inline(item) if not isinstance(item, Text) else item))

    def _layout(self, statements, headers):
        if self.chance(0.3):
            self.random.shuffle(headers)
        if self.chance(0.1):
            self.random.shuffle(statements)
        blocks = [statements, *headers]
        if len(headers) > 1 and self.chance(self.spice):  # a header once more, in the one spelling or in another
            again = self.one(headers)
            if again[0].startswith("[") and not again[0].startswith("[["):
                blocks.append([again[0], *(["added = 1"] if self.chance(0.5) else [])])
        if headers and self.fault(0.03):
            blocks.append(self.one(headers))
        indent = self.one(["", "", "", "  ", "\t"])
        lines = []
        for block in blocks:
            depth = 0
            for line in block:
                lines.append(indent * depth + line)
                depth = 1
            if self.chance(0.4):
                lines += [self.one(["", "", "  ", "# a comment = \"not a key\"", "#", "\t# é"])]
        return "\n".join(lines) + "\n"

    def _odd_statement(self, text):
        snippet = self.one([
            lambda: f"{self.one(KEYS_OF_TOML)} = 1",
            lambda: self.one(HEADERS_OF_TOML),
            lambda: self.one(HEADERS_OF_TOML).replace("a", "plugins.'x.y'.a"),
            lambda: f"[plugins.'{OLD}'.x]\n" + self.one(KEYS_OF_TOML) + " = 1",
            lambda: "v = " + self.one(WORDS_OF_TOML + NO_INTEGERS + NO_FLOATS + NO_DATES + STRINGS_OF_TOML),
            lambda: f"[plugins.'{self.one([OLD, RUNTIME])}'.containerd.runtimes.nvidia.options]\nv = "
                    + self.one(WORDS_OF_TOML + NO_INTEGERS + NO_FLOATS + NO_DATES + STRINGS_OF_TOML + DATES + FLOATS),
            lambda: "[plugins.x.y]\n" + self.one(HEADERS_OF_TOML),
        ])()
        if self.chance(0.5):
            return text + snippet + "\n"
        lines = text.split("\n")
        lines.insert(self.random.randint(0, len(lines)), snippet)
        return "\n".join(lines)

    def _finished(self, text):
        """The bytes of a file: line ends, what comes before and after, and broken characters."""
        if self.chance(0.08):
            text = text.replace("\n", "\r\n") if self.chance(0.7) else "\r\n".join(text.split("\n", 3))
        if self.chance(0.1):
            text = text.rstrip("\n")
        if self.chance(self.spice / 3):
            text = "\ufeff" + text
        if self.fault(0.05):
            at = self.random.randint(0, len(text))
            text = text[:at] + self.one(JUNK) + text[at:]
        data = text.encode("utf-8", "surrogatepass")
        if self.fault(0.03):
            at = self.random.randint(0, len(data))
            data = data[:at] + self.one(BYTES) + data[at:]
        while self.fault(0.08):
            data = self._edited(data, data.split(b"\n"))
        return data

    def _edited(self, data, lines_to_take):
        """One edit anywhere, as a hurried hand or a broken disk makes it."""
        lines = data.split(b"\n")
        at, line = self.random.randint(0, len(data)), self.random.randrange(len(lines))
        edit = self.one(["insert", "insert", "delete", "cut", "twice", "remove", "move", "take", "take", "value", "value", "value"])
        if edit == "insert":
            return data[:at] + self.one(MARKS).encode() + data[at:]
        if edit == "delete":
            return data[:at] + data[at + self.random.randint(1, 3):]
        if edit == "cut":
            return data[:at] if self.chance(0.3) else data[:at] + data[data.find(b"\n", at):]
        if edit == "twice":
            lines.insert(self.random.randrange(len(lines) + 1), lines[line])
        elif edit == "remove":
            del lines[line]
        elif edit == "move":
            lines.insert(self.random.randrange(len(lines)), lines.pop(line))
        elif edit == "take":
            lines.insert(line, self.one(lines_to_take))
        else:
            key, equals, _ = lines[line].partition(b"=")
            if equals:
                value = self.one([lambda: self._any(1), lambda: self._wrong(""), lambda: self._string(self.one(WORDS + DURATIONS))])()
                lines[line] = key + b"= " + (value if isinstance(value, Text) else self._inline(value)).encode()
        return b"\n".join(lines)


_cache = {}


def schema():
    """All recorded types as plain tables: {field: type}; a leaf is {kind: …}."""
    if "schema" not in _cache:
        top, plugins = {}, {}
        for version in SCHEMAS:
            found = json.loads((recorded.DATA / "schema" / f"{version}.json").read_text(encoding="utf-8"))
            _union(top, _simplified(found["top"]))
            for id, type in found["plugins"].items():
                _union(plugins.setdefault(id, {}), _simplified(type))
        for id, other in (("io.containerd.internal.v1.restart", "io.containerd.monitor.container.v1.restart"),
                          ("io.containerd.monitor.v1.cgroups", "io.containerd.monitor.task.v1.cgroups")):
            _union(plugins.setdefault(id, {}), plugins.get(other, {}))
        _cache["schema"] = {"top": top, "plugins": plugins}
    return _cache["schema"]


def _simplified(type):
    if type["kind"] == "table":
        return {field["name"]: _simplified(field) for field in type.get("fields", [])}
    simple = {"kind": type["kind"], "name": type.get("name", "")}
    if "elem" in type:
        simple["elem"] = _simplified(type["elem"])
    return simple


def _union(into, other):
    for name, type in other.items():
        if isinstance(into.get(name), dict) and "kind" not in into[name] and isinstance(type, dict) and "kind" not in type:
            _union(into[name], type)
        else:
            into.setdefault(name, type)


def recorded_cases():
    """The recorded trees that lie wholly below /etc/containerd."""
    if "cases" not in _cache:
        cases = []
        for name in ONCE_RECORDED:
            with open(recorded.DATA / "cases" / name, encoding="utf-8") as lines:
                cases += map(json.loads, lines)
        _cache["cases"] = [case for case in cases if all(
            path.startswith(ROOT) for path in [*case["files"], *case.get("dirs", []), *case.get("links", {})])]
    return _cache["cases"]


def decoded(content):
    """A case's file content as bytes."""
    return base64.b64decode(content["b64"]) if isinstance(content, dict) else content.encode()


def encoded(data):
    """Bytes as a case has them: text where they are text."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"b64": base64.b64encode(data).decode()}


def make_tree(seed, number):
    return Tree(seed, number).case
