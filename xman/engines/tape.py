"""The tape: a list of numbers as arrays of operators and slots, which loops in machine code run.

The list is taken as it was written, however long it is: what no output needs is left out, and the rest is put in an order of
long runs of one operator. Its registers are slots of one array: the inputs, the constants, then the lines in their order.
"""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

import ops
from ops import G

from ..errors import XManError
from ..interpreters import backprop, eval
from ..interpreters.context import missing, number
from ..notation import shortened, shown
from ..wengert import Line, Steps, WengertList, checked, named
from .tape_loops import CODE, ROWS, WIDTH, arrange, arranging, back_in_numpy, compiled, forward_in_numpy

HINT = "without the package numba it runs in NumPy, and many times slower: pip install 'xman[fast]'"
BLOCK = 64  # rows of a batch at once, without Numba


class Tape:
    """A list of numbers, to be evaluated and differentiated many times; a batch of inputs at once, too.

        >>> tape = Tape(steps)
        >>> loss, gradient = tape.value_and_gradient({"x": 3.0, "y": 0.5})
        >>> loss, gradient = tape.value_and_gradient(np.array([3.0, 0.5]))      # in the order of tape.inputs

    steps: a list whose every register is a number. of: the register that is wanted (None: the last line's). wrt: the inputs to
    differentiate by (None: all). An operator of your own, and one that has no row here, make the list run on the interpreter;
    `plan` says so. Several threads may use one tape. It is reverse mode as in Griewank and Walther, Evaluating Derivatives
    (2008), §3.2, with the partial derivatives of each line kept beside it: a partial that overflows is infinite even where
    delta times it would not be.
    Raises XManError for a list that is not valid, names that it does not have, and a line that is not of numbers.
    """

    def __init__(self, steps: Steps, of: str | None = None, wrt: Iterable[str] | None = None):
        self.steps = steps = checked(steps, G)
        if not steps:
            raise XManError("the list is empty: there is nothing to compute")
        self.of = steps[-1][0] if of is None else named(steps, [of], "of")[0]
        self.inputs = steps.inputs
        self.wrt = self.inputs if wrt is None else tuple(named(steps, wrt, "wrt"))
        place = {x: k for k, x in enumerate(self.inputs)}
        if computed := [x for x in self.wrt if x not in place]:
            raise XManError(f"wrt names {computed[0]!r}, which is computed; wrt takes inputs")
        self._columns = np.array([place[x] for x in self.wrt], np.intp)
        self._machine = machine(steps, (self.of,))

    @property
    def plan(self) -> str:
        """What the tape is made of, in words."""
        return self._machine.plan

    def value(self, values: Mapping[str, Any] | np.ndarray) -> Any:
        """The register `of`: a number, or an array (batch,) where inputs are arrays of that length.

        values: each input by name, a number or an array (batch,), numbers standing for all rows; or one array
        (inputs,) or (batch, inputs), its columns in the order of `inputs`. All count as float64.
        Raises XManError for a missing input, another shape, and lengths that differ.
        """
        return self._machine.values(stacked(self.steps, values))[0]

    def value_and_gradient(self, values: Mapping[str, Any] | np.ndarray) -> tuple[Any, Any]:
        """The register `of` and its derivatives, by one loop forward and one back.

        values: as `value` takes them. The derivatives are {x: ∂of/∂x} for x in wrt, numbers or arrays (batch,); where values is
        an array, one array (wrt,) or (batch, wrt) in the order of `wrt`. An input that `of` does not depend on has 0.
        """
        value, found = self._machine.gradient(stacked(self.steps, values))
        if isinstance(values, np.ndarray):
            return value, found[self._columns].T
        return value, dict(zip(self.wrt, found[self._columns], strict=True))


def stacked(steps: WengertList, values: Any) -> np.ndarray:
    """The inputs of the list as one array of floats, (inputs,) or (inputs, batch). XManError where they do not fit."""
    names = steps.inputs
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "biuf" or values.ndim not in (1, 2) or values.shape[-1] != len(names):
            raise XManError(f"the values are an array of {values.dtype} of shape {values.shape}; wanted numbers of shape "
                            f"({len(names)},) or (batch, {len(names)}), in the order of `inputs`")
        return values.T.astype(float, copy=False)
    if not isinstance(values, Mapping):
        raise XManError(f"the values are a dictionary with one for each input, {{'x': 3.0}}, or an array, not {shortened(values)}")
    missing(steps, values)
    found = [values[name] for name in names]
    if {*map(type, found)} <= {float, np.float64}:
        return np.array(found, float)
    arrays = [np.asarray(number(name, x), float) for name, x in zip(names, found, strict=True)]
    rows = ""
    for name, x in zip(names, arrays, strict=True):
        if x.ndim > 1:
            raise XManError(f"{name} has shape {x.shape}; the tape is for lists of numbers, so an input is a number, or an array "
                            "(batch,) of them: use engine numpy")
        if x.ndim and rows and len(x) != len(arrays[names.index(rows)]):
            raise XManError(f"{rows} has {len(arrays[names.index(rows)])} rows and {name} has {len(x)}; the rows of a batch are as "
                            "many for each input")
        rows = rows or name * x.ndim
    return np.array(np.broadcast_arrays(*arrays))


# ---- from lines to slots -----------------------------------------------------------------------------------------------

class Unwritten(Exception):
    """A line that has no row on the tape; the message says which."""


#        operator          row, its third argument, and the second where one is given; a number stands for a constant
SIMPLE = {(op, 1 + ("y" in row[0])): (CODE[op], 0.0, None) for op, row in ROWS.items() if op != "arithmetic"} | {
    ("add", 2):           (CODE["arithmetic"], 1.0, None),
    ("subtract", 2):      (CODE["arithmetic"], -1.0, None),
    ("mul", 2):           (CODE["arithmetic"], 0.0, None),
    ("half", 1):          (CODE["arithmetic"], 0.0, 0.5),
    ("negative", 1):      (CODE["arithmetic"], 0.0, -1.0),
}
