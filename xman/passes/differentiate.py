"""The derivative of a list is a list: the interpreters write it when they run on symbols.

Bishop, Deep Learning, eqs. 8.57 to 8.64 (tangents) and 8.68 to 8.76 (adjoints); Reps, Automatic
Differentiation and Backpropagation, §2 (each statement doubled).
"""
from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import ops
from ops import f
from ops.writer import Symbol

from ..errors import XManError
from ..interpreters import backprop, forward
from ..interpreters.context import depends
from ..wengert import Line, Steps, WengertList, all_registers, checked_list, inputs_of, known_registers
from .loops.trimmed import cut_loops
from .writer import Followed, ListWriter, Origins


def gradient(steps: Steps, of: str, wrt: Collection[str], seed: str | None = None,
             DG: Mapping[str, Sequence] = ops.DG) -> WengertList:
    """The list followed by the lines of its adjoints: `d{of}_d{x}` is the gradient of `of` for each x in wrt.

        >>> gradient([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))], "area", ["h"])
        z1 = mul(h, w)
        area = half(z1)
        darea_darea = broadcast(1.0, area)
        darea_dz1 = half(darea_darea)
        z2 = mul(darea_dz1, w)
        darea_dh = unbroadcast(z2, h)

    The result is a list like any other, which can be evaluated, printed, simplified and differentiated again:
    gradient(…, "darea_dh", ["w"]) has the register ddarea_dh_dw. Each adjoint has the shape and precision of
    its register; if `of` does not depend on x it is zeros. steps: the list. of: the register to
    differentiate. wrt: registers to differentiate by. seed: the name of a further input, the adjoint of `of`
    to start from (a number, or of the shape of `of`); without one it is 1 for each element, so that the sum
    is differentiated. DG: the table of adjoint rules. XManError for a name that the list lacks or has
    already, and as `backprop`.
    """
    steps = checked_list(steps, DG)
    (of,), wrt = known_registers(steps, of, "of", one=True), known_registers(steps, wrt, "wrt")
    derivative = WengertList(line for line, _ in adjoints(steps, of, wrt, seed, DG))
    derivative.differentiates, derivative.places = (steps, of, wrt, seed, DG), steps.places
    return derivative


def tangent(steps: Steps, wrt: Collection[str], TG: Mapping[str, Sequence] = ops.TG) -> WengertList:
    """The list with each line followed by its tangent's: `y_dot` is Σ ∂y/∂x · x_dot over the x in wrt.

        >>> tangent([("z1", "mul", ("h", "w")), ("area", "half", ("z1",))], ["h"])
        z2 = broadcast(h_dot, h)
        z1 = mul(h, w)
        z3 = mul(z2, w)
        z1_dot = broadcast(z3, z1)
        area = half(z1)
        area_dot = half(z1_dot)

    The x_dot are new inputs, numbers or of the shape of their x. A register that does not depend on wrt has
    no tangent. If such names are in the list already, as in the tangent of a tangent, all new ones end in
    `_dot_dot`. steps: the list. wrt: its inputs to differentiate by. TG: the table of tangent rules.
    XManError for another name, and as `forward`.
    """
    return WengertList(line for line, _ in tangents(steps, wrt, TG))


def adjoints(steps: Steps, of: str, wrt: Collection[str], seed: str | None = None,
             DG: Mapping[str, Sequence] = ops.DG) -> Origins:
    """The lines of `gradient`, each with the line it belongs to; lines of the list itself with None."""
    steps, writer = checked_list(steps, DG), ListWriter()
    symbols = writer.symbols(steps)
    (of,), wrt = known_registers(steps, of, "of", one=True), known_registers(steps, wrt, "wrt")
    below = () if of in depends(steps, wrt, symbols) else depends(steps, [of], symbols).intersection(wrt)
    if below:
        raise XManError(f"{of!r} does not depend on {min(below)!r}, which depends on {of!r}; the order is "
                        "(steps, of, wrt)")
    if seed is not None and not isinstance(seed, str):
        raise XManError(f"seed is the name of a new input, which holds the adjoint to start from, not "
                        f"{seed!r}")
    # the interpreter runs on symbols: each product of a rule is a line that the writer takes down, with the
    # line of the list to which the rule belongs
    start = writer.symbol(unused_name(seed, symbols)) if seed else 1.0
    deltas = backprop(Followed(steps, writer), symbols, DG, wrt, **{of: start})
    for x in wrt:
        delta = deltas.get(x, 0.0)
        if isinstance(delta, dict):
            raise XManError(f"wrt names {x!r}, which is a bundle; name the arrays that it is made of")
        # the notes' rules may give a number for an array (0, or the seed), or a delta that has been broadcast
        if not isinstance(delta, Symbol):
            delta = f.broadcast(delta, symbols[x])
        elif not fits_input(delta, x):
            delta = f.unbroadcast(delta, symbols[x])
        delta.name = unused_name(f"d{of}_d{x}", symbols)
    for x, delta in deltas.items():
        # what leads to wrt is called after its register too, for who reads the list
        if x not in wrt and isinstance(delta, Symbol) and (name := f"d{of}_d{x}") not in symbols:
            delta.name = delta.name or name
    cut_loops(writer, symbols.values())
    return [*((line, None) for line in steps), *writer.origins({*symbols, seed})]


def tangents(steps: Steps, wrt: Collection[str], TG: Mapping[str, Sequence] = ops.TG) -> Origins:
    """The lines of `tangent`, each with the line it belongs to; lines of the list itself with None."""
    steps, writer = checked_list(steps, TG), ListWriter()
    symbols = writer.symbols(steps)
    dot = ending(steps)
    inputs = {x: writer.symbol(x + dot) for x in inputs_of(steps, wrt)}
    tangents = forward(Followed(steps, writer), symbols, inputs, TG)
    for writer.origin in steps:
        if isinstance(t := tangents.get(y := writer.origin[0]), Symbol) and y not in inputs:
            if t.name:  # it is the tangent of another register too
                t = f.alias(t)
            t.name = y + dot
    cut_loops(writer, symbols.values())
    # a tangent stands right behind the line of its register; the tangents of inputs, without one, come first
    after: dict[Line | None, Origins] = {}
    for line, origin in writer.origins({*symbols, *(t.name for t in inputs.values())}):
        after.setdefault(origin and origin[0], []).append((line, origin))
    return after.get(None, []) + [pair for line in steps for pair in [(line, None), *after.get(line[0], [])]]


def ending(steps: WengertList, word: str = "_dot") -> str:
    """The word, repeated until no register of the list ends in the result."""
    registers, end = {*all_registers(steps)}, word
    while any(x + end in registers for x in registers):
        end += word
    return end


def fits_input(delta: Symbol, x: str) -> bool:
    """Whether the adjoint surely has the shape and the precision of x: all its terms take them from x."""
    terms = [delta]
    for term in terms:  # which grows: a sum is its terms
        facts = ops.facts_of(getattr(term, "op", ""))
        if facts.flow == "plus":
            terms += term.args
        elif facts.like is None or getattr(term.args[facts.like], "name", None) != x:
            return False
    return True


def unused_name(name: str, symbols: Mapping[str, Symbol]) -> str:
    """The name. XManError if the list has it already."""
    if name in symbols:
        raise XManError(f"the list has a register {name} already; rename it, or take what it holds")
    return name
