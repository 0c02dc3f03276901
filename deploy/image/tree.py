"""What a layer of an image consists of, and its tar. Same tree and date, same bytes."""

import io
import os
import pathlib
import stat
import tarfile


class Tree:
    """Paths without a leading slash, each a file, a link or a folder. Folders above them come by themselves."""

    def __init__(self):
        self.files = {}  # path → (content, mode)
        self.links = {}  # path → target
        self.folders = set()

    def add_file(self, path, content, mode=0o644):
        self.files[path.lstrip("/")] = (content, mode)

    def add_link(self, path, target):
        self.links[path.lstrip("/")] = target

    def add_folder(self, path):
        self.folders.add(path.strip("/"))

    def add_tree(self, folder, inside):
        """What is below a folder, as `inside`. Owners, dates and all mode bits but "executable" are left behind."""
        for here, folders, files in os.walk(folder):
            for name in [*folders, *files]:
                source = pathlib.Path(here, name)
                path = f"{inside}/{source.relative_to(folder)}"
                mode = source.lstat().st_mode
                if stat.S_ISLNK(mode):
                    self.add_link(path, os.readlink(source))
                elif stat.S_ISDIR(mode):
                    self.add_folder(path)
                elif stat.S_ISREG(mode):
                    self.add_file(path, source.read_bytes(), 0o755 if mode & 0o111 else 0o644)
                else:
                    raise ValueError(f"'{source}' is no file, link or folder")

    def size(self):
        return sum(len(content) for content, _ in self.files.values())

    def tar(self, date):
        """The tar's bytes: sorted, owned by root, of one date."""
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
            for path in sorted(self._all_folders()):
                tar.addfile(_entry(path, tarfile.DIRTYPE, _folder_mode(path), date))
            for path in sorted(self.files | self.links):
                if path in self.links:
                    entry = _entry(path, tarfile.SYMTYPE, 0o777, date)
                    entry.linkname = self.links[path]
                    tar.addfile(entry)
                    continue
                content, mode = self.files[path]
                entry = _entry(path, tarfile.REGTYPE, mode, date)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))
        return buffer.getvalue()

    def unpack(self, folder):
        """Writes it below a folder that is there."""
        for path in sorted(self._all_folders()):
            os.makedirs(f"{folder}/{path}", exist_ok=True)
            os.chmod(f"{folder}/{path}", _folder_mode(path))
        for path, (content, mode) in self.files.items():
            pathlib.Path(folder, path).write_bytes(content)
            os.chmod(f"{folder}/{path}", mode)
        for path, target in self.links.items():
            os.symlink(target, f"{folder}/{path}")

    def _all_folders(self):
        named = [*self.files, *self.links, *(f"{path}/" for path in self.folders)]
        return {"/".join(parts[:n]) for parts in (path.split("/") for path in named) for n in range(1, len(parts))}


def _folder_mode(path):
    return 0o1777 if path == "tmp" else 0o755


def _entry(path, kind, mode, date):
    entry = tarfile.TarInfo(path)
    entry.type, entry.mode, entry.mtime = kind, mode, date
    return entry
