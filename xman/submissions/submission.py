"""Submissions: found in a folder, each with a name of its own, and unpacked where it can do no harm."""
from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import re
import secrets
import shutil
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from ..errors import XManError, nearest
from .contents import contents, passed_over, read
from .harmless import harmless

ENDINGS = re.compile(r"\.(zip|tar|tgz|tbz2|txz|tar\.(gz|bz2|xz)|py)$", re.IGNORECASE)
HANDED_OUT = "check.py", "checks.py"


@dataclass(frozen=True)
class Submission:
    """What one student handed in. name: the student's, from the file's name; slug: the same as the name of a file."""
    name: str
    slug: str
    path: Path

    def digest(self) -> str:
        """The SHA-256 of the file's bytes; of a folder's names and contents; or of the sentence why it cannot be read."""
        total = hashlib.sha256()
        try:
            if self.path.is_dir() and not self.path.is_symlink():
                for name, data in sorted(contents(self.path).items()):
                    total.update(f"{name}\0{len(data)}\0".encode() + data)
            else:
                total.update(read(self.path))
        except (XManError, OSError) as error:
            total.update(str(error).encode(errors="backslashreplace"))
        return total.hexdigest()

    @contextlib.contextmanager
    def unpacked(self, module: str) -> Iterator[Path]:
        """A fresh folder with the submission's regular files alone, MODULE.py at its top; it is gone afterwards.

        Other users can read the folder, and cannot guess where it is. XManError, a sentence for the student, for what is refused.
        """
        files = arranged(contents(self.path), module, repr(self.path.name[:80]))
        outer = Path(tempfile.mkdtemp(prefix="xman-"))
        try:
            folder = outer / secrets.token_hex(8)
            write(files, folder)
            outer.chmod(0o711)
            yield folder
        finally:
            shutil.rmtree(outer, ignore_errors=True)


def find(paths: Iterable[str | Path], module: str) -> list[Submission]:
    """The submissions at the paths: each a file, a folder with MODULE.py at its top, or a folder of such files and folders.

    Hidden files are passed over. XManError where there is nothing.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        try:
            place = path.resolve(strict=True)  # the one link that is followed is the one that was typed
            alone = not place.is_dir() or os.path.lexists(place / f"{module}.py")
            entries = [place] if alone else [place / name for name in sorted(os.listdir(place)) if not passed_over(name)]
        except (OSError, RuntimeError) as error:
            raise XManError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if not entries:
            raise XManError(f"there is no submission in {path}: the folder is empty")
        found.update(dict.fromkeys(entries))
    return named(found)


def one(path: str | Path) -> Submission:
    """The path as one submission, however its files lie."""
    return named([Path(path).resolve()])[0]


def named(paths: Iterable[Path]) -> list[Submission]:
    """A submission for each path. Where two would have the same name, the second gets a number."""
    found, taken = [], set()
    for path in paths:
        name = unicodedata.normalize("NFC", path.name if path.is_dir() else ENDINGS.sub("", path.name))
        slug = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFKC", name)).strip("-.")[:48] or "submission"
        ending = next(ending for n in itertools.count(1) if (slug + (ending := f"-{n}" * (n > 1))).casefold() not in taken)
        taken.add((slug + ending).casefold())
        shown = harmless(name, 80).replace("\n", r"\n").replace("\t", r"\t")
        found.append(Submission(shown + ending, slug + ending, path))
    return found


def arranged(files: dict[str, bytes], module: str, source: str) -> dict[str, bytes]:
    """The files from the folder of MODULE.py on, so that it is at the top. XManError where it is not clear which it is."""
    if not files:
        raise XManError(f"{source} is empty: it holds no file")
    wanted = f"{module}.py"
    programs = {name: PurePosixPath(name).name for name in files if name.lower().endswith(".py")}
    named = [name for name in programs if programs[name] == wanted]
    depth = min((name.count("/") for name in named), default=0)
    found = ([name for name in named if name.count("/") == depth] or
             [name for name in programs if programs[name] not in HANDED_OUT] or list(programs))  # one of another name will do
    if len(found) != 1:
        listed = ", ".join(repr(name[:80]) for name in sorted(found or files)[:5]) + ", …" * (len(found or files) > 5)
        raise XManError(f"{source} holds {wanted} more than once: {listed}" if named else
                        f"there is no file {wanted} in {source}: it holds {listed}{nearest(wanted, programs.values())}")
    if not files[found[0]].strip():
        raise XManError(f"the file {found[0]!r} in {source} is empty")
    top = found[0][:-len(programs[found[0]])]
    return {wanted if name == found[0] else name.removeprefix(top): data for name, data in files.items() if name.startswith(top)}


def write(files: dict[str, bytes], folder: Path) -> None:
    """Write the files into a new folder, for everyone to read. OSError where that cannot be, which is not the student's fault."""
    folder.mkdir()
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    for base, _, names in os.walk(folder):  # whatever the umask is
        os.chmod(base, 0o755)
        for name in names:
            os.chmod(os.path.join(base, name), 0o644)
