"""The guided examples: the list of each, its place in the documents, and what they say of it."""
from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ..models import LSTM
from ..wengert import Steps, WengertList

GLOSSARY = {
    "Wengert list": "The lines that the function was cut into, each one operator applied to registers (Cohen §1.2).",
    "register": "A name that holds a value: an input, a parameter, or the result of a line (Cohen §1.6).",
    "delta, δx": "∂output/∂x, as it is known so far in the backward pass (Cohen §1.3); it is there once a user of x "
                 "has sent something.",
    "adjoint, v̄": "Bishop's and Adams' word for the delta: v̄ = ∂f/∂v (Bishop (8.68), Adams (36)).",
    "tangent, v̇": "∂v/∂x of each register by one input, carried beside its value in forward mode (Bishop (8.57)).",
    "primal": "A register's value itself, beside its tangent or adjoint (Bishop §8.2.1).",
    "edge label": "The partial derivative of a node by one of its arguments (Reps §3).",
    "path, extend, combine": "A path is worth the product of its labels (extend is ×); a derivative is the sum over "
                             "all paths (combine is +) (Reps §3).",
    "forward pass, backward pass": "All values, in order; then all deltas, in reverse (Ong and Deisenroth).",
    "gate": "A sigmoid between 0 and 1 that something is multiplied by, to let it through or not: the LSTM has three.",
}

TRIANGLE = "z1 = mul(h, w)\narea = half(z1)"
REPS_3 = "z1 = mul(4, y)\nz2 = add(x, z1)\nz3 = add(x, y)\nz4 = mul(z3, y)\nh = mul(z2, z4)"
BISHOP_8_49 = """\
v1 = alias(x1)
v2 = alias(x2)
v3 = mul(v1, v2)
v4 = sin(v2)
v5 = exp(v3)
v6 = subtract(v3, v4)
v7 = add(v5, v6)"""
ADAMS_17 = """\
va = alias(x1)
vb = alias(x2)
v1 = divide(va, vb)
v2 = sin(v1)
v3 = exp(vb)
v4 = subtract(v1, v3)
v5 = add(v2, v4)
v6 = mul(v5, v4)
y = alias(v6)"""
PERCEPTRON_LIST = """\
z1 = dot(X, W1)
z2 = add(z1, b1)
h1 = relu(z2)
z3 = dot(h1, W2)
scores = add(z3, b2)
outputs = softmax(scores)
z4 = crossEntropy(outputs, y)
loss = mean(z4)"""


class Guided(NamedTuple):
    """One example: its list, the register to differentiate, the values of its inputs, and its texts."""
    title: str
    source: str
    steps: Steps
    of: str
    values: dict[str, Any]
    text: tuple[str, ...]
    words: tuple[str, ...]
    parameters: str = ""
    equations: dict[str, str] = {}  # by register, as the document numbers them


