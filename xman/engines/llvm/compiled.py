"""From LLVM's text to functions, with machine code kept on disk.

Machine code is kept so that the next process starts at once, in a file for each text, processor and version
of LLVM. The files are executed, so the folder has to belong to the user; otherwise nothing is kept. A file
begins with a digest of the rest, so that one which another process is writing, or could not write, is not
run; the oldest files are removed.
"""
from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ...errors import XManError, extra
from .places import DATA, ITEMS
from .products import address

KEPT = 500  # the most files of machine code


@functools.cache
def llvm() -> ModuleType:
    """`optimise`, with LLVM ready. XManError if this Python's objects have an unknown layout."""
    extra("llvmlite.binding", "fast", "the engine llvm")
    array, number = np.zeros(3), np.float64(2.5)
    pair = (array, number)
    read = lambda kind, place: kind.from_address(place).value
    pointer = ctypes.c_void_p
    contents = (read(pointer, id(pair) + ITEMS + 8), read(pointer, id(array) + DATA),
             read(ctypes.c_double, id(number) + DATA))
    if contents != (id(number), array.ctypes.data, 2.5) or sys.byteorder != "little":
        raise XManError("the engine llvm reads arrays where CPython keeps them, and this Python keeps them "
                        "elsewhere")
    from . import optimise
    return optimise


def code_of(text: str, apart: bool) -> bytes:
    """The machine code of a text, from the disk if it is there. apart: another process compiles it."""
    compiler = llvm()
    made_of = [Path(compiler.__file__).read_text("utf-8"), *compiler.processor(), text]
    key = hashlib.sha256("\n".join(made_of).encode()).hexdigest()[:40]
    code = code_on_disk(key)
    if code is None:
        inside = not apart or not sys.executable or hasattr(sys, "frozen")
        code = compiler.optimised(text) if inside else compiled_apart(text)
        keep_on_disk(key, code)
    return code


def code_on_disk(key: str) -> bytes | None:
    """The machine code that was stored under a key; None if it is missing or not whole."""
    place = cache_folder()
    with suppress(OSError):
        content = (place / f"{key}.o").read_bytes() if place else b""
        if content[:32] == hashlib.sha256(content[32:]).digest():
            return content[32:]
    return None


def keep_on_disk(key: str, code: bytes) -> None:
    place = cache_folder()
    with suppress(OSError):  # the disk may be full, or another process may have removed the folder
        if place:
            (place / f"{key}.o").write_bytes(hashlib.sha256(code).digest() + code)


@functools.cache
def cache_folder() -> Path | None:
    """The folder XMAN_CACHE, or xman in the user's caches. None if it is not safe, or cannot be made."""
    try:
        place = Path(os.environ.get("XMAN_CACHE")
                     or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xman")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = place.stat()
        open_to_others = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
        if hasattr(os, "getuid") and (status.st_uid != os.getuid() or open_to_others):
            return None
        for old in sorted(place.glob("*.o"), key=lambda path: path.stat().st_mtime)[:-KEPT]:
            old.unlink(missing_ok=True)
    except (OSError, RuntimeError):
        return None
    return place


processes: set[subprocess.Popen] = set()  # the processes that compile now; they end with this process
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=processes.clear)


@atexit.register
def ended() -> None:
    for process in [*processes]:
        process.kill()


def compiled_apart(text: str) -> bytes:
    """The machine code, from another process, which does not get Ctrl-C.

    It finds Python's modules, then llvmlite, and nothing of the user's: an enum.py may lie beside a program.
    """
    import llvmlite
    pipe, folder = subprocess.PIPE, str(Path(llvmlite.__file__).parents[1])
    program = ("import runpy, sys; sys.path.append(sys.argv[2]); "
               "runpy.run_path(sys.argv[1], run_name='__main__')")
    command = [sys.executable, "-I", "-S", "-c", program, llvm().__file__, folder]
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    processes.add(process)
    try:
        code, errors = process.communicate(text.encode())
    finally:
        processes.discard(process)
    if process.returncode:
        raise RuntimeError(f"LLVM's process ended with {process.returncode}: "
                           f"{errors.decode(errors='replace')[-300:]}")
    return code


# a call raises what a signal's handler has raised; the text of `step` lets other threads run meanwhile
STEP = ctypes.PYFUNCTYPE(ctypes.c_int64, ctypes.py_object)


def functions(code: bytes, names: Mapping[str, Any], routines: Iterable[str] = (),
              threads: int = 0) -> list[Callable]:
    """The functions in machine code. names: the type of each. routines: those of BLAS that it calls. threads:
    how many run its large nests."""
    compiler, binding = llvm(), llvm().binding()
    for name in routines:
        binding.add_symbol(f"xman_{name}", address(name))
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), compiler.machine())
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    if threads:
        ctypes.c_int64.from_address(engine.get_global_value_address("xman_threads")).value = threads
    callables = [kind(engine.get_function_address(name)) for name, kind in names.items()]
    for function in callables:
        function.engine = engine  # the engine owns the code, and has to live as long
    return callables
