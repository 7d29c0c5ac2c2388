"""A folder that the worker's user can read."""
from __future__ import annotations

import os
import shutil
import stat
from contextlib import ExitStack
from pathlib import Path

from xman.errors import XManError
from xman.grade.submissions.scratch import scratch


def readable_copy(folder: Path, undo: ExitStack, always: bool = False) -> Path:
    """The folder where everyone can read all of it, else a copy of its files that lasts as long as undo."""
    folder = Path(folder)
    if not folder.is_dir():
        raise XManError(f"the submission {folder} is not a folder")
    paths = list(all_inside(folder))  # before the copy is made, which may lie inside
    if not always and all(everyone(path) for path in paths):
        return folder
    copy = undo.enter_context(scratch())
    for path in paths:
        there = copy / path.relative_to(folder)
        mode = path.lstat().st_mode
        if stat.S_ISDIR(mode):
            there.mkdir(exist_ok=True)
            there.chmod(0o755)
        elif stat.S_ISREG(mode):
            shutil.copyfile(path, there)
            there.chmod(0o644)
    return copy


def all_inside(folder: Path):
    """The folder and all that is in it, at any depth; links are not followed."""
    yield folder
    for where, folders, files in os.walk(folder):
        yield from (Path(where, name) for name in (*folders, *files))


def everyone(path: Path) -> bool:
    """Whether every user may read this file or enter this folder."""
    mode = path.lstat().st_mode
    return not stat.S_ISDIR(mode) and mode & 0o004 != 0 or mode & 0o005 == 0o005
