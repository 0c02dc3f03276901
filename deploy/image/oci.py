"""An OCI archive, a tar of an OCI image layout: no registry, no container engine. Same input, same bytes."""

import gzip
import hashlib
import json
import platform
import time

from tree import Tree

_MEDIA = "application/vnd.oci.image."
MANIFEST = _MEDIA + "manifest.v1+json"
CONFIG = _MEDIA + "config.v1+json"
LAYER = _MEDIA + "layer.v1.tar+gzip"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


class Archive:
    """One image for this machine's kind, of named layers: (what it is, Tree). `config` is the part that a container starts by."""

    def __init__(self, name, tag, layers, config, date=0):
        self._blobs = {}
        target = {"os": "linux", "architecture": ARCHITECTURES[platform.machine()]}
        created = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(date))
        plain = [tree.tar(date) for _, tree in layers]
        image = {
            "created": created, **target, "config": config,
            "rootfs": {"type": "layers", "diff_ids": [_digest(tar) for tar in plain]},
            "history": [{"created": created, "created_by": what} for what, _ in layers],
        }
        self.layers = [self._add(gzip.compress(tar, 9, mtime=0), LAYER) for tar in plain]
        manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": self._add(_json(image), CONFIG),
                    "layers": self.layers}
        self._entry = {**self._add(_json(manifest), MANIFEST), "platform": target,
                       "annotations": {"io.containerd.image.name": f"{name}:{tag}",
                                       "org.opencontainers.image.ref.name": tag}}
        self._date = date

    @property
    def digest(self):
        """The manifest's: what a registry and a pod name it by."""
        return self._entry["digest"]

    def bytes(self):
        tar = Tree()
        tar.add_file("oci-layout", _json({"imageLayoutVersion": "1.0.0"}))
        tar.add_file("index.json", _json({"schemaVersion": 2, "mediaType": _MEDIA + "index.v1+json",
                                          "manifests": [self._entry]}))
        for digest, blob in self._blobs.items():
            tar.add_file("blobs/" + digest.replace(":", "/"), blob)
        return tar.tar(self._date)

    def _add(self, content, kind):
        self._blobs[_digest(content)] = content
        return {"mediaType": kind, "digest": _digest(content), "size": len(content)}


def _digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def _json(value):
    return json.dumps(value, separators=(",", ":")).encode()
