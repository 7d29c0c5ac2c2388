"""Machine code on disk, so that the next process starts at once: a file for each text,
processor and version of LLVM.

What lies there is run, so the folder has to be the user's own, and nobody else may write to it; elsewhere
nothing is kept. A file is whole at any moment, whoever else writes it, begins with a digest of what follows,
and the oldest are removed.
"""
from __future__ import annotations

import functools
import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

KEPT = 500  # files


def load(key: str) -> bytes | None:
    """What was stored under a key; None where nothing is, or not all of it."""
    place = folder()
    with suppress(OSError):
        found = (place / f"{key}.o").read_bytes() if place else b""
        if found[:32] == hashlib.sha256(found[32:]).digest():
            return found[32:]
    return None


def store(key: str, code: bytes) -> None:
    """Keep it, if that can be done."""
    if not (place := folder()):
        return
    with suppress(OSError):  # the disk is full, or another process has removed the folder
        with tempfile.NamedTemporaryFile(dir=place, suffix=".part", delete=False) as file:
            try:
                file.write(hashlib.sha256(code).digest() + code)
            except OSError:
                os.unlink(file.name)
                raise
        os.replace(file.name, place / f"{key}.o")


@functools.cache
def folder() -> Path | None:
    """The folder: XMAN_CACHE, or xman in the user's folder of caches.
    None where it is not safe or not there."""
    try:
        place = Path(os.environ.get("XMAN_CACHE")
                     or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xman")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = place.stat()
        if hasattr(os, "getuid") and (found.st_uid != os.getuid()
                                      or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            return None
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"xman")
        for old in sorted([*place.glob("*.o"), *place.glob("*.part")], key=lambda path: path.stat().st_mtime)[
            :-KEPT]:
            old.unlink(missing_ok=True)
    except (OSError, RuntimeError):
        return None
    return place
