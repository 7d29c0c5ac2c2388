"""What the door and the engines hand to one another: `Engine` (its record), `Program` (what it takes),
`Built` (what it makes). `specialise` makes a Program."""
from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..wengert import WengertList

if TYPE_CHECKING:
    from .plan import Plan

Values = Mapping[str, Any]  # by the names of registers
WHOLE = threading.RLock()  # held in imports and LLVM's work, which a forked process must not find half done
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=WHOLE.acquire, after_in_parent=WHOLE.release, after_in_child=WHOLE.release)
GEMM = "gemm()"  # the operator of a line that is one call of BLAS (`folded`); no user's can have such a name


class Kind(NamedTuple):
    """What a program knows of a register: its shape and dtype, and whether it is an array or a number."""
    shape: tuple[int, ...]
    dtype: np.dtype
    array: bool

    bytes = property(lambda self: int(np.prod(self.shape)) * self.dtype.itemsize)


class Program(NamedTuple):
    """A list for one set of shapes and types.

    steps: the list, simplified for the shapes and lowered to few operators. kinds: of its registers; one
    without a kind is something else, such as a sparse matrix. outputs: the registers that are wanted.
    inplace: {register: the input that it overwrites}. original: the list as it was. objects: the type and
    shape of inputs without a kind. constants: the values of registers that depend on no input, and that steps
    reads or that are wanted. threads: how many may run large loops (0: as many as BLAS has). capacity: the
    most steps of a `while_loop` for which results of each step are stacked. counts: which loop
    (`loops_of_stacks`) each stack belongs to. stages: (name, list) after each stage that led here.
    """
    steps: WengertList
    kinds: dict[str, Kind]
    outputs: tuple[str, ...]
    inplace: dict[str, str]
    original: WengertList
    objects: dict[str, tuple[type, tuple]] = {}
    constants: dict[str, Any] = {}
    threads: int = 0
    capacity: int = 0
    counts: Mapping[str, str] = {}
    stages: Sequence[tuple[str, WengertList]] = ()

    arguments = property(lambda self: list(dict.fromkeys((*self.original.inputs, *self.constants))),
                         doc="The inputs, and the arrays that the program brings along.")
    at_the_end = property(lambda self: tuple(dict.fromkeys((*self.outputs, *self.inplace))),
                          doc="The registers that a call needs at its end, to return or to overwrite inputs.")


class Built(NamedTuple):
    """What an engine makes of a program.

    run: from the values to the outputs by name, or None if the values are not of the program's kinds; it has
    then written nothing. source, plan: the program's text and its plan, to print. engine, reason: the
    engine's name and the reason for it, which the door writes.
    """
    run: Callable[[Values], dict[str, Any] | None]
    source: str | WengertList | None
    plan: Plan | str | None
    engine: str = ""
    reason: str = ""


def is_installed(package: str) -> bool:
    """Whether the package is there. An llvmlite before 0.45 is not: it reads no pointers without a type."""
    there = importlib.util.find_spec(package) is not None
    if there and package == "llvmlite":
        return [*map(int, importlib.import_module(package).__version__.split(".")[:2])] >= [0, 45]
    return there


class Engine(NamedTuple):
    """The record of an engine, which is read before the engine is imported.

    name: its name. file: the module that has its build(program) -> Built. preference: (steps, values,
    inplace) -> (rank, reason), how much it wants such a list where the user asked for no engine: auto takes
    the highest rank, and `step.why` is its reason; rank 0 is a refusal, and its reason becomes that of the
    engine of rank 1. after: the engine that it gives way to; "" for the reference, to which all others lead.
    package, extra: what it needs, and the extra of pip that has it. as_written: whether it takes the list as
    it was written, for values of all shapes; its Program then has no kinds. on_device: whether its `run`
    takes and gives arrays of another library where they are; other engines get copies in NumPy. open_loops:
    whether it takes a Program with a `capacity`. seconds: from a list to about the time that it takes to
    build it. The file may also have begin(program), the slow part of `build`, for a thread beside the caller:
    the process may end or fork in the middle of it; the function that it returns does the rest, and returns
    the Built.
    """
    name: str
    file: str
    preference: Callable[[WengertList, Values, Mapping[str, str]], tuple[int, str]]
    after: str
    package: str = ""
    extra: str = ""
    as_written: bool = False
    on_device: bool = False
    open_loops: bool = False
    seconds: Callable[[WengertList], float] = lambda steps: 0.0

    installed = property(lambda self: not self.package or is_installed(self.package))

    def build(self, program: Program) -> Built:
        with WHOLE:
            return importlib.import_module(self.file).build(program)

    def begin(self, program: Program) -> Callable[[], Built]:
        file = importlib.import_module(self.file)
        if hasattr(file, "begin"):
            return file.begin(program)
        built = file.build(program)
        return lambda: built


