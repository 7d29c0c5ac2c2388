"""Methods of second order: training by Gauss–Newton, Levenberg–Marquardt or Newton steps.

Each step uses all rows and solves its equations by conjugate gradients, with products: with W weights a
product costs O(W). There is a matrix only where it is sparse and has few colours. For a loss E with gradient
g, Hessian H and Gauss–Newton matrix G a step is p of
    gauss-newton           G p = −g, shortened until E descends
    levenberg-marquardt    (G + λ) p = −g; λ grows until E descends, and shrinks where its model is right
    newton-cg              H p = −g, up to a direction of negative curvature, shortened until E descends
Bishop, Deep Learning, §8.1.6; Nocedal and Wright, Numerical Optimization, 2nd edition, §7.1 and §10.3.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...engines import Compiled, compile
from ...errors import XManError
from ...interpreters import eval
from ...matrices import GaussNewton, Hessian, packed, unpacked
from ...passes import simplify
from ...scale.signals import CtrlC
from ..checkpoints import State
from ..evaluation import Diverged
from ..objective import Objective
from ..run import Run
from ..settings import Settings
from ..step import TrainingStep

Vector = np.ndarray
Product = Callable[[Vector], Vector]
DAMPING = "λ of the step"  # no register can have such a name
TRIES = 30  # the most halvings of a step, or growths of λ; then no step is taken
SMALLEST = "the loss is as small as its precision lets it become here: no step makes it smaller"


class SecondOrderStep(TrainingStep):
    """A step with all rows; its loss is that after the step."""
    shares_rows = False

    def __init__(self, objective: Objective, settings: Settings, *places: Any):
        method = settings.optimizer
        super().__init__(objective, replace(settings, optimizer="sgd", lr=1.0), *places)
        self.optimizer, self.method = method, METHODS[method]
        self.wrt = [w for w in objective.names if w in self.training.inplace]
        self.slopes = [f"d{self.loss}_d{w}" for w in self.wrt]
        steps = simplify(self.training.steps, [self.loss])
        self.matrix = (Hessian if method == "newton-cg" else GaussNewton)(steps, self.loss, self.wrt)
        self.sparse: Any = None  # what makes it, if it is a sparse one; False if it is none
        self.evaluate = compile(self.training.steps, [self.loss, *self.slopes],
                                "numpy" if self.engine == "auto" else self.engine)

    def start(self) -> dict[str, np.ndarray]:
        """The parameters, and λ with its growth, so that checkpoints have them; 0 at first."""
        return super().start() | {DAMPING: np.zeros(2)}

    def program(self, rows: int) -> Compiled:
        """The program of the value and the gradient. XManError if the loss is not a number."""
        if (shape := np.shape(self.evaluate(self.values)[self.loss])) != ():
            raise XManError(f"the loss has shape {shape}; it has to be one number: write f.mean(…)")
        return self.evaluate

    def take(self, rows: int) -> float:
        """The loss after one step, which overwrites the parameters among the values."""
        with np.errstate(all="ignore"):
            loss = self.descended()
        self.workers.stop = self.workers.total(self.workers.heard)
        return loss

    def descended(self) -> float:
        values = self.values
        w = packed(values, self.wrt).astype(float)
        E, g = self.loss_at(w)
        if not (np.isfinite(E) and np.isfinite(g).all()):
            return np.nan
        p, reached = self.method(self, w, E, g, self.product(w.size)) if g.any() else (0 * w, E)
        for name, x in unpacked(w + p, values, self.wrt).items():
            values[name][...] = x
        if E - reached <= np.finfo(self.number).eps * abs(E):
            self.over = SMALLEST
        return reached

    def product(self, n: int) -> Product:
        """The product with the matrix of the n weights; with a sparse one, where few passes give it."""
        values = self.values
        if self.sparse is None:
            from ...sparse import where_it_pays  # with all of scipy.sparse
            self.sparse = where_it_pays(lambda: self.matrix.compressed(values), n) or False
        if self.sparse:
            return self.sparse(values).astype(float).__matmul__
        product = self.matrix.product_at(values)
        return lambda v: packed(product(unpacked(v, values, self.wrt)), self.wrt).astype(float)

    def loss_at(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        parameters = unpacked(w, self.values, self.wrt)
        outputs = self.evaluate(self.values | {name: x.astype(self.values[name].dtype)
                                               for name, x in parameters.items()})
        return float(outputs[self.loss]), packed(outputs, self.slopes).astype(float)

    def shortened(self, w: np.ndarray, E: float, g: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, float]:
        """p, halved until the loss falls by a share of what its slope promises (Armijo), and this loss."""
        for _ in range(TRIES):
            reached, _ = self.loss_at(w + p)
            if reached <= E + 1e-4 * (g @ p):
                return p, reached
            p = p / 2
        return 0 * w, E


class SecondOrder(Run):
    """A run of one step per epoch, with all rows; the history has the loss after the step."""
    step_of = SecondOrderStep

    def __init__(self, objective: Objective, settings: Settings):
        for name in "batch_size", "lr", "schedule", "weight_decay", "clip", "clip_value", "mesh", "precision":
            if getattr(settings, name) is not None:
                raise XManError(f"{settings.optimizer} takes all rows at once and finds the length of its "
                                f"steps itself: leave out {name}, or take an optimizer of first order")
        refuse_changing(objective, settings.optimizer)
        super().__init__(objective, replace(settings, batch_size=objective.rows))

    def diverged(self, state: State, latest: int, ctrl_c: CtrlC) -> Diverged:
        """The error for a loss that is NaN; it names the first register that is."""
        values = eval(self.step.training.steps, self.step.values)
        first = self.step.first_unsound(values) or "the loss is not finite"
        return Diverged(f"epoch {state.epoch}: {first}; look at the data, and at where the parameters begin")


def refuse_changing(objective: Objective, method: str) -> None:
    """Raise XManError if the loss changes from step to step, by chance or by updates."""
    if objective.draw or objective.running:
        change, layers = (("draws inputs", "dropout or noise") if objective.draw else
                          ("has running inputs", "batch normalisation"))
        raise XManError(f"{method} needs a loss that stays the same, and this model {change}: train it by fit "
                        f"with adam, or build it without {layers}")


class Over(Exception):
    """The curvature along a direction is not positive, or a turn gains hardly anything."""


def conjugate_gradients(A: Product, g: Vector, rtol: float, damping: float = 0, gain: float = 0) -> Vector:
    """p of (A + damping) p = −g by conjugate gradients; if a curvature is not positive, the p up to there.

    A: the product with it. rtol: the relative size of the residual at which they stop. gain: they also
    stop where a turn lowers the model gᵀp/2 by less than this share of the mean (Nash and Sofer 1990, §2)."""
    from scipy.sparse.linalg import LinearOperator, cg

    latest, count = -g, 0

    def curved(v: np.ndarray) -> np.ndarray:
        if not v @ (image := A(v) + damping * v) > 0:
            raise Over
        return image

    def note(p: np.ndarray) -> None:
        nonlocal latest, count
        before, latest, count = latest, p.copy(), count + 1
        if count > 1 and count * (1 - (g @ before) / (g @ p)) < gain:
            raise Over

    try:
        shifted = LinearOperator((g.size, g.size), curved, dtype=float)
        return cg(shifted, -g, rtol=rtol, maxiter=5 * g.size, callback=note)[0]
    except Over:
        return latest


def gauss_newton(step: SecondOrderStep, w: Vector, E: float, g: Vector, times: Product) -> tuple:
    """The step, solved roughly: if G is nearly singular, an accurate p is long and leads astray."""
    return step.shortened(w, E, g, conjugate_gradients(times, g, 1e-3))


def newton_cg(step: SecondOrderStep, w: Vector, E: float, g: Vector, times: Product) -> tuple:
    """The step, solved the more accurately the smaller g is (Nocedal and Wright, algorithm 7.1)."""
    rtol = min(0.5, np.sqrt(np.linalg.norm(g)))
    return step.shortened(w, E, g, conjugate_gradients(times, g, rtol, gain=0.5))


def levenberg_marquardt(step: SecondOrderStep, w: Vector, E: float, g: Vector, times: Product) -> tuple:
    """The step; λ begins at a thousandth of G along g, and follows the gain (Nielsen 1999)."""
    damping, growth = step.values[DAMPING]
    if not damping:
        damping, growth = max(1e-3 * (g @ times(g)) / (g @ g), np.finfo(float).tiny), 2.0
    for _ in range(TRIES):
        p = conjugate_gradients(times, g, 1e-6, damping)
        reached, _ = step.loss_at(w + p)
        gain = (E - reached) / (0.5 * (p @ (damping * p - g)))
        if gain > 0:
            step.values[DAMPING][...] = damping * max(1 / 3, 1 - (2 * gain - 1) ** 3), 2.0
            return p, reached
        damping, growth = damping * growth, growth * 2
    return 0 * w, E


METHODS = {"gauss-newton": gauss_newton, "levenberg-marquardt": levenberg_marquardt, "newton-cg": newton_cg}
