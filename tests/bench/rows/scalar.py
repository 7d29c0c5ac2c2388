"""A random list of scalar operations: its value, and its value with its gradient.

Every line is needed for the last, so that all contestants compute the same number of operations, in double precision.
"""
from __future__ import annotations

import operator
from functools import partial
from typing import NamedTuple

import numpy as np

UNARY, BINARY = ("sin", "cos", "tanh", "half"), ("add", "subtract", "mul")
WINDOW, INPUTS = 50, 10


class Scalars(NamedTuple):
    """operations: the lines of the list. gradient: whether it is wanted too."""
    operations: int = 100_000
    gradient: bool = False
    dtype: str = "float64"


def random_lines(operations: int) -> list[tuple]:
    """A list over the inputs x0, x1, …: an argument is an input or one of the latest registers, the unread ones first.

    Each twentieth line adds the latest register to a total, the list's result: no derivative is lost on a long way.
    """
    random = np.random.default_rng(0)
    names, lines, latest, unread, total = [f"x{k}" for k in range(INPUTS)], [], [], [], "x0"
    for k in range(operations):
        z, op = f"z{k}", str(random.choice(UNARY + BINARY))
        pool = names if random.uniform() < 0.2 or not latest else latest[-WINDOW:]
        args = [str(x) for x in random.choice(pool, 2)]
        if operations - k <= len(unread) or unread and k % 20 == 0:
            lines.append((z, "add", (total, unread.pop(0))))
            total = z
            continue
        if len(unread) > WINDOW // 2:
            args[0] = unread[0]
        args = args[:1] if op in UNARY else args
        unread = [x for x in unread if x not in args] + [z]
        latest.append(z)
        lines.append((z, op, tuple(args)))
    return lines


def inputs() -> dict[str, float]:
    return {f"x{k}": float(x) for k, x in enumerate(np.random.default_rng(1).normal(size=INPUTS))}


def functions(module) -> dict:
    """What the operators are in a framework."""
    return {"half": lambda x: 0.5 * x, "add": operator.add, "subtract": operator.sub, "mul": operator.mul,
            "sin": module.sin, "cos": module.cos, "tanh": module.tanh}


def xman_tape(work: Scalars):
    from xman.engines.tape.engine import Tape

    lines, values = random_lines(work.operations), inputs()
    tape = Tape(lines, lines[-1][0], list(values))
    given = np.array([values[x] for x in tape.inputs])
    return partial(tape.value_and_gradient if work.gradient else tape.value, given)


def xman_interpret(work: Scalars):
    import ops
    from xman import WengertList, backprop, eval

    lines, values = WengertList(random_lines(work.operations)), {x: np.float64(v) for x, v in inputs().items()}
    last = lines[-1][0]

    def both():
        found = eval(lines, values)
        slopes = backprop(lines, found, ops.DG, tuple(values), **{last: 1.0})
        return found[last], [slopes[x] for x in values]
    return both if work.gradient else lambda: eval(lines, values)[last]


def casadi(work: Scalars):
    """Its functions take and give memory that is there already: no object is made in a call."""
    import casadi

    found, G = {x: casadi.SX.sym(x) for x in inputs()}, functions(casadi)
    x = casadi.vertcat(*found.values())
    for z, op, args in random_lines(work.operations):
        found[z] = G[op](*(found[a] for a in args))
    results = [found[z], casadi.gradient(found[z], x)] if work.gradient else [found[z]]
    function = casadi.Function("f", [x], results)
    memory, call = function.buffer()
    given, taken = np.array(list(inputs().values())), [np.zeros(r.shape[:1 if r.numel() > 1 else 0]) for r in results]
    memory.set_arg(0, memoryview(given))
    for k, out in enumerate(taken):
        memory.set_res(k, memoryview(out))

    def run(alive=(function, memory, given)):
        call()
        return taken
    return run


def torch(work: Scalars):
    import torch

    lines, values, G = random_lines(work.operations), inputs(), functions(torch)
    values = {x: torch.tensor(v, dtype=torch.float64, requires_grad=work.gradient) for x, v in values.items()}

    def run():
        found = dict(values)
        for z, op, args in lines:
            found[z] = G[op](*(found[a] for a in args))
        slopes = [torch.stack(torch.autograd.grad(found[z], list(values.values())))] if work.gradient else []
        return [found[z].detach(), *slopes]
    return run


CONTESTANTS = {"xman tape": xman_tape, "xman interpret": xman_interpret, "CasADi": casadi, "PyTorch": torch}
