"""Simplification: a writer that knows a table of rewrites writes the list anew, line by line."""
from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import ops
from ops.facts import parameters
from ops.loops.values import one_of

from ..errors import XManError
from ..interpreters.shapes import example, hollow, stand_in
from ..notation import renamed, shortened, shown
from ..register import as_arg
from ..wengert import Steps, WengertList, all_registers, checked_list, known_registers, needed, temporaries
from .loops import items_read, trimmed
from .patterns import Rewrite, equal, key_of
from .rewrites import EXACT
from .writer import ListWriter, Origins, Symbol, in_order


def simplify(steps: Steps, keep: Collection[str] | None = None, likes: Mapping[str, Any] | None = None,
             rewrites: Iterable[Rewrite] = EXACT, G: Mapping[str, Callable] = ops.G) -> WengertList:
    """A shorter list with the same results: each expression once, only needed lines, rewrites applied.

    steps: the list. keep: the registers that are wanted, by name (None: the list's outputs); all others may
    go. likes: an example of each input, as for `shapes`; with shapes known the helpers of the rules
    (`unbroadcast`, `dot_left`, …) become what they amount to, mostly nothing, and the list is for these
    shapes alone. rewrites: EXACT keeps every value to the last bit, except that with likes a number computed
    from literals takes the precision of the list. EXACT + STABLE and EXACT + ALGEBRA have more rows, each of
    which says what it changes; they take a register for floats unless likes show that it is not. Apply STABLE
    before a list is differentiated, so that the adjoints are stable too. G: the table of values; if it lacks
    operators of `ops`, or redefines one, no rewrite applies. A line that fails for the likes is kept as it
    is. Raises XManError for a name that the list does not have.
    """
    return WengertList(line for line, _ in simplified(steps, keep, likes, rewrites, G))


def simplified(steps: Steps, keep: Collection[str] | None = None, likes: Mapping[str, Any] | None = None,
               rewrites: Iterable[Rewrite] = EXACT, G: Mapping[str, Callable] = ops.G) -> Origins:
    """The lines of `simplify`, each paired with the line of steps for which it was written."""
    steps = checked_list(steps, G)
    keep = known_registers(steps, steps.outputs if keep is None else keep, "keep")
    if likes is not None and not isinstance(likes, Mapping):
        raise XManError(f"likes is a dictionary with an example of each input, {{'x': 1.0}}, not "
                        f"{shortened(likes)}")
    writer = Simplifier(rewrites, G)
    found: dict[str, Any] = {name: writer.input(name, likes) for name in steps.inputs}
    lines = [(*line, line) for line in needed(steps, keep)]
    if any(line[1] == "item" for line in lines):
        lines = trimmed(items_read(lines, named=keep), keep, temporaries({*all_registers(steps)}).__next__)
    for dst, op, args, writer.origin in lines:  # a shortened bundle belongs to the line that reads it
        try:
            args = writer.with_simple_bodies(op, args, found)
            found[dst] = writer.write(op, [found[a] if isinstance(a, str) else a for a in args])
        except RecursionError:
            raise XManError(f"{shown(writer.origin)}: the rewrites go round in a circle; each has to write "
                            "less than it finds") from None
    return writer.finished(found, keep)


