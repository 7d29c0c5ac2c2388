"""A submission: read once, and unpacked where it can do no harm."""
from __future__ import annotations

import contextlib
import hashlib
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from ...errors import XManError, nearest
from .contents import bytes_or_files, contents
from .notebook import notebook_program
from .scratch import open_to_all, scratch

HANDED_OUT = "check.py", "checks.py", "probes.py"


@dataclass(frozen=True)
class Submission:
    """The work of one student. name: the student's, from the name of the file. slug: a name for files.

    data: the bytes of a file, the files of a folder, or why they cannot be read; None before they are read.
    student: the key in the roster, "" if that is not known.
    """
    name: str
    slug: str
    path: Path
    data: bytes | dict[str, bytes] | XManError | None = field(default=None, repr=False)
    student: str = ""

    def read(self) -> Submission:
        """The submission with its data. They are read once, so that the digest is that of the judged data."""
        try:
            return replace(self, data=bytes_or_files(self.path)) if self.data is None else self
        except XManError as error:
            return replace(self, data=error)

    def digest(self) -> str:
        """The SHA-256 of the file's bytes, of a folder's names and contents, or of the error on reading."""
        data = self.read().data
        if isinstance(data, dict):
            data = b"".join(f"{name}\0{len(inner)}\0".encode() + inner
                            for name, inner in sorted(data.items()))
        return hashlib.sha256(data if isinstance(data, bytes)
                              else str(data).encode(errors="backslashreplace")).hexdigest()

    @contextlib.contextmanager
    def unpacked(self, module: str) -> Iterator[Path]:
        """A context with a fresh folder of the submission's regular files, MODULE.py at its top.

        Other users can read the folder, but cannot guess where it is. XManError for a submission that is
        refused.
        """
        data = self.read().data
        if isinstance(data, XManError):
            raise data
        files = from_its_folder(contents(self.path.name, data), module, repr(self.path.name[:80]))
        with scratch() as outer:
            folder = outer / secrets.token_hex(8)
            for name, data in files.items():  # an OSError here is not the student's fault
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(data)
            open_to_all(folder)
            outer.chmod(0o711)
            yield folder


def from_its_folder(files: dict[str, bytes], module: str, source: str) -> dict[str, bytes]:
    """The files in the folder of MODULE.py, which becomes the top. XManError if this folder is not clear."""
    if not files:
        raise XManError(f"{source} is empty: it holds no file")
    file_name = f"{module}.py"
    programs = {name: PurePosixPath(name).name for name in files if name.lower().endswith(".py")}
    notebooks = [name for name in files if name.lower().endswith(".ipynb")]
    if len(notebooks) == 1 and {*HANDED_OUT}.issuperset(programs.values()):
        return {file_name: notebook_program(files[notebooks[0]], notebooks[0][:80])}
    named = [name for name in programs if programs[name] == file_name]
    depth = min((name.count("/") for name in named), default=0)
    candidates = ([name for name in named if name.count("/") == depth]  # else a file of another name will do
                  or [name for name in programs if programs[name] not in HANDED_OUT] or list(programs))
    if len(candidates) != 1:
        several = sorted(candidates or files)
        listed = ", ".join(repr(name[:80]) for name in several[:5]) + ", …" * (len(several) > 5)
        raise XManError(f"{source} holds {file_name} more than once: {listed}" if named else
                        f"there is no file {file_name} in {source}: it holds "
                        f"{listed}{nearest(file_name, programs.values())}")
    if not files[candidates[0]].strip():
        raise XManError(f"the file {candidates[0]!r} in {source} is empty")
    top = candidates[0][:-len(programs[candidates[0]])]
    return {file_name if name == candidates[0] else name.removeprefix(top): data
            for name, data in files.items() if name.startswith(top)}
