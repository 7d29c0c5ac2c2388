"""Methods of second order on Bishop's tanh network and on Adams' bases: iterations and seconds, beside L-BFGS (SciPy's).

From each of several starts all methods descend; what counts is when each first comes within 50 % of the least loss that any of
them came to from there. L-BFGS has the value and the gradient of the compiled list, and ten times as many iterations, each
of which costs a gradient or two; it is used here alone.
"""
from __future__ import annotations

import statistics
import time
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..table import Table
from ..worker import LeftOut

METHODS = "gauss-newton", "levenberg-marquardt", "newton-cg", "L-BFGS"
PROBLEMS = "network", "polynomial", "rbf", "tanh"
NEAR = 1.5


class Descent(NamedTuple):
    """The loss after each iteration, and the seconds until then."""
    losses: list[float]
    seconds: list[float]

    def until(self, target: float) -> tuple[int, float] | None:
        """The iterations and the seconds until the loss is at most the target; None where it never is."""
        k = next((k for k, loss in enumerate(self.losses) if loss <= target), None)
        return None if k is None else (k + 1, self.seconds[k])


def run(problem: str, name: str, about: str, dtype: str, players: Any, options: Any) -> Table:
    starts, most = (2, 50) if options.quick else (5, 200)
    found = players.ask("second order", descents, problem, starts, most)
    if isinstance(found, LeftOut):
        return Table(name, about, dtype, players.threads, {}, [], {"all": found.why})
    return Table(name, about, dtype, players.threads, summary(found), [], {})


def summary(found: dict[str, list[Descent]]) -> dict[str, dict[str, float]]:
    """For each method medians over the starts: of the seconds and iterations to the target, and of the last losses."""
    least = [min(min(d.losses) for d in each) for each in zip(*found.values(), strict=True)]
    lines = {}
    for method, all_of_it in found.items():
        reached = [hit for d, loss in zip(all_of_it, least, strict=True) if (hit := d.until(NEAR * loss))]
        middle = lambda k, hits=reached: float(statistics.median(hit[k] for hit in hits)) if hits else float("inf")
        lines[method] = {"ms": round(1e3 * middle(1), 2), "iterations": middle(0), "reached": len(reached),
                         "of": len(all_of_it), "loss × 1000": 1e3 * statistics.median(min(d.losses) for d in all_of_it)}
    return lines


def descents(problem: str, starts: int, most: int) -> dict[str, list[Descent]]:
    return {method: [descent(method, problem, seed, most) for seed in range(starts)] for method in METHODS}


def model_and_data(problem: str, seed: int) -> tuple[Any, tuple]:
    """A start from the seed; the data are the same for all: 60 noisy values of a sine."""
    from xman.models import MLP, AdaptiveBasis

    random = np.random.default_rng(8)
    x = np.linspace(0.05, 2.0, 60)
    y = np.sin(np.pi * x) + 0.1 * random.standard_normal(60)
    if problem == "network":
        return MLP([1, 8, 1], loss="squaredError", dtype=np.float64, seed=seed), (x[:, None] - 1, y[:, None])
    return AdaptiveBasis(problem, 4, low=0.0, high=2.0, seed=seed, dtype=np.float64), (x, y)


def descent(method: str, problem: str, seed: int, most: int) -> Descent:
    from xman import minimize
    from xman.train import fit

    model, data = model_and_data(problem, seed)
    if method == "L-BFGS":
        history = minimize(model, data, epochs=10 * most, tolerance=1e-10, progress=False).history
    else:
        history = fit(model, data, optimizer=method, epochs=most, progress=False).history
    return Descent([row["loss"] for row in history], list(np.cumsum([row["seconds"] for row in history])))


def digits(name: str, about: str, dtype: str, players: Any, options: Any) -> Table:
    found = players.ask("second order", on_digits, 3 if options.quick else 9)
    if isinstance(found, LeftOut):
        return Table(name, about, dtype, players.threads, {}, [], {"all": found.why})
    return Table(name, about, dtype, players.threads, found, [], {})


def on_digits(times: int) -> dict[str, dict[str, float]]:
    """For each method the median seconds, the iterations, and how far the loss is from the least: all end where no entry of
    the gradient of the mean loss with l2 = 1/n is larger than 1e-4, and take turns."""
    from sklearn.linear_model import LogisticRegression as Theirs

    from xman import minimize
    from xman.models import LogisticRegression
    from xman.train import load

    X, y = load("digits").train
    X, n = X.astype(float), len(y)

    def ours(method: str) -> tuple[int, Any, Any]:
        result = minimize(LogisticRegression(64, 10, dtype=np.float64), (X, y), method=method, l2=1 / n, tolerance=1e-4,
                          progress=False)
        return len(result.history), result.parameters["W"], result.parameters["b"]

    def theirs(solver: str) -> tuple[int, Any, Any]:
        fitted = Theirs(solver=solver, tol=1e-4, max_iter=1000).fit(X, y)
        return int(max(fitted.n_iter_)), fitted.coef_.T, fitted.intercept_

    def loss(W: np.ndarray, b: np.ndarray) -> float:
        scores = X @ W + b
        best = scores.max(1, keepdims=True)
        rows = np.log(np.exp(scores - best).sum(1)) + best[:, 0] - scores[np.arange(n), y]
        return float(rows.mean() + (W ** 2).sum() / (2 * n))

    runs = {method: partial(ours, method) for method in ("L-BFGS-B", "Newton-CG", "trust-ncg", "trust-krylov")}
    runs |= {f"scikit-learn {solver}": partial(theirs, solver) for solver in ("lbfgs", "newton-cg")}
    seconds, found = {who: [] for who in runs}, {}
    for _ in range(times):
        for who, run in runs.items():
            before = time.perf_counter()
            found[who] = run()
            seconds[who].append(time.perf_counter() - before)
    losses = {who: loss(W, b) for who, (_, W, b) in found.items()}
    return {who: {"ms": round(1e3 * statistics.median(seconds[who]), 1), "iterations": found[who][0],
                  "loss × 1000": 1e3 * losses[who]} for who in runs}


ROWS = {problem: partial(run, problem) for problem in PROBLEMS}
