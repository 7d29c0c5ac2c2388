"""The errors for code that cannot be traced: the user's line, what was found, what to write instead."""
from __future__ import annotations

import dis
import functools
import itertools
import linecache
import os
import re
import sys
import sysconfig
import threading
from collections.abc import Collection, Iterator
from pathlib import Path
from types import FrameType, FunctionType
from typing import NoReturn

import numpy as np

import ops
from ops import f

from ..errors import XManError

OURS = tuple(str(folder) + os.sep for folder in (Path(__file__).parents[1], Path(ops.__file__).parent))
SPARSE = re.compile(r"[/\\]scipy[/\\]sparse[/\\]")
STANDARD = sysconfig.get_path("stdlib") + os.sep
INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\](\w+(?:\.py)?)")
# the arguments of BINARY_OP for % and %=, from Python 3.11 on
MODULO = {k for k, (name, _) in enumerate(getattr(dis, "_nb_ops", ())) if name.endswith("REMAINDER")}
LIBRARIES = re.compile(r"[/\\](numpy|scipy)[/\\]|[/\\](functools|copy|contextlib)\.py$|^<(frozen|__array_function__)")


@functools.cache
def inside(file: str) -> bool:
    """Whether the file belongs to xman or a library, and not to the user."""
    return file.startswith(OURS) or LIBRARIES.search(file) is not None


@functools.cache
def library(file: str) -> str:
    """The name of the installed package, or "python", that the file belongs to; "" for the user's own."""
    if match := INSTALLED.search(file):
        return match[1].removesuffix(".py")
    return "python" if file.startswith(STANDARD) else ""


def frames_of_users() -> Iterator[FrameType]:
    """The frames of the stack that run neither xman nor NumPy or SciPy, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame:
        if not inside(frame.f_code.co_filename):
            yield frame
        frame = frame.f_back


def user_frame() -> FrameType:
    """The innermost frame of the stack that runs the user's code: not that of pandas, which he has called."""
    frames = [*frames_of_users()] or [sys._getframe(1)]
    return next((frame for frame in frames if not library(frame.f_code.co_filename)), frames[0])


def asking_library() -> str:
    """The package that the user has called and that asks for a plain number; "" if that is his own line."""
    frame = next(frames_of_users(), None)
    name = library(frame.f_code.co_filename) if frame else ""
    return name * (name != "python")


def in_text() -> bool:
    """Whether a traced value is asked for a number only to be written into a text, as by "%.2f" % x."""
    frame = sys._getframe(2)
    code, at = frame.f_code.co_code, frame.f_lasti
    name = dis.opname[code[at]]
    return name.endswith("_MODULO") or name == "BINARY_OP" and code[at + 1] in MODULO


class Refusals(threading.local):
    """The last refusal in this thread. It is kept: a function may swallow it and go on with a constant."""
    last: XManError | None = None


REFUSALS = Refusals()


def line_of(frame: FrameType) -> str:
    """The line that the frame is at, with its file and number."""
    file, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, number, frame.f_globals).strip()
    text = text if len(text) <= 120 else text[:117] + "..."
    return f"{os.path.basename(file)}:{number}{f', `{text}`' if text else ''}"


def refuse(problem: str, instead: str, numpys: bool = False) -> NoReturn:
    """Raise XManError: the user's line, what was found, what to write instead. numpys: NumPy refuses, too."""
    if name := asking_library():
        problem, instead = f"{name} takes plain arrays ({problem})", "write it with NumPy's functions"
    error = XManError(f"{line_of(user_frame())}: {problem}; {instead}")
    if not numpys:
        REFUSALS.last = error
    raise error


def running(frame: FrameType) -> str:
    """The expression that the frame is at; the whole line before Python 3.11, or for one of several lines."""
    code = frame.f_code
    text = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals)
    if hasattr(code, "co_positions"):
        first, last, start, end = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None))
        if first == last and start is not None:
            return text.encode()[start:end].decode()
    return text


IN_PLACE = ("an in-place write into an array would be lost to the derivative",
            "build a new array: np.where(condition, new, old), np.concatenate, or a list of rows and np.stack")
INDEX = ("an index is a whole number, and this one was computed from floats",
         "compute it with np.argmax or np.argsort, or from a shape")
RANDOM = ("a random number whose distribution depends on the arguments has no derivative here",
          "draw plain numbers and transform them, as in loc + scale * np.random.normal(size=n)")

# (a pattern of lines that turn an array into plain numbers, what does so, what to write instead)
CONVERSIONS = [
    (r"\bmath\.(\w+)", "math.{0}", "write np.{0}"),
    (r"\barray\(\s*[\[(]|\bfromiter\(", "np.array of traced values", "write np.stack([…]), or import xman.numpy as np"),
    (r"\b(?:as|asany|ascontiguous)?array\(", "a copy of what is an array already",
     "leave the conversion out, or import xman.numpy as np"),
    (r"\b([rc])_\[", "np.{0}_", "import xman.numpy as np, or write np.concatenate"),
    (r"(?<!\bnp)(?<!\bf)\.(dot|clip|take)\(", "the method .{0} of a plain array", "write np.{0}(array, …)"),
    (r"\bnp\.full\(", "np.full copies a number, and", "write x * np.ones(shape), or import xman.numpy as np"),
    (r"\b(float|int|complex|float32|float64)\(", "{0}()",
     "leave it an array; np.floor(x) and np.round(x), without derivative, can become one"),
    (r"\bnp\.(?:sum|mean|max|min|prod|std|var|linalg\.norm)\(|(?:^|[(,=+*/@-])\s*\[", "an array of this list of traced values",
     "give it np.array([…]) of import xman.numpy as np, or np.stack([…])"),
]


