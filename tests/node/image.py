"""An OCI archive for `ctr image import`, made of files: no registry, no build tool."""

import gzip
import hashlib
import io
import json
import platform
import tarfile

_MEDIA = "application/vnd.oci.image."


def archive(name, tag, files, links):
    """The archive's bytes. files: path → (bytes, mode); links: path → target. Its command is a sleep of an hour."""
    layer = _layer(files, links)
    packed = gzip.compress(layer, 1, mtime=0)
    target = {"os": "linux", "architecture": {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]}
    blobs = {}

    def add(content, kind):
        digest = hashlib.sha256(content).hexdigest()
        blobs[digest] = content
        return {"mediaType": _MEDIA + kind, "digest": f"sha256:{digest}", "size": len(content)}

    config = _json({**target, "config": {"Cmd": ["/bin/sleep", "3600"], "Env": ["PATH=/bin"]},
                    "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest()]}})
    manifest = {"schemaVersion": 2, "mediaType": _MEDIA + "manifest.v1+json",
                "config": add(config, "config.v1+json"), "layers": [add(packed, "layer.v1.tar+gzip")]}
    entry = {**add(_json(manifest), "manifest.v1+json"), "platform": target,
             "annotations": {"io.containerd.image.name": f"{name}:{tag}", "org.opencontainers.image.ref.name": tag}}
    index = {"schemaVersion": 2, "manifests": [entry]}
    content = {"oci-layout": _json({"imageLayoutVersion": "1.0.0"}), "index.json": _json(index)}
    content |= {f"blobs/sha256/{digest}": blob for digest, blob in blobs.items()}
    return _tar({path: (data, 0o644) for path, data in content.items()}, {})


def _layer(files, links):
    folders = {"/".join(parts[:n]) for path in [*files, *links, "proc/x", "sys/x", "dev/x", "tmp/x", "etc/x", "host/x"]
               for parts in [path.lstrip("/").split("/")] for n in range(1, len(parts))}
    return _tar(files, links, folders)


def _tar(files, links, folders=()):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for path in sorted(folders):
            tar.addfile(_entry(path, tarfile.DIRTYPE, 0o755))
        for path, (content, mode) in sorted(files.items()):
            entry = _entry(path, tarfile.REGTYPE, mode)
            entry.size = len(content)
            tar.addfile(entry, io.BytesIO(content))
        for path, target in sorted(links.items()):
            entry = _entry(path, tarfile.SYMTYPE, 0o777)
            entry.linkname = target
            tar.addfile(entry)
    return buffer.getvalue()


def _entry(path, kind, mode):
    entry = tarfile.TarInfo(path.lstrip("/"))
    entry.type, entry.mode = kind, mode
    return entry


def _json(value):
    return json.dumps(value, separators=(",", ":")).encode()
