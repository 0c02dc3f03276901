"""A host of our own to run hooks on: a tmpfs in a mount namespace, entered with chroot. Needs root."""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile

import tree_case

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 1 << 18
libc = ctypes.CDLL(None, use_errno=True)

STATE = {"ociVersion": "1.0.2", "id": "c1", "status": "creating", "pid": 1, "bundle": "/bundle"}


def call(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")


def possible():
    """Whether we may make the mounts: root, and not in a container that forbids them."""
    if os.geteuid() != 0:
        return False
    child = os.fork()
    if child == 0:
        try:
            call("unshare", CLONE_NEWNS)
            call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def libraries_of(program):
    """The files the program needs to start; none if it is static."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=False)
    if told.returncode:
        return []
    return [word for line in told.stdout.splitlines() for word in line.split() if word.startswith("/")]


def mounts_below(folder):
    with open("/proc/self/mountinfo", encoding="utf-8") as table:
        rows = [line.split() for line in table]
    return [{"at": row[4], "options": row[5]} for row in rows if row[4].startswith(folder + "/")]


def in_namespace(work):
    """What `work(folder)` returns, as JSON, from a child in a mount namespace with a tmpfs at the folder."""
    reading, writing = os.pipe()
    folder = tempfile.mkdtemp(prefix="ctkit-host.")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            call("unshare", CLONE_NEWNS)
            call("mount", b"none", b"/", None, MS_REC | MS_PRIVATE, None)
            call("mount", b"tmpfs", folder.encode(), b"tmpfs", 0, b"mode=755")
            with os.fdopen(writing, "w") as answer:
                json.dump(work(folder), answer)
            status = 0
        except BaseException as error:  # the child must not run the parent's clean-up
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading) as answer:
        text = answer.read()
    status = os.waitpid(child, 0)[1]
    os.rmdir(folder)
    assert status == 0, "the namespace's child failed"
    return json.loads(text)


def furnish(folder, ctkit):
    """The least a Debian-like host needs to run ctkit and ldconfig."""
    for program in libraries_of(ctkit):
        os.makedirs(folder + os.path.dirname(program), exist_ok=True)
        shutil.copy(program, folder + program)
    shutil.copy(ctkit, folder + "/nvidia-cdi-hook")
    tree_case.lay({"/etc/debian_version": {"file": "12\n"}, "/tmp": {"dir": True}}, folder)
    os.makedirs(folder + "/sbin", exist_ok=True)
    ldconfig = shutil.which("ldconfig", path="/sbin:/usr/sbin")
    real = ldconfig + ".real" if os.path.exists(ldconfig + ".real") else ldconfig
    shutil.copy(real, folder + "/sbin/ldconfig")


def run_hook(folder, case, timeout=60):
    """Runs the case's hook on the host laid at `folder`; its exit status and last words."""
    root_path = case.get("root_path", "rootfs")
    os.makedirs(folder + "/bundle", exist_ok=True)
    config = case.get("config", json.dumps({"root": {"path": root_path}}))
    with open(folder + "/bundle/config.json", "w", encoding="utf-8") as file:
        file.write(config)
    done = subprocess.run(["/nvidia-cdi-hook"] + case["argv"], input=case.get("stdin", json.dumps(STATE)), env={},
                          capture_output=True, text=True, timeout=timeout, check=False,
                          preexec_fn=lambda: (os.chroot(folder), os.chdir("/")))
    return {"rc": done.returncode, "told": done.stderr}


def root_folder(folder, case):
    root_path = case.get("root_path", "rootfs")
    if root_path == "/":
        return folder + "/elsewhere-root"
    return folder + (root_path if root_path.startswith("/") else "/bundle/" + root_path)
