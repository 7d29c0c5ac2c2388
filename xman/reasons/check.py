"""The gradient check: backprop against difference quotients (Bishop, Deep Learning, eqs. 8.25 and 8.26)."""
from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import ops
from ops.causes import origin_of, sign_of
from ops.facts import is_complex
from ops.walk import Misshapen

from ..errors import XManError
from ..interpreters import backprop, eval
from ..interpreters.context import missing, varies, with_numpy_reals
from ..notation import in_notebooks, shown
from ..wengert import Steps, WengertList, checked_list, inputs_of, known_registers


class Entry(NamedTuple):
    """One comparison: the register, the place (an element's index or 'direction 3'), and both derivatives."""
    register: str
    where: tuple | str
    backprop: float
    difference: float
    right: bool

    def __str__(self) -> str:
        place = (f" in {self.where}" if isinstance(self.where, str)
                 else f"[{', '.join(map(str, self.where))}]" * bool(self.where))
        return (f"{self.register}{place}: backprop says {self.backprop:.8g}, the difference quotient "
                f"{self.difference:.8g}")


class Report(NamedTuple):
    """The result of `check`. entries: all comparisons. misshapen: sentences on deltas of a wrong shape."""
    entries: list[Entry]
    misshapen: list[str]

    @property
    def ok(self) -> bool:
        """Whether all comparisons agree."""
        return not self.misshapen and all(entry.right for entry in self.entries)

    @property
    def wrong(self) -> list[Entry]:
        """The comparisons that differ, the worst first."""
        return sorted((e for e in self.entries if not e.right), key=lambda e: -abs(e.backprop - e.difference))

    def __str__(self) -> str:
        lines = []
        for name in dict.fromkeys(e.register for e in self.entries):
            comparisons = [e for e in self.entries if e.register == name]
            worst = max(abs(e.backprop - e.difference) for e in comparisons)
            kind = "directions" if isinstance(comparisons[0].where, str) else "elements"
            agreeing = f"{sum(e.right for e in comparisons)} of {len(comparisons)} {kind} agree"
            lines.append(f"{name:<12} {agreeing}, worst difference {worst:.1e}")
        wrong = [f"WRONG {e}" for e in self.wrong]
        left_out = [f"… and {len(wrong) - 10} more"] * (len(wrong) > 10)
        return "\n".join([*lines, *self.misshapen, *wrong[:10], *left_out])

    __repr__ = __str__
    _repr_html_ = in_notebooks("report_in_html")


