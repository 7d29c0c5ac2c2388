"""SciPy's methods on a model or a function; its values and derivatives are one compiled list."""
from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ops.facts import is_complex

from ..engines import compile
from ..errors import XManError, refuse_unknown, with_habits
from ..functions.trace import list_at
from ..functions.tracer import CallTape
from ..functions.trees import flattened_tree, unflatten
from ..interpreters import eval
from ..manager import XMan
from ..matrices import Hessian, packed, unpacked
from ..matrices.linear import LinearMap, refuse_arrays
from ..passes import EXACT, STABLE, gradient, simplify
from ..reasons import first_nan
from ..show.progress import Progress
from ..sparse import where_it_pays
from ..train.evaluation import Diverged, Result, judge_of, rows_and_labels
from ..train.objective import Objective
from ..train.run import score
from ..train.second_order import SMALLEST, refuse_changing
from ..train.settings import Callback
from ..wengert import WengertList

WITH_GRADIENT = "L-BFGS-B", "BFGS", "CG"
WITH_PRODUCTS = "Newton-CG", "trust-ncg", "trust-krylov", "trust-constr"
# rounding stops the other two earlier: they end at a gradient of 1e-7 where this one reaches 1e-14
FINAL = "trust-ncg"
STALLED = 10  # so many epochs without a smaller loss end a method


@with_habits
def minimize(model: XMan | Callable, data: Any = (), *, start: Any = None, method: str = "L-BFGS-B",
             epochs: int = 1000, tolerance: float = 1e-5, validation: tuple | None = None,
             l1: float | dict[str, float] | None = None, l2: float | dict[str, float] | None = None,
             sample_weight: Any = None, class_weight: dict[Any, float] | str | None = None,
             callbacks: Iterable[Callback] = (), engine: str = "auto", progress: bool = True) -> Result:
    """Minimise a model's loss, or a function, by scipy.optimize.minimize; the Result is as for `fit`.

    model: an XMan as for `fit`; or a function fn(parameters, *data) from arrays to a number, traced at
    `start`, so that all steps take the path that it takes there. data: (X, y) of a model, or the function's
    further arguments. start: a function's first parameters, an array, a number or a tree of them; an array
    may also stand second, as in SciPy. method:
    L-BFGS-B, BFGS or CG, which use the gradient; Newton-CG, trust-ncg, trust-krylov or trust-constr, which
    also use products with the Hessian, a sparse matrix where that has few colours (`xman.colour`); where
    rounding stops one of these four, trust-ncg goes on. epochs: the most
    iterations. tolerance: the run ends when no entry of the gradient is larger. The history has the loss of
    each epoch and the largest entry of its gradient. engine: auto is numpy. validation, l1, l2,
    sample_weight, class_weight, callbacks, progress: as for `fit`. Raises XManError for arguments that do not
    fit, and Diverged if the loss or its gradient is NaN at the start.
    """
    refuse_unknown([method], (*WITH_GRADIENT, *WITH_PRODUCTS), "there is no method {!r}")
    judged, facts = None, {}
    if isinstance(model, XMan):
        objective = Objective(model, data, 0, sample_weight, class_weight, l1, l2)
        if validation is not None:
            judged = judge_of(model, rows_and_labels(validation, "validation", objective.labels))
        refuse_changing(objective, method)
        facts = {"network": model, "classes": objective.labels, "settings": {"optimizer": method}}
        facts["shape"] = objective.X.shape[1:]
        steps, of, wrt, back = objective.steps, objective.loss, objective.names, dict
        rows = np.arange(objective.rows)
        values = objective.inputs | objective.minibatch_inputs(objective.X, objective.y, rows, 0)
    else:
        names = "validation", "l1", "l2", "sample_weight", "class_weight"
        for name, option in zip(names, (validation, l1, l2, sample_weight, class_weight), strict=True):
            if option is not None:
                raise XManError(f"{name} is for models; write it into the function")
        steps, of, wrt, values, back = objective_list(model, start, data)
    problem = Problem(steps, of, wrt, values, method in WITH_PRODUCTS, engine)
    descent = Descent(problem, back, tolerance, judged, callbacks)
    return descent.run(method, epochs, progress)._replace(**facts)


