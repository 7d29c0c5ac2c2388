"""Parts that the models share: first parameters, and the way from scores to outputs and a loss."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import ops
from ops.facts import FACTS, arity

from ..errors import XManError, nearest, refuse_unknown
from ..manager import XMan
from ..register import Register
from ..register import XManFunctions as f


def glorot(random: np.random.Generator, fan_in: int, fan_out: int, dtype: type = np.float32) -> Register:
    """A parameter (fan_in, fan_out), uniform in ±√(6/(fan_in + fan_out)) (Glorot and Bengio 2010)."""
    for size in (fan_in, fan_out):
        if not isinstance(size, (int, np.integer)) or size < 1:
            raise XManError(f"the size of a layer is a whole number, at least one, not {size!r}")
    limit = np.sqrt(6.0 / (fan_in + fan_out))
    return f.param(default=random.uniform(-limit, limit, (fan_in, fan_out)).astype(dtype))


def bias(random: np.random.Generator, size: int, dtype: type = np.float32) -> Register:
    """A parameter (1, size), uniform in ±0.1."""
    return f.param(default=random.uniform(-0.1, 0.1, (1, size)).astype(dtype))


def outputs_and_loss(scores: Register, y: Register, loss: str) -> tuple[Register, Register]:
    """The outputs (n, k) of a model, and its loss, the mean over the rows of scores (n, k) and targets y.

    loss: crossEntropy of the softmax, as the notes write it; softmaxCrossEntropy, the same without overflow;
    sigmoidCrossEntropy; squaredError; hinge; a row of your own with the fact `outputs`. XManError for others.
    """
    output_operators = {op: facts.outputs for op, facts in FACTS.items() if facts.outputs}
    refuse_unknown([loss], output_operators, "there is no loss {!r}")
    outputs = getattr(f, output_operators[loss])(scores)
    return outputs, f.mean(getattr(f, loss)(outputs if loss == "crossEntropy" else scores, y))


def activation_called(activation: str | Callable[[Register], Register]) -> Callable[[Register], Register]:
    """The entrywise operator of one argument with this name; or the function itself. XManError otherwise."""
    if callable(activation):
        return activation
    activations = [op for op in sorted(ops.G) if ops.facts_of(op).elementwise and arity(ops.G[op])[0] == 1]
    if activation not in activations:
        raise XManError(f"there is no activation {activation!r}; the activations are tanh, relu, sigmoid and "
                        "each entrywise operator of one argument, as gelu, or a function of your own"
                        f"{nearest(str(activation), activations)}")
    return getattr(f, activation)


def normalized(h: Register, axis: int) -> Register:
    """h with mean 0 and variance 1 along axis (Ba, Kiros and Hinton 2016, eq. 3, without gain and bias)."""
    h = h - f.mean(h, axis, True)
    return h / f.sqrt(f.mean(f.square(h), axis, True) + 1e-5)


class Network(XMan):
    """The base of models of rows X and targets y: constructors call `layer` for each layer, then `score`."""

    def __init__(self) -> None:
        self.X, self.y = f.input(), f.input()

    def layer(self, k: int | str, **registers: Register) -> None:
        """Add registers to the k-th layer, by name: W=… becomes W1 in the first layer."""
        for name, register in registers.items():
            setattr(self, f"{name}{k}", register)

    def score(self, scores: Register, width: int, loss: str) -> None:
        """Add the registers scores (n, width), outputs and loss, as `outputs_and_loss` has them."""
        self.scores, self.width = scores, width
        self.outputs, self.loss = outputs_and_loss(scores, self.y, loss)
        self.setup()

    def feed(self, X: Any, y: Any) -> dict[str, Any]:
        """The inputs for rows X, (n, …) flattened to (n, features), and targets y, which may be (n,)."""
        return {"X": as_rows(X), "y": targets_of(y, self.width)}


def as_rows(X: Any) -> Any:
    """X (n, …) as rows (n, features); a sparse matrix has them already."""
    return X.reshape(-1, int(np.prod(X.shape[1:]))) if isinstance(X, np.ndarray) and X.ndim != 2 else X


def targets_of(y: Any, outputs: int) -> Any:
    """The targets y (n,) of one output as a column (n, 1), since (n,) would broadcast; others as they are."""
    return y[:, None] if outputs == 1 and np.ndim(y) == 1 else y


def refuse_other_sequences(model: XMan, X: Any) -> None:
    if np.ndim(X) != 3 or X.shape[1] != model.steps:
        raise XManError(f"this {type(model).__name__} reads sequences (n, {model.steps}, features), not an "
                        f"array of shape {np.shape(X)}")