def check(steps: Steps, values: Mapping[str, Any], G: Mapping[str, Callable] = ops.G,
          DG: Mapping[str, Sequence] = ops.DG, /, *, of: str | None = None,
          wrt: Collection[str] | None = None, sides: int = 2, most: int = 1000, directions: int = 10,
          step: float | None = None, tolerance: float | None = None, seed: int = 0) -> Report:
    """Compare backprop with difference quotients, element by element. The report prints itself, and has `ok`.

    steps, values, G, DG: the list, its inputs, which are computed in float64, and the tables. of: the
    register to differentiate (None: the last line's); the entries of an array get random weights. wrt: the
    inputs to differentiate by (None: all of floats). sides: 2 for (E(w+ε) − E(w−ε))/2ε, 1 for (E(w+ε) −
    E(w))/ε. most: a register with more elements is checked along so many random directions. step: ε, times an
    element above 1 (None: the best for float64). tolerance: relative (None: 1e-6 for two sides, 1e-4 for
    one), beyond the quotient's rounding error. seed: of weights and directions. At a kink, as of |x| at 0,
    every slope between those of its sides is right. XManError where there is nothing to check, where `of` is
    NaN or infinite, and where backprop says NaN at a kink.
    """
    if sides not in (1, 2):
        raise XManError(f"a difference quotient has 1 or 2 sides, not {sides!r}")
    steps = checked_list(steps, G, DG)
    if not steps:
        raise XManError("the list is empty: there is nothing to differentiate")
    (of,) = known_registers(steps, steps[-1][0] if of is None else of, "of", one=True)
    inputs = with_numpy_reals(values, ())
    missing(steps, inputs)
    inputs |= {x: np.asarray(v, complex if is_complex(v) else float) for x in steps.inputs
               if varies(v := inputs[x])}
    wrt = [x for x in steps.inputs if varies(inputs.get(x))] if wrt is None else inputs_of(steps, wrt)
    if still := [x for x in wrt or steps.inputs or ["the list"] if not varies(inputs.get(x))]:
        raise XManError(f"{still[0]!r} has no gradient to check: whole numbers are constants; give floats")
    random = np.random.default_rng(seed)
    step = step or np.finfo(float).eps ** (1 / 3 if sides == 2 else 1 / 2)
    tolerance = tolerance or (1e-6 if sides == 2 else 1e-4)
    registers = refuse_infinite(steps, eval(steps, inputs, G), G, of)
    weight = random.uniform(0.5, 1.5, np.shape(registers[of])) if np.ndim(registers[of]) else np.ones(())
    weight = weight * (1 - 1j if is_complex(registers[of]) else 1)
    try:
        deltas = backprop(steps, registers, DG, wrt, **{of: weight})
    except XManError as error:
        if not isinstance(cause := error.__cause__, Misshapen):
            raise
        return Report([], [f"WRONG delta of {error.line[2][cause.argument]} has shape {cause.shape}, the "
                           f"register has shape {cause.of_argument}: {error}"])

    def sized(y): return np.sum(y * weight).real
    def total(name, direction, t):
        near = {**inputs, name: inputs[name] + t * direction}
        return sized(refuse_infinite(steps, eval(steps, near, G), G, of)[of])

    entries, misshapen, at_point = [], [], sized(registers[of])
    for name in wrt:
        x, delta = inputs[name], np.asarray(deltas.get(name, np.zeros_like(inputs[name])))
        if delta.shape != x.shape:
            misshapen.append(f"WRONG delta of {name} has shape {delta.shape}, the register has shape "
                             f"{x.shape}")
            continue
        for where, direction in probes(x, most, directions, random):
            h = step * float(np.max(np.abs(x[where] if isinstance(where, tuple) else x), initial=1.0))
            along = partial(total, name, direction)
            quotient = (along(h) - (along(-h) if sides == 2 else at_point)) / (sides * h)
            slope = float(np.sum(delta * direction).real)
            rounding = 100 * np.finfo(float).eps * max(1.0, abs(float(at_point))) / h
            right = abs(slope - quotient) <= tolerance * max(abs(slope), abs(quotient)) + rounding
            entry = Entry(name, where, slope, float(quotient), bool(right))
            if not right and (slopes := kink(along, at_point, h, rounding)):
                least, greatest = slopes
                if np.isnan(slope):
                    raise XManError(f"this cannot be checked: {of} has a kink here, with the slopes {least:.6g} "
                                    f"and {greatest:.6g} on its sides, where {entry}")
                entry = entry._replace(right=bool(least - rounding <= slope <= greatest + rounding))
            entries.append(entry)
    return Report(entries, misshapen)


def refuse_infinite(steps: WengertList, values: Mapping[str, Any], table: Mapping, of: str) -> Mapping:
    """The values. XManError, with the line that is the reason, if the register `of` is NaN or infinite."""
    if sign := sign_of(values[of], signs=("NaN", "infinite")):
        dst = origin_of(sign, steps, values, table, of)
        where = next((f"line {k}, {shown(line)}" for k, line in enumerate(steps, 1) if line[0] == dst), dst)
        raise XManError(f"this cannot be checked: {of} is {sign} here, or a small step away, from {where}")
    return values


def kink(total: Callable[[float], float], at_point: float, h: float, rounding: float) -> list[float]:
    """The least and the greatest slope on the sides of a kink of `total` at 0; empty where there is none.

    Slopes on both sides come together as h shrinks, but for a kink, as of |x|. Any slope between them is a
    subgradient, of which every rule states one.
    """
    wide, close = (sorted((total(t) - at_point) / t for t in (h, -h)) for h in (h, h / 8))
    apart = close[1] - close[0]
    return close if apart > max(0.5 * (wide[1] - wide[0]), 20 * rounding) else []


def probes(x: np.ndarray, limit: int, directions: int, random: np.random.Generator):
    """(index, unit array) of each element of x; for more than `most` elements, directions of length 1.
    Of complex ones along the real axis, then along the imaginary one."""
    ways = (1.0, 1j) if is_complex(x) else (1.0,)
    if x.size > limit:
        for k in range(1, directions + 1):
            direction = random.standard_normal(x.shape)
            for way in ways:
                yield f"direction {k}", way * direction / np.linalg.norm(direction)
        return
    for where in np.ndindex(x.shape):
        direction = np.zeros(x.shape)
        direction[where] = 1.0
        for way in ways:
            yield where, way * direction
