"""How the processor's time grows with the length of a list: building it, its passes, planning and compiling, and one run.

The list is that of the scalar rows; its registers are arrays (8,), for the tape numbers. What is compiled is the list of the
value and the gradient. The slope is that of log seconds on log lines, from 1,000 lines on: 1 is linear.
"""
from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..table import Table
from ..worker import LeftOut
from .scalar import inputs, random_lines

LINEAR = 1.25  # 2 would be quadratic; caches that a long list does not fit in cost a little


def run(name: str, about: str, dtype: str, players: Any, options: Any) -> Table:
    found: dict[str, dict[int, float]] = {}
    out: dict[str, str] = {}
    for length in (100, 1_000, 10_000, 100_000)[:3 if options.quick else 4]:
        for stages in STAGES:
            answer = players.ask("growth", stages, length)
            if isinstance(answer, LeftOut):
                out[f"{length:,} lines"] = answer.why
            else:
                for stage, seconds in answer.items():
                    found.setdefault(stage, {})[length] = seconds
    slopes = {stage: slope(times) for stage, times in found.items()}
    lines = {stage: {"slope": round(slopes[stage], 3), **{f"{n:,}": float(f"{t * 1e3:.4g}") for n, t in times.items()}}
             for stage, times in found.items()}
    goals = [{"goal": f"{stage} is linear: a slope of at most {LINEAR}", "found": f"{s:.2f}", "ratio": round(s, 3),
              "most": LINEAR, "met": bool(s <= LINEAR)} for stage, s in slopes.items()]
    if options.plot:
        plot(found, options.plot)
    return Table(name, about, dtype, players.threads, lines, goals, out)


def slope(times: dict[int, float]) -> float:
    some = {n: t for n, t in times.items() if n >= 1000}
    return float(np.polyfit(np.log(list(some)), np.log(list(some.values())), 1)[0]) if len(some) > 1 else float("nan")


def timed(function: Callable[[], Any], once: bool = False) -> tuple[float, Any]:
    """Seconds, the median of as many calls as fit in a fifth of a second, and what it gives."""
    times: list[float] = []
    while not times or (sum(times) < 0.2 and not once):
        before = time.process_time()
        result = function()
        times.append(time.process_time() - before)
    return statistics.median(times), result


def problem(length: int) -> tuple[list[tuple], dict[str, np.ndarray], str]:
    lines = random_lines(length)
    return lines, {x: np.full(8, value) for x, value in inputs().items()}, lines[-1][0]


def passes(length: int) -> dict[str, float]:
    """From registers to a list, a list from its lines, its gradient, and that simplified."""
    import ops
    from xman import WengertList, XMan, f, gradient, simplify
    from xman.wengert import checked_list

    lines, values, last = problem(length)

    def registers():
        model = XMan()
        found = {x: f.input() for x in values}
        for x, register in found.items():
            setattr(model, x, register)
        for z, op, args in lines:
            found[z] = getattr(f, op)(*(found[a] for a in args))
        model.last = found[last]
        return model.setup().operationSequence(model.last)

    times = {"registers to list": timed(registers)[0], "list, checked": timed(lambda: checked_list(WengertList(lines), ops.G))[0]}
    times["gradient"], slopes = timed(lambda: gradient(lines, last, list(values)))
    times["simplify"], _ = timed(lambda: simplify(slopes, [f"d{last}_d{x}" for x in values]))
    return times


def engine(name: str, length: int) -> dict[str, float]:
    """Planning and compiling, which is the first call less one that follows, and a call."""
    from xman import compile, gradient

    lines, values, last = problem(length)
    slopes, wanted = gradient(lines, last, list(values)), [last, *(f"d{last}_d{x}" for x in values)]
    step = compile(slopes, wanted, name)
    first, _ = timed(lambda: step(values), once=True)
    later, _ = timed(lambda: step(values))
    return {f"{name}: plan and compile": first - later, f"{name}: a run": later}


def tape(length: int) -> dict[str, float]:
    from xman.engines.tape.engine import Tape

    lines, values, last = problem(length)
    values = {x: float(value[0]) for x, value in values.items()}
    made, tape = timed(lambda: Tape(lines, last, list(values)))
    tape.value_and_gradient(values)
    return {"tape: plan": made, "tape: a run": timed(lambda: tape.value_and_gradient(values))[0]}


STAGES = passes, partial(engine, "interpret"), partial(engine, "numpy"), tape


def plot(found: dict[str, dict[int, float]], file: str) -> None:
    """Seconds on lines, both logarithmic, each stage with its slope; dotted, a slope of 1."""
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 5))
    for stage, times in found.items():
        axes.loglog(list(times), list(times.values()), marker="o", markersize=3, label=f"{stage} ({slope(times):.2f})")
    ends = axes.get_xlim()
    for seconds in (1e-8, 1e-7, 1e-6, 1e-5, 1e-4):
        axes.loglog(ends, [n * seconds for n in ends], color="0.8", linestyle=":", linewidth=1, zorder=0)
    axes.set(xlabel="lines", ylabel="seconds of the processor", xlim=ends)
    axes.legend(fontsize="small", title="stage (slope from 1,000 lines on)")
    figure.tight_layout()
    figure.savefig(file, dpi=120)
