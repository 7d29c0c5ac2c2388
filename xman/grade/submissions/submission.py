"""A submission: read once, and unpacked in memory, where it can do no harm."""
from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from ...errors import XManError, nearest
from .contents import bytes_or_files, contents
from .notebook import notebook_program

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
            data = b"".join(f"{name}\0{len(x)}\0".encode() + x for name, x in sorted(data.items()))
        return hashlib.sha256(data if isinstance(data, bytes)
                              else str(data).encode(errors="backslashreplace")).hexdigest()

    def program(self, module: str) -> bytes:
        """The bytes of MODULE.py, which alone counts. XManError for a submission that is refused."""
        data = self.read().data
        if isinstance(data, XManError):
            raise data
        return program_among(contents(self.path.name, data), module, repr(self.path.name[:80]))


def program_among(files: dict[str, bytes], module: str, source: str) -> bytes:
    """The bytes of MODULE.py, or of the only program, in these files. XManError if it is not clear which."""
    if not files:
        raise XManError(f"{source} is empty: it holds no file")
    file_name = f"{module}.py"
    programs = {name: PurePosixPath(name).name for name in files if name.lower().endswith(".py")}
    notebooks = [name for name in files if name.lower().endswith(".ipynb")]
    if len(notebooks) == 1 and {*HANDED_OUT}.issuperset(programs.values()):
        return notebook_program(files[notebooks[0]], notebooks[0][:80])
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
    program = files[candidates[0]]
    if not program.strip():
        raise XManError(f"the file {candidates[0]!r} in {source} is empty")
    stems = module, PurePosixPath(candidates[0]).stem
    for name in notebooks:
        if PurePosixPath(name).stem in stems and has_more(files[name], program):
            raise XManError(f"{source} holds {name[:80]!r} and {candidates[0][:80]!r}, which define "
                            "different things: hand in one of them")
    return program


def has_more(notebook: bytes, program: bytes) -> bool:
    """Whether a notebook defines what a program has not, or otherwise; jupytext keeps the two alike."""
    try:
        paragraphs = notebook_program(notebook, "").split(b"\n\n")
    except XManError:  # nothing in it could be graded
        return False
    text = program.replace(b"\r\n", b"\n")
    return any(paragraph not in text for paragraph in paragraphs)
