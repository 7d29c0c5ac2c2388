"""Simplification: a writer that knows a table of rewrites writes the list anew, line by line."""
from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import ops
from ops.loops.values import one_of
from ops.writer import Symbol, defining_line

from ..errors import XManError
from ..interpreters.shapes import stand_in
from ..notation import renamed, shortened, shown
from ..wengert import Steps, WengertList, all_registers, checked_list, known_registers, needed, temporaries
from .differentiate import gradient
from .examples import example, hollow
from .loops.trimmed import items_read, trimmed
from .patterns import Rewrite
from .rewrites import EXACT, STABLE
from .sized import Sized, SizedWriter, is_hollow, key_of
from .writer import Origins, in_order, is_temporary


def simplify(steps: Steps, keep: Collection[str] | None = None, likes: Mapping[str, Any] | None = None,
             rewrites: Iterable[Rewrite] = EXACT, G: Mapping[str, Callable] = ops.G) -> WengertList:
    """A shorter list with the same results: each expression once, only needed lines, rewrites applied.

    steps: the list. keep: the registers that are wanted, by name (None: the list's outputs); all others may
    go. likes: an example of each input, as for `shapes`; with shapes known the helpers of the rules
    (`unbroadcast`, `dot_left`, …) become what they amount to, mostly nothing, and the list is for these
    shapes alone. rewrites: EXACT keeps every value to the last bit, except that with likes a number computed
    from literals takes the precision of the list. EXACT + STABLE and EXACT + ALGEBRA have more rows, each of
    which says what it changes; they take a register for floats unless likes show that it is not. With STABLE
    a list that `gradient` wrote is differentiated anew after the rewrites, so that the adjoints are stable
    too, if wrt names inputs and keep no other adjoints; else apply STABLE before. G: the table of values; if
    it lacks operators of `ops`, or redefines one, no rewrite applies. A line that fails for the likes is kept
    as it is. Raises XManError for a name that the list does not have.
    """
    steps, rewrites = checked_list(steps, G), tuple(rewrites)
    if steps.differentiates and not {*map(id, rewrites)}.isdisjoint(map(id, STABLE)):
        keep = known_registers(steps, steps.outputs if keep is None else keep, "keep")
        again = lambda primal, keep: simplify(primal, keep, likes, rewrites, G)
        steps = differentiated_anew(steps, keep, again)
    return WengertList(line for line, _ in simplified(steps, keep, likes, rewrites, G))


def differentiated_anew(steps: WengertList, keep: Collection[str],
                        shorter: Callable[[WengertList, Collection[str]], WengertList]) -> WengertList:
    """The gradient of shorter(the primal list, its registers to keep), or steps, where keep has more.

    Adjoints of log(1 + exp(x)) are NaN for x = 1000, and no row of STABLE finds its 1 / (1 + exp(x)) · exp(x)
    in them; those of softplus(x) are finite.
    """
    primal, of, wrt, seed, DG = steps.differentiates
    registers = {*all_registers(primal)}
    adjoints = {seed, *(f"d{of}_d{x}" for x in wrt)}
    changed = list(steps)[:len(primal)] != primal  # since it was differentiated
    # only by inputs: a row may leave out any other register, as crossEntropy(softmax(z), y) the probabilities
    complete = of in registers and {*wrt} <= {*primal.inputs} and {*keep} <= registers | adjoints
    if changed or not complete:
        return steps
    primal_keep = dict.fromkeys([*(x for x in keep if x in registers), of, *wrt])
    short = shorter(primal, primal_keep)
    registers = {*all_registers(short)}
    return gradient(short, of, wrt, seed, DG) if {*wrt} <= registers and seed not in registers else steps


def simplified(steps: Steps, keep: Collection[str] | None = None, likes: Mapping[str, Any] | None = None,
               rewrites: Iterable[Rewrite] = EXACT, G: Mapping[str, Callable] = ops.G) -> Origins:
    """The lines of `simplify`, each paired with the line of steps for which it was written."""
    steps = checked_list(steps, G)
    keep = known_registers(steps, steps.outputs if keep is None else keep, "keep")
    if likes is not None and not isinstance(likes, Mapping):
        raise XManError(f"likes is a dictionary with an example of each input, {{'x': 1.0}}, not "
                        f"{shortened(likes)}")
    if steps.complex:  # log(exp(z)) is z for real numbers alone
        rewrites = [row for row in rewrites if not getattr(row, "changes", "")]
    writer = Simplifier(rewrites, G)
    values: dict[str, Any] = {name: writer.input(name, likes) for name in steps.inputs}
    lines = [(*line, line) for line in needed(steps, keep)]
    if any(line[1] == "item" for line in lines):
        lines = trimmed(items_read(lines, named=keep), keep, temporaries({*all_registers(steps)}).__next__)
    for dst, op, args, writer.origin in lines:  # a shortened bundle belongs to the line that reads it
        try:
            args = [values[a] if isinstance(a, str) else a for a in args]
            values[dst] = writer.write(op, writer.with_simple_bodies(op, args))
        except RecursionError:
            raise XManError(f"{shown(writer.origin)}: the rewrites go round in a circle; each has to write "
                            "fewer operators than it finds") from None
    return writer.finished(values, keep)


