"""Expressions on arrays as books print them: Xᵀ·(p - y), A⁻¹·b, ‖r‖^2, and y ∘ z entry by entry."""

from __future__ import annotations

import ast
import builtins
import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from ops import f

from .expressions import mathematical, with_replaced
from .slopes import factors_in, unsigned

# how tightly a text holds together, which decides on its brackets inside another
SUM, ENTRYWISE, PRODUCT, ATOM = range(4)
# functions of one array; all others keep their names
FORMS = dict(
    form.split()
    for form in (
        "frobeniusNorm ‖{}‖, norm ‖{}‖, squaredNorm ‖{}‖^2, trace tr({}), logabsdet logdet({}), "
        "count n({}), sum Σ({}), lower_half Φ({}), inv {}⁻¹, pinv {}⁺"
    ).split(", ")
)
COMPARED = {ast.Gt: ">", ast.Lt: "<", ast.GtE: ">=", ast.LtE: "<=", ast.Eq: "==", ast.NotEq: "!="}
ALONG = {(2, 0): "Σ_i", (2, 1): "Σ_j", (2, -1): "Σ_j", (1, 0): "Σ", (1, -1): "Σ"}  # sums, by axes and axis


def matrix_text(e: ast.expr, values: Mapping[str, Any], one_count: bool = False) -> str:
    """The expression in the notation of matrices.

    values: of its names. Their numbers of axes say whether a product is of numbers (·), of matrices (·) or
    entry by entry (∘), and where a vector, which is a column, becomes a row. 1 is also an array of ones.
    one_count: whether n without an argument is a number of entries.
    """
    return Notation(values, one_count).of(e)[0]


def evaluated_at(e: ast.expr, values: Mapping[str, Any]) -> Any:
    """The value of an expression; its functions are those of np and f."""

    class Iverson(ast.NodeTransformer):
        """Truth values as numbers, which have a negative."""

        def visit(self, e):
            inner = self.generic_visit(e)
            return ast.BinOp(inner, ast.Mult(), ast.Constant(1.0)) if is_truth(e, values) else inner

    called = {x: ast.Name(f"{x}_register") for x in ("np", "f") if x in values}
    values = {**values, **{name.id: values[x] for x, name in called.items()}, "np": np, "f": f}
    with np.errstate(all="ignore"):
        return builtins.eval(ast.unparse(with_replaced(Iverson().visit(copy.deepcopy(e)), called)), values)


def is_product(e: ast.expr) -> bool:
    return isinstance(getattr(e, "op", None), ast.MatMult)


def is_truth(e: ast.expr, values: Mapping[str, Any]) -> bool:
    """Whether an expression is made of truth values."""
    name = ast.unparse(e.func) if isinstance(e, ast.Call) else getattr(e, "id", None)
    return (
        isinstance(e, ast.Compare)
        or name == "np.logical_not"
        or np.asarray(values.get(name)).dtype.kind == "b"
    )


