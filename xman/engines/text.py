"""What generated programs have in common: their names, their literals, and the check of their inputs.

A program is Python text that is executed. So only checked names and literals that are written here get from a
list into it; what is not a plain number or a tuple of such is handed over as an object.
"""
from __future__ import annotations

import builtins
import keyword
import math
import sys
from collections.abc import Callable, Collection, Iterable
from typing import Any

import numpy as np

from ..errors import XManError
from ..interpreters.context import numpy_real
from ..notation import shortened
from ..wengert import Line, fresh
from .memory import Stored, overwrite
from .program import GEMM, Program

# bytes: the system takes back the memory of an array beyond LARGE; we keep it, but none beyond HUGE
LARGE, HUGE = 2 ** 17, 2 ** 26
ALONE = next(sys.getrefcount(x) for x in [np.empty(0)])  # references to what only a list holds, in a loop


class Text:
    """A program that is being written: its lines, and the objects that it uses under a name of its own."""

    def __init__(self, registers: Collection[str]):
        self.lines: list[str] = []
        self.objects: dict[str, Any] = {}              # by their names in the program
        self.names: dict[tuple[str, int | str | None], str] = {}  # the program's own names, by word and key
        self.reserved = {*registers, *keyword.kwlist}
        self.back = ""                                 # how memory is given back, where there is any
        if strange := [name for name in registers if not name.isidentifier() or keyword.iskeyword(name)]:
            raise XManError(f"a register cannot be called {shortened(strange[0])} in a program")

    def free(self, word: str, key: int | str | None = None) -> str:
        """The program's name for this word and key: always the same one, and nothing else has it."""
        if (word, key) not in self.names:
            number = str(len(self.names)) * (word in self.reserved)
            self.names[word, key] = fresh(word + number, self.reserved)
        return self.names[word, key]

    def object(self, word: str, value: Any) -> str:
        """The name of an object in the program; word: how the name begins."""
        name = self.free(word, id(value))
        self.objects[name] = value
        return name

    def call(self, word: str, function: Any, *args: str) -> str:
        """The text that calls a function. args: texts too."""
        return f"{self.object(word, function)}({', '.join(args)})"

    def empty(self, kind: Stored) -> str:
        """The text that makes an array of that kind, which nothing else uses."""
        if LARGE <= kind.bytes <= HUGE and getattr(sys, "_is_gil_enabled", lambda: True)():
            return self.call("empty", used_again(kind.shape, kind.dtype))
        return self.call("empty", np.empty, repr(kind.shape), self.object(kind.dtype.name, kind.dtype))

    def literal(self, a: Any) -> str:
        """A register's name as it is; for a literal, Python text with this value and type."""
        if isinstance(a, str):
            return a
        if stands_in_text(a):
            return repr(a)
        return self.object("constant" if isinstance(a, (np.ndarray, np.generic)) else "literal", a)

    def add(self, line: str, depth: int = 1) -> None:
        self.lines.append("    " * depth + line)

    # ---- the program ---------------------------------------------------------------------------------------

    def begin(self, program: Program, lines: Iterable[Line], space: Callable[[], tuple],
              names: Collection[str]) -> None:
        """Add the guard, and a line that gives the names the thread's free memory, or a new space()."""
        self.add(f"def {self.free('step')}({self.free('values')}):", 0)
        guard(self, program, lines)
        if names:
            spaces: list[tuple] = []
            free = self.call("taken", lambda: spaces.pop() if spaces else space())
            self.back = f"{self.object('give_back', spaces.append)}({self.free('space')})"
            self.add(f"{self.free('space')} = {free}")
            self.add(f"{', '.join(names)}, = {self.free('space')}")

    def leave(self, outputs: str, depth: int = 1) -> None:
        """Give the memory back, and return."""
        if self.back:
            self.add(self.back, depth)
        self.add(f"return {outputs}", depth)

    def end(self, program: Program, output_text: Callable[[str], str], at_end: Collection[str]) -> Callable:
        """The function, after the text has been executed. Nothing that it reaches leads back to it, so that
        its memory goes with it. output_text: the text of an output. at_end: the updates that overwrite inputs
        last."""
        outputs = self.free("results")
        self.add(f"{outputs} = {{{', '.join(f'{y!r}: {output_text(y)}' for y in program.outputs)}}}")
        if at_end:
            self.add(self.call("overwrite", overwrite, *(f"({program.inplace[y]}, {y})" for y in at_end)))
        self.leave(outputs)
        space, self.objects = {**self.objects, "__builtins__": builtins}, {}
        exec(builtins.compile(str(self), f"<{self.free('step')} of a list>", "exec"), space)
        return space.pop(self.free("step"))

    def __str__(self) -> str:
        return "\n".join(self.lines) + "\n"


def used_again(shape: tuple[int, ...], dtype: np.dtype) -> Callable[[], np.ndarray]:
    """A function that makes such an array, or returns one of its last two if nothing uses that any more.

    The system provides new memory page by page, which takes longer than to compute the numbers in it.
    """
    arrays: list[np.ndarray] = []

    def free_array() -> np.ndarray:
        for x in arrays:
            if sys.getrefcount(x) == ALONE and (x.shape, x.dtype) == (shape, dtype) and x.flags.carray:
                return x
        new = np.empty(shape, dtype)  # has a name before another thread may find it
        arrays[:] = *arrays[-1:], new
        return new
    return free_array


def stands_in_text(a: Any) -> bool:
    """Whether a can stand in the text: None, a number, or a tuple of such."""
    if type(a) is tuple:  # exact types: a class that a user derives from them may print itself as anything
        return all(map(stands_in_text, a))
    return a is None or type(a) in (bool, int) or type(a) is float and math.isfinite(a)


def guard(text: Text, program: Program, lines: Iterable[Line]) -> None:
    """Add the lines that take the inputs out of `values`, and return None where one is of another kind.

    lines: those that are computed: if a product is scaled by 0, NumPy and not BLAS has to compute it.
    """
    for x in program.original.inputs:
        kind, type_of_x = program.kinds.get(x), text.call("type", type, x)
        text.add(f"{x} = {text.free('values')}[{x!r}]")
        if kind and kind.array:
            expected = text.object("ndarray", np.ndarray)
            dtype = text.object(kind.dtype.name, kind.dtype)
            tests = f" or {x}.shape != {kind.shape} or {x}.dtype != {dtype}"
            tests += f" or not {x}.flags.c_contiguous" * (x in program.inplace.values())
        elif kind:
            expected, tests = text.object(kind.dtype.name, kind.dtype.type), ""
            if kind.dtype.kind == "b":  # Python's as well as NumPy's
                tests = f" and {type_of_x} is not {text.object('truth', bool)}"
            integer, real = text.object("int", int), text.object("float", float)
            number = text.call("number", numpy_real, repr(x), x)
            text.add(f"if {type_of_x} is {real} or {type_of_x} is {integer}: {x} = {number}")
        else:
            expected = text.object("kind", program.objects[x][0])
            tests = f" or {text.call('shape', np.shape, x)} != {program.objects[x][1]}"
        text.add(f"if {type_of_x} is not {expected}{tests}: return None")
    for s in dict.fromkeys(args[1] for _, op, args in lines if op == GEMM and args[1]):
        text.add(f"if {s} == 0: return None")  # BLAS would not read the matrices, and so lose a NaN


def own_array(x: Any) -> Any:
    """A copy of x if it is an array with axes, else the number that it is."""
    return x if not isinstance(x, np.ndarray) else x.copy() if x.ndim else x[()]
