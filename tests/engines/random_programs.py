"""Random programs of every operator that takes arrays: numbers, whole numbers and truths in every precision, literals in any
place, views, indices, gradients, any outputs, in place. `choose(n)` draws one of 0 … n−1, and 0 is the simplest."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import ops
from xman import WengertList, XManError, eval, gradient
from xman.interpreters.context import varies
from xman.wengert import registers

SHAPES = (), (3,), (2, 3), (3, 3), (1, 3), (2, 1)
NUMBERS = 2.0, 1.0, 0.5, 0.0, -1.0, 3, 1, 0, -0.0, True
KEYS = (0,), (-1,), (slice(None, None, 2),), (None,), (Ellipsis, 0), (np.array([0, 0]),), (slice(0, 1),)
AXES = (), (0,), (-1,), (None, True), (0, True)
#        the literals after the first argument
MORE = {**dict.fromkeys(("sum", "mean", "max", "min", "prod", "var", "std", "norm", "logsumexp"), AXES), "getitem": KEYS,
        **dict.fromkeys(("softmax", "logSoftmax", "cumsum", "cumprod", "argmax", "argsort", "flip"), ((0,), (-1,))),
        "reshape": (((-1,),), ((1, -1),), ((3, -1),)), "transpose": ((),), "pad": ((1,), (0,)), "roll": ((1,), (2, 0)), "mT": ((),),
        "take": ((0,), (np.array([0, 1, 0]),), (np.array([0]), 0)), "astype": ((("float64",),), (("float32",),)), "diag": ((), (1,)),
        "round": ((), (1,)), "clip": ((-0.5, 0.5), (None, 1.0)), "shift": ((0,),), "broadcast": (((2, 3),), ((3,),)), "polygamma": (), "einsum": ()}
LEADING = {"concat": (0, -1), "stack": (0,), "einsum": (("ij,jk->ik",), ("i,i->",), ("...i,...i->...",), ("ij->ji",), ("i->",), ("ii->i",))}
SKIPPED = {"cholesky", "inv", "pinv", "solve", "det_sign", "cofactor_slope", "polygamma", "part", "dot_left", "dot_right", "einsum_back", "diag_back", "recurrence", "column",
           "bundle", "item", "call", "cond", "scan", "while_loop",
           "det", "logabsdet", "cofactor", "codes", "characters", "words", "days"}  # badly conditioned, made for rules, of strings


class Program(NamedTuple):
    steps: WengertList
    values: dict
    outputs: list[str]
    inplace: dict[str, str]


def program(choose: Callable[[int], int], lines: int, own: tuple[str, ...] = ()) -> Program:
    """Lines that eval runs, each reading what is near; then perhaps the gradient of one of them."""
    random = np.random.default_rng(choose(1000))
    operators = sorted(ops.table.OURS - SKIPPED) + list(own)
    pick = lambda of: of[choose(len(of))]
    known: dict = {}

    def fresh():
        x = random.uniform(0.3, 1.7, pick(SHAPES)) * random.choice([1.0, -1.0, 1.0])
        x = pick((x, x, x, x.astype("f4"), np.rint(3 * x).astype(int), x > 0))
        return x if choose(2) else np.asarray(x)[()]

    for k in range(3 + choose(3)):
        known[f"x{k}"] = fresh()
    inputs, steps = dict(known), []

    def argument():
        kind = choose(10)
        return pick(NUMBERS) if kind == 8 else np.asarray(fresh()) if kind == 9 else pick(list(known)[::-1][:8] if kind < 6 else list(known))

    for _ in range(lines):
        op = pick(operators)
        least, most = ops.table.arity(ops.G[op])
        if op in LEADING:
            args = (pick(LEADING[op]), *(argument() for _ in range(1 + choose(2))))
        elif op in MORE:
            args = (argument(), *pick(MORE[op]))
        else:
            args = tuple(argument() for _ in range(max(1, least)))
        line = (f"t{len(steps)}", op, args)
        try:
            value = eval([*steps, line], inputs)[line[0]]
        except XManError:
            continue
        if np.size(value) <= 36 and np.asarray(value).dtype.kind in "bif":
            steps.append(line)
            known[line[0]] = value
    steps = WengertList(steps or [("t0", "alias", ("x0",))])
    floats = [x for x in steps.inputs if varies(known[x]) and np.asarray(known[x]).dtype.kind == "f"]
    of = pick([dst for dst, _, _ in steps][::-1])
    outputs, inplace = [name for name in (*steps.inputs, *(dst for dst, _, _ in steps)) if choose(3) == 0] or [steps[-1][0]], {}
    if floats and choose(2) and varies(known.get(of)):
        try:
            lines = gradient(steps, of, floats)
            eval(lines, inputs)
        except XManError:  # an operator of a user without a rule
            lines = None
        if lines:
            arrays = [x for x in floats if isinstance(inputs[x], np.ndarray) and choose(2)]
            inplace = {x: f"{x}_next" for x in arrays}
            outputs += [f"d{of}_d{x}" for x in floats]
            steps = WengertList([*lines, *((f"{x}_next", "subtract", (x, f"d{of}_d{x}")) for x in arrays)])
    return Program(steps, {x: inputs[x] for x in steps.inputs}, outputs, inplace)


def sensitive(steps: WengertList, values: dict, names: list[str]) -> dict[str, float] | None:
    """How much a rounding of the inputs, and of each line's result, changes each of these; None where that is much: a jump, a
    difference of what is equal."""
    wanted, found = eval(steps, values), dict.fromkeys(names, 0.0)
    for seed in range(4):
        random = np.random.default_rng(seed)

        def moved_by_a_rounding(v, random=random):
            if (dtype := np.asarray(v).dtype).kind != "f":
                return v
            return (v * (1 + np.asarray(random.choice([-1, 1], np.shape(v)) * 4 * np.finfo(dtype).eps, dtype)))[()]
        moved = {x: moved_by_a_rounding(v) for x, v in values.items()}
        for line in steps:
            moved[line[0]] = moved_by_a_rounding(eval([line], {a: moved[a] for a in registers(line[2])})[line[0]])
        for name in names:
            x, y = np.asarray(wanted[name]), np.asarray(moved[name])
            if x.shape != y.shape or not np.array_equal(np.isfinite(x), np.isfinite(y)):
                return None
            scale = np.max(np.abs(x), initial=1.0, where=np.isfinite(x))
            found[name] = max(found[name], float(np.max(np.abs(np.subtract(x, y, dtype=float)), initial=0.0, where=np.isfinite(x)) / scale))
    return found if max(found.values(), default=0.0) < 1e-4 else None