@functools.cache
def guide() -> tuple[Guided, ...]:
    """The six examples, from the shortest to the longest."""
    return (
        Guided("The triangle", "Cohen, Automatic Reverse-Mode Differentiation, §1.6",
               WengertList.from_text(TRIANGLE), "area", {"h": 3.0, "w": 6.0},
               ("The area of a triangle is half its height times its width. xman compiles area = f.half(h*w) "
                "to two lines.",
                "Step forward: two values appear. Step on: area starts with the delta 1, sends half of it to "
                "z1, and z1 sends to each factor its delta times the other factor. Nothing meets, so there "
                "is no +=."),
               ("Wengert list", "register", "delta, δx", "forward pass, backward pass"), "h w"),
        Guided("h(x, y) = (x + 4y)·((x + y)·y)",
               "Reps, Automatic Differentiation and Backpropagation, (3), Figs. 2, 3",
               WengertList.from_text(REPS_3), "h", {"x": 3.0, "y": 5.0},
               ("At x = 3 and y = 5, h is 23·40 = 920. Three paths lead from y to h, two from x.",
                "Watch δy: three edges leave y, and along each comes one contribution. The first is there "
                "with =, the others meet it with +=: 23·8 from z4, then 23·5 from z3, then 40·4 from z1. "
                "Together 459."),
               ("edge label", "path, extend, combine", "delta, δx"), "", {"h": "(3)"}),
        Guided("f = x1·x2 + exp(x1·x2) − sin(x2)", "Bishop, Deep Learning, (8.49), Fig. 8.4",
               WengertList.from_text(BISHOP_8_49), "v7", {"x1": 1.0, "x2": 2.0},
               ("Bishop's evaluation trace, (8.50) to (8.56): each line is a primal variable. Choose the "
                "forward mode for its tangents v̇, (8.58) to (8.64), and the reverse mode for its adjoints "
                "v̄, (8.70) to (8.76).",
                "The print has two slips. (8.75) says v̄2·v1 where v̄3·v1 is meant: step to the line of v3 "
                "and see. And the derivative is v̇7, not the v̇5 that stands at the end of §8.2.1."),
               ("primal", "tangent, v̇", "adjoint, v̄"), "",
               {f"v{k}": f"({8.49 + k / 100:.2f}), v̇ ({8.57 + k / 100:.2f}), v̄ ({8.77 - k / 100:.2f})"
                for k in range(1, 8)}),
        Guided("y = [sin(x1/x2) + x1/x2 − exp x2]·[x1/x2 − exp x2]",
               "Adams, Computing Gradients with Backpropagation, (17)",
               WengertList.from_text(ADAMS_17), "y", {"x1": 1.5, "x2": 0.5},
               ("The execution trace at x1 = 1.5, x2 = 0.5: y is 2.0166 (the notes print 2.0167, from "
                "rounded factors), and its gradient is (3.0118, −13.7239).",
                "The backward pass is (36), v̄i = Σ v̄j ∂vj/∂vi over the children j of i. Watch v̄4 and v̄1, "
                "which have two each. In forward mode by x1 the tangents are (19) and those that follow."),
               ("adjoint, v̄", "tangent, v̇", "Wengert list"), "", {"y": "(17)", "va": "(18)", "vb": "(20)"}),
        Guided("The perceptron", "Cohen §1.2; Bishop §8.1; Ong and Deisenroth",
               WengertList.from_text(PERCEPTRON_LIST), "loss",
               {"X": np.array([[0.5, -1.0], [1.5, 2.0], [-1.0, 0.5]]),
                "y": np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]),
                "W1": np.array([[1.0, -0.5, 0.2], [0.3, 0.8, -1.0]]), "b1": np.array([[0.1, 0.0, 0.5]]),
                "W2": np.array([[0.7, -0.3], [-0.2, 0.9], [0.4, 0.1]]), "b2": np.array([[0.0, 0.1]])},
               ("One hidden layer on three rows of two numbers. Registers are matrices here, and pictures "
                "stand for them: blue is below 0, orange above.",
                "The rule of a product is δW += aᵀ @ δz and δa += δz @ Wᵀ. Where a bias was added to every "
                "row, its delta is summed over the rows. relu passes a delta on where its argument was "
                "positive."),
               ("forward pass, backward pass", "delta, δx"), "W1 b1 W2 b2"),
        lstm())


def lstm() -> Guided:
    """Two steps of the course's network on characters, small enough to be drawn."""
    model, rng = LSTM(3, 2, 2, steps=2, seed=1, dtype=np.float64), np.random.default_rng(8)
    started = model.inputDict()
    drawn = {x: rng.uniform(-1, 1, np.shape(v)) for x, v in started.items() if x[0] in "WU"}
    return Guided("The LSTM", "the course's recurrent network, two steps of it",
                  model.operationSequence(model.loss), "loss",
                  {**started, **drawn, "X1": np.eye(3)[[0]], "X2": np.eye(3)[[2]],
                   "y": np.array([[0.0, 1.0]])},
                  ("The same four products and the same gates at each step, with the same parameters: so "
                   "each parameter has two users, and its delta is the sum of what both steps send.",
                   "c1, the cell, is what carries over: watch how δc1 comes from the second step's forget "
                   "gate and from h1."),
                  ("gate", "path, extend, combine", "delta, δx"),
                  " ".join(x for x in started if x not in ("h0", "c0")))
