"""The contents of a submission: the regular files of a folder, an archive or a single file, and nothing else.

All bytes may come from an enemy: only regular files are opened, no link is followed, no name leads out of its
folder, and bytes are counted while they are read.
"""
from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import os
import re
import stat
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from ...errors import XManError

MOST_FILES, MOST_ENTRIES = 200, 5000  # files that are kept; entries, with folders and hidden files
MOST_BYTES, MOST_OF_A_FILE = 20 << 20, 5 << 20
MOST_RATIO, FREE = 100, 1 << 20       # the bytes unpacked over those packed, beyond FREE bytes unpacked
MOST_OF_A_NAME = 255                  # bytes of a name with its folders
MOST_STREAMS = 1000                   # streams of compressed bytes, one after the other
MOST_WORK = 2 * 10 ** 8               # the squares of the sizes of a tar's long headers, which readers take in time
TAR_HEADERS = b"xgXLK"  # the kinds of headers that give a long name or attributes
# the modules that unpack them; a Python may lack the last two
COMPRESSED = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\0": "lzma"}
KINDS = {"-": "file", "d": "folder", "l": "link", "p": "fifo", "s": "socket"}  # by the letter of ls -l
# no link is followed, no fifo waited for, no byte changed: the flags of os.open for it that the system has
AS_IT_IS = sum(getattr(os, flag, 0) for flag in "O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_BINARY".split())
JUNK = "__MACOSX", "__pycache__", "Thumbs.db", "desktop.ini", "submission_metadata.yml"


@contextlib.contextmanager
def opening(name: str) -> Iterator[None]:
    """A context in which errors become sentences that name the submission."""
    try:
        yield
    except (XManError, OSError) as error:
        reason = str(error)
        if isinstance(error, OSError):
            reason = f"{str(error.filename or name)[:80]!r}: {error.strerror}"
        raise XManError(f"{name[:80]!r} was not opened: {reason}") from None


def bytes_or_files(path: Path) -> bytes | dict[str, bytes]:
    """The bytes of a file, or the regular files of a folder, by names with slashes. XManError otherwise."""
    with opening(path.name):
        if not is_folder(path):
            return read_regular(path, MOST_OF_A_FILE if path.suffix.lower() == ".py" else MOST_BYTES)
        if not hasattr(os, "O_DIRECTORY"):
            raise XManError("Windows opens no folder as a file; hand in an archive of it")
        from_folder(os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW), "", files := Contents())
        return files


def contents(name: str, data: bytes | dict[str, bytes]) -> dict[str, bytes]:
    """The regular files of a submission of that name. XManError for what is refused."""
    with opening(name):
        if isinstance(data, dict):
            inner = next(iter(data.values())) if len(data) == 1 else b""
            return from_archive(inner) if is_archive(inner) else data  # the folder holds only an archive
        if name.lower().endswith((".py", ".ipynb")):
            return {name: data}
        if data and not is_archive(data):
            raise XManError("it is neither a folder, nor a .py file or notebook, nor an archive (.zip, .tar, .tar.gz, "
                            ".tar.bz2 or .tar.xz)")
        return from_archive(data) if data else {}


def entry_kind(mode: int) -> str:
    return KINDS.get(stat.filemode(mode)[0], "device")


def is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def passed_over(name: str) -> bool:
    """Whether the name is of a file that is never handed in on purpose."""
    return name.startswith(".") or name in JUNK


class Contents(dict[str, bytes]):
    """The files of a submission: each name, number and size is checked before a byte is kept."""

    def __init__(self, packed: int = MOST_BYTES) -> None:
        """packed: the bytes of the archive that they come from."""
        self.max_bytes = min(MOST_BYTES, max(FREE, MOST_RATIO * packed))
        self.entries = self.bytes = 0
        # by the name on a disk that ignores case: (the name, whether it is a file)
        self.places: dict[str, tuple[str, bool]] = {}

    def place(self, name: str, kind: str) -> str | None:
        """The plain name of a file; None for an entry to skip. XManError for one that is refused."""
        self.entries += 1
        if self.entries > MOST_ENTRIES:
            raise XManError(f"it has more than {MOST_ENTRIES} entries; hand in your own files alone")
        components = [component for component in name.split("/") if component not in ("", ".")]
        if trouble := trouble_of(name, components):
            raise XManError(f"the name {name[:80]!r} {trouble}")
        if not components or any(map(passed_over, components)):
            return None
        plain = "/".join(components)
        if kind not in ("file", "folder"):
            raise XManError(f"{plain[:80]!r} is a {kind}; hand in regular files and folders alone")
        for path in (plain, *map(str, PurePosixPath(plain).parents[:-1])):
            entry = path, path == plain and kind == "file"
            # Model.py and model.py are one file on many disks, where the second would replace the first
            earlier = self.places.setdefault(unicodedata.normalize("NFKC", path).casefold(), entry)
            if earlier[1] != entry[1]:
                raise XManError(f"{path[:80]!r} is a file and a folder at once")
            if earlier[0] != path or earlier is not entry and entry[1]:
                raise XManError(f"{path[:80]!r} is there twice, the other time as {earlier[0][:80]!r}")
        return plain if kind == "file" else None

    def keep(self, name: str, file: IO[bytes]) -> None:
        """Read a file and keep it. XManError beyond the limits."""
        if len(self) == MOST_FILES:
            raise XManError(f"it has more than {MOST_FILES} files; hand in your own alone")
        self[name] = file.read(MOST_OF_A_FILE + 1)
        self.bytes += len(self[name])
        if len(self[name]) > MOST_OF_A_FILE:
            raise XManError(f"{name[:80]!r} is larger than {MOST_OF_A_FILE >> 20} MiB")
        if self.bytes > self.max_bytes:
            raise XManError(too_large(self.max_bytes))


