"""Powers of roots: norm(x)**3 has a slope at 0, and norm(x) has none, so the power goes past its root."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..facts import facts_of, name_or_id


MARKS = "²′″"  # at the end of the names of new registers


def past_roots(lines: Sequence, table: Mapping[str, Any]) -> dict[Any, tuple]:
    """For each line that is a power n ≥ 2 of a root r: (the operator that gives r², its arguments, r, n).

    `norm(x)**3` reads r = norm(x), so it has ("squaredNorm", (x,), r, 3), by the fact `squared` of norm's row.
    """
    powers: dict[Any, tuple] = {}
    if not any([facts_of(op).squared and (op != "power" or is_half(args[1])) for _, op, args in lines]):
        return powers
    for dst, op, args in lines:
        if power := power_of_root(dst, op, args, powers.get, table):
            powers[name_or_id(dst)] = power
    return {dst: power for dst, power in powers.items() if power[3] >= 2}


def power_of_root(dst: Any, op: str, args: Sequence, power_at: Callable, table: Mapping) -> tuple | None:
    """The same for one line and any n > 0. power_at(key): the answer for an earlier register."""
    base = power_at(name_or_id(args[0])) if args else None
    n = (2 if op == "square" else .5 if op == "sqrt" else
         args[1] if op == "power" and type(args[1]) in (int, float) and args[1] > 0 else 0)
    if base and n:
        return (*base[:3], n * base[3])
    if base and op == "mul":
        other = power_at(name_or_id(args[1]))
        return (*base[:3], base[3] + other[3]) if other and other[2] is base[2] else None
    square = facts_of(op).squared if op != "power" or n == .5 else ""
    return (square, args[:1] if op == "power" else args, dst, 1) if square in table and square else None


def is_half(a: Any) -> bool: return type(a) is float and a == .5


def unrooted(lines: Sequence, table: Mapping[str, Any], powers: Mapping[Any, tuple], register: Callable[[Any, str], Any],
             value: Callable, shadows: bool = False) -> Sequence:
    """The lines, in which each power n ≥ 2 of a root r reads what is under the root, and no longer the root.

        r = norm(x)              r  = norm(x)
        y = power(r, 3)    →     r² = squaredNorm(x)
                                 y  = root_power(r², r, 3)

    The slope of rⁿ by s = r² is ½n rⁿ⁻², which is finite at r = 0, where r has no slope by x. powers: what
    `past_roots` says of the lines. register(value, word): a new register with this value; value(register): its value. shadows: the deltas of r, and of powers
    of it on the way, are asked for too. Then y″ = power(r′, 3) stands beside y: it takes the delta of y, and
    r′, which has no line, takes what y sends to r and sends it no further (`unshadowed` adds it).
    """
    if "root_power" not in table or not powers:
        return lines
    result, shadow = [], {}
    for dst, op, args in lines:
        if power := powers.get(name_or_id(dst)):
            square, under, r, n = power
            s = register(value(r) * value(r), f"{dst}²")
            result.append((s, square, under))
            if shadows:
                for a in args:
                    if name_or_id(a) in powers or a is r:
                        shadow.setdefault(a, register(value(a), f"{a}′"))
                ghost = shadow[dst] = register(value(dst), f"{dst}″")
                result.append((ghost, op, tuple([shadow.get(a, a) if type(a) is str else a for a in args])))
                result.append((dst, "root_power", (s, r, n, ghost)))
            else:
                result.append((dst, "root_power", (s, r, n)))
        else:
            result.append((dst, op, args))
    return result


def unshadowed(deltas: dict[str, Any]) -> dict[str, Any]:
    """The deltas with those of the shadows: r′ adds to r, and y″ has all that y has."""
    for name in [name for name in deltas if name[-1] in MARKS]:
        delta, r, mark = deltas.pop(name), name[:-1], name[-1]
        if mark != "²":
            deltas[r] = deltas[r] + delta if r in deltas and mark == "′" else delta
    return deltas
