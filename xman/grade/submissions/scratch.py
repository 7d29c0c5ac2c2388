"""Temporary folders: removed at the end of a context, or, if the process was killed, by the next sweep."""
from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from ...files.whole import fcntl, lock_file

PREFIX = "xman-scratch-"


@contextmanager
def scratch() -> Iterator[Path]:
    """A context with a fresh folder that is closed to other users."""
    with ExitStack() as undo:
        while True:
            path = Path(tempfile.mkdtemp(prefix=PREFIX))
            try:
                undo.callback(os.close, lock(path))
            except (BlockingIOError, FileNotFoundError):  # a sweep came in between
                continue
            except OSError:  # the disk has no locks, and so no sweep removes the folder
                pass
            break
        undo.callback(shutil.rmtree, path, ignore_errors=True)
        yield path


def lock(path: Path) -> int:
    """A descriptor with a lock on the folder. OSError if another process has it, or the folder is gone."""
    if not fcntl:  # on Windows nothing is locked, and nothing is swept
        raise OSError("this system has no such locks")
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        lock_file(number)
        os.stat(path)
    except OSError:
        os.close(number)
        raise
    return number


def sweep() -> None:
    """Remove this user's scratch folders whose processes were killed; those of others are locked."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):
            if fcntl and path.lstat().st_uid == os.geteuid():
                number = lock(path)
                shutil.rmtree(path, ignore_errors=True)
                os.close(number)


def open_to_all(folder: Path) -> None:
    """Let every user read the folder and all in it, whatever the umask is."""
    for path in (folder, *folder.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or os.access(path, os.X_OK) else 0o644)