class Notation:
    """The texts of expressions on arrays, (text, how tightly it holds together)."""

    def __init__(self, values: Mapping[str, Any], one_count: bool):
        self.values, self.one_count = values, one_count and "n" not in values

    def axes(self, *arrays: ast.expr) -> tuple[int, ...]:
        return tuple(np.ndim(evaluated_at(e, self.values)) for e in arrays)

    def at(self, e: ast.expr, level: int) -> str:
        """The text as a part of another, in brackets if it holds together less than `level`."""
        inner, holds = self.of(e)
        return inner if holds >= level else f"({inner})"

    def of(self, e: ast.expr) -> tuple[str, int]:
        if (positive := unsigned(e)) is not None:
            return f"-{self.at(positive, ENTRYWISE)}", SUM
        match e:
            case ast.BinOp(x, ast.Add() | ast.Sub() as sign, y):
                positive = unsigned(y)
                plus = isinstance(sign, ast.Add) == (positive is None)
                return f"{self.of(x)[0]} {'+' if plus else '-'} {self.at(positive or y, ENTRYWISE)}", SUM
            case ast.BinOp(_, ast.Mult(), _):
                return self.entrywise(factors_in(e))
            case ast.BinOp(x, ast.Div(), y):
                level = PRODUCT if self.axes(y) == (0,) else ENTRYWISE
                return f"{self.at(x, level)}/{self.at(y, ATOM)}", level
            case ast.BinOp(x, ast.Pow(), y):
                return f"{self.at(x, ATOM)}^{self.at(y, ATOM)}", ATOM
            case ast.BinOp(x, ast.MatMult(), y) if self.axes(x, y) == (1, 2):
                return f"{self.transposed(y)}·{self.at(x, ATOM)}", PRODUCT
            case ast.BinOp(x, ast.MatMult(), y):
                left = self.transposed(x) if self.axes(x, y) == (1, 1) else self.at(x, PRODUCT)
                return f"{left}·{self.at(y, PRODUCT if is_product(y) else ATOM)}", PRODUCT
            case ast.Attribute(x, "T"):
                return self.transposed(x), ATOM
            case ast.Compare(x, [sign], [y]):  # Iverson's bracket, 1 where it holds
                return f"[{self.of(x)[0]} {COMPARED[type(sign)]} {self.of(y)[0]}]", ATOM
            case ast.Call(function, args, keywords):
                named = {word.arg: word.value for word in keywords}
                return self.call(ast.unparse(function).rpartition(".")[2], args, named)
        return mathematical(e), ATOM

    def entrywise(self, factors: list[ast.expr]) -> tuple[str, int]:
        """The product entry by entry, with numbers in front: 2·lam·x ∘ y."""
        arrays = [e for e in factors if self.axes(e) != (0,)]
        numbers = [e for e in factors if e not in arrays]
        numbers.sort(key=lambda e: not isinstance(e, ast.Constant))
        before = "".join(f"{self.at(e, ATOM if is_product(e) else PRODUCT)}·" for e in numbers)
        if not arrays:
            return before[:-1], PRODUCT
        if len(arrays) == 1:  # c·A·x of a product of matrices
            inner, holds = self.of(arrays[0])
            return before + (inner if holds else f"({inner})"), min(holds, PRODUCT) or PRODUCT
        pieces = [self.at(e, ATOM if k else ENTRYWISE) for k, e in enumerate(arrays)]
        return before + " ∘ ".join(pieces), ENTRYWISE

    def transposed(self, e: ast.expr) -> str:
        """The text of the transpose: Xᵀ, A⁻ᵀ, of Xᵀ itself X, and xᵀ·A of the vector Aᵀ·x."""
        match e:
            case ast.Attribute(x, "T"):
                return self.at(x, ATOM)
            case ast.BinOp(a, ast.MatMult(), x) if self.axes(a, x) == (2, 1):
                return f"{self.transposed(x)}·{self.transposed(a)}"
            case ast.BinOp(x, ast.MatMult(), a) if self.axes(x, a) == (1, 2):
                return f"{self.transposed(x)}·{self.at(a, ATOM)}"
        inner = self.at(e, ATOM)
        return inner[:-1] + "ᵀ" if inner.endswith("⁻¹") else f"{inner}ᵀ"

    def times(self, c: ast.expr, unit: str) -> tuple[str, int]:
        """The number c times 1, I or a unit vector."""
        number = self.at(c, PRODUCT)
        return {"1": (unit, ATOM), "(-1)": (f"-{unit}", SUM)}.get(number, (f"{number}·{unit}", PRODUCT))

    def call(self, name: str, args: list[ast.expr], named: dict[str, ast.expr]) -> tuple[str, int]:
        axis = named.get("axis")
        match name, args:
            case "solve", [a, b]:
                return f"{self.at(a, ATOM)}⁻¹·{self.at(b, ATOM)}", PRODUCT
            case "outer", [x, y] if self.axes(x, y) == (1, 1):
                return f"{self.at(x, PRODUCT)}·{self.transposed(y)}", PRODUCT
            case "share", [x, y]:  # ½ where they are equal
                return f"[{self.of(x)[0]} > {self.of(y)[0]}]", ATOM
            case "logical_not", [c]:
                return f"(1 - {self.at(c, ENTRYWISE)})", ATOM
            case "oneHot", [y, _]:
                return f"oneHot({self.of(y)[0]})", ATOM
            case "exp_difference", [x, y]:
                return f"exp({self.of(ast.BinOp(x, ast.Sub(), y))[0]})", ATOM
            case "scatterAdd", [c, x, ast.Constant(int() as k)] if self.axes(c, x) == (0, 1):
                return self.times(c, f"e_{k}")
            case "broadcast", [c, _] if self.axes(c) == (0,):
                return self.times(c, "1")
            case "broadcast", [c, like] if self.axes(like) == (2,):  # a column, or a row, in each place
                column = (
                    ast.literal_eval(axis) in (1, -1)
                    if axis
                    else np.shape(evaluated_at(c, self.values))[1:] == (1,)
                )
                row = self.transposed(c) if self.axes(c) == (1,) else self.at(c, ATOM)
                return f"{self.at(c, PRODUCT)}·1ᵀ" if column else f"1·{row}", PRODUCT
            case "diag_back", [ast.Call(_, [c, _], []), _] if self.axes(c) == (0,):
                return self.times(c, "I")
            case "diag_back", [d, _]:
                return f"diag({self.of(d)[0]})", ATOM
            case "sum", [ast.BinOp(x, ast.Pow(), ast.Constant(2))] if not named:
                return f"‖{self.of(x)[0]}‖^2", ATOM
            case "sum", [x] if axis and (*self.axes(x), ast.literal_eval(axis)) in ALONG:
                return f"{ALONG[(*self.axes(x), ast.literal_eval(axis))]}({self.of(x)[0]})", ATOM
            case "count", [_] if self.one_count and not named:
                return "n", ATOM
            case _, [x] if not named and name in FORMS:
                return FORMS[name].format(self.at(x, ATOM if FORMS[name][0] == "{" else SUM)), ATOM
        inside = [*(self.of(a)[0] for a in args), *(f"{word}={self.of(a)[0]}" for word, a in named.items())]
        return f"{name}({', '.join(inside)})", ATOM
