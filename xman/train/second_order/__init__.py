"""Methods of second order: training by Gauss–Newton, Levenberg–Marquardt or Newton steps.

Each step uses all rows and solves its equations by conjugate gradients, with products and no matrix: with W
weights a product costs O(W). For a loss E with gradient g, Hessian H and Gauss–Newton matrix G a step is p of
    gauss-newton           G p = −g, shortened until E descends
    levenberg-marquardt    (G + λ) p = −g; λ grows until E descends, and shrinks where its model is right
    newton-cg              H p = −g, up to a direction of negative curvature, shortened until E descends
Bishop, Deep Learning, §8.1.6; Nocedal and Wright, Numerical Optimization, 2nd edition, §7.1 and §10.3.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...engines import compile
from ...errors import XManError
from ...interpreters import eval
from ...matrices import GaussNewton, Hessian, packed, unpacked
from ...passes import simplify
from ..checkpoints import State
from ..evaluation import Diverged
from ..objective import Objective
from ..progress import CtrlC
from ..run import Run

Product = Callable[[np.ndarray], np.ndarray]
DAMPING = "λ of the step"  # no register can have such a name
TRIES = 30  # the most halvings of a step, or growths of λ; then no step is taken
SMALLEST = "the loss is as small as its precision lets it become here: no step makes it smaller"


class SecondOrder(Run):
    """A run of one step per epoch, with all rows; the history has the loss after the step."""

    def __init__(self, objective: Objective, given: dict[str, Any]):
        method, engine = given["optimizer"], given["engine"]
        for name in "batch_size", "lr", "schedule", "weight_decay", "clip", "clip_value", "mesh", "precision":
            if given[name] is not None:
                raise XManError(f"{method} takes all rows at once and finds the length of its steps "
                                f"itself: leave {name} away, or take an optimizer of first order")
        refuse_changing(objective, method)
        own = {"batch_size": objective.rows, "optimizer": "sgd", "lr": 1.0, "accumulate": 0}
        super().__init__(objective, given | own)
        self.settings["optimizer"], self.method = method, METHODS[method]
        self.wrt = [w for w in self.names if w in self.training.inplace]
        self.slopes = [f"d{self.loss}_d{w}" for w in self.wrt]
        steps = simplify(self.training.steps, [self.loss])
        self.matrix = (Hessian if method == "newton-cg" else GaussNewton)(steps, self.loss, self.wrt)
        self.evaluated = compile(self.training.steps, [self.loss, *self.slopes],
                                 "numpy" if engine == "auto" else engine)

    def start(self) -> State:
        """A state with λ and its growth beside the parameters, so that checkpoints have them; 0 at first."""
        state = super().start()
        state.arrays[DAMPING], state.begun[DAMPING] = np.zeros(2), np.zeros(2)
        return state

    def program(self, rows: int, values: dict[str, Any]) -> Any:
        """The program of the value and the gradient. XManError if the loss is not a number."""
        if (shape := np.shape(self.evaluated(values)[self.loss])) != ():
            raise XManError(f"the loss has shape {shape}; it has to be one number: write f.mean(…)")
        return self.evaluated

    def step(self, program: Any, values: dict[str, Any]) -> float:
        """The loss after one step, which overwrites the parameters among the values."""
        with np.errstate(all="ignore"):
            loss = self.taken(values)
        self.workers.stop = self.workers.total(float(self.workers.heard)) > 0
        return loss

    def taken(self, values: dict[str, Any]) -> float:
        w = packed(values, self.wrt).astype(float)
        E, g = self.at(values, w)
        if not (np.isfinite(E) and np.isfinite(g).all()):
            return np.nan
        product = self.matrix.at(values)
        times = lambda v: packed(product(unpacked(v, values, self.wrt)), self.wrt).astype(float)
        p, reached = self.method(self, values, w, E, g, times) if g.any() else (0 * w, E)
        for name, x in unpacked(w + p, values, self.wrt).items():
            values[name][...] = x
        if E - reached <= np.finfo(self.number).eps * abs(E):
            self.over = SMALLEST
        return reached

    def at(self, values: dict[str, Any], w: np.ndarray) -> tuple[float, np.ndarray]:
        here = {name: x.astype(values[name].dtype) for name, x in unpacked(w, values, self.wrt).items()}
        found = self.evaluated(values | here)
        return float(found[self.loss]), packed(found, self.slopes).astype(float)

    def descended(self, values: dict[str, Any], w: np.ndarray, E: float, g: np.ndarray,
                  p: np.ndarray) -> tuple[np.ndarray, float]:
        """p, halved until the loss falls by a part of what its slope promises (Armijo), and this loss."""
        for _ in range(TRIES):
            reached, _ = self.at(values, w + p)
            if reached <= E + 1e-4 * (g @ p):
                return p, reached
            p = p / 2
        return 0 * w, E

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error for a loss that is NaN; it names the first register that is."""
        first = self.first_unsound(eval(self.training.steps, self.values)) or "the loss is not finite"
        return Diverged(f"epoch {state.epoch}: {first}; look at the data, and at where the parameters begin")


