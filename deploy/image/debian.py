"""The part of a Debian that the image needs: busybox for the operator's entry point, and the libraries of one program.

Packages come through mmdebstrap from the archives that this machine's own apt uses, security updates included, with
their signatures checked; no maintainer script runs, and it needs no privileges."""

import io
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

from tree import Tree

# libsystemd is loaded when it is needed, so that the program itself doesn't name it.
PACKAGES = ("base-files", "busybox-static", "libsystemd0")
LOADED = ("libsystemd.so.0",)
FETCH_LIMIT = 600  # seconds
# What the operator's entry point calls, and what a person looks around with in a container.
APPLETS = ("[", "awk", "cat", "cp", "cut", "df", "dmesg", "echo", "env", "false", "find", "grep", "head", "id", "kill", "ln",
           "ls", "lsmod", "mkdir", "mount", "mv", "nsenter", "ps", "readlink", "rm", "sed", "sh", "sleep", "sort", "stat",
           "tail", "test", "touch", "tr", "true", "umount", "uname", "vi", "wc", "which", "xargs")
# Scanners read these; licences want to be there.
KEPT = re.compile(r"etc/(os-release|debian_version)|usr/lib/os-release|usr/share/common-licenses/.+")
ACCOUNTS = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "etc/group": "root:x:0:\nnogroup:x:65534:\n",
}
FOLDERS = ("dev", "etc", "host", "proc", "root", "run", "sys", "tmp", "var/log")


def make_root(program):
    """(tree, package versions) of the part that `program`, an ELF file, needs."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        packages = {package.fields["Package"]: package for package in _fetch(folder)}
    root = Tree()
    used = {"base-files", "busybox-static"}
    for folder in FOLDERS:
        root.add_folder(folder)
    for path, text in ACCOUNTS.items():
        root.add_file(path, text.encode())
    for package in packages.values():
        for path in filter(KEPT.fullmatch, package.paths):
            _copy(package, path, root, path)
    _add_busybox(packages["busybox-static"], root)
    used |= _add_libraries(program, packages.values(), root)
    root.add_link("var/run", "/run")
    for name in sorted(used):
        package = packages[name]
        # The record that scanners look for where no package manager is.
        root.add_file(f"var/lib/dpkg/status.d/{name}", package.control)
        licence = f"usr/share/doc/{name}/copyright"
        if licence in package.paths:
            _copy(package, licence, root, licence)
    return root, {name: packages[name].fields["Version"] for name in sorted(used)}


class _Package:
    def __init__(self, deb):
        self.control = subprocess.run(["dpkg-deb", "--field", deb], capture_output=True, check=True).stdout
        self.fields = dict(line.split(": ", 1) for line in self.control.decode().splitlines() if re.match(r"\S+: ", line))
        content = subprocess.run(["dpkg-deb", "--fsys-tarfile", deb], capture_output=True, check=True).stdout
        self._tar = tarfile.open(fileobj=io.BytesIO(content))
        self.paths = {member.name.removeprefix("./"): member for member in self._tar.getmembers()}

    def read(self, path):
        """(content, mode) of a file, through links inside the package."""
        member = self.paths[path]
        while member.issym():
            path = os.path.normpath(os.path.join(os.path.dirname(path), member.linkname)).lstrip("/")
            member = self.paths[path]
        return self._tar.extractfile(member).read(), member.mode


def _fetch(folder):
    suite, sources = _archives()
    mode = "root" if os.geteuid() == 0 else "chrootless"
    command = ["mmdebstrap", "--quiet", "--variant=extract", "--format=null", f"--mode={mode}",
               f"--include={','.join(PACKAGES)}", f"--extract-hook=copy-out /var/cache/apt/archives {folder}",
               suite, "/dev/null", "-"]
    done = subprocess.run(command, input=sources, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=FETCH_LIMIT, check=False)
    if done.returncode:
        raise RuntimeError(f"mmdebstrap: {done.stderr[-2000:]}")
    return [_Package(deb) for deb in sorted(pathlib.Path(folder, "archives").glob("*.deb"))]


def _archives():
    """(suite, sources.list) of the archives of this machine's Debian: the program is linked to that one's libraries."""
    targets = _targets() or (subprocess.run(["apt-get", "-qq", "update"], check=False), _targets())[1]
    if not targets:
        raise RuntimeError("apt lists no Debian archive on this machine")
    return targets[0][1], "".join(f"deb {where} {suite} main\n" for where, suite in targets)


def _targets():
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(ORIGIN)\t$(COMPONENT)\t$(REPO_URI)\t$(RELEASE)",
                             "Created-By: Packages"], capture_output=True, text=True, check=True).stdout
    rows = (line.split("\t") for line in listed.splitlines())
    # Of the suite and its updates the shortest name is the suite's.
    return sorted({(where, suite) for origin, component, where, suite in rows if (origin, component) == ("Debian", "main")},
                  key=lambda row: (len(row[1]), row))


def _copy(package, path, root, to):
    member = package.paths[path]
    if member.issym():
        root.add_link(to, member.linkname)
    elif member.isfile():
        root.add_file(to, *package.read(path))


def _add_busybox(package, root):
    """In /bin, a folder of its own: the operator mounts its script there."""
    found = next(path for path in ("bin/busybox", "usr/bin/busybox") if path in package.paths)
    root.add_file("bin/busybox", *package.read(found))
    for applet in APPLETS:
        root.add_link(f"bin/{applet}", "busybox")


def _add_libraries(program, packages, root):
    """Adds the libraries that the program and what it loads need, by their sonames; the names of their packages."""
    owners = {os.path.basename(path): (package, path) for package in packages for path in package.paths
              if re.search(r"/lib[^/]*\.so[.0-9]*$|/ld-linux[^/]*$", path)}
    used, done = set(), set()
    loader, wanted = _needs(program.read_bytes())
    wanted = [*wanted, *LOADED]
    while wanted:
        soname = wanted.pop()
        if soname in done:
            continue
        done.add(soname)
        if soname not in owners:
            raise RuntimeError(f"no package of {', '.join(PACKAGES)} and what they depend on has {soname}")
        package, path = owners[soname]
        content, mode = package.read(path)
        at = loader if os.path.basename(loader) == soname else f"usr/lib/{os.uname().machine}-linux-gnu/{soname}"
        root.add_file(at, content, mode)
        used.add(package.fields["Package"])
        wanted += _needs(content)[1]
    return used


def _needs(content):
    """(the loader, the sonames) that an ELF file names."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        told = subprocess.run(["readelf", "--wide", "--program-headers", "--dynamic", file.name],
                              capture_output=True, text=True, check=True).stdout
    loader = re.search(r"program interpreter: (\S+)\]", told)
    return loader[1] if loader else "", re.findall(r"\(NEEDED\).*\[(\S+)\]", told)
