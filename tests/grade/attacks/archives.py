# Tries: to do harm while it is unpacked: files outside of the folder, links, devices, bombs, names; or to bring files that run
# by themselves.
# Worked: a file is where none was, the grader waits or takes much memory, or a module of the archive runs in place of another.
"""Hostile archives and folders, built in a temporary folder: each is refused in a sentence, or is worth what its module is."""
from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import struct
import tarfile
import zipfile
from pathlib import Path

HONEST = Path(__file__).with_name("honest.py").read_bytes()
EVIL = b'print("ESC" "APED: imported", __name__)\nraise SystemExit("ESC" "APED")\n'
ESCAPED = "c4n4ry-escaped.py"
TWICE = "numpy.py", "json.py", "xman.py"  # of which there is a folder, too
SHADOWS = """
    conftest.py sitecustomize.py usercustomize.py numpy.py numpy/__init__.py json.py json/__init__.py plain.py confine.py
    worker.py probes.py xman/__init__.py xman.py evil.pth pyvenv.cfg attacked/__init__.py attacked.pyc attacked.so os.py
    __pycache__/attacked.cpython-311.pyc __main__.py encodings/__init__.py traceback.py linecache.py checks.py grading.py
    python .pythonrc.py pytest.ini setup.cfg random.py codecs.py importlib/util.py solution/attacked_too.py
    site-packages/numpy.py""".split()


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def entry(name: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, mode << 16
    return info


def tarred(*members: tuple[str, bytes, dict], mode: str = "w:gz", **options) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, **options) as archive:
        for name, data, more in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            for key, value in more.items():
                setattr(info, key, value)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def encrypted() -> bytes:
    data = bytearray(zipped(("attacked.py", HONEST)))
    for mark, place in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + place] |= 1
    return bytes(data)


def overlapping() -> bytes:
    """All members of the directory share the bytes of the first."""
    data = zipped(*((f"a{k:03}.txt", bytes(10_000)) for k in range(100)), ("attacked.py", HONEST))
    start, out = data.index(b"PK\1\2"), bytearray(data)
    place = start
    for _ in range(100):
        struct.pack_into("<I", out, place + 42, 0)
        place += 46 + sum(struct.unpack_from("<HHH", out, place + 28))
    return bytes(out)


def of_other_sizes(size: int) -> bytes:
    """The directory says another size than there is."""
    data = bytearray(zipped(("attacked.py", HONEST), method=zipfile.ZIP_STORED))
    struct.pack_into("<I", data, data.index(b"PK\1\2") + 24, size)
    return bytes(data)


def many(count: int) -> bytes:
    """A zip archive of so many empty files, written by hand: zipfile takes seconds for it."""
    local, central = bytearray(), bytearray()
    for k in range(count):
        name = b"%06d" % k
        central += struct.pack("<4s6H3I5H2I", b"PK\1\2", 20, 20, 0, 0, 0, 33, 0, 0, 0, len(name), 0, 0, 0, 0, 0,
                               len(local)) + name
        local += struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, 0, 0, 33, 0, 0, 0, len(name), 0) + name
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, len(central), len(local), 0)
    return bytes(local + central + end)


def refused() -> dict[str, bytes]:
    """Each archive that is to be refused, by its file's name."""
    honest, plain = ("attacked.py", HONEST), ("attacked.py", HONEST, {})
    link, hard = {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}, {"type": tarfile.LNKTYPE, "linkname": "/etc/shadow"}
    return {
        "slip.zip": zipped(honest, (f"../../{ESCAPED}", EVIL)), "absolute.zip": zipped(honest, (f"/tmp/{ESCAPED}", EVIL)),
        "backslash.zip": zipped(honest, (f"..\\{ESCAPED}", EVIL)), "drive.zip": zipped(honest, (f"C:{ESCAPED}", EVIL)),
        "link.zip": zipped((entry("attacked.py", stat.S_IFLNK | 0o777), b"/etc/passwd")),
        "link-to-folder.zip": zipped(honest, (entry("out", stat.S_IFLNK | 0o777), b"/tmp"), (f"out/{ESCAPED}", EVIL)),
        "fifo.zip": zipped(honest, (entry("pipe", stat.S_IFIFO | 0o666), b"")),
        "device.zip": zipped(honest, (entry("tty", stat.S_IFCHR | 0o666), b"")),
        "bomb.zip": zipped(honest, ("zeros", bytes(30 << 20))),
        "bombs.zip": zipped(honest, *((f"zeros{k}", bytes(4 << 20)) for k in range(6))),
        "entries.zip": many(100_000), "encrypted.zip": encrypted(), "overlapping.zip": overlapping(),
        "small.zip": of_other_sizes(10), "truncated.zip": zipped(honest)[:-30],
        "twice.zip": zipped(honest, ("./attacked.py", EVIL)), "case.zip": zipped(honest, ("Attacked.py", EVIL)),
        "zero.zip": zipped(honest, ("abXcd.py", EVIL)).replace(b"abXcd", b"ab\0cd"),
        "escape.zip": zipped(honest, ("\x1b[2Jx.py", EVIL)), "bidi.zip": zipped(honest, ("\u202eyp.x", EVIL)),
        "long.zip": zipped(honest, ("x" * 5000, EVIL)), "file-and-folder.zip": zipped(honest, ("attacked.py/x.py", EVIL)),
        "rare.zip": zipped(honest, method=zipfile.ZIP_LZMA),
        "slip.tar.gz": tarred(plain, (f"../../{ESCAPED}", EVIL, {})),
        "absolute.tar": tarred(plain, (f"/tmp/{ESCAPED}", EVIL, {}), mode="w"),
        "link.tar.gz": tarred(("attacked.py", b"", link)), "hard-link.tar.gz": tarred(plain, ("x.py", b"", hard)),
        "link-to-folder.tar.gz": tarred(plain, ("out", b"", {**link, "linkname": "/tmp"}), (f"out/{ESCAPED}", EVIL, {})),
        "fifo.tar.gz": tarred(plain, ("pipe", b"", {"type": tarfile.FIFOTYPE})),
        "device.tar.gz": tarred(plain, ("mem", b"", {"type": tarfile.CHRTYPE, "devmajor": 1, "devminor": 1})),
        "disk.tar.gz": tarred(plain, ("sda", b"", {"type": tarfile.BLKTYPE, "devmajor": 8, "devminor": 0})),
        "bomb.tar.gz": gzip.compress(tarred(plain, ("zeros", bytes(30 << 20), {}), mode="w"), 1),
        "bomb.tar.xz": lzma.compress(bytes(30 << 20), preset=0), "bomb.tar.bz2": bz2.compress(bytes(30 << 20), 1),
        "entries.tar.gz": gzip.compress(tarfile.TarInfo(".").tobuf() * 20_000 + bytes(1024), 1),
        "pax.tar.gz": tarred(("attacked.py", HONEST, {"pax_headers": {"path": f"../../{ESCAPED}"}})),
        "truncated.tar.gz": tarred(plain)[:-40], "empty.zip": b"", "text.zip": b"attacked.py", "png.tar.gz": b"\x89PNG\r\n\x1a\n",
        "empty-archive.zip": zipped(), "other-name.zip": zipped(("a.py", HONEST), ("b.py", HONEST)),
    }