class Problem:
    """A loss as a function of one vector w of all parameters, with its gradient and products of its Hessian.

    The list is split: lines that do not depend on the vector of a product are computed once at a point; they
    are the value, the gradient, and the common part of all products.
    """

    def __init__(self, steps: WengertList, of: str, wrt: list, values: dict, products: bool, engine: str):
        refuse_complex_parameters([values[w] for w in wrt])
        self.of, self.wrt, self.steps = of, wrt, steps
        self.values = values | {w: np.array(values[w], None if np.asarray(values[w]).dtype.kind == "f"
                                            else float) for w in wrt}
        self.start, self.slopes = packed(self.values, wrt).astype(float), [f"d{of}_d{w}" for w in wrt]
        refuse_arrays(of, eval(steps, self.values)[of], "what is minimized has to be")
        first_steps, shared = gradient(steps, of, wrt), []
        engine = "numpy" if engine == "auto" else engine
        self.hessian, hessian = None, Hessian(steps, of, wrt) if products else None
        if hessian:
            self.hessian = where_it_pays(lambda: hessian.compressed(self.values), self.start.size)
        if self.hessian:
            self.entries = compile(self.hessian.steps, [self.hessian.entries], engine)
        elif hessian:
            self.dots, self.images = hessian.map.moving, hessian.map.images
            likes = self.values | {dot: self.values[w] for w, dot in self.dots.items()}
            outputs = {name: name for name in (of, *self.slopes)} | self.images
            first_steps, moving = LinearMap(hessian.steps, self.dots, outputs).split(likes)
            shared = [name for name in moving.inputs if name not in likes]
            images = [dst for dst, _, _ in moving if dst in self.images.values()]
            self.products = compile(moving, images, engine) if moving else None
        self.evaluated = compile(first_steps, dict.fromkeys([of, *self.slopes, *shared]), engine)
        self.w: np.ndarray | None = None
        self.matrix: Any = None  # the Hessian at w, if it is a sparse one
        # a line search gives up at NaN or 1e65: values above `far` are cut to it, and have no slope
        self.far = sys.float_info.max
        self.far = 100 * (1 + abs(self.moved_to(self.start).loss))

    def moved_to(self, w: np.ndarray) -> Problem:
        """The problem, computed at w: SciPy asks for value, gradient and products one by one."""
        if self.w is None or not np.array_equal(w, self.w):
            self.w, self.point, self.matrix = w.copy(), self.named(w), None
            self.outputs = self.evaluated(self.values | self.point)
            self.loss = float(self.outputs[self.of])
            self.slope = packed(self.outputs, self.slopes).astype(float)
            self.sound = bool(-np.inf < self.loss <= self.far and np.isfinite(self.slope).all())
            if not self.sound:
                self.loss, self.slope = self.far, 0 * self.slope
        return self

    def named(self, w: np.ndarray) -> dict[str, np.ndarray]:
        arrays = unpacked(w, self.values, self.wrt)
        return {name: x.astype(self.values[name].dtype) for name, x in arrays.items()}

    def value(self, w: np.ndarray) -> float:
        return self.moved_to(w).loss

    def gradient(self, w: np.ndarray) -> np.ndarray:
        return self.moved_to(w).slope.copy()

    def product(self, w: np.ndarray, v: np.ndarray) -> np.ndarray:
        if self.hessian:
            values = self.values | self.moved_to(w).point
            if self.matrix is None:
                self.matrix = self.hessian.matrix(self.entries(values)[self.hessian.entries], values)
            return (self.matrix @ v).astype(float)
        vectors = self.named(v)
        dots = {dot: vectors[name] for name, dot in self.dots.items()}
        values = self.values | self.moved_to(w).point | self.outputs | dots
        images = self.products(values) if self.products else {}
        product = {name: images.get(self.images[name], 0 * x) for name, x in vectors.items()}
        return packed(product, self.wrt).astype(float)