class Simplifier(SizedWriter):
    """Writes a line only if no rewrite finds a shorter form, and no equal line has been written before."""

    def __init__(self, rewrites: Iterable[Rewrite], G: Mapping[str, Callable]):
        super().__init__(G)
        self.rewrites: dict[str, list[Rewrite]] = {}
        rewrites = tuple(rewrites)
        if strangers := [row for row in rewrites if not isinstance(row, Rewrite)]:
            raise XManError(f"rewrites are rows of a table, as in EXACT + STABLE, and found "
                            f"{shortened(strangers[0])}; one of your own is [rewrite(form, becomes)]")
        if all(G.get(op) is value for op, value in ops.G.items()):  # else names may mean other things
            for rewrite in rewrites:
                self.rewrites.setdefault(rewrite.op, []).append(rewrite)
        self.expressions: dict[tuple, Sized] = {}  # the symbol of each (op, args) that was written

    def input(self, name: str, likes: Mapping[str, Any] | None) -> Sized:
        symbol = self.symbol(name)
        if likes is not None and name in likes:
            example = stand_in(likes[name])
            symbol.hollow = isinstance(likes[name], tuple) and example.dtype.kind == "f"
            self.exemplify(symbol, hollow(example) if symbol.hollow else example)
        return symbol

    def write(self, op: str, args: Iterable[Any]) -> Any:
        args = self.brief(op, tuple([self.argument(a, op) for a in args]))
        if op == "item" and defining_line(args[0])[0] == "bundle":
            return args[0].args[args[1]]
        literals = not any(isinstance(a, Symbol) for a in args)
        if literals and (value := self.constant(op, args)) is not None:
            return value
        for rewrite in () if literals else self.rewrites.get(op, ()):  # 1/0 of Python's is an error
            if (shorter := rewrite.attempt(self, args)) is not None:
                return shorter
        key = (op, *(sorted(map(key_of, args)) if ops.facts_of(op).commutes else map(key_of, args)))
        if key not in self.expressions:
            self.expressions[key] = out = self.add(op, args)
            if (value := self.evaluated(op, args)) is not None:
                self.exemplify(out, value)
                out.hollow = any(map(is_hollow, args))
            rules = zip(args, ops.DG.get(op, ()), strict=False)
            out.certain = any(rule and self.real(a) for a, rule in rules)
        return self.expressions[key]

    def evaluated(self, op: str, args: tuple) -> Any:
        """The value for the examples; None if one is missing, or the operator fails for them."""
        values = [self.value(a) for a in args]
        if any(isinstance(a, Symbol) and x is None for a, x in zip(args, values, strict=True)):
            return None
        try:
            with np.errstate(all="ignore"):
                facts = ops.facts_of(op)
                if ((op in ops.table.OURS or facts.elementwise or facts.example) and self.rewrites
                    and (op in ops.loops.ROWS or any(map(is_hollow, args)))):
                    return example(op, values)
                return (facts.example or self.G[op])(*values)
        except TimeoutError:
            raise  # a time limit that the user set
        except Exception:  # whatever it is, the line is written as it is, and raises the error when it runs
            return None

    def constant(self, op: str, args: tuple) -> int | float | None:
        """The number that op makes of literals, in the list's precision; None if it is not a number."""
        value = self.evaluated(op, args)
        value = value.item() if isinstance(value, np.floating) and self.one_precision else value
        return value if type(value) in (int, float) else None

    def with_simple_bodies(self, op: str, args: Sequence[Any]) -> Sequence[Any]:
        """The arguments of a line, with functions among them simplified, for their shapes if known."""
        if not any(map(ops.is_function, args)):
            return args
        loop = op in ("scan", "while_loop")
        k, slices = args[1:3] if op == "scan" else (args[2], 0) if loop else (0, 0)
        inputs, m = getattr(args[3 if loop else -1], "example", None), k + slices
        if op == "scan" and inputs is not None:
            after = self.evaluated(op, (*args[:3], inputs)) or ()
            if any(np.shape(x) != np.shape(y) for x, y in zip(inputs[:k], after, strict=False)):
                inputs = None  # the first step changes a carry's shape, but a body is for all steps
        return [self.simple_body(a, k, m, inputs) if ops.is_function(a) else a for a in args]

    def simple_body(self, function: tuple, k: int, m: int, inputs: Sequence | None) -> tuple:
        _, name, parameters, lines, results = function
        steps, likes = WengertList(lines), None
        if inputs is not None:
            examples = [one_of(x) if k <= i < m else x for i, x in enumerate(inputs)]
            real = lambda x: np.float64(x) if type(x) is float else x
            likes = {p: real(x) for p, x in zip(parameters, examples, strict=True) if p in steps.inputs}
        computed = [r for r in dict.fromkeys(results) if r not in parameters]
        rewrites = [row for rows in self.rewrites.values() for row in rows]
        short = simplify(steps, computed, likes, rewrites, self.G) if computed else ()
        new = in_order(short, parameters)
        return ("def", name, parameters, tuple(renamed(short, new)), tuple(new.get(r, r) for r in results))

    # ---- reading the list off ------------------------------------------------------------------------------

    def finished(self, values: dict[str, Any], keep: Collection[str]) -> Origins:
        """The lines that lead to the registers in keep, with the names of the original list.
        values: the symbol or the number that each register of the original list has become."""
        for name in keep:
            x = values[name]
            if not isinstance(x, Symbol) or x.name not in (None, name):
                x = np.asarray(x, self.one_precision or float) if isinstance(x, float) else x
                values[name] = x = super().write("alias", [x])
            x.name = name
        for name, x in sorted(values.items(), key=lambda pair: is_temporary(pair[0])):
            if isinstance(x, Symbol):
                x.name = x.name or name  # a temporary's name, if it has no other
        self.lines = needed(self.lines, [values[name] for name in keep])
        return self.origins(values)
