"""The Jacobian of a list, ∂of/∂wrt: its products, and itself, column by column or row by row."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ops import Expression

from ..errors import XManError
from ..interpreters import eval
from ..passes import gradient, tangent
from ..passes.differentiate import ending, inputs_of
from ..wengert import Steps, checked
from .linear import LinearMap, Point, point, units, vector_like, vectors_like


class Count(NamedTuple):
    """How many numbers go in and come out, and so how many passes a Jacobian takes (Reps §4, Bishop 8.66)."""
    inputs: int
    outputs: int
    mode: str

    @property
    def passes(self) -> int:
        return self.inputs if self.mode == "forward" else self.outputs

    def __str__(self) -> str:
        other, passes = ("reverse", self.outputs) if self.mode == "forward" else ("forward", self.inputs)
        return f"{numbered(self.inputs, 'input')}, {numbered(self.outputs, 'output')}: {self.mode} mode, " \
               f"{numbered(self.passes, 'pass')} ({other} mode would take {passes:,})"


def numbered(n: int, word: str) -> str:
    return f"{n:,} {word}{'' if n == 1 else 'es' if word.endswith('s') else 's'}"


def counted(inputs: int, outputs: int, mode: str | None = None) -> Count:
    """The count with the mode that takes fewer passes, forward where they are equal; or with the mode asked for."""
    if mode not in (None, "forward", "reverse"):
        raise XManError(f"the mode is 'forward', 'reverse' or None, which chooses, not {mode!r}")
    return Count(inputs, outputs, mode or ("forward" if inputs <= outputs else "reverse"))


class Jacobian:
    """∂of/∂wrt of a list, for any values: Bishop, Deep Learning, §8.1.5; Adams, Computing Gradients, eq. 6.

        J = Jacobian(steps, of="y", wrt=["x"])
        J.count(values)         # 784 inputs, 10 outputs: reverse mode, 10 passes (forward mode would take 784)
        J(values)               # {"x": an array of the shape of y followed by that of x}
        J.jv(values, {"x": v})  # J v in one forward pass (8.67)
        J.vj(values, u)         # {"x": u J} in one reverse pass

    steps: the list. of: the register to differentiate. wrt: the names of those to differentiate by, which have to be inputs.
    mode: "forward", "reverse", or None to choose by counting. Raises XManError for names that the list does not have.
    """

    def __init__(self, steps: Steps, of: str, wrt: Sequence[str], mode: str | None = None):
        self.steps, self.of, self.wrt, self.mode = checked(steps), of, inputs_of(checked(steps), wrt), mode
        counted(1, 1, mode)
        dot = ending(self.steps)
        self.dots = {x: x + dot for x in self.wrt}
        self.seed = of + ending(self.steps, "_bar")
        pushed = tangent(self.steps, self.wrt)
        pulled = gradient(self.steps, of, self.wrt, seed=self.seed)
        known = {*self.dots.values(), *(dst for dst, _, _ in pushed)}
        self.forward = LinearMap(pushed, self.dots.values(), [of + dot] if of + dot in known else [])
        self.reverse = LinearMap(pulled, [self.seed], [f"d{of}_d{x}" for x in self.wrt])

    def count(self, values: Point) -> Count:
        """The numbers of inputs and outputs at values, and the mode that they lead to."""
        return self._count(*self._evaluated(values))

    def jv(self, values: Point, vectors: Point) -> Any:
        """J v, in the shape of `of`: vectors has one for each x in wrt, of its shape; zeros where one is left out."""
        return self.pushforward(values)(vectors)

    def vj(self, values: Point, u: Any) -> dict[str, Any]:
        """u J, one for each x in wrt and of its shape; u has the shape of `of`."""
        return self.pullback(values)(u)

    def pushforward(self, values: Point) -> Callable[[Point], Any]:
        """v → J v at values, where what depends on values alone is done once."""
        values, y = self._evaluated(values)
        push = self.forward.at(values, {self.dots[x]: values[x] for x in self.wrt})

        def pushed(vectors: Point) -> Any:
            v = vectors_like(vectors, values, self.wrt)
            return next(iter(push({self.dots[x]: v[x] for x in self.wrt}).values()), np.zeros_like(y))
        return pushed

    def pullback(self, values: Point) -> Callable[[Any], dict[str, Any]]:
        """u → u J at values, where what depends on values alone is done once."""
        values, y = self._evaluated(values)
        pull = self.reverse.at(values, {self.seed: y})

        def pulled(u: Any) -> dict[str, Any]:
            images = pull({self.seed: vector_like(self.of, u, y)})
            return {x: images[image] for x, image in zip(self.wrt, self.reverse.images, strict=True)}
        return pulled

    def __call__(self, values: Point) -> dict[str, Any]:
        """For each x in wrt an array of the shape of `of` followed by that of x, in one pass a column or a row."""
        values, y = self._evaluated(values)
        shapes = {x: np.shape(y) + np.shape(values[x]) for x in self.wrt}
        if self._count(values, y).mode == "reverse":
            rows = list(map(self.pullback(values), units(y)))
            return {x: stacked([row[x] for row in rows], 0, shapes[x], y) for x in self.wrt}
        push = self.pushforward(values)
        return {x: stacked([push({x: v}) for v in units(values[x])], -1, shapes[x], y) for x in self.wrt}

    def _count(self, values: Point, y: Any) -> Count:
        return counted(sum(int(np.prod(np.shape(values[x]))) for x in self.wrt), int(np.prod(np.shape(y))), self.mode)

    def _evaluated(self, values: Point) -> tuple[dict[str, Any], Any]:
        """values with floats in wrt, and that of `of`. XManError where that holds whole numbers."""
        values = point(values, self.wrt)
        y = eval(self.steps, values)[self.of]
        if not isinstance(y, Expression) and y.dtype.kind != "f":
            raise XManError(f"{self.of!r} holds {y.dtype}, and only floats have derivatives")
        return values, y


def stacked(parts: list, axis: int, shape: tuple, like: Any) -> Any:
    """The parts along a new axis, in the shape; there may be none."""
    whole = np.reshape(np.stack(parts, axis), shape) if parts else np.zeros(shape, getattr(like, "dtype", float))
    return whole[()] if isinstance(whole, np.ndarray) else whole
