"""Lays described trees and tells what is in one: see testdata/cdi/README.md for the entries."""
import base64
import os
import platform
import shutil
import socket
import stat
import subprocess

from elf_stub import elf_stub


def here(text):
    return text.replace("@UNAME_R@", platform.release())


def put(path, entry):
    if "link" in entry:
        os.symlink(here(entry["link"]), path)
        if "uid" in entry or "gid" in entry:
            os.lchown(path, entry.get("uid", 0), entry.get("gid", 0))
        return
    mode = 0o666
    if entry.get("dir"):
        os.makedirs(path, exist_ok=True)
        mode = 0o755
    elif "char" in entry or "block" in entry:
        kind = stat.S_IFCHR if "char" in entry else stat.S_IFBLK
        os.mknod(path, 0o600 | kind, os.makedev(*entry.get("char", entry.get("block"))))
    elif entry.get("socket"):
        folder = os.open(os.path.dirname(path), os.O_PATH | os.O_DIRECTORY)
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        os.close(folder)
    elif entry.get("fifo"):
        os.mkfifo(path)
    else:
        if "elf" in entry:
            data = elf_stub(entry["elf"], entry.get("machine", "x86_64"), entry.get("compat"))
        elif "b64" in entry:
            data = base64.b64decode(entry["b64"])
        elif "parts" in entry:
            data = "".join(text * times for text, times in entry["parts"]).encode()
        else:
            data = here(entry["file"]).encode()
        with open(path, "wb") as file:
            file.write(data)
        mode = 0o644
    if os.geteuid() == 0:
        os.chown(path, entry.get("uid", 0), entry.get("gid", 0))
    os.chmod(path, int(entry["mode"], 8) if "mode" in entry else mode)


def lay(tree, folder):
    os.makedirs(folder, exist_ok=True)
    # Shallow first: what is described behind a link to a folder lands where that leads.
    for path in sorted(tree, key=lambda one: (one.count("/"), one)):
        entry = tree[path]
        real = os.path.join(folder, here(path).lstrip("/"))
        os.makedirs(os.path.dirname(real), exist_ok=True)
        if os.path.lexists(real) and not (entry.get("dir") and os.path.isdir(real)):
            if os.path.isdir(real) and not os.path.islink(real):
                shutil.rmtree(real)
            else:
                os.unlink(real)
        put(real, entry)


def cached_libraries(root, path):
    """What `ldconfig -p` says of a cache."""
    told = subprocess.run(["ldconfig", "-p", "-C", path], capture_output=True, text=True, check=True).stdout
    return sorted(line.strip() for line in told.splitlines()[1:] if "=>" in line)


def tell(root):
    """Every path below the root: link, folder, or file with mode and text, bytes that are none escaped."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in folders + files:
            path = os.path.join(folder, name)
            inside = path[len(root):]
            status = os.lstat(path)
            mode = "%04o" % stat.S_IMODE(status.st_mode)
            if stat.S_ISLNK(status.st_mode):
                found[inside] = {"link": os.readlink(path)}
            elif stat.S_ISDIR(status.st_mode):
                found[inside] = {"dir": True, "mode": mode}
            elif stat.S_ISREG(status.st_mode):
                with open(path, "rb") as file:
                    data = file.read()
                if data.startswith(b"\x7fELF"):
                    found[inside] = {"mode": mode, "elf": True}
                elif inside == "/etc/ld.so.cache":
                    found[inside] = {"mode": mode, "ldcache": cached_libraries(root, path)}
                else:
                    found[inside] = {"mode": mode, "file": data.decode(errors="backslashreplace")}
            else:
                found[inside] = {"special": stat.S_IFMT(status.st_mode), "mode": mode}
    return found
