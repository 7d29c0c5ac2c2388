"""Lists of one call each of every operator, with its gradient, for what writes them down or runs them elsewhere."""

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from xman import EXACT, STABLE, XManError, eval, gradient, simplify
from xman.train.optimizers import training_list

sys.path.append(str(Path(__file__).parents[1] / "ops"))
from operator_cases import OF_NUMBERS as CASES


def in_precision(a, dtype):
    if isinstance(a, np.ndarray):
        return a.astype(dtype) if a.dtype.kind == "f" else a
    return (dtype,) if a == ("float64",) else a


def calls(op: str, dtype: str, every: int = 1, gradients: bool = True) -> Iterator[tuple[list, dict]]:
    """(list, values): every so many cases of an operator with its arrays as registers, and the gradient where there is one."""
    for k, args in enumerate(CASES[op]):
        if k % every:
            continue
        args = [in_precision(a, dtype) for a in args]
        own = lambda name, k=k: f"{op}_{k}_{name}"
        values = {own(f"x{i}"): a for i, a in enumerate(args) if isinstance(a, np.ndarray)}
        steps = [(own("out"), op, tuple(own(f"x{i}") if isinstance(a, np.ndarray) else a for i, a in enumerate(args)))]
        yield steps, values
        if not gradients:
            continue
        floats = [x for x, a in values.items() if a.dtype.kind == "f"]
        try:
            summed = gradient([*steps, (own("l"), "sum", (own("out"),))], own("l"), floats)
            eval(summed, values)
        except XManError:
            continue  # no rule
        yield list(summed), values


def merged(dtype: str, every: int, without: set[str], gradients: bool = True) -> tuple[list, dict, set[str]]:
    """One list of such calls without some operators, and without masks that are computed; and the operators that it calls."""
    steps, values, known = [], {}, set()
    for op in set(CASES) - without:
        whole = {}  # by the call, its gradient where that is without them too
        for lines, given in calls(op, dtype, every, gradients):
            masks = op in ("getitem", "scatterAdd") and any(a.dtype.kind == "b" for a in given.values())
            masks |= ("U",) in lines[0][2][1:2]  # or signs that only NumPy gives
            if not masks and not {line[1] for line in lines} & without:
                whole[lines[0][0]] = lines, given
        for lines, given in whole.values():
            k = len(steps)
            own = lambda a, k=k: f"{a}_{k}" if isinstance(a, str) else a
            steps += [(own(dst), op, tuple(map(own, args))) for dst, op, args in lines]
            values |= {own(x): a for x, a in given.items()}
            known.add(op)
    return steps, values, known


def step_of(model, optimizer, X, y, **options):
    """The training list of a model, values for all its inputs, and its outputs."""
    weights = [name for name, _ in model.namedRegisterItems() if model.isParam(name)]
    steps = simplify(model.operationSequence(model.loss), ["loss"], rewrites=EXACT + STABLE)
    training = training_list(steps, "loss", weights, optimizer, **options)
    values = {**model.inputDict(), **model.feed(X, y)}
    like = values[weights[0]].dtype.type
    values |= {name: np.full_like(values[w], 0.01) for name, w in training.moments.items()} | {training.lr: like(0.1), training.t: like(3)}
    return training, {x: values[x] for x in training.steps.inputs}, ["loss", *training.inplace.values()]
