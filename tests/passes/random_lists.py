"""Random lists of a small grammar, rich in what the rewrites look for: neutral elements, signs, repeats, helpers of rules."""

import numpy as np

from ops import G

UNARY = ("alias", "negative", "exp", "sin", "sqrt", "log", "abs", "half", "square", "tanh", "sigmoid", "relu", "reciprocal",
         "sum", "mean", "transpose", "flip", "softmax", "logsumexp")
BINARY = ("add", "subtract", "mul", "divide", "maximum", "scale", "ratio", "power")
HELPERS = ("broadcast", "unbroadcast", "reshape", "where", "dot")
NUMBERS = (0, 1, -1, 2, 3, 0.0, 1.0, -1.0, 0.5, 2.0)
SHAPES = {"n": (), "u": (), "v": (3,), "A": (2, 3), "B": (3, 3), "r": (1, 3), "c": (2, 1)}
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e300, -1e-300, 0.5])


def random_list(seed, lines=25, dtype=np.float64):
    """(steps, ordinary values, special values) of a list whose every line runs.

    A sum of a single number is left out: that of −0 is +0.
    """
    random = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        values = {name: np.asarray(random.standard_normal(shape), dtype)[()] for name, shape in SHAPES.items()}
        special = {name: np.asarray(random.choice(SPECIAL, shape), dtype)[()] for name, shape in SHAPES.items()}
    known, steps, calls = dict(values), [], []
    register = lambda: str(random.choice(list(known)[-8:] if random.uniform() < 0.7 else list(known)))
    operand = lambda: NUMBERS[random.integers(len(NUMBERS))] if random.uniform() < 0.35 else register()
    while len(steps) < lines:
        kind = random.uniform()
        if kind < 0.15 and calls:  # once more, the arguments in another order
            op, args = calls[random.integers(len(calls))]
            args = args[::-1] if op in ("add", "mul") and random.uniform() < 0.5 else args
        elif kind < 0.5:
            op, args = str(random.choice(UNARY)), (register(),)
        elif kind < 0.85:
            op, args = str(random.choice(BINARY)), (operand(), register())[::random.choice([1, -1])]
        else:
            op, args = str(random.choice(HELPERS)), (register(), register())
        before = []
        if op == "where":
            before, args = [(f"m{len(steps)}", "greater", args)], (f"m{len(steps)}", *args)
        try:
            with np.errstate(all="ignore"):
                found = {dst: G[op](*[known[a] if isinstance(a, str) else a for a in args]) for dst, op, args in before}
                value = G[op](*[(found | known)[a] if isinstance(a, str) else a for a in args])
        except (ValueError, IndexError, TypeError):
            continue  # shapes that do not fit
        if np.size(value) <= 27 and not (op in ("sum", "mean") and np.ndim(known[args[0]]) == 0):
            steps += [*before, (f"t{len(steps) + len(before)}", op, args)]
            known[steps[-1][0]] = value
            if not before:
                calls.append((op, args))
    return steps, values, special
