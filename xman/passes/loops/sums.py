"""A pass on loops: a sum of a product per step becomes one product over all steps.

The adjoint of a loop adds to the delta of a weight in each step. dW1 = dW + outer(x, d) of 1,000 steps makes
1,000 matrices; with stacks X and D of all x and d the sum is X.T @ D, which BLAS computes at once. Of

    (dW, h, x) -> (dW1, h1):    h1 = tanh(h)    z1 = outer(x, h1)    dW1 = subtract(dW, z1)

the carry dW is a sum with the one term (("x", "h1"), X.T @ H, -1). The new step is (h, x) -> (h1, h1), whose
second result is stacked, and the last dW is dW - X.T @ H, outside of the loop.
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from ops import f
from ops.loops.bodies import Function
from ops.loops.values import one_of
from ops.writer import defining_line

from ...interpreters import eval
from ...wengert import WengertList, registers
from ..sized import SizedWriter
from .trimmed import shorter

Term = tuple[tuple[str, ...], Callable, int]  # registers, the function of their stacks, the sign


class LoopStep(NamedTuple):
    """The body of a loop, with the values that its registers have in a step like the first."""
    definitions: Mapping[str, tuple[str, tuple]]
    values: Mapping[str, Any]
    reads: Counter               # how often each register is read
    constants: Mapping[str, Any]  # what does not change from step to step, outside of the loop

    def axes(self, *names: Any) -> list[int]:
        """The number of axes of each register; -1 of what is the same in all steps, and of literals."""
        changes = lambda name: isinstance(name, str) and name not in self.constants
        return [np.ndim(self.values[name]) if changes(name) else -1 for name in names]


def hoisted(w: SizedWriter, function: Function, k: int, slices: int, b: Any, *reverse: bool) -> Any:
    """scan(function, k, slices, b) with its sums outside; None if it has none, or shapes are not known.

    The stacks of what the products read take memory for all steps. w: the writer, as for a rewrite. reverse:
    as for `scan`.
    """
    _, name, parameters, lines, results = function
    maker, entries = defining_line(b)
    if maker != "bundle" or any(w.value(x) is None for x in entries):
        return None
    m, examples = k + slices, [w.value(x) for x in entries]
    n = np.shape(examples[k]) and len(examples[k]) or examples[k]
    if type(n) is not int or not n:
        return None
    likes = [one_of(x) if k <= i < m else x for i, x in enumerate(examples)]
    try:
        values = eval(WengertList(lines), dict(zip(parameters, likes, strict=True)))
    except Exception:  # the scan stays as it is, and raises the error when it runs
        return None
    reads = Counter([*results, *(a for _, _, args in lines for a in registers(args))])
    step = LoopStep({dst: (op, args) for dst, op, args in lines}, values, reads,
                dict(zip(parameters[m:], entries[m:], strict=True)))
    sums = {}  # by the number of a carry its terms
    for i, carry in enumerate(parameters[:k]):
        same = np.shape(likes[i]) == np.shape(values[results[i]])
        if same and reads[carry] == 1 and (terms := terms_of(results[i], carry, step, w)):
            sums[i] = terms
    if not sums:
        return None

    stacks = {p: entries[i] for i, p in enumerate(parameters) if k <= i < m and np.ndim(examples[i])}
    factors = dict.fromkeys(x for terms in sums.values() for names, *_ in terms for x in names)
    extra = [x for x in factors if x not in stacks and x not in results[k:]]
    results = *results, *extra
    stay = [j for j in range(len(results)) if j not in sums]
    step = ("def", name, parameters, lines, results)
    functions, counts, left, places = shorter([step], k, slices, stay, loop=True)  # type: ignore[misc]
    out = f.scan(functions[0], *counts, f.bundle(*[entries[i] for i in left]), *reverse)
    stacks |= {x: f.item(out, places[j]) for j, x in enumerate(results) if j >= k and x not in stacks}

    def total(i: int) -> Any:
        total = entries[i]
        for names, product, sign in sums[i]:
            term = product(*[stacks[x] for x in names])
            total = total + term if sign == 1 else total - term
        return total
    kept = len(results) - len(extra)
    return f.bundle(*[total(j) if j in sums else f.item(out, places[j]) for j in range(kept)])


def terms_of(r: str, carry: str, step: LoopStep, w: SizedWriter) -> list[Term] | None:
    """The summands of r without the carry; None if r is no such sum."""
    op, args = step.definitions.get(r, ("", ()))
    if op not in ("add", "subtract") or step.reads[r] != 1 or not all(isinstance(a, str) for a in args):
        return product_over_steps(op, args, step, w)
    left, right = ([] if a == carry else terms_of(a, carry, step, w) for a in args)
    if left is None or right is None or op == "subtract" and args[1] == carry:
        return None
    sign = 1 if op == "add" else -1
    return left + [(names, product, sign * inner) for names, product, inner in right]


def product_over_steps(op: str, args: tuple, step: LoopStep, w: SizedWriter) -> list[Term] | None:
    """The term op(*args), if its sum over all steps is one product of stacks."""
    def flat(x: Any) -> Any:  # (steps, rows, columns) -> (steps · rows, columns)
        n, rows, columns = w.shape(x)
        return f.reshape(x, (n * rows, columns))
    inner, of = step.definitions.get(args[0], ("", ())) if args and isinstance(args[0], str) else ("", ())
    if op == "dot" and inner == "transpose" and len(of) == 1 and step.axes(of[0], args[1]) == [2, 2]:
        return [((of[0], args[1]), lambda x, d: flat(x).T @ flat(d), 1)]
    if op == "outer" and step.axes(*args) == [1, 1]:
        return [(args, lambda x, d: x.T @ d, 1)]
    if op == "sum" and args[1:2] == (0,) and step.axes(args[0]) == [2]:
        return [(args[:1], lambda d: f.sum(flat(d), 0, *args[2:]), 1)]
    if op == "scatterAdd" and len(args) == 3:
        d, like, key = args
        if (like in step.constants and -1 not in step.axes(d, key)
                and np.asarray(step.values[key]).dtype.kind == "i"):
            return [((d, key), lambda d, key: f.scatterAdd(d, step.constants[like], key), 1)]
    return None
