"""The rows by name: what is done, by whom, and what is wanted of it."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from .measure import Players, contest, medians
from .rows import (
    derivatives,
    elementwise,
    epoch,
    functions,
    growth,
    hvp,
    interpreters,
    kinds,
    lstm,
    memory,
    paths,
    scalar,
    second_order,
    startup,
    tables,
    training,
)
from .rows.training import Training
from .table import Goal, Table
from .worker import LeftOut

FLOOR, FRAMEWORKS, OTHERS = "the floor", "every framework", "every other"
BOTH, DOUBLE = ("float32", "float64"), ("float64",)


class Options(NamedTuple):
    """seconds: of measuring, for each contestant. quick: without what takes long to compile. plot: a file for that of growth."""
    seconds: float
    quick: bool
    plot: str | None


class Row(NamedTuple):
    """run(name, about, dtype, players, options) gives its table."""
    about: str
    run: Callable[[str, str, str, Players, Options], Table]
    dtypes: tuple[str, ...] = BOTH


def alternate(makers: dict[str, Callable], work: Any, goals: list[Goal], runs: int = 1, anew: bool = False) -> Callable:
    """A row whose contestants take turns. runs: the first results that have to agree. anew: in new processes, with nothing
    on disk, so that first calls are nobody's second."""
    def run(name: str, about: str, dtype: str, players: Players, options: Options) -> Table:
        some = {who: make for who, make in makers.items() if not (options.quick and who == "PyTorch compiled")}
        who = Players(players.threads) if anew else players
        try:
            return contest(who, name, about, some, work._replace(dtype=dtype), goals, seconds=options.seconds, runs=runs,
                           settles=anew)
        finally:
            if anew:
                who.dismiss()
    return run


def steps(sizes: tuple[int, ...], batch: int, goals: list[Goal]) -> Row:
    kind = "softmax regression" if len(sizes) == 2 else "tanh network"
    return Row(f"{'→'.join(map(str, sizes))} {kind}, batch {batch}, one SGD step",
               alternate(training.CONTESTANTS, Training(sizes, batch), goals, runs=5))


def within(make: Callable, name: str, about: str, dtype: str, players: Players, options: Options) -> Table:
    """A row whose contestants share a process."""
    found = players.ask("interpreters", measured, make, options.seconds)
    if isinstance(found, LeftOut):
        return Table(name, about, dtype, players.threads, {}, [], {"all": found.why})
    lines, goals = found
    return Table(name, about, dtype, players.threads, lines, [goal.judged(lines) for goal in goals], {})


def measured(make: Callable, seconds: float) -> tuple[dict[str, dict[str, float]], list[Goal]]:
    contestants, goals = make()
    return {who: {"µs": round(t * 1e6, 2)} for who, t in medians(contestants, seconds).items()}, goals


def interpreted(make: Callable, dtype: str) -> Row:
    return Row(make.__doc__.splitlines()[0], partial(within, make), (dtype,))


KINDS_GOALS = [Goal("JAX", column=column) for column in (None, "cold s", "settled s")]
MLP_M = (784, 256, 128, 10)
ROWS = {
    "logreg-s": steps((64, 10), 32, [Goal(FLOOR, 1.5), Goal(FRAMEWORKS, 1 / 3)]),
    "logreg-m": steps((784, 10), 100, [Goal(FLOOR, 1.4), Goal(FRAMEWORKS, 1 / 1.5)]),
    "mlp-s": steps((64, 32, 10), 32, [Goal(FLOOR, 2.2), Goal(FRAMEWORKS, 1 / 1.5)]),
    "mlp-m": steps(MLP_M, 128, [Goal(FLOOR, 1.25), Goal(FRAMEWORKS, 1 / 1.2)]),
    "mlp-l": steps((784, 1024, 1024, 10), 256, [Goal(FLOOR, 1.08), Goal(OTHERS)]),
    "lstm": Row("the course's LSTM, 10 steps, 180 characters, hidden 50, batch 64, one SGD step",
                alternate(lstm.CONTESTANTS, lstm.Sequences(), [Goal(OTHERS)], runs=5)),
    "scalar-value": Row("a random list of 100,000 scalar operations, its value",
                        alternate(scalar.CONTESTANTS, scalar.Scalars(), [Goal("CasADi")]), DOUBLE),
    "scalar-gradient": Row("the same list, value and gradient",
                           alternate(scalar.CONTESTANTS, scalar.Scalars(gradient=True), [Goal("CasADi")]), DOUBLE),
    "elementwise": Row("Black–Scholes price and five Greeks of 1,000,000 options",
                       alternate(elementwise.CONTESTANTS, elementwise.Options(), [Goal("JAX", 1.5)])),
    "hvp": Row("Hessian–vector product of the network of mlp-m",
               alternate(hvp.CONTESTANTS, Training(MLP_M, 128), [Goal(OTHERS)])),
    **{f"kind-{kind}": Row(f"value and gradient of {about}, plain NumPy, compiled", alternate(
        kinds.CONTESTANTS, kinds.Kind(kind), KINDS_GOALS, anew=True), DOUBLE)
       for kind, about in (("slices", "differences and strided products of slices, 100,000 numbers"),
                           ("three_axes", "a normalisation over three axes, 64×32×48"),
                           ("attention", "attention, 8 heads of 64×64"), ("mixture", "a mixture of 16 Gaussians, 1,000×8"),
                           ("gather", "4,096 rows taken of a table of 5,000×32"))},
    "epoch": Row("one epoch of mlp-m over 60,000 rows in memory, in random order",
                 alternate(epoch.CONTESTANTS, Training(MLP_M, 128, rows=60_000), [Goal(OTHERS)])),
    "first": Row("a new process until its first step of logreg-s is done: import, build, compile, run",
                 startup.run, ("float32",)),
    "memory-mlp": Row("the most memory of steps of mlp-l beyond inputs and parameters", memory.network, ("float32",)),
    "memory-lstm": Row("the same of a 200-step LSTM", memory.sequences, ("float32",)),
    "memory-elementwise": Row("the same of elementwise, beyond inputs and outputs", memory.options, ("float32",)),
    "growth": Row("a random list from 100 to 100,000 lines: milliseconds of each stage, and how they grow", growth.run, DOUBLE),
    "grad": Row("grad of functions in plain NumPy, one call of each: how many times as long as autograd",
                partial(functions.run, functions.compared), DOUBLE),
    "paths": Row("value and gradient of ten functions with branches and loops that go by their values, compiled: a call, the "
                 "mean over points on three paths", partial(functions.run, paths.compared), DOUBLE),
    "interpret-regression": interpreted(interpreters.regression, "float32"),
    "interpret-scalar": interpreted(interpreters.scalar, "float64"),
    "interpret-hvp": interpreted(derivatives.hvp, "float32"),
    "interpret-hessian": interpreted(derivatives.hessian, "float64"),
    "interpret-function": interpreted(derivatives.function, "float64"),
    "table": interpreted(tables.million, "float64"),
    "second-order-network": Row("1→8→1 tanh network on a noisy sine: within 50 % of the least loss, medians over starts",
                                second_order.ROWS["network"], DOUBLE),
    **{f"second-order-{kind}": Row(f"the same with four of Adams' {kind} bases", second_order.ROWS[kind], DOUBLE)
       for kind in ("polynomial", "rbf", "tanh")},
    "digits": Row("softmax regression on digits until the gradient is 1e-4: SciPy's methods by xman.minimize, and scikit-learn",
                  second_order.digits, DOUBLE),
}
