"""Loops written out: each step has lines of its own, as a traced Python `for` has them."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

import ops
from ops.loops.bodies import Bundle, Function, functions_in
from ops.writer import Symbol

from ...errors import XManError
from ...interpreters import shapes
from ...wengert import Steps, WengertList, all_registers, checked_list, fresh
from ..writer import ListWriter, is_temporary

MOST = 10_000_000  # the most lines, which take some gigabytes


def unroll(steps: Steps, likes: Mapping[str, Any] | None = None,
           G: Mapping[str, Callable] = ops.G) -> WengertList:
    """The list with the lines of each step in place of loops, and of functions in place of calls.

    steps: the list. likes: an example of each input, as for `shapes`; needed if an array's rows are the
    steps. G: the table of values. A register h of a loop becomes h_1, h_2, … in the steps, or gets the name
    of its result outside. `while_loop` and `cond`, which depend on values, stay, and so does a loop whose
    number of steps is 0 or unknown. XManError for a list that is not valid, likes that do not fit, and above
    10,000,000 lines.
    """
    steps = checked_list(steps, G)
    sizes = {x: size for x, (size, _) in shapes(steps, likes, G).items()} if likes is not None else {}
    named = {x for x in all_registers(steps)
             if x in steps.inputs + steps.outputs or not is_temporary(x)}
    writer = Unroller({*named})
    values: dict[str, Any] = {x: writer.sized(Symbol(writer, x), sizes.get(x)) for x in steps.inputs}
    for dst, op, args in steps:
        out = writer.expanded(op, [values[a] if isinstance(a, str) else a for a in args], "")
        if dst in steps.outputs and (not isinstance(out, Symbol) or out.name in named):
            out = writer.write("alias", [writer.operand_of(out)])
        if isinstance(out, Symbol):
            out.name = dst if dst in named and out.name not in named else out.name
            writer.sized(out, sizes.get(dst))
        values[dst] = out
    return WengertList(writer.named(writer.names))


class Unroller(ListWriter):
    """Writes lines. A bundle is a Bundle of its parts; the stacked results of a loop are a Python list."""

    def __init__(self, names: set[str]):
        super().__init__()
        self.names = names
        self.stacked: dict[int, tuple[Symbol, list]] = {}  # by a list's id, the symbol that stacks it
        self.sizes: dict[int, tuple | None] = {}  # by a symbol's id its shape, or None
        self.sizes_of_bodies: dict[tuple, dict[str, tuple]] = {}  # by function and shapes of arguments

    def sized(self, symbol: Symbol, size: tuple | None) -> Symbol:
        self.sizes[id(symbol)] = size
        return symbol

    def expanded(self, op: str, args: Sequence[Any], step: str) -> Any:
        """The result of a line. step: the ending of its registers' names."""
        if op == "bundle":
            return Bundle(args)
        if op == "item" and isinstance(args[0], Bundle):
            return args[0][args[1]]
        if op == "call" and isinstance(args[1], Bundle):
            return self.body_at(args[0], args[1], step)
        if op == "scan" and isinstance(args[3], Bundle):
            (function, k, slices, entries), backwards = args[:4], args[4:] == [True]
            xs, constants = entries[k:k + slices], entries[k + slices:]
            if n := max(map(self.steps_of, xs)):
                return self.all_steps(n, function, entries[:k], xs, constants, backwards, step)
        if (steps := self.of_steps(op, args)) is not None:
            return steps
        return self.write(op, map(self.operand_of, args))

    def of_steps(self, op: str, args: Sequence[Any]) -> Any:
        """The result of a line on lists of steps' results; None if it needs them stacked."""
        if op == "getitem" and isinstance(args[0], list) and len(args) == 2 and type(args[1]) in (int, slice):
            x, key = args
            if type(key) is slice:
                return x[key] or None  # nothing can be stacked of no steps
            return x[key] if -len(x) <= key < len(x) else None
        if op == "concat" and args[0] == 0 and all(isinstance(a, list) for a in args[1:]):
            return [a for steps in args[1:] for a in steps]
        if op == "broadcast" and len(args) == 2 and isinstance(args[1], list) and self.known_number(args[0]):
            return [self.expanded("broadcast", (args[0], a), "") for a in args[1]]
        return None

    def known_number(self, a: Any) -> bool:
        return type(a) in (int, float) or isinstance(a, Symbol) and self.sizes.get(id(a)) == ()

    def all_steps(self, n: int, function: Function, carry: tuple, xs: tuple, constants: tuple,
                  backwards: bool, step: str) -> Bundle:
        """The Bundle of the last carries and the lists of results, after the lines of n steps are written."""
        if len(self.lines) + n * len(function[3]) > MOST:
            raise XManError(f"written out, the {n:,} steps of {function[1]} make more than {MOST:,} lines")
        k, gave = len(carry), []
        for t in range(n)[::-1 if backwards else 1]:
            results = self.body_at(function, (*carry, *[self.seen_at(x, t) for x in xs], *constants),
                                   f"{step}_{t + 1}")
            carry = results[:k]
            gave.append(results[k:])
        return Bundle((*carry, *map(list, zip(*gave[::-1 if backwards else 1], strict=True))))

    def body_at(self, function: Function, args: Sequence[Any], step: str) -> Bundle:
        _, _, parameters, lines, results = function
        values, sizes = dict(zip(parameters, args, strict=True)), self.sizes_in(function, args)
        for dst, op, operands in lines:
            inputs = [values[a] if isinstance(a, str) else a for a in operands]
            out = values[dst] = self.expanded(op, inputs, step)
            if dst in sizes and isinstance(out, Symbol):
                self.sized(out, sizes[dst])
            if isinstance(out, Symbol) and out.name is None and not is_temporary(dst):
                out.name = fresh(dst + step, self.names)
        return Bundle(values[r] for r in results)

    def sizes_in(self, function: Function, args: Sequence[Any]) -> dict[str, tuple]:
        """The shapes of the registers in a function, if it has loops, whose steps they may be."""
        likes = *map(self.like_of, args),
        if (key := (id(function), likes)) not in self.sizes_of_bodies:
            sizes = {}
            if functions_in(function[3]) and None not in likes:
                with suppress(XManError):  # a stand-in of floats may be one for whole numbers
                    sizes = shapes(function[3], dict(zip(function[2], likes, strict=True)))
            self.sizes_of_bodies[key] = {x: size for x, (size, _) in sizes.items()}
        return self.sizes_of_bodies[key]

    def like_of(self, x: Any) -> tuple | int | None:
        """What `shapes` may take for an argument; None if its shape is not known."""
        if isinstance(x, list):
            each = self.like_of(x[0])
            return (len(x), *each) if isinstance(each, tuple) else None
        if isinstance(x, Symbol):
            return self.sizes.get(id(x))
        return 0 if isinstance(x, (int, np.integer)) else np.shape(x)

    def steps_of(self, x: Any) -> int:
        """The number of steps along a slice; 0 if it is not known."""
        if isinstance(x, Symbol):
            return (self.sizes.get(id(x)) or (0,))[0]
        return len(x) if isinstance(x, (list, np.ndarray)) else x

    def seen_at(self, x: Any, t: int) -> Any:
        """The entry of a slice at step t."""
        if isinstance(x, Symbol):
            size = self.sizes.get(id(x))
            return self.sized(self.write("getitem", (x, t)), size and size[1:])
        return x[t] if isinstance(x, (list, np.ndarray)) else t

    def operand_of(self, a: Any) -> Any:
        """An argument in the form that a line takes."""
        if isinstance(a, list):
            if id(a) not in self.stacked:
                self.stacked[id(a)] = self.write("stack", (0, *map(self.operand_of, a))), a
            return self.stacked[id(a)][0]
        return self.write("bundle", map(self.operand_of, a)) if isinstance(a, Bundle) else a
