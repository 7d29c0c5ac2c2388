"""Numbers that carry their tangent (Reps, Automatic Differentiation and Backpropagation, Fig. 1)."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import TG, Expression, f
from ops.facts import is_complex
from ops.kinks import Masked, bare, half_power, power_of_root
from ops.silence import silent
from ops.walk import STILL, AtLine, forth
from ops.writer import Traced

from ..errors import XManError
from ..interpreters.context import unshared
from ..traced.arraylike import ArrayLike, as_numpys, differentiable, for_complex
from .call import Derivative, callable_or_refused, outcome
from .trees import as_own, number_of, tree_map


class Dual(ArrayLike):
    """value + tangent·ε, ε² = 0: every operator computes its value, and its tangent by the rules of `ops.TG`.

    value: a float or an array of floats; an int counts as float64. tangent: of the same shape, or a number
    for all entries. Either may be a Dual: the tangent of the tangent of Dual(Dual(x, 1.0), 1.0) is the second
    derivative. level: how deep it is nested (None: computed). Duals of one level share one ε; `derivative`
    takes a new one each time. Raises XManError for what is not a float, and for a tangent that does not fit.
    """

    root: tuple | None = None  # for a power of a root, as `past_roots` says

    def __init__(self, value: Any, tangent: Any = 0.0, level: float | None = None):
        self.value = differentiable(value, lambda: "the value of a Dual")
        tangent = differentiable(tangent, lambda: "the tangent of a Dual")
        if is_complex(tangent) and not is_complex(self.value):
            raise XManError("the tangent of a Dual is complex, and its value real; give the value as x + 0j")
        if level is None:  # the arrays are a user's, who may write into them later
            self.value, tangent = as_own(self.value), as_own(tangent)
        below = max((x.level for x in (self.value, tangent) if isinstance(x, Expression)), default=0)
        # between the levels of traced calls, halfway to the next
        self.level = (below + math.floor(below) + 1) / 2 if level is None else level
        self.flow = self.steep = Masked.seed(tangent, tangent).flow
        try:
            self.tangent = (tangent if tangent.shape == self.value.shape
                            else number_of(f.broadcast(tangent, self.value)))
        except ValueError:
            raise XManError(f"the tangent of a Dual has shape {tangent.shape} and its value "
                            f"{self.value.shape}; they have to be alike") from None

    @staticmethod
    def CONST(value: Any) -> Dual:
        """A constant: tangent 0."""
        return Dual(value, 0.0)

    @staticmethod
    def VAR(value: Any) -> Dual:
        """The variable to differentiate by: tangent 1."""
        return Dual(value, 1.0)

    def flowing_tangent(self) -> Any:
        """Its tangent, masked to where it flows; for a bundle the parts of the tangent."""
        flows = not isinstance(self.tangent, dict)
        return Masked(self.tangent, self.flow, self.steep, True) if flows else self.tangent

    @silent
    def record(self, op: str, args: tuple) -> Any:
        """op(*args) with its tangent; a plain value if the result is not a float."""
        def is_on_level(a: Any) -> bool: return isinstance(a, Dual) and a.level == self.level
        def value_of(a: Any) -> Any:
            return a.value if is_on_level(a) else np.asarray(a) if isinstance(a, list) else a

        op = for_complex(op) if any(map(is_complex, args)) else op
        out = as_numpys(getattr(f, op)(*map(value_of, args)))
        if out.dtype.kind not in "fcO":
            return out
        roots = {id(a): a.root for a in args if isinstance(a, Dual)}
        root = power_of_root(out, op, args, roots.get, TG)
        past_root = root and root[3] >= 2
        operands = root[1] if past_root else args
        names = tuple([f"x{i}" for i in range(len(operands))])
        values = {"out": out} | {x: value_of(a) for x, a in zip(names, operands, strict=True)}
        tangents = {x: a.flowing_tangent() for x, a in zip(names, operands, strict=True) if is_on_level(a)}
        lines = [("out", op, names)]
        if past_root:  # not the root moves, but its square, and the power with that: r³ by its slope 3r/2
            square, _, r, n = root
            values["s"] = r * r
            power = ("alias", ("s",)) if n == 2 else ("mul", ("s", half_power(r, n)))
            lines = [("s", square, names), ("out", *power)]
        try:
            moves = forth(lines, values, tangents).get("out", STILL)
        except AtLine as error:
            raise error.error from None
        tangent = 0.0 if moves is STILL else bare(moves)
        if out.dtype.kind == "O":  # a bundle
            dual = object.__new__(Dual)
            dual.value, dual.tangent, dual.level = out, tangent, self.level
            dual.flow = dual.steep = None
            return dual
        parts = [x for a in args for x in ((a.value, a.tangent) if is_on_level(a) else (a,))]
        dual = Dual(*unshared({0: out, 1: tangent}, parts).values(), self.level)
        if isinstance(moves, Masked):
            dual.flow, dual.steep = places_in(moves)
        dual.root, dual.slopeless = root, moves is STILL
        return dual

    def __format__(self, spec: str) -> str:
        numbers = (x if isinstance(x, ArrayLike) or x.ndim else x.item() for x in (self.value, self.tangent))
        return f"Dual({', '.join(format(x, spec) for x in numbers)})"

    def __repr__(self) -> str: return format(self)

    __str__ = __repr__

    def __reduce_ex__(self, protocol):
        if not self.level % 1:  # its ε belongs to one call of `derivative`
            return super().__reduce_ex__(protocol)
        return Dual, (self.value, self.tangent, self.level)

    def matrix(self) -> np.ndarray:
        """[[v, t], [0, v]], whose sums and products are those of Duals (Ong and Deisenroth, 2020).

        For a nested Dual v and t are matrices of the same form; a vector is a column. XManError above 2 axes.
        """
        return matrix_of(self, depth(self))

    @staticmethod
    def from_matrix(matrix: Any, depth: int = 1) -> Dual:
        """The Dual of a matrix (2n, 2m), nested `depth` deep. XManError unless it is [[v, t], [0, v]]."""
        matrix = np.asarray(matrix, float)
        k = 2 ** depth
        if matrix.ndim != 2 or any(n % k or not n for n in matrix.shape):
            raise XManError(f"the matrix of a Dual has {k}n rows and {k}m columns, not {matrix.shape}")
        n, m = (size // 2 for size in matrix.shape)
        v, t = matrix[:n, :m], matrix[:n, m:]
        if not (np.array_equal(v, matrix[n:, m:], equal_nan=True) and not matrix[n:, :m].any()):
            raise XManError("a Dual's matrix is [[v, t], [0, v]]; found another block on or below it")
        dual_of = lambda x: Dual.from_matrix(x, depth - 1) if depth > 1 else x[0, 0] if x.size == 1 else x
        return Dual(dual_of(v), dual_of(t))


def places_in(tangent: Any) -> tuple[Any, Any]:
    """The flow and the steep of a tangent."""
    return (tangent.flow, tangent.steep) if isinstance(tangent, Masked) else (None, None)


def depth(x: Any) -> int:
    return 1 + max(depth(x.value), depth(x.tangent)) if isinstance(x, Dual) else 0


def matrix_of(x: Any, deep: int) -> np.ndarray:
    """The matrix of x, nested so deep; a plain value is a constant."""
    if deep == 0:
        return column(x)
    v = matrix_of(x.value if isinstance(x, Dual) else x, deep - 1)
    t = matrix_of(x.tangent, deep - 1) if isinstance(x, Dual) else np.zeros_like(v)
    return np.block([[v, t], [np.zeros_like(v), v]])


def column(x: Any) -> np.ndarray:
    """A number or a vector as a matrix of one column."""
    if x.ndim > 2:
        raise XManError(f"a Dual of shape {x.shape} has no matrix; take the matrices of its parts")
    return np.reshape(x, (-1, 1)) if x.ndim < 2 else x


def derivative(fn: Callable, order: int = 1) -> Callable:
    """The function that gives the derivative of fn at a number, by dual numbers, nested `order` deep.

    fn: takes a number and gives arrays or numbers, also in lists, tuples and dicts. order: of the derivative.
    Each call has an ε of its own, for derivatives inside of derivatives. XManError for other than one number.
    """
    callable_or_refused("derivative", fn)
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool) or order < 0:
        raise XManError(f"the order of a derivative is a whole number from 0, not {order!r}")

    def slope(x):
        x = differentiable(x, lambda: "the point of a derivative")
        if x.shape:
            raise XManError(f"a derivative is at one number, not shape {x.shape}; use jvp, grad or jacobian")
        level = next(Traced.levels)
        output = outcome(fn, [Dual(x, 1.0, level)], {})
        moves = lambda y: isinstance(y, Dual) and y.level == level
        return tree_map(lambda y: y.tangent if moves(y) else np.zeros(np.shape(y))[()], output)

    run = fn if order == 0 else slope if order == 1 else derivative(derivative(fn, order - 1))
    return Derivative(derivative, fn, run, order)