class Simplifier(ListWriter):
    """Writes a line only if no rewrite finds a shorter form, and no equal line has been written before."""

    def __init__(self, rewrites: Iterable[Rewrite], G: Mapping[str, Callable]):
        super().__init__()
        self.G, self.rewrites = G, {}
        rewrites = tuple(rewrites)
        if strange := [row for row in rewrites if not isinstance(row, Rewrite)]:
            raise XManError(f"rewrites are rows of a table, as in EXACT + STABLE, and found "
                            f"{shortened(strange[0])}; one of your own is [rewrite(found, becomes)]")
        if all(G.get(op) is value for op, value in ops.G.items()):  # else names may mean other things
            for rewrite in rewrites:
                self.rewrites.setdefault(rewrite.op, []).append(rewrite)
        self.definition: dict[int, tuple] = {}    # (op, args) by a symbol's id; `lines` keeps symbols alive
        self.example: dict[int, Any] = {}         # by id a value, if one could be computed
        self.hollow: set[int] = set()             # symbols whose example is right in its shape alone
        self.logarithms: dict[int, Any] = {}      # by id the logarithm, if a rewrite has asked for it
        self.written: dict[tuple, Symbol] = {}    # by (op, args) the symbol
        self.precisions: set[np.dtype] = set()    # the precisions of examples that are floats
        self.reals: set[int] = set()              # symbols that are floats for any inputs

    def input(self, name: str, likes: Mapping[str, Any] | None) -> Symbol:
        symbol = Symbol(self, name)
        if likes is not None and name in likes:
            value = stand_in(likes[name])
            if isinstance(likes[name], tuple) and value.dtype.kind == "f":
                self.hollow.add(id(symbol))
                value = hollow(value)
            self.exemplify(symbol, value)
        return symbol

    def exemplify(self, symbol: Symbol, value: Any) -> None:
        self.example[id(symbol)] = value = np.float64(value) if type(value) in (int, float) else value
        if (dtype := kind_of_value(value)[1]).kind == "f":
            self.precisions.add(dtype)

    def write(self, op: str, args: Iterable[Any]) -> Any:
        args = self.brief(op, tuple(a if isinstance(a, Symbol) else as_arg(a, op) for a in args))
        if op == "item" and (of := self.definition.get(id(args[0]), ("", ())))[0] == "bundle":
            return of[1][args[1]]
        literals = not any(isinstance(a, Symbol) for a in args)
        if literals and (value := self.constant(op, args)) is not None:
            return value
        for rewrite in () if literals else self.rewrites.get(op, ()):  # 1/0 of Python's is an error
            if (shorter := rewrite.attempt(self, args)) is not None:
                return shorter
        key = (op, *(sorted(map(key_of, args)) if ops.facts_of(op).commutes else map(key_of, args)))
        if key not in self.written:
            self.written[key] = out = super().write(op, args)
            self.definition[id(out)] = op, args
            if (value := self.evaluated(op, args)) is not None:
                self.exemplify(out, value)
                self.hollow.update([id(out)] * any(id(a) in self.hollow for a in args))
            if any(rule and self.real(a) for a, rule in zip(args, ops.DG.get(op, ()), strict=False)):
                self.reals.add(id(out))
        return self.written[key]

    def brief(self, op: str, args: tuple) -> tuple:
        """args without the last ones, as far as they have their default value."""
        defaults, most = self.defaults(op)
        while (len(args) > most - len(defaults) and len(args) <= most and args
               and equal(args[-1], defaults[len(args) - 1 - most])):
            args = args[:-1]
        return args

    def full(self, op: str, args: tuple) -> tuple:
        """args, completed with the defaults of the missing ones."""
        defaults, most = self.defaults(op)
        return args + defaults[len(defaults) - (most - len(args)):] if len(args) < most else args

    def defaults(self, op: str) -> tuple[tuple, int]:
        """The defaults of the last arguments of op, and the number of its named arguments."""
        names, defaults, *_ = parameters(self.G[op])
        return (*defaults.values(),), len(names)

    def evaluated(self, op: str, args: tuple) -> Any:
        """The value for the examples; None if one is missing, or the operator fails for them."""
        if any(isinstance(a, Symbol) and id(a) not in self.example for a in args):
            return None
        try:
            with np.errstate(all="ignore"):
                known = ops.facts_of(op)
                if ((op in ops.table.OURS or known.elementwise or known.example) and self.rewrites
                    and any(id(a) in self.hollow for a in args)):
                    return example(op, map(self.value, args))
                return (known.example or self.G[op])(*map(self.value, args))
        except TimeoutError:
            raise  # a time limit that the user set
        except Exception:  # whatever it is, the line is written as it is, and raises the error when it runs
            return None

    def constant(self, op: str, args: tuple) -> int | float | None:
        """The number that op makes of literals, in the list's precision; None if it is not a number."""
        value = self.evaluated(op, args)
        value = value.item() if isinstance(value, np.floating) and self.one_precision else value
        return value if type(value) in (int, float) else None

    def with_simple_bodies(self, op: str, args: tuple, found: Mapping[str, Any]) -> tuple:
        """The arguments of a line, with functions among them simplified, for their shapes if known."""
        if not any(map(ops.is_function, args)):
            return args
        loop = op in ("scan", "while_loop")
        k, slices = args[1:3] if op == "scan" else (args[2], 0) if loop else (0, 0)
        inputs, m = self.example.get(id(found.get(args[3 if loop else -1]))), k + slices
        if op == "scan" and inputs is not None:
            after = self.evaluated(op, (*args[:3], inputs)) or ()
            if any(np.shape(x) != np.shape(y) for x, y in zip(inputs[:k], after, strict=False)):
                inputs = None  # the first step changes a carry's shape, but a body is for all steps
        return tuple([self.simple_body(a, k, m, inputs) if ops.is_function(a) else a for a in args])

    def simple_body(self, function: tuple, k: int, m: int, inputs: Sequence | None) -> tuple:
        _, name, parameters, lines, results = function
        steps, likes = WengertList(lines), None
        if inputs is not None:
            seen = [one_of(x) if k <= i < m else x for i, x in enumerate(inputs)]
            real = lambda x: np.float64(x) if type(x) is float else x
            likes = {p: real(x) for p, x in zip(parameters, seen, strict=True) if p in steps.inputs}
        computed = [r for r in dict.fromkeys(results) if r not in parameters]
        rewrites = [row for rows in self.rewrites.values() for row in rows]
        short = simplify(steps, computed, likes, rewrites, self.G) if computed else ()
        new = in_order(short, parameters)
        return ("def", name, parameters, tuple(renamed(short, new)), tuple(new.get(r, r) for r in results))

    # ---- what a rewrite may ask ----------------------------------------------------------------------------

    def value(self, a: Any) -> Any:
        """A literal itself; the example of a symbol; None if there is none."""
        return self.example.get(id(a)) if isinstance(a, Symbol) else a

    def shape(self, a: Any) -> tuple | None:
        return None if (value := self.value(a)) is None else np.shape(value)

    def alike(self, a: Any, like: Any) -> bool:
        """Whether a surely has the shape and the precision of like; a literal number fits any number."""
        if not (isinstance(like, Symbol) and id(like) in self.example):
            return False
        if not isinstance(a, Symbol):
            return isinstance(a, float) and self.shape(like) == () and self.one_precision
        one, other = self.example.get(id(a), None), self.example[id(like)]
        return one is not None and kind_of_value(one) == kind_of_value(other)

    def real(self, a: Any) -> bool:
        """Whether a is known to be a float or an array of floats."""
        if not isinstance(a, Symbol):
            return isinstance(a, float)
        known = self.example.get(id(a))
        return id(a) in self.reals if known is None else kind_of_value(known)[1].kind == "f"

    def whole(self, a: Any) -> bool:
        """Whether a is known to hold whole numbers or truth values."""
        if id(a) in self.example:
            return kind_of_value(self.example[id(a)])[1].kind != "f"
        return ops.facts_of(self.definition.get(id(a), ("",))[0]).gives is not float

    @property
    def one_precision(self) -> np.dtype | None:
        """The one precision of all floats, or None; with one, a literal number may stand for any float."""
        return next(iter(self.precisions)) if len(self.precisions) == 1 else None

    # ---- reading the list off ------------------------------------------------------------------------------

    def finished(self, found: dict[str, Any], keep: Collection[str]) -> Origins:
        """The lines that lead to the registers in keep, with the names of the original list."""
        for name in keep:
            symbol = found[name]
            if not isinstance(symbol, Symbol) or symbol.name not in (None, name):
                if isinstance(symbol, float):
                    symbol = np.asarray(symbol, self.one_precision or float)
                found[name] = symbol = ListWriter.write(self, "alias", (symbol,))
            symbol.name = name
        for name, symbol in sorted(found.items(), key=lambda item: bool(re.fullmatch(r"z\d+", item[0]))):
            if isinstance(symbol, Symbol):
                symbol.name = symbol.name or name  # a temporary's name, if it has no other
        self.lines = needed(self.lines, [found[name] for name in keep])
        return list(self.named(found))


def kind_of_value(x: Any) -> tuple[tuple, np.dtype]:
    return np.shape(x), getattr(x, "dtype", None) or np.asarray(x).dtype
