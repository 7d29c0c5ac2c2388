"""Finds submissions in folders, and gives each a name that no other file has, in this run or another."""
from __future__ import annotations

import hashlib
import itertools
import os
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from ...errors import XManError
from .contents import MOST_ENTRIES, is_archive, is_folder, open_regular, passed_over
from .harmless import harmless
from .submission import HANDED_OUT, Submission

ENDINGS = re.compile(r"\.(zip|tar|tgz|tbz2|txz|tar\.(gz|bz2|xz)|py|ipynb)$", re.IGNORECASE)
README = re.compile(r"readme\.(txt|md|rst|html)", re.IGNORECASE)  # of the platform, or the instructor's own


def find(paths: Iterable[str | Path], module: str) -> list[Submission]:
    """The submissions at the paths: each a file, a folder with MODULE.py at its top, or a folder of such.

    A folder with MODULE.py and another submission beside it is a class in which a student chose this name.
    Hidden files and a README.txt are skipped. XManError where there is nothing.
    """
    submission_paths: dict[Path, None] = {}
    for path in map(Path, paths):
        try:
            place = path.resolve(strict=True)  # only a link that the user typed is followed
            names = sorted(os.listdir(place)) if place.is_dir() else ()
            inside = [place / name for name in names if not (passed_over(name) or README.fullmatch(name))]
            inside = inside if place.is_dir() else [place]
            alone = (os.path.lexists(place / f"{module}.py")
                     and not any(is_another(entry, module) for entry in inside))
        except (OSError, RuntimeError) as error:
            raise XManError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
        if not inside:
            raise XManError(f"there is no submission in {path}")
        submission_paths.update(dict.fromkeys([place] if alone else inside))
    return with_slugs(submission_paths)


def is_another(path: Path, module: str) -> bool:
    """Whether a path beside MODULE.py is another student's: a program, an archive, a folder with these."""
    if path.name in (f"{module}.py", *HANDED_OUT):
        return False
    if is_folder(path):
        inside = ((Path(base, name) for name in names) for base, _, names in os.walk(path))
        return any(file.name == f"{module}.py" or is_another(file, module) and file.suffix.lower() != ".py"
                   for file in itertools.islice(itertools.chain.from_iterable(inside), MOST_ENTRIES))
    may_be_packed = bool(ENDINGS.search(path.name)) or not path.suffix
    return path.suffix.lower() in (".py", ".ipynb") or may_be_packed and looks_packed(path)


def looks_packed(path: Path) -> bool:
    """Whether the file may be an archive; yes, if it cannot be read."""
    try:
        with open_regular(path) as file:
            return is_archive(file.read(512))
    except (XManError, OSError):
        return True


def one(path: str | Path) -> Submission:
    """The path as one submission, whatever files it has."""
    return with_slugs([Path(path).resolve()])[0]


def with_slugs(paths: Iterable[Path]) -> list[Submission]:
    """A submission for each path. Its slug ends in the digest of its name, or of its path for a double name.

    So a slug is the same in each run, whatever other files there are, and no two files share one. If two
    submissions would be shown by one name, they are shown by the names of their files, or by their slugs.
    """
    keys = {path: os.fsencode(path.name) + b"/" * is_folder(path) for path in paths}
    times = Counter(keys.values())
    labels, slugs = {}, {}
    for path, key in keys.items():
        digest = hashlib.sha256(key if times[key] == 1 else os.fsencode(path)).hexdigest()[:16]
        stem = unicodedata.normalize("NFC", path.name if is_folder(path) else ENDINGS.sub("", path.name))
        plain = re.sub(r"[^\w.-]+", "-", unicodedata.normalize("NFKC", stem)).strip("-.")[:40] or "submission"
        in_a_line = lambda name: harmless(name, 80).replace("\n", r"\n").replace("\t", r"\t")
        labels[path] = [*map(in_a_line, (stem, path.name))]
        slugs[path] = f"{plain}-{digest}"
    shown = Counter(itertools.chain.from_iterable(map(set, labels.values())))
    names = {path: next((label for label in labels[path] if shown[label] == 1), slugs[path]) for path in keys}
    return [Submission(names[path], slugs[path], path) for path in keys]
