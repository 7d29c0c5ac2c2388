"""Which entries of a result depend on which of an input, read off a list.

A register has a matrix of truth values: a row for each of its entries, a column for each entry of the input,
in the order of memory. It is the product of those along the lines: of

    h = sin(x)    s = getitem(h, slice(1, None))    y = mul(s, h[:-1])

each entry of h depends on that of x at its place, entry i of s on entry i + 1 of h, and so y on i and i + 1.
What a line does to places is asked of the operator itself, which is applied to numbers of places in place of
values. Where this does not tell, every entry counts as depending on every factor, so that a pattern may be
too large, and never too small.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array, eye_array, vstack

import ops
from ops.facts import facts_of, shaped_by
from ops.walk import live_back

from ..errors import XManError
from ..interpreters import eval, shapes
from ..wengert import Line, Steps, checked_list, inputs_of, known_registers, registers
from .places import Size, csr, entries_read, pattern_behind, rows_taken


def sparsity(steps: Steps, of: str, wrt: str, likes: Mapping[str, Any], local: bool = False) -> csr_array:
    """Which entries of a register depend on which entries of an input: a SciPy array of truth values in CSR
    form.

    steps: the list. of, wrt: the register, and the input; the result has a row for each entry of the one, a
    column for each of the other. likes: an example of each input, as for `shapes`. It has every entry that
    is not 0 for some values of the inputs. local: whether it is the pattern at the values of likes: those of
    indices, and of what decides which entries `where`, `sort`, `max`, `relu` and the like take; loops and
    branches of a list have the pattern for any values still. XManError for a list that is not valid, and
    names that it does not have (Griewank and Walther, Evaluating Derivatives, §7.1).
    """
    steps = checked_list(steps)
    (of,), (wrt,) = known_registers(steps, of, "of", one=True), inputs_of(steps, [wrt])
    sizes = shapes(steps, likes)
    values = eval(steps, likes) if local else {}
    constants = {x: value for x, value in values.items()
                 if not isinstance(value, ops.loops.Bundle) and np.asarray(value).dtype.kind in "biu"}
    n = entries(sizes[wrt])
    starts = {wrt: eye_array(n, dtype=bool, format="csr")}
    by_register = patterns(steps, [of], starts, sizes, constants, values)
    return by_register.get(of, nothing(entries(sizes[of]), n))


def entries(size: Size) -> int: return int(np.prod(size[0]))
def nothing(rows: int, columns: int) -> csr_array: return csr_array((rows, columns), dtype=bool)


def patterns(lines: Sequence[Line], of: Sequence[str], starts: Mapping[str, csr_array],
             sizes: Mapping[str, Size], constants: Mapping[str, Any],
             values: Mapping[str, Any] = MappingProxyType({})) -> dict[str, Any]:
    """The pattern of each register that depends on the starts, and leads to those of `of`.

    starts: patterns of registers to begin with. sizes: (shape, precision) of each register. constants: the
    values of registers of whole numbers that are the same in any case. values: of all registers, where the
    pattern is that at these; else it holds for any.
    """
    pattern, constants, bundles, live = dict(starts), dict(constants), {}, live_back(lines, of, ops.DG)
    for dst, op, args in lines:
        if op == "bundle":
            bundles[dst] = [Member(pattern.get(a), sizes[a], constants.get(a)) if isinstance(a, str) else
                            Member(None, (np.shape(a), np.asarray(a).dtype), a) for a in args]
        elif op in APPLYING:
            bundles[dst] = APPLYING[op](bundles[args[-1] if op in ("call", "cond") else args[3]], *args)
        elif op == "item":
            member = bundles[args[0]][args[1]]
            if member.pattern is not None:
                pattern[dst] = member.pattern
            elif member.constants is not None:
                constants[dst] = member.constants
        elif dst in live and any(isinstance(a, str) and a in pattern for a in args):
            moving = [i for i, a in enumerate(args)
                      if isinstance(a, str) and a in pattern and has_derivative(op, i)]
            places = [entries_read(op, i, args, sizes, constants, sizes[dst]) for i in moving]
            rows = [pattern_behind(op, read, chosen_of((dst, op, args), i, pattern[args[i]], values))
                    for i, read in zip(moving, places, strict=True)]
            if rows:
                pattern[dst] = union(*rows)
        elif sizes[dst][1].kind in "biu" and all(not isinstance(a, str) or a in constants for a in args):
            constants[dst] = ops.G[op](*[constants[a] if isinstance(a, str) else a for a in args])
    return pattern


def chosen_of(line: Line, i: int, pattern: csr_array, values: Mapping[str, Any]) -> csr_array:
    """The pattern of argument i, less the rows of entries that `max`, `relu` and the like do not choose."""
    dst, op, args = line
    if dst not in values or facts_of(op).flow != "chosen":
        return pattern
    inputs, out = [values[a] if isinstance(a, str) else a for a in args], values[dst]
    slopes = np.ravel(ops.DG[op][i](np.ones_like(out), out, *inputs))
    return rows_taken(op, pattern, np.arange(1, slopes.size + 1) * (slopes != 0))


def has_derivative(op: str, i: int) -> bool:
    """Whether an operator has a derivative by its argument i."""
    rules = ops.DG.get(op, ())
    return shaped_by(op) != i and (i >= len(rules) or rules[i] is not None)


# ---- lines that apply functions ----------------------------------------------------------------------------

class Member(NamedTuple):
    """An array of a bundle. pattern: None if it does not depend on the input. constants: its value, if it is
    a whole number, or whole numbers, the same in any case."""
    pattern: csr_array | None
    size: Size
    constants: Any = None


# a while loop's shapes are those after one step; for the ones that stand for values it might not end
ONCE = ops.G | {"while_loop": lambda _, step, k, args, *limit:
                ops.G["bundle"](*ops.G["call"](step, args)[:k], 1)}


def union(*patterns: csr_array | None) -> csr_array | None:
    """The entries of any of these."""
    apart = [*{id(pattern): pattern for pattern in patterns if pattern is not None}.values()]
    if len(apart) < 2:
        return apart[0] if apart else None
    (m, n), ends = apart[0].shape, sum(pattern.indptr for pattern in apart)
    before = np.arange(m) * n  # the places before each row, in the order of memory
    rows = lambda ends: before.repeat(ends[1:] - ends[:-1])
    places = np.concatenate([rows(pattern.indptr) + pattern.indices for pattern in apart])
    places.sort(kind="stable")  # merges what is sorted
    first = np.ones(len(places), bool)
    np.not_equal(places[1:], places[:-1], out=first[1:])
    columns = (places - rows(ends))[first].astype(ends.dtype)
    return csr(columns, np.concatenate(([0], np.cumsum(first)), dtype=ends.dtype)[ends], n)


def members_given(function: tuple, members: Sequence[Member]) -> list[Member]:
    """The results of a function of these arguments."""
    _, _, parameters, lines, results = function
    arguments = dict(zip(parameters, members, strict=True))
    sizes = {x: member.size for x, member in arguments.items()}
    sizes |= shapes(lines, {x: size for x, size in sizes.items() if reads(lines, x)}, ONCE)
    starts = {x: member.pattern for x, member in arguments.items() if member.pattern is not None}
    constants = {x: member.constants for x, member in arguments.items()
                 if member.constants is not None and member.size[1].kind in "biu"}
    by_register = patterns(lines, results, starts, sizes, constants)
    return [Member(by_register.get(x), sizes[x], constants.get(x)) for x in results]


def reads(lines: Sequence[Line], x: str) -> bool: return any(x in registers(args) for _, _, args in lines)


def members_of_call(members: list[Member], function: tuple, _: str) -> list[Member]:
    return members_given(function, members)


def members_of_cond(members: list[Member], _: Any, yes: tuple, no: tuple, __: str) -> list[Member]:
    return [Member(union(a.pattern, b.pattern), a.size) for a, b in
            zip(members_given(yes, members), members_given(no, members), strict=True)]


def members_of_scan(members: list[Member], step: tuple, k: int, slices: int, _: str,
                 reverse: bool = False) -> list[Member]:
    xs, constants = members[k:k + slices], members[k + slices:]
    counts = [member.constants if member.size[0] == () else member.size[0][0] for member in xs]
    if None in counts:
        raise XManError(f"the number of steps of {step[1]} depends on the values, and so does which entries are "
                        "0; `jacobian` and `hessian` give the dense matrix")
    n = max(map(int, counts))
    carry, outputs = members[:k], []
    for t in range(n)[::-1 if reverse else 1]:
        results = members_given(step, [*carry, *[slice_of(member, t) for member in xs], *constants])
        carry = results[:k]
        outputs.append(results[k:])
    return [*carry, *[stack_of(members) for members in zip(*outputs[::-1 if reverse else 1], strict=True)]]


def slice_of(member: Member, t: int) -> Member:
    """The entry of a slice in step t."""
    (shape, dtype), pattern, constants = member.size, member.pattern, member.constants
    if shape == ():
        return Member(None, ((), dtype), np.int64(t))
    n = int(np.prod(shape[1:]))
    return Member(None if pattern is None else pattern[t * n:(t + 1) * n], (shape[1:], dtype),
                None if constants is None else constants[t])


def stack_of(members: Sequence[Member]) -> Member:
    shape, dtype = members[0].size
    size = (len(members), *shape), dtype
    columns = next((member.pattern.shape[1] for member in members if member.pattern is not None), None)
    if columns is None:
        return Member(None, size)
    rows = int(np.prod(shape))
    patterns = [nothing(rows, columns) if member.pattern is None else member.pattern for member in members]
    return Member(vstack(patterns, "csr"), size)


def members_of_while(members: list[Member], _: tuple, step: tuple, k: int, __: str,
                  limit: Any = None) -> list[Member]:
    """What any number of steps may give: steps are taken until no entry is added."""
    carry, before = members[:k], None
    while (before != (before := [member.pattern is not None and member.pattern.nnz for member in carry])):
        carry = [Member(union(a.pattern, b.pattern), b.size) for a, b in
                 zip(carry, members_given(step, [*carry, *members[k:]]), strict=True)]
    return [*carry, Member(None, ((), np.dtype(int)))]


APPLYING = {"call": members_of_call, "cond": members_of_cond, "scan": members_of_scan, "while_loop": members_of_while}
