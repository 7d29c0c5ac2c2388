"""A list as a linear map in some of its inputs; lines that do not depend on these are evaluated once."""
from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np

from ops import Expression
from ops.facts import is_complex
from ops.kinks import unclear

from ..errors import XManError, nearest, refuse_unknown
from ..interpreters import eval, forward
from ..interpreters.context import depends, unshared
from ..notation import in_notebooks
from ..passes import simplify
from ..passes.differentiate import inputs_of
from ..wengert import Steps, WengertList, checked_list, known_registers

Point = Mapping[str, Any]


class DerivativeMatrix:
    """The base of Jacobian, Hessian and GaussNewton; at(values) is the product with a vector."""

    _repr_html_ = in_notebooks("linear_in_html")

    def __init__(self, steps: Steps, of: str, wrt: Sequence[str]):
        self.primal = checked_list(steps)
        (self.of,) = known_registers(self.primal, of, "of", one=True)
        self.wrt = inputs_of(self.primal, wrt)
        self._lists: dict[tuple, Any] = {}  # of sparse matrices, by what they hold for

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.of} by {', '.join(self.wrt)}: call it with values>"

    def _compressed(self, values: Point, steps: Steps, of: Sequence[str], by: str | None) -> Any:
        """The list of a sparse matrix ∂of/∂wrt, for values of such shapes and with these whole numbers."""
        from ..sparse import compressed  # SciPy's sparse arrays take as long to import as all of xman

        likes = point({x: values[x] for x in steps.inputs if x in values}, self.wrt)
        key = tuple((np.shape(x), x.tobytes() if (kind := np.asarray(x).dtype).kind in "biu" else kind)
                    for x in map(np.asarray, likes.values()))
        if key not in self._lists:
            self._lists[key] = compressed(steps, of, self.wrt, likes, by)
        return self._lists[key]

    def times(self, values: Point, vectors: Point) -> dict[str, Any]:
        """The product for each x in wrt, in its shape. vectors: by name; zeros where one is left out."""
        return self.product_at(values)(vectors)

    def _heat_map(self, matrix: np.ndarray) -> Any:
        title = f"the {type(self).__name__} of {self.of}"
        return importlib.import_module("xman.explorer").HeatMap(matrix, title)


class LinearMap:
    """A derivative at a point as a linear map: `at(values)` takes vectors to their images, by name.

    steps: a list that is linear in some inputs. moving: {register: the input that holds its vector}. images:
    {register: the register that holds its image}; the image is zero where the list lacks the latter. refuse:
    called as refuse(values) for each new set of shapes, which it may refuse; the list is then simplified for
    these shapes and split.
    """

    def __init__(self, steps: WengertList, moving: Mapping, images: Mapping, refuse: Callable | None = None):
        self.steps, self.moving, self.images, self.refuse = steps, moving, images, refuse
        self._split: dict[Any, tuple[WengertList, WengertList]] = {}

    def product_at(self, values: Point) -> Callable[[Point], dict[str, Any]]:
        """The map at values, with zeros for a missing vector; what depends on values alone is done once."""
        fixed, moving = self.split({**values, **{name: values[x] for x, name in self.moving.items()}})
        at_point = eval(fixed, values)
        # copies: the caller may write into his arrays before the map is used
        at_point = {x: copy(at_point[x]) for x in moving.inputs if x in at_point}

        def image(vectors: Point) -> dict[str, Any]:
            vectors = vectors_like(vectors, values, [*self.moving])
            dots = {self.moving[x]: v for x, v in vectors.items()}
            registers = eval(moving, {**at_point, **dots})
            if any(unclear(registers[name]) for name in self.images.values() if name in registers):
                # the list is linear in the vectors, so its tangent along them is its value; and forward mode
                # knows that a zero which meets an infinite slope stays zero
                registers = forward(moving, registers, dots)
            images = {x: registers[name] if name in registers else np.zeros_like(values[x])
                      for x, name in self.images.items()}
            return unshared(images, [*at_point.values(), *vectors.values()])
        return image

    def split(self, values: Point) -> tuple[WengertList, WengertList]:
        """The lines that do not depend on the vectors, and the lines that do, for values of such shapes."""
        key, likes = None, None  # traced values have no shapes: one split serves them all
        if not any(isinstance(x, Expression) for x in values.values()):
            likes = {name: values[name] for name in self.steps.inputs if name in values}
            key = tuple((np.shape(x), getattr(x, "dtype", float)) for x in likes.values())
        if key not in self._split:
            if self.refuse:
                self.refuse(values)
            names = {*self.moving.values()}
            registers = names.union(dst for dst, _, _ in self.steps)
            short = simplify(self.steps, [y for y in self.images.values() if y in registers], likes)
            moves = depends(short, names, names)
            fixed = WengertList(line for line in short if line[0] not in moves)
            self._split[key] = fixed, WengertList(line for line in short if line[0] in moves)
        return self._split[key]


