"""The error of difference quotients against their step size (Bishop, Deep Learning, §8.1.4 and Fig. 8.2)."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ops

from ..errors import XManError
from ..files.figures import drawing
from ..interpreters import backprop, eval
from ..interpreters.context import seeds, varies, with_numpy_reals
from ..notation import table_as_text
from ..show.explain import output
from ..wengert import Steps, checked_list

QUOTIENTS = "finite differences (8.24)", "central differences (8.25)"
# the largest ε that counts for the slope: above it higher powers of ε count as well
LARGEST_STEP = 1e-2


class Errors(NamedTuple):
    """For each of the sizes ε the error |quotient − derivative|, one_sided (8.24) and central (8.25).
    of, along: what was differentiated, and by what. rounding: roughly the error by rounding E."""
    of: str
    along: str
    derivative: float
    sizes: np.ndarray
    one_sided: np.ndarray
    central: np.ndarray
    rounding: np.ndarray

    @property
    def slopes(self) -> tuple[float, float]:
        """The powers of ε that the two errors grow with, about 1 and 2, where rounding does not make them.

        NaN for a quotient that is exact but for rounding, as that of a straight line.
        """
        return self.slope(self.one_sided), self.slope(self.central)

    errors = property(lambda self: (self.one_sided, self.central))

    @property
    def best(self) -> tuple[float, float]:
        """The step sizes of the least errors: in theory ε_machine^½ and ε_machine^⅓ where all is near 1."""
        return tuple(float(self.sizes[np.argmin(np.where(np.isnan(e), np.inf, e))]) for e in self.errors)

    def __str__(self) -> str:
        table = [["", "slope", "best ε", "its error"]]
        for name, e, power, best in zip(QUOTIENTS, self.errors, self.slopes, self.best, strict=True):
            table.append([name, f"{power:.2f}", f"{best:.1e}", f"{e[self.sizes == best][0]:.1e}"])
        return f"∂{self.of}/∂{self.along} = {self.derivative:.8g}\n{table_as_text(table, 1)}"

    def plot(self, path: str | Path) -> None:
        """Draw both errors against ε, and lines of slope 1 and 2, into path, a .png, .svg or .pdf.

        XManError where matplotlib is missing or the file cannot be written.
        """
        with drawing(path, 7, 5) as axes:
            axes.set(xscale="log", yscale="log", xlim=(self.sizes.min() / 2, 2 * self.sizes.max()))
            axes.set(xlabel=r"step size $\epsilon$", ylabel=f"error of ∂{self.of}/∂{self.along}")
            for name, hue, e, power in zip(QUOTIENTS, ("C3", "C0"), self.errors, (1, 2), strict=True):
                shown, on = np.isfinite(e) & (e > 0), self.truncated(e)  # 0 has no logarithm
                label = name if shown.any() else f"{name}: no error"
                axes.plot(self.sizes[shown], e[shown], f"{hue}.-", markersize=4, linewidth=1, label=label)
                if on.any():
                    level = 3 * np.exp(np.mean(np.log(e[on] / self.sizes[on] ** power)))
                    ends = np.array([self.sizes[on].min(), self.sizes.max()])
                    axes.plot(ends, level * ends ** power, f"{hue}--", linewidth=1, label=f"slope {power}")
            small = (self.sizes <= max(self.best)) & (self.rounding > 0)
            label = r"round-off $\propto 1/\epsilon$"
            axes.plot(self.sizes[small], self.rounding[small], ":", color="0.5", label=label)
            axes.legend(loc="lower left")
            axes.grid(alpha=0.3)

    def truncated(self, e: np.ndarray) -> np.ndarray:
        """For each step size, whether truncation, and not rounding, makes the error."""
        return np.isfinite(e) & (e > 100 * self.rounding) & (self.sizes <= LARGEST_STEP)

    def slope(self, e: np.ndarray) -> float:
        on = self.truncated(e)
        return float(np.polyfit(np.log(self.sizes[on]), np.log(e[on]), 1)[0]) if on.sum() > 1 else np.nan


def difference_errors(steps: Steps, of: str | None = None, wrt: str | Mapping[str, Any] | None = None,
                      values: Mapping[str, Any] | None = None, sizes: Sequence[float] | None = None, *,
                      seed: int = 0) -> Errors:
    """How far (E(w+ε) − E(w))/ε and (E(w+ε) − E(w−ε))/2ε are from backprop's derivative, for each ε.

        >>> print(difference_errors([("z", "exp", ("x",)), ("y", "sin", ("z",))], "y", "x", {"x": 1.0}))
        ∂y/∂x = -2.4783497
                                    slope   best ε  its error
        finite differences (8.24)    1.00  6.8e-09    7.3e-10
        central differences (8.25)   2.00  3.2e-06    1.2e-11

    steps: the list. of: the register whose entries sum to E (None: the last line's). wrt: the name of a
    number; or of an array, which moves in a direction of length 1 drawn by `seed`; or a direction {name:
    tangent}; None draws such a direction in all inputs of floats. values: the inputs, computed in float64.
    sizes: the step sizes ε, above 0 (None: from 1e-16 to 1, six to a power of ten). Raises XManError for a
    name that the list does not have, and where there is nothing to differentiate by.
    """
    steps = checked_list(steps, ops.G)
    of = output(steps, of)
    inputs = with_numpy_reals(values, steps.inputs)
    inputs |= {name: np.asarray(x, float) for name in steps.inputs if varies(x := inputs.get(name))}
    result, sizes = eval(steps, inputs), np.logspace(-16, 0, 97) if sizes is None else np.asarray(sizes)
    if not (sizes.dtype.kind in "iuf" and sizes.ndim == 1 and len(sizes) and np.all(sizes > 0)):
        raise XManError(f"the step sizes are numbers above 0, not {sizes.tolist()}")
    direction = directed(wrt, result, steps.inputs, np.random.default_rng(seed))

    def E(step: float) -> float:
        moved = {name: inputs[name] + step * t for name, t in direction.items()}
        return float(np.sum(eval(steps, inputs | moved)[of]))

    E0 = E(0)
    deltas = backprop(steps, result, ops.DG, list(direction), **{of: 1.0})
    derivative = sum(float(np.sum(deltas[name] * t)) for name, t in direction.items() if name in deltas)
    with np.errstate(all="ignore"):  # where E is infinite its error is NaN
        one_sided = np.array([abs((E(h) - E0) / h - derivative) for h in sizes])
        central = np.array([abs((E(h) - E(-h)) / (2 * h) - derivative) for h in sizes])
    # E is known to ε_machine·|E|, and the quotient divides that by the step
    rounding = np.finfo(float).eps * max(abs(E0), abs(derivative)) / sizes
    along = ", ".join(direction)
    if len(direction) > 1 or isinstance(wrt, Mapping) or np.ndim(inputs[along]):
        along = f"v, v a direction in {along}"
    of = f"Σ{of}" if np.ndim(result[of]) else of
    return Errors(of, along, derivative, sizes, one_sided, central, rounding)


def directed(wrt: Any, values: Mapping[str, Any], inputs: Sequence[str],
             random: np.random.Generator) -> dict[str, Any]:
    """The direction {name: tangent} that wrt means, each tangent of the shape of its input."""
    floats = [name for name in inputs if varies(values[name])]
    names = floats if wrt is None else [wrt] if isinstance(wrt, str) else wrt
    if strange := [name for name in names if name not in floats]:
        raise XManError(f"{strange[0]!r} is no input of floats that could be moved; the inputs are "
                        f"{', '.join(inputs)}")
    if isinstance(wrt, Mapping):
        return seeds(wrt, values, "tangent")
    if len(names) == 1 and np.ndim(values[names[0]]) == 0:
        return {names[0]: 1.0}
    drawn = {name: random.standard_normal(np.shape(values[name])) for name in names}
    length = np.sqrt(sum(np.sum(t * t) for t in drawn.values()))
    if not length:
        raise XManError("there is nothing to differentiate by: give an input as floats, or name one in wrt")
    return {name: t / length for name, t in drawn.items()}