def refuse_plain(culprit: str, instead: str) -> NoReturn:
    """Raise XManError for what makes a plain number."""
    refuse(f"{culprit} would turn a traced value into a plain number, and its derivative would be lost",
           instead)


# for each module of SciPy the functions that xman.scipy has for traced values
SCIPY: dict[str, Collection[str]] = {}


def function_of_scipy(user: FrameType) -> tuple[str, str]:
    """The function of SciPy that the line at this frame calls, and its module; ("", "") if there is none."""
    frame, function = sys._getframe(2), ("", "")
    while frame is not user:
        module = frame.f_globals.get("__name__", "")
        names = [(module, frame.f_code.co_name),
                 (module, type(frame.f_locals.get("self")).__name__.removesuffix("_gen"))]
        if module.startswith("scipy."):  # a decorator of SciPy's may convert before it calls its function
            names += [(wrapped.__module__, wrapped.__name__) for wrapped in frame.f_locals.values()
                      if isinstance(wrapped, FunctionType)]
        for module, name in names:
            module = module.partition("._")[0]
            if module.startswith("scipy.") and hasattr(sys.modules.get(module), name):
                function = module, name
        frame = frame.f_back
    return function


def refuse_conversion(method: str) -> NoReturn:
    """Raise XManError when a traced value is asked for plain numbers; the user's line tells what to write."""
    frame = user_frame()
    instruction = dis.opname[frame.f_code.co_code[frame.f_lasti]]
    if instruction in ("STORE_SUBSCR", "STORE_SLICE"):
        refuse(*IN_PLACE)
    if SPARSE.search(sys._getframe(2).f_code.co_filename):
        refuse("a sparse matrix takes plain arrays alone", "write f.dot(a, x) (from xman import f)")
    module, name = function_of_scipy(frame)
    if name in SCIPY.get(module, ()):
        refuse_plain(f"{module}.{name}", f"write from xman.scipy import {module.removeprefix('scipy.')}")
    if name:
        refuse_plain(f"{module}.{name}",
                     "write it with NumPy's functions, or give its derivative in xman.custom_vjp")
    text = running(frame) if not asking_library() else ""
    if re.search(r"\brandom\.|\brng\.", text):
        refuse(*RANDOM)
    for pattern, culprit, instead in CONVERSIONS:
        if match := re.search(pattern, text):
            words = match.groups() or ("",)
            if instead == "write np.{0}" and not hasattr(np, words[0]):
                instead = "write it with the functions that NumPy has"
            refuse_plain(culprit.format(*words), instead.format(*words))
    if instruction == "BINARY_SUBSCR":
        refuse(*INDEX)
    if ours := [name for name in re.findall(r"(\w+)\(", text) if hasattr(f, name)]:
        refuse(f"this {ours[0]} takes plain numbers alone", f"write f.{ours[0]} (from xman import f)")
    refuse_plain(method, "write it with NumPy's functions, or define the function with ops.operator")


def replaced(error: Exception) -> bool:
    """Whether NumPy raised this error in place of ours, as when code asks an array for one element."""
    return isinstance(error.__cause__, XManError) and str(error).startswith("setting an array element")


def full_name(function: object) -> str:
    """A function of NumPy's or SciPy's, as a user writes it."""
    name = getattr(function, "__name__", str(function))
    module = (getattr(function, "__module__", "") or "").partition("._")[0]
    module = "np" if getattr(np, name, None) is function else module.replace("numpy", "np")
    if name.startswith("_"):  # the ufunc inside of a function of SciPy's, as _riemann_zeta in zeta
        module, name = function_of_scipy(user_frame())
    elif getattr(sys.modules.get("scipy.special"), name, None) is function:
        module = "scipy.special"
    return f"{module}." * bool(module) + name


def asking_function() -> str:
    """The function of NumPy's that asks for plain numbers; "" if that is the user's own line."""
    frame, function = sys._getframe(1), None
    while frame and inside(frame.f_code.co_filename):
        if frame.f_code.co_name == "call_numpy":
            function = frame.f_locals["function"]
        frame = frame.f_back
    return full_name(function) if function else ""


def refuse_function(function: object, why: str = "has no operator and so no derivative here",
                    instead: str = "") -> NoReturn:
    """Raise XManError for a function of NumPy that cannot be traced."""
    if function in (np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal):
        refuse(*IN_PLACE)
    # no name that is nearly the same: erfc is not erfcx, nor is std stdtr
    instead = instead or "write it with functions that have one, or define it with ops.operator"
    refuse(f"{full_name(function)} {why}", instead)
