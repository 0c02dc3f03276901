"""A Debian root folder for a node: systemd, dbus and the suite's own containerd, built once and kept.

The cache, ${CTKIT_NODE_CACHE:-/var/cache/ctkit-node}/SUITE-KEY, is used for a week; KEY is that of the package list.
It is never written to afterwards: a node puts an overlay over it."""

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

SUITES = ("bookworm", "trixie", "forky")
NOT_DOWNLOADABLE = 75
# mount(8) is not in the essential set of trixie and forky.
PACKAGES = ("systemd", "systemd-sysv", "dbus", "mount", "containerd")
UNWANTED = ("/usr/share/doc/*", "/usr/share/man/*", "/usr/share/locale/*")
WEEK = 7 * 24 * 3600
ATTEMPTS = 3
# What apt says when it is the archive that fails: unreachable, without the suite, or a testing suite that does not fit.
ARCHIVE_FAILS = re.compile(
    r"Failed to fetch|Could not resolve|Could not connect|Unable to connect|Connection (failed|timed out|refused)"
    r"|does not have a Release file|is not signed|Release file .* (expired|not valid)|Unable to locate package"
    r"|has no installation candidate|unmet dependencies|Hash Sum mismatch|File has unexpected size"
    r"|InRelease .*(not available|404)|Temporary failure resolving")


class NotDownloadable(Exception):
    """The archive does not give the suite; the text is its own reason."""


def fetch(suite):
    """The folder of the suite's root; NotDownloadable if there is none and the archive doesn't give it."""
    cache = pathlib.Path(os.environ.get("CTKIT_NODE_CACHE", "/var/cache/ctkit-node"))
    key = hashlib.sha256("\0".join(PACKAGES + UNWANTED).encode()).hexdigest()[:8]
    folder = cache / f"{suite}-{key}"
    cache.mkdir(parents=True, exist_ok=True)
    with _locked(cache / f"{suite}.lock"):
        if folder.exists() and time.time() - folder.stat().st_mtime < WEEK:
            return folder
        try:
            _build(suite, folder)
        except NotDownloadable as error:
            if not folder.exists():
                raise
            print(f"node {suite}: the kept root is older than a week, but {error}", file=sys.stderr)
        return folder


@contextlib.contextmanager
def _locked(path):
    with open(path, "w", encoding="ascii") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build(suite, folder):
    for old in folder.parent.glob(f"{suite}-*.tmp"):
        shutil.rmtree(old)
    unfinished = f"{folder}.tmp"
    # dpkg writes small files by the thousand: in memory that costs half the time.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as memory:
        _bootstrap(suite, f"{memory}/root")
        subprocess.run(["cp", "-a", f"{memory}/root", unfinished], check=True)
    os.utime(unfinished)
    for old in folder.parent.glob(f"{suite}-????????"):
        shutil.rmtree(old)
    os.rename(unfinished, folder)


def _bootstrap(suite, folder):
    for attempt in range(1, ATTEMPTS + 1):
        done = subprocess.run(_command(suite, folder), capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return
        shutil.rmtree(folder, ignore_errors=True)
        if not ARCHIVE_FAILS.search(done.stderr):
            raise RuntimeError(f"mmdebstrap {suite}:\n{done.stderr[-4000:]}")
        if attempt == ATTEMPTS:
            raise NotDownloadable(_reason(done.stderr))
        time.sleep(2)


def _command(suite, folder):
    options = [f"--dpkgopt=path-exclude={path}" for path in UNWANTED]
    if suite == "forky":  # a testing suite's Release file has been seen past its date; its signature is checked all the same
        options.append('--aptopt=Acquire::Check-Valid-Until "false"')
    return ["mmdebstrap", "--mode=root", "--variant=essential", "--quiet", "--dpkgopt=force-unsafe-io", *options,
            f"--include={','.join(PACKAGES)}", suite, folder, _mirror()]


def _mirror():
    """$CTKIT_DEBIAN_MIRROR, or the archive of whole suites that this machine itself uses."""
    given = os.environ.get("CTKIT_DEBIAN_MIRROR") or _listed_mirror()
    if not given:  # apt knows an archive's name only after an update
        subprocess.run(["apt-get", "-qq", "update"], check=False, stdout=sys.stderr)
        given = _listed_mirror()
    if not given:
        raise NotDownloadable("this machine lists no Debian mirror; name one in CTKIT_DEBIAN_MIRROR")
    return given


def _listed_mirror():
    targets = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(ORIGIN)\t$(COMPONENT)\t$(LABEL)\t$(REPO_URI)", "Created-By: Packages"],
        capture_output=True, text=True, check=False).stdout
    listed = [line.split("\t") for line in targets.splitlines()]
    return next((where for origin, component, label, where in listed
                 if (origin, component, label) == ("Debian", "main", "Debian")), None)


def _reason(messages):
    """The line that says it, without the archive's address."""
    lines = [line for line in messages.splitlines() if ARCHIVE_FAILS.search(line)]
    return re.sub(r"[a-z+]+://\S+", "the mirror", lines[-1]).strip()
