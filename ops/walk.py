"""The walks through lines that differentiate: back for adjoints, forth for tangents, and what they pass.

Lists, tapes of traced functions and bodies of loops are the same to them: lines (dst, op, args), in which a
string names a register, and the values of all registers by name.
"""
from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .expression import DG, TG, f
from .facts import is_complex, name_or_id
from .kinks.masked import Masked
from .writer import Traced

STILL = object()  # a tangent rule's answer if the result does not move although the argument does


class AtLine(Exception):
    """A rule failed at this line. The cause is the rule's own error."""

    def __init__(self, line: tuple, error: Exception):
        super().__init__(str(error))
        self.line, self.error = line, error.error if isinstance(error, AtLine) else error


class Misshapen(ValueError):
    """A rule returned another shape than that of its argument (of the result, if it is a tangent rule)."""

    def __init__(self, op: str, i: int, shape: tuple, of_argument: tuple):
        super().__init__(f"the rule of {op} for its argument {i + 1} returned the shape {shape}; wanted "
                         f"{of_argument}")
        self.argument, self.shape, self.of_argument = i, shape, of_argument


def back(lines: Sequence, values: Mapping[str, Any], deltas: dict[str, Any], rules: Mapping = DG,
         still: Collection[str] = (), keep: bool = False) -> dict[str, Any]:
    """The deltas, from those at the end: deltas[r] is ∂(Σ delta·output)/∂r (the notes, §1.3).

    still: registers that hand no delta on. keep: keep also the deltas of registers that lines define.
    """
    # as in the notes; a register that is read twice gets two contributions, and they add. Lines that no delta
    # reaches are skipped
    for line in reversed(lines):
        dst, op, args = line
        if dst in deltas:
            d = deltas[dst] if keep else deltas.pop(dst)
            try:
                inputs, ruled = [values[a] if type(a) is str else a for a in args], rules[op]
                out = values[dst]
                for i, a in enumerate(args):
                    if type(a) is str and a not in still and (rule := rule_for(ruled, i, op)):
                        delta = fitted(rule(d, out, *inputs), inputs[i], i, op, a)
                        deltas[a] = deltas[a] + delta if a in deltas else delta
            except Exception as error:
                raise AtLine(line, error) from error
    return deltas


def forth(lines: Iterable, values: Mapping[str, Any], tangents: dict[str, Any],
          rules: Mapping = TG) -> dict[str, Any]:
    """The tangents, from those at the beginning: tangents[r] says how r moves when the inputs do."""
    # an argument without a tangent does not move, and adds nothing to the movement of the line
    for line in lines:
        dst, op, args = line
        if any([type(a) is str and a in tangents for a in args]):
            try:
                inputs, ruled = [values[a] if type(a) is str else a for a in args], rules[op]
                out = values[dst]
                for i, a in enumerate(args):
                    if type(a) is str and a in tangents and (rule := rule_for(ruled, i, op)):
                        if (tangent := rule(tangents[a], out, *inputs)) is not STILL:
                            tangent = fitted(tangent, out, i, op, a)
                            tangents[dst] = tangents[dst] + tangent if dst in tangents else tangent
            except Exception as error:
                raise AtLine(line, error) from error
    return tangents


def rule_for(rules: Sequence, i: int, op: str) -> Any:
    """The rule for the i-th argument, None where its derivative is zero. TypeError where the row has none."""
    if i < len(rules):
        return rules[i]
    raise TypeError(f"{op} has no rule for its argument {i + 1}; its row needs one, or None where the derivative "
                    "is zero")


def fitted(term: Any, x: Any, i: int, op: str, a: str) -> Any:
    """What a rule gave, in the precision of x. TypeError if it gave nothing, Misshapen for another shape."""
    if (kind := type(x)) is type(term) and (
            term.dtype is x.dtype and term.shape == x.shape if kind is np.ndarray
            else kind is np.float64 or not is_mixed(term, x)):
        return term  # the common case
    if term is None:
        raise TypeError(f"the rule for {a} returned None; does it lack a return?")
    if isinstance(term, Masked):
        return term.at(fitted(term.value, x, i, op, a))
    if hasattr(x, "tocsr"):
        raise TypeError(f"{a} is a sparse matrix, which has no rules: only dot takes one, on its left")
    if is_mixed(term, x):
        term = f.real(term)  # a real argument moves along the real axis alone
    shape, shape_of_x = shape_within(term), shape_within(x)
    if None not in (shape, shape_of_x) and shape != shape_of_x:
        if shape_of_x or np.size(term) != 1:  # one number is a number, however many brackets are around it
            raise Misshapen(op, i, shape, shape_of_x)
        term = term.reshape(())[()]
    dtype = getattr(x, "dtype", None)
    if dtype is None or not isinstance(term, (np.ndarray, np.inexact)) or term.dtype is dtype:
        return term
    dtype = dtype if dtype.kind in "fc" else np.dtype(float)
    return f.astype(term, (dtype.name,)) if isinstance(term, Traced) else term.astype(dtype)


def is_mixed(term: Any, x: Any) -> bool: return is_complex(term) and not is_complex(x)


def shape_within(x: Any) -> tuple[int, ...] | None:
    """The shape of a number, of an array, or of one that a tape traces; None of what has none yet."""
    while isinstance(x, Traced):
        x = x.value
    return np.shape(x) if isinstance(x, (np.ndarray, np.number, float, complex)) else None


# ---- which lines a walk passes -----------------------------------------------------------------------------

def needed(lines: Sequence, keep: Iterable) -> list:
    """The lines, in order, that lead to the registers in keep. Registers are names, or objects for them."""
    registers, result = {*map(name_or_id, keep)}, []
    for line in reversed(lines):
        if name_or_id(line[0]) in registers:
            result.append(line)
            registers.update([a if type(a) is str else id(a) for a in line[2]])
    return result[::-1]


def live_back(lines: Sequence, registers: Iterable[str], rules: Mapping) -> set[str]:
    """The registers that get a delta if these have one."""
    live = {*registers}
    for dst, op, args in reversed(lines):
        if dst in live:
            live.update([a for i, a in enumerate(args) if type(a) is str and has_slope(rules, op, i)])
    return live


def live_forth(lines: Iterable, registers: Iterable[str], rules: Mapping | None = None) -> set[str]:
    """The registers that have a tangent if these have one; without rules all that depend on them."""
    live = {*registers}
    for dst, op, args in lines:
        if any([type(a) is str and a in live and has_slope(rules, op, i) for i, a in enumerate(args)]):
            live.add(dst)
    return live


def has_slope(rules: Mapping | None, op: str, i: int) -> bool:
    """Whether the i-th argument has a derivative; a rule that is lacking counts: a walk refuses it."""
    row = rules.get(op) if rules else None
    return not isinstance(row, (list, Sequence)) or i >= len(row) or row[i] is not None  # a list is quick
