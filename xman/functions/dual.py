"""Numbers that carry their tangent (Reps, Automatic Differentiation and Backpropagation, Fig. 1)."""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ops import TG, Expression, f
from ops.arithmetic import past_root
from ops.derived import STILL, Traced
from ops.facts import power_of_root
from ops.flows import Masked, bare
from ops.silence import silent

from ..errors import XManError
from ..traced.arraylike import ArrayLike, differentiable, real
from .call import Derivative, callable_or_refused, number_of, outcome
from .trees import tree_map


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
        def on_this_level(args: tuple) -> tuple[list, list]:
            """(tangents, None for arguments that are not on this level; values of all arguments)."""
            mine = [isinstance(a, Dual) and a.level == self.level for a in args]
            return ([a.flowing_tangent() if own else None for a, own in zip(args, mine, strict=True)],
                    [a.value if own else np.asarray(a) if isinstance(a, list) else a
                     for a, own in zip(args, mine, strict=True)])
        tangents, values = on_this_level(args)
        out = real(op, getattr(f, op)(*values))
        if out.dtype.kind not in "fO":
            return out
        root, r, n = power_of_root(out, op, args, lambda a: getattr(a, "root", None), TG), out, 2
        if root and root[3] >= 2:
            op, args, r, n = root
            tangents, values = on_this_level(args)
        pairs = zip(tangents, TG[op], strict=False)
        found = [rule(t, out, *values) for t, rule in pairs if rule and t is not None]
        parts = [part for part in found if part is not STILL]
        part = past_root(sum(parts[1:], parts[0]), out, r, n) if parts else 0.0
        if out.dtype.kind == "O":  # a bundle
            result = object.__new__(Dual)
            result.value, result.tangent, result.level = out, bare(part), self.level
            result.flow = result.steep = None
            return result
        result = Dual(out, bare(part), self.level)
        if isinstance(part, Masked):
            result.flow, result.steep = part.flow, part.steep
        result.root, result.slopeless = root, not parts
        return result

    def __format__(self, spec: str) -> str:
        parts = (x if isinstance(x, ArrayLike) or x.ndim else x.item() for x in (self.value, self.tangent))
        return f"Dual({', '.join(format(x, spec) for x in parts)})"

    def __repr__(self) -> str: return format(self)

    __str__ = __repr__

    def __reduce_ex__(self, protocol):
        own = self.level % 1  # otherwise its ε belongs to one call of `derivative`
        return (Dual, (self.value, self.tangent, self.level)) if own else super().__reduce_ex__(protocol)

    def matrix(self) -> np.ndarray:
        """[[v, t], [0, v]], whose sums and products are those of Duals (Ong and Deisenroth, 2020).

        For a nested Dual v and t are matrices of the same form; a vector is a column. XManError above 2 axes.
        """
        return matrix_of(self, depth(self))

    @staticmethod
    def from_matrix(matrix: Any, depth: int = 1) -> Dual:
        """The Dual of a matrix (2n, 2m), nested `depth` deep. XManError unless it is [[v, t], [0, v]]."""
        matrix = np.asarray(matrix, float)
        if matrix.ndim != 2 or any(n % 2 ** depth or not n for n in matrix.shape):
            raise XManError(f"the matrix of a Dual has {2 ** depth}n rows and {2 ** depth}m columns, not "
                            f"{matrix.shape}")
        n, m = (size // 2 for size in matrix.shape)
        v, t = matrix[:n, :m], matrix[:n, m:]
        if not (np.array_equal(v, matrix[n:, m:], equal_nan=True) and not matrix[n:, :m].any()):
            raise XManError("the matrix of a Dual is [[v, t], [0, v]]; found another block below or beside "
                            "the diagonal")
        part = lambda x: Dual.from_matrix(x, depth - 1) if depth > 1 else x[0, 0] if x.size == 1 else x
        return Dual(part(v), part(t))


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
            raise XManError(f"a derivative is taken at one number, not at an array of shape {x.shape}; use "
                            "jvp, grad or jacobian")
        level = next(Traced.levels)
        result = outcome(fn, [Dual(x, 1.0, level)], {})
        moves = lambda y: isinstance(y, Dual) and y.level == level
        return tree_map(lambda y: y.tangent if moves(y) else np.zeros(np.shape(y))[()], result)

    run = fn if order == 0 else slope if order == 1 else derivative(derivative(fn, order - 1))
    return Derivative(derivative, fn, run, order)