class Descent:
    """A run of one of SciPy's methods, and the results of its iterations."""

    def __init__(self, problem: Problem, back: Callable, tolerance: float, judged: Callable | None,
                 callbacks: Iterable):
        self.problem, self.back, self.tolerance, self.judged = problem, back, tolerance, judged
        self.callbacks, self.history, self.best, self.stalled = list(callbacks), [], 0, False
        self.parameters = back(problem.named(problem.start))

    @np.errstate(all="ignore")
    def run(self, method: str, epochs: int, progress: bool) -> Result:
        """The Result of the method. Raises Diverged if the start is not finite."""
        from scipy import optimize

        problem = self.problem
        slope = problem.gradient(problem.start)
        if not problem.moved_to(problem.start).sound:
            raise unsound(problem.steps, problem.values)
        limits = {"L-BFGS-B": {"ftol": 0.0, "gtol": 0.0, "maxfun": 100 * epochs}, "Newton-CG": {"xtol": 0.0}}
        calls = {"jac": problem.gradient, "hessp": problem.product if method in WITH_PRODUCTS else None,
                 "callback": self.record}
        w, second, self.reason = problem.start, method in WITH_PRODUCTS, "" if epochs else "all 0 epochs done"
        self.begun = time.perf_counter()
        with Progress(progress, total=epochs, done=0) as self.shown:
            try:
                for way in dict.fromkeys([method, FINAL] if second else [method]):
                    if self.over(slope):
                        break
                    self.crawl = 1e-9 * (second and way != FINAL)
                    options = {"maxiter": epochs - len(self.history), **limits.get(way, {"gtol": 0.0})}
                    minimum = optimize.minimize(problem.value, w, method=way, options=options, **calls)
                    w, slope = minimum.x, problem.gradient(minimum.x)
                    self.reason = self.reason or f"all {epochs} epochs done" * (len(self.history) >= epochs)
                self.reason = self.reason or SMALLEST + f" ({way}: {minimum.message})" * (not self.stalled)
            except KeyboardInterrupt:
                self.reason = f"interrupted in epoch {len(self.history) + 1}"
        return Result(self.parameters, self.history, self.best, self.reason)

    def over(self, slope: np.ndarray) -> bool:
        if np.abs(slope).max(initial=0.0) <= self.tolerance:
            self.reason = f"no entry of the gradient is larger than {self.tolerance:g}"
        return bool(self.reason)

    def record(self, intermediate_result: Any) -> None:
        """Record an iteration, which SciPy reports here."""
        w = intermediate_result.x
        loss, slope = self.problem.value(w), self.problem.gradient(w)
        parameters = self.back(self.problem.named(w))
        row = {"epoch": len(self.history) + 1, "loss": loss, "gradient": float(np.abs(slope).max()),
               "seconds": time.perf_counter() - self.begun}
        if self.judged:
            row["validation_loss"], accuracy = self.judged(parameters)
            row |= {} if accuracy is None else {"validation_accuracy": accuracy}
        if not self.history or score(row) < min(map(score, self.history)):
            self.parameters, self.best = parameters, row["epoch"]
        self.history.append(row)
        answers = [call(row, parameters) for call in self.callbacks]
        self.shown.step()
        self.shown.line(row)
        self.begun = time.perf_counter()
        self.reason = next(filter(None, answers), self.reason)
        before = self.history[-1 - STALLED:-STALLED]
        self.stalled = any(not loss < row["loss"] - self.crawl * abs(row["loss"]) for row in before)
        if self.over(slope) or self.stalled:
            raise StopIteration


def unsound(steps: WengertList, values: dict[str, Any]) -> Diverged:
    """The error for a value or a derivative that is not finite at the start."""
    first = first_nan(steps, eval(steps, values)) or "it or its derivative is not finite"
    return Diverged(f"the loss cannot be made smaller from where the parameters begin: {first}")


def refuse_complex_parameters(parameters: Iterable[Any]) -> None:
    """XManError for complex parameters, of which there is no way down."""
    if any(map(is_complex, parameters)):
        raise XManError("parameters are real, not complex; give two real arrays, and write x + 1j * y")


def objective_list(fn: Callable, start: Any, data: tuple) -> tuple[WengertList, str, list, dict, Callable]:
    """(the list of fn(start, *data), its output, the names of start's leaves, all values, leaves → tree)."""
    if start is None and not isinstance(data, (tuple, list)):
        start, data = data, ()  # in SciPy's order
    if start is None:
        raise XManError("a function needs the parameters to begin with: say start=…; data=(…) are its further "
                        "arguments")
    leaves, structure = flattened_tree(start)
    refuse_complex_parameters(leaves)
    real = lambda x: np.asarray(x, None if getattr(x, "dtype", np.dtype(int)).kind == "f" else float)
    start = unflatten(structure, list(map(real, leaves)))
    steps, values = list_at(fn, (start, *data), {}, CallTape(exact=False))
    parameters = [*values][:len(leaves)]
    if len(steps.outputs) != 1:
        raise XManError(f"the function returns {len(steps.outputs)} arrays; it has to return one")
    steps = simplify(steps, [of := steps[-1][0]], rewrites=EXACT + STABLE)
    if not (wrt := [name for name in parameters if name in steps.inputs]):
        raise XManError("the function does not depend on its parameters")
    back = lambda registers: unflatten(structure, [registers.get(name, values[name]) for name in parameters])
    return steps, of, wrt, values, back