def refuse_changing(objective: Objective, method: str) -> None:
    """Raise XManError if the loss changes from step to step, by chance or by updates."""
    if objective.draw or objective.running:
        does, what = (("draws inputs", "dropout or noise") if objective.draw else
                      ("has running inputs", "batch normalisation"))
        raise XManError(f"{method} needs a loss that stays the same, and this model {does}: train it by fit "
                        f"with adam, or build it without {what}")


class Bent(Exception):
    """The curvature along a direction is not positive."""


def conjugate_gradients(times: Product, g: np.ndarray, accuracy: float, damping: float = 0.0) -> np.ndarray:
    """p of (A + damping) p = −g by conjugate gradients; if a curvature is not positive, the p up to there.

    times: the product with A. accuracy: the relative size of the residual at which they stop."""
    from scipy.sparse.linalg import LinearOperator, cg

    latest = -g

    def curved(v: np.ndarray) -> np.ndarray:
        image = times(v) + damping * v
        if not v @ image > 0:
            raise Bent
        return image

    def seen(p: np.ndarray) -> None:
        nonlocal latest
        latest = p.copy()

    try:
        A = LinearOperator((g.size, g.size), curved, dtype=float)
        return cg(A, -g, rtol=accuracy, maxiter=5 * g.size, callback=seen)[0]
    except Bent:
        return latest


def gauss_newton(run: SecondOrder, values: dict, w: np.ndarray, E: float, g: np.ndarray,
                 times: Product) -> tuple:
    """The step, solved roughly: if G is nearly singular, an accurate p is long and leads astray."""
    return run.descended(values, w, E, g, conjugate_gradients(times, g, 1e-3))


def newton_cg(run: SecondOrder, values: dict, w: np.ndarray, E: float, g: np.ndarray,
              times: Product) -> tuple:
    """The step, solved the more accurately the smaller g is (Nocedal and Wright, algorithm 7.1)."""
    return run.descended(values, w, E, g, conjugate_gradients(times, g, min(0.5, np.sqrt(np.linalg.norm(g)))))


def levenberg_marquardt(run: SecondOrder, values: dict, w: np.ndarray, E: float, g: np.ndarray,
                        times: Product) -> tuple:
    """The step; λ begins at a thousandth of G along g, and follows the gain (Nielsen 1999)."""
    damping, growth = values[DAMPING]
    if not damping:
        damping, growth = max(1e-3 * (g @ times(g)) / (g @ g), np.finfo(float).tiny), 2.0
    for _ in range(TRIES):
        p = conjugate_gradients(times, g, 1e-6, damping)
        reached, _ = run.at(values, w + p)
        gain = (E - reached) / (0.5 * (p @ (damping * p - g)))
        if gain > 0:
            values[DAMPING][...] = damping * max(1 / 3, 1 - (2 * gain - 1) ** 3), 2.0
            return p, reached
        damping, growth = damping * growth, growth * 2
    return 0 * w, E


METHODS = {"gauss-newton": gauss_newton, "levenberg-marquardt": levenberg_marquardt, "newton-cg": newton_cg}
