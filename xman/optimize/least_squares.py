"""SciPy's least squares on a model or a function, with the Jacobian of the list."""
from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..engines import compile
from ..errors import XManError, refuse_unknown, with_habits
from ..manager import XMan
from ..matrices import Jacobian, packed, unpacked
from ..show.progress import Progress
from ..sparse import where_it_pays
from ..train.evaluation import Result, feed, list_of, rows_and_labels
from .minimize import objective_list, refuse_complex_parameters, unsound

METHODS = "trf", "dogbox", "lm"
DENSE = 10 ** 5  # entries, up to which a Jacobian is an array


@with_habits
def least_squares(model: XMan | Callable, data: Any = (), *, start: Any = None, method: str = "trf",
                  epochs: int = 1000, tolerance: float = 1e-8, engine: str = "numpy",
                  progress: bool = True) -> Result:
    """Minimise ½ Σ r² for the residuals r of a model or a function, by scipy.optimize.least_squares.

    model: an XMan with a register `residuals`, or else with `outputs`, whose residuals are outputs − y; or a
    function fn(parameters, *data) from arrays to an array, traced at `start` as for `minimize`. data: (X, y)
    of a model, or the function's further arguments. start: the first parameters. method: trf, dogbox, or lm,
    which needs at least as many residuals as parameters. epochs: the most steps. tolerance: of SciPy's three
    criteria. engine, progress: as for `fit`. A Jacobian that has few colours (`xman.colour`) is computed as a
    sparse one. The Result is as for `fit`; an epoch is a step, and its loss is
    ½ Σ r². Raises XManError for arguments that do not fit, and Diverged if a residual is NaN at the start.
    """
    from scipy import optimize

    refuse_unknown([method], METHODS, "there is no method {!r}")
    target: Any = 0.0
    if isinstance(model, XMan):
        X, y = rows_and_labels(data, "data")
        steps = list_of(model, of := "residuals" if hasattr(model, "residuals") else "outputs")
        target, of = y if of == "outputs" else target, model.names()[id(getattr(model, of))]
        values, back = model.inputDict(**feed(model, X, y)), dict
        wrt = [name for name in steps.inputs if model.isParam(name)]
    else:
        steps, of, wrt, values, back = objective_list(model, start, data)
    refuse_complex_parameters([values[w] for w in wrt])
    values |= {w: np.asarray(values[w], float) for w in wrt}
    jacobian, program = Jacobian(steps, of, wrt), compile(steps, [of], engine)
    sparse = where_it_pays(lambda: jacobian.compressed(values), jacobian.count(values).passes)
    by_colour = sparse and compile(sparse.steps, [sparse.entries], engine)
    history, begun, point_at = [], time.perf_counter(), lambda w: values | unpacked(w, values, wrt)

    def residuals(w: np.ndarray) -> np.ndarray:
        outputs = np.asarray(program(point_at(w))[of], float)
        if np.size(target) not in (1, outputs.size):
            raise XManError(f"the outputs have shape {outputs.shape} and y {np.shape(target)}; least squares "
                            "needs as many targets")
        return outputs.ravel() - np.ravel(target)

    def slopes(w: np.ndarray) -> Any:
        nonlocal begun
        point = point_at(w)
        if sparse:
            matrix = sparse.matrix(np.asarray(by_colour(point)[sparse.entries], float), point)
            # SciPy solves small dense problems exactly, and others by iterations of its own
            matrix = matrix.toarray() if method == "lm" or np.prod(matrix.shape) <= DENSE else matrix
        else:
            blocks = jacobian(point)
            matrix = np.hstack([np.reshape(blocks[x], (-1, np.size(values[x]))) for x in wrt])
        now = time.perf_counter()
        loss = 0.5 * float(np.sum(residuals(w) ** 2))
        history.append({"epoch": len(history), "loss": loss, "seconds": now - begun})
        if len(history) > 1:  # the first entry is the start
            shown.step()
            shown.line(history[-1])
        begun = now
        return matrix

    with np.errstate(all="ignore"), Progress(progress, total=epochs, done=0) as shown:
        w = packed(values, wrt)
        if not np.isfinite(residuals(w)).all():
            raise unsound(steps, values)
        try:
            ends = dict.fromkeys(("ftol", "xtol", "gtol"), tolerance)
            minimum = optimize.least_squares(residuals, w, slopes, method=method, max_nfev=epochs, **ends)
            w, reason = minimum.x, minimum.message
        except KeyboardInterrupt:
            reason = f"interrupted in epoch {len(history)}"
    return Result(back(unpacked(w, values, wrt)), history[1:], len(history) - 1, reason)