def point(values: Point, wrt: Sequence[str]) -> dict[str, Any]:
    """values, those of wrt as arrays of floats. XManError where one is missing or has no derivative."""
    inputs = dict(values)
    for name in wrt:
        if values.get(name) is None:
            raise XManError(f"there is no value for {name!r}, which wrt names{nearest(name, values)}")
        x = values[name]
        if not isinstance(x, Expression):
            inputs[name] = x = np.asarray(x, float if isinstance(x, int) else None)[()]
            if x.dtype.kind != "f":
                fact = ("whole numbers have no derivative; give it as floats" if x.dtype.kind in "biu" else
                        "this matrix is of floats" + "; `jacobian` takes complex numbers" * is_complex(x))
                raise XManError(f"{name!r} holds {x.dtype}, and {fact}")
    return inputs


def refuse_arrays(of: str, y: Any, claim: str = "a Hessian is that of") -> None:
    """XManError unless y, the value of the register `of`, is one number."""
    if (shape := np.shape(y)) != ():
        raise XManError(f"{of!r} has shape {shape}; {claim} one number: write f.mean(…), np.mean(…)")


def columns_apart(matrix: Any, wrt: Sequence[str], values: Point) -> dict[str, Any]:
    """A matrix whose columns are those of all wrt, one of them beside the other, as a matrix for each."""
    ends = np.cumsum([np.size(values[x]) for x in wrt]).tolist()
    return {x: matrix[:, begin:end] for x, begin, end in zip(wrt, [0, *ends], ends, strict=False)}


def units(like: Any) -> Iterator[np.ndarray]:
    """The unit vectors, each in the shape and the precision of like, one at a time: all are a matrix."""
    shape, dtype = np.shape(like), getattr(like, "dtype", np.dtype(float))
    for k in range(int(np.prod(shape))):
        unit = np.zeros(shape, dtype)
        unit.flat[k] = 1.0
        yield unit


def vector_like(name: str, v: Any, x: Any) -> Any:
    """v as an array in the shape of x, the value that it belongs to; XManError where it has another shape."""
    if np.shape(v) != np.shape(x):
        raise XManError(f"the vector given for {name!r} has shape {np.shape(v)}, the register {np.shape(x)}")
    return v if isinstance(v, Expression) else np.asarray(v, getattr(x, "dtype", float))[()]


def vectors_like(vectors: Point, values: Point, wrt: Sequence[str]) -> dict[str, Any]:
    """A vector for each x in wrt: the given one, in the shape of x, or zeros. XManError for another name."""
    if not isinstance(vectors, Mapping):
        raise XManError(f"the vectors are a dictionary with one for each of {', '.join(wrt)}, not a "
                        f"{type(vectors).__name__}")
    refuse_unknown(vectors, wrt, "a vector was given for {!r}, which wrt does not name")
    return {x: vector_like(x, vectors[x], values[x]) if x in vectors else np.zeros_like(values[x])
            for x in wrt}
