"""A shared object without content: what a driver library looks like from outside. 64-bit, little-endian."""
import json
import struct

MACHINES = {"x86_64": 62, "aarch64": 183}


def elf_stub(soname="", machine="x86_64", compat=None):
    """Bytes of a shared object with this SONAME ("": none) and, if `compat` is given, a .note.cuda.fwd_compatibility with it."""
    names = b"\0.dynstr\0.dynamic\0.note.cuda.fwd_compatibility\0.shstrtab\0"
    strings = b"\0" + soname.encode() + b"\0"
    note = b""
    if compat is not None:
        name, text = b"NVIDIA Corporation\0", json.dumps(compat).encode() + b"\0"
        note = struct.pack("<III", len(name), len(text), 1) + name.ljust(-(-len(name) // 4) * 4, b"\0") + text
        note = note.ljust(-(-len(note) // 4) * 4, b"\0")
    header_size, program_size = 64, 56
    note_at = header_size + 2 * program_size
    strings_at = note_at + len(note)
    dynamic_at = -(-(strings_at + len(strings)) // 8) * 8
    entries = [(5, strings_at), (10, len(strings))] + ([(14, 1)] if soname else []) + [(0, 0)]
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    names_at = dynamic_at + len(dynamic)
    sections_at = -(-(names_at + len(names)) // 8) * 8

    def section(name, kind, at, size, link=0, entry=0, align=1):
        return struct.pack("<IIQQQQIIQQ", names.index(name) if name else 0, kind, 0, at, at, size, link, 0, align, entry)

    sections = [section(b"", 0, 0, 0)]
    sections.append(section(b".dynstr\0", 3, strings_at, len(strings)))
    sections.append(section(b".dynamic\0", 6, dynamic_at, len(dynamic), 1, 16, 8))
    if note:
        sections.append(section(b".note.cuda.fwd_compatibility\0", 7, note_at, len(note), align=4))
    sections.append(section(b".shstrtab\0", 3, names_at, len(names)))
    end = sections_at + 64 * len(sections)
    header = b"\x7fELF" + bytes([2, 1, 1, 0]) + bytes(8) + struct.pack(
        "<HHIQQQIHHHHHH", 3, MACHINES[machine], 1, 0, header_size, sections_at, 0, header_size, program_size, 2, 64,
        len(sections), len(sections) - 1)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, end, end, 4096)
    dyn = struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)
    body = (header + load + dyn + note + strings).ljust(dynamic_at, b"\0") + dynamic + names
    return body.ljust(sections_at, b"\0") + b"".join(sections)