def too_large(max_bytes: int) -> str:
    return (f"its files are larger than {MOST_BYTES >> 20} MiB together" if max_bytes >= MOST_BYTES else
            f"it would unpack to more than {MOST_RATIO} times its size, as no program does")


def trouble_of(name: str, components: list[str]) -> str | None:
    """What is wrong with the name of an entry, or None."""
    if any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in name):
        return "has control characters"
    if "\\" in name or re.match("[A-Za-z]:", name):
        return "is a path of Windows; put slashes between folders, and name no drive"
    if name.startswith("/") or ".." in components:
        return "leads out of its folder"
    if len("/".join(components).encode()) > MOST_OF_A_NAME:
        return f"is longer than {MOST_OF_A_NAME} bytes"
    return None


def open_regular(name: str | Path, folder: int | None = None) -> IO[bytes]:
    """A regular file, open for reading. XManError for a link, which is not followed, and for a fifo."""
    number = os.open(name, os.O_RDONLY | AS_IT_IS, dir_fd=folder)
    if entry_kind(os.fstat(number).st_mode) != "file":
        os.close(number)
        raise XManError("it changed while it was read")
    return os.fdopen(number, "rb")


def read_regular(path: Path, max_bytes: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file. XManError if it is not one, or too large; OSError if unreadable."""
    if (kind := entry_kind(os.lstat(path).st_mode)) != "file":
        raise XManError(f"it is a {kind}, and not a regular file")
    with open_regular(path) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise XManError(f"it is larger than {max_bytes >> 20} MiB")
    return data


def from_folder(folder: int, prefix: str, into: Contents) -> None:
    """Read all files in an open folder, and close it."""
    try:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in itertools.islice(entries, MOST_ENTRIES + 1))
        for name in names:
            kind = entry_kind(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
            if place := into.place(prefix + name, kind):
                with open_regular(name, folder) as file:
                    into.keep(place, file)
            elif kind == "folder" and not passed_over(name):
                from_folder(os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder),
                            f"{prefix}{name}/", into)
    finally:
        os.close(folder)


def is_archive(data: bytes) -> bool:
    """Whether the bytes are those of an archive, by their beginning, or by the mark of a tar further on."""
    return data.startswith((b"PK\3\4", b"PK\5\6", *COMPRESSED)) or data[257:262] == b"ustar"


def from_archive(data: bytes) -> Contents:
    """The files of an archive."""
    into = Contents(len(data))
    try:
        (from_zip if data.startswith(b"PK") else from_tar)(data, into)
    except XManError:
        raise
    # any error of the standard library's readers, for bytes that were made to break them
    except Exception as error:
        raise XManError(f"the archive is broken or cut off ({type(error).__name__}: "
                        f"{str(error)[:80]!r})") from None
    return into


def from_zip(data: bytes, into: Contents) -> None:
    """Read the members of a zip archive one by one."""
    if data.count(b"PK\1\2") > MOST_ENTRIES:  # before zipfile makes a list of them
        raise XManError(f"it has more than {MOST_ENTRIES} entries; hand in your own files alone")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        end = 0
        for info in sorted(archive.infolist(), key=lambda info: info.header_offset):
            if info.header_offset < end:
                # a zip bomb: one compressed member is listed, and unpacked, many times
                raise XManError("its members overlap, as in no honest archive")
            end = info.header_offset + 30 + info.compress_size
        for info in archive.infolist():
            # archives from Windows have no kinds, and some have backslashes between folders
            kind = entry_kind(info.external_attr >> 16 if info.external_attr >> 28 else stat.S_IFREG)
            name = info.orig_filename.replace("\\", "/")  # with all after a zero byte
            if place := into.place(name, "folder" if name.endswith("/") and kind == "file" else kind):
                if info.flag_bits & 1:
                    raise XManError("the archive is encrypted; hand it in without a password")
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise XManError(f"{place[:80]!r} is compressed by a rare method; make an ordinary .zip")
                with archive.open(info) as file:
                    into.keep(place, file)


class Header(tarfile.TarInfo):
    """A header of a tar. Long names and attributes are read if they are short enough together."""

    def _proc_member(self, archive: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in TAR_HEADERS:
            archive.work = getattr(archive, "work", 0) + self.size ** 2  # type: ignore[attr-defined]
        if self.size < 0 or getattr(archive, "work", 0) > MOST_WORK:
            raise XManError("the archive has headers of a size that no name needs")
        return super()._proc_member(archive)  # type: ignore[misc]


def from_tar(data: bytes, into: Contents) -> None:
    """Unpack a tar archive up to the limits, and read its members one by one."""
    if start := next(filter(data.startswith, COMPRESSED), None):
        if data.count(start) > MOST_STREAMS:
            raise XManError(f"it is more than {MOST_STREAMS} archives, one after the other")
        max_bytes = into.max_bytes + 1024 * MOST_FILES  # with room for the headers
        with importlib.import_module(COMPRESSED[start]).open(io.BytesIO(data)) as packed:
            data = packed.read(max_bytes + 1)
        if len(data) > max_bytes:
            raise XManError(too_large(into.max_bytes))
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:", tarinfo=Header) as archive:
        for member in archive:
            kind = ("file" if member.isreg() and not member.issparse() else "folder" if member.isdir() else
                    "link" if member.issym() or member.islnk() else "fifo" if member.isfifo() else "device")
            if (place := into.place(member.name, kind)) and (file := archive.extractfile(member)):
                into.keep(place, file)
        if data[archive.offset:archive.offset + 512] != bytes(512):
            raise XManError("the archive is broken or cut off")