def accepted() -> dict[str, bytes]:
    """Each archive that is unpacked, and is worth what the honest module in it is worth."""
    setuid = {"mode": 0o6777, "uid": 0, "uname": "root"}
    return {
        "shadows.zip": zipped(("attacked.py", HONEST), *((name, EVIL) for name in SHADOWS if name not in TWICE)),
        "shadows.tar.gz": tarred(("attacked.py", HONEST, {}), *((name, EVIL, {}) for name in SHADOWS if "/" not in name)),
        "setuid.tar.gz": tarred(("attacked.py", HONEST, setuid)),
        "setuid.zip": zipped((entry("attacked.py", stat.S_IFREG | 0o6777), HONEST)),
        "nested.zip": zipped(("attacked.py", HONEST), ("inner.zip", zipped((f"../{ESCAPED}", EVIL)))),
        "large.zip": of_other_sizes(0xFFFFFFF0),
        "hidden.zip": zipped(("attacked.py", HONEST), (".git/hooks/post-checkout", EVIL), ("__MACOSX/attacked.py", EVIL),
                             (".bashrc", EVIL)),
    }


def sources() -> dict[str, bytes]:
    """Modules that no reader of programs likes: what becomes of each is a sentence, and no points."""
    return {"zero": b"\0", "no-encoding": b"# coding: no-such-thing\n", "rot13": b"# coding: rot13\nvzcbeg bf\n",
            "utf-7": b"# coding: utf-7\n+AGE-\n",
            "utf-16": "def gradient(): pass".encode("utf-16"), "latin": b"x = '\xff\xfe\x80'\n", "brackets": b"(" * 1_000_000,
            "nested": b"x = " + b"(" * 190 + b")" * 190, "minus": b"x = " + b"-" * 1_000_000 + b"1",
            "folded": b"x = 'x' * 10 ** 9\ny = 2 ** 10 ** 9\n",
            "long-line": b"x = '" + b"a" * 4_000_000 + b"'", "many-lines": b"x = 1\n" * 600_000,
            "indented": b"".join(b" " * k + b"if 1:\n" for k in range(150)),
            "escapes": b"\x1b[2J\x9b31m = 1\n", "itself": b"import attacked\nfrom attacked import *\nattacked.gradient\n",
            "star": b"from numpy import *\nfrom worker import *\nfrom plain import *\nfrom confine import *\nmain()\n"}


def folders(where: Path) -> dict[str, bool]:
    """Make the folders that are submissions; by name, whether it is worth what an honest one is."""
    made = {}
    for name, worth in (("links", False), ("link-as-module", False), ("fifo-as-module", False), ("shadows", True),
                        ("loop", False), ("hidden", True)):
        folder = where / name
        folder.mkdir()
        made[name] = worth
        if name.endswith("-as-module"):
            os.symlink("/etc/passwd", folder / "attacked.py") if name.startswith("link") else os.mkfifo(folder / "attacked.py")
            continue
        (folder / "attacked.py").write_bytes(HONEST)
        if name == "links":
            os.symlink("/etc/passwd", folder / "notes.txt")
        elif name == "loop":
            os.symlink(folder, folder / "again")
        elif name == "hidden":
            (folder / ".git").mkdir()
            os.symlink("/etc/shadow", folder / ".git" / "HEAD")
        else:
            for shadow in SHADOWS:
                if shadow not in TWICE:
                    (folder / shadow).parent.mkdir(exist_ok=True)
                    (folder / shadow).write_bytes(EVIL)
    return made
