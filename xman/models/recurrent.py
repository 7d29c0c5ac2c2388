"""Recurrent networks, many-to-one, unrolled or as loops: the simple one, the GRU and the LSTM."""
from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import XManError
from ..register import Register
from ..register import XManFunctions as f
from .layers import Network, activation_called, bias, glorot, refuse_other_sequences


class Sequences(Network):
    """A model of `steps` inputs (n, features), whose outputs (n, classes) come from the last state.

    features, hidden, classes: the numbers of columns of the inputs, of the state h (n, hidden), and of the
    outputs. unrolled: whether each step has lines of its own, with inputs X1, X2, … and states h1, h2, …; or
    all steps are one loop along the first axis of the input `sequences` (steps, n, features), with as many
    lines for any length (None: unrolled below 50 steps). last: the activation before the softmax (None:
    none). loss: as for `outputs_and_loss`. seed, dtype: of the first parameters.

    The method `cell(X, h, …)` of a subclass gives the states after a step; for each letter g of its `gates`
    there are parameters Wg (features, hidden), Ug (hidden, hidden) and bg (1, hidden). Its `states`, h among
    them, begin as zeros (1, hidden), which serve every batch size.
    """

    gates, states = "", "h"

    def __init__(self, features: int, hidden: int, classes: int, *, steps: int = 10,
                 last: str | None = "relu", loss: str = "crossEntropy", seed: int = 0,
                 dtype: type = np.float32, unrolled: bool | None = None):
        if not isinstance(steps, int) or steps < 1:
            raise XManError(f"the steps of an {type(self).__name__} are a whole number, at least one, not "
                            f"{steps!r}")
        random = np.random.default_rng(seed)
        self.y = f.input()
        state = {name: f.input(default=np.zeros((1, hidden), dtype)) for name in self.states}
        self.layer(0, **state)
        for gate in self.gates:
            W, U = glorot(random, features, hidden, dtype), glorot(random, hidden, hidden, dtype)
            self.layer(gate, W=W, U=U, b=bias(random, hidden, dtype))
        self.W2, self.b2 = glorot(random, hidden, classes, dtype), bias(random, classes, dtype)
        self.steps, self.unrolled = steps, steps < 50 if unrolled is None else unrolled
        for t in range(1, steps + 1) if self.unrolled else ():
            X = f.input()
            state = dict(zip(self.states, self.cell(X, *state.values()), strict=True))
            self.layer(t, X=X, **state)
        if not self.unrolled:
            from ..functions.loops import scan

            def step(state, X):
                return dict(zip(self.states, self.cell(X, *state.values()), strict=True)), None
            self.sequences = f.input()
            state = scan(step, state, self.sequences)[0]
            self.layer("", **state)
        scores = state["h"] @ self.W2 + self.b2
        self.score(activation_called(last)(scores) if last else scores, classes, loss)

    def gate(self, letter: str, X: Register, h: Register) -> Register:
        """h·U + X·W + b with the parameters of that gate."""
        return h @ getattr(self, f"U{letter}") + X @ getattr(self, f"W{letter}") + getattr(self, f"b{letter}")

    def feed(self, X: Any, y: Any) -> dict[str, Any]:
        """The inputs for sequences X (n, steps, features) and targets y. XManError for other shapes."""
        refuse_other_sequences(self, X)
        if not self.unrolled:
            return {"sequences": np.swapaxes(X, 0, 1), "y": y}
        return {**{f"X{t}": X[:, t - 1] for t in range(1, self.steps + 1)}, "y": y}


class RNN(Sequences):
    """h = tanh(h·Uh + X·Wh + bh) (Elman 1990); all else as `Sequences`."""

    gates = "h"

    def cell(self, X: Register, h: Register) -> tuple[Register]:
        """The state after a step that reads X."""
        return f.tanh(self.gate("h", X, h)),


class GRU(Sequences):
    """The gated recurrent unit (Cho et al. 2014, eqs. 5 to 8); all else as `Sequences`.

        r = sigmoid(h·Ur + X·Wr + br)           what is looked at
        z = sigmoid(h·Uz + X·Wz + bz)           what is kept
        g = tanh((r*h)·Ug + X·Wg + bg)          what is new
        h = z*h + (1 − z)*g
    """

    gates = "rzg"

    def cell(self, X: Register, h: Register) -> tuple[Register]:
        """The state after a step that reads X."""
        r, z = f.sigmoid(self.gate("r", X, h)), f.sigmoid(self.gate("z", X, h))
        g = f.tanh(self.gate("g", X, r * h))
        return z * h + (1 - z) * g,


class LSTM(Sequences):
    """The course's long short-term memory (Hochreiter and Schmidhuber 1997); all else as `Sequences`.

        i = sigmoid(h·Ui + X·Wi + bi)           what comes in
        f = sigmoid(h·Uf + X·Wf + bf)           what is kept
        o = sigmoid(h·Uo + X·Wo + bo)           what goes out
        g = tanh(   h·Uc + X·Wc + bc)           what is new
        c = i*g + f*c,   h = o*tanh(c),   and at the end outputs = softmax(relu(h·W2 + b2))
    """

    gates, states = "ifoc", "hc"

    def cell(self, X: Register, h: Register, c: Register) -> tuple[Register, Register]:
        """The states after a step that reads X."""
        i, keep, o = (f.sigmoid(self.gate(letter, X, h)) for letter in "ifo")
        c = i * f.tanh(self.gate("c", X, h)) + keep * c
        return o * f.tanh(c), c
