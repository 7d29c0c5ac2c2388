"""Compiled programs on disk, so that the next process starts at once.

What lies there is loaded as code, so the folder has to be the user's own, and nobody else may write to it: elsewhere a program
is compiled anew in each process. A program's file is named after its text; Numba puts what it compiled beside it.
"""
from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import stat
import sys
import tempfile
from pathlib import Path
from types import ModuleType

KEPT = 200  # programs: those that were written longest ago are removed


def module(text: str) -> ModuleType:
    """The text as a module that has been executed, from its file in the cache, or from one that goes with the process."""
    name = f"xman_{hashlib.sha256(text.encode()).hexdigest()[:32]}"
    path = (folder() or Path(temporary().name)) / f"{name}.py"
    if not path.exists() or path.read_text("utf-8") != text:
        with tempfile.NamedTemporaryFile("w", dir=path.parent, suffix=".part", delete=False, encoding="utf-8") as file:
            file.write(text)
        os.replace(file.name, path)  # whole at any moment, whoever else writes it
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = loaded = importlib.util.module_from_spec(spec)  # where what was compiled looks for it
    spec.loader.exec_module(loaded)
    return loaded


@functools.cache
def folder() -> Path | None:
    """The folder of the cache: XMAN_CACHE, or xman in the user's folder of caches. None where it is not safe or not there."""
    place = Path(os.environ.get("XMAN_CACHE") or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xman")
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = place.stat()
        if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)):
            return None
        with tempfile.TemporaryFile(dir=place) as file:
            file.write(b"xman")
        for old in sorted(place.glob("xman_*.py"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
            for part in (old, *place.glob(f"__pycache__/{old.stem}*")):  # what belongs to it
                part.unlink(missing_ok=True)
    except (OSError, RuntimeError):
        return None
    return place


@functools.cache
def temporary() -> tempfile.TemporaryDirectory:
    """A folder that goes with the process."""
    return tempfile.TemporaryDirectory(prefix="xman-")
