"""Powers of roots: norm(x)**3 has a slope at 0, and norm(x) has none, so the power goes past its root."""
from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..expression import ROOTS, f
from ..facts import facts_of, name_or_id
from ..silence import silent

MARKS = "²′"  # at the end of the names of new registers


def past_roots(lines: Sequence, table: Mapping[str, Any]) -> dict[Any, tuple]:
    """For each line that is a power n ≥ 2 of a root r: (the operator that gives r², its arguments, r, n).

    `norm(x)**3` reads r = norm(x), so it has ("squaredNorm", (x,), r, 3), by the fact `squared` of norm.
    """
    powers: dict[Any, tuple] = {}
    # nothing reads a root that stands at the end
    if not any([op in ROOTS and (op != "power" or is_half(args[1])) for _, op, args in [*lines][:-1]]):
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
    plain = table.keys() >= {square, "mul", "alias"}  # a course's own table may lack them
    return (square, args[:1] if op == "power" else args, dst, 1) if square and plain else None


def is_half(a: Any) -> bool: return type(a) is float and a == .5


@silent
def unrooted(lines: Sequence, powers: Mapping[Any, tuple], register: Callable[[Any, str], Any],
             value: Callable) -> Sequence:
    """The lines, in which each power n ≥ 2 of a root r reads what is under the root, and no longer the root.

        r = norm(x)              r  = norm(x)
        y = power(r, 3)    →     r² = squaredNorm(x)
                                 y  = mul(r², w)          w = ½n rⁿ⁻², the slope of rⁿ by r²

    So the derivatives of y are finite at r = 0, where r has none. The lines are for walks alone, which know
    the values already: y is no product. powers: what `past_roots` says of the lines. register(value, word): a
    new register with this value; value(register): its value.
    """
    if not powers:
        return lines
    result = []
    for dst, op, args in lines:
        if power := powers.get(name_or_id(dst)):
            square, under, r, n = power
            s = register(value(r) * value(r), f"{dst}²")
            result.append((s, square, under))
            slope = None if n == 2 else register(half_power(value(r), n), f"{dst}′")
            op, args = ("alias", (s,)) if n == 2 else ("mul", (s, slope))
        result.append((dst, op, args))
    return result


def half_power(r: Any, n: float) -> Any:
    """½n rⁿ⁻², the slope of rⁿ by r². At 0 the derivative of r² is 0, so a higher power may stand here."""
    power = f.power(r, n - 2)
    return 0.5 * n * (power if n >= 3 else f.where(f.equal(r, 0), f.power(r, n - 1), power))


def with_roots(back: Callable, deltas: dict[str, Any], lines: Sequence, powers: Mapping[str, tuple],
               values: Mapping[str, Any], table: Mapping[str, Any]) -> dict[str, Any]:
    """The deltas, in which those of roots, and of powers on the way, have what `unrooted` sends past them.

    back: the walk of reverse mode, here through the lines of the powers alone, as they were; it ends at the
    roots.
    """
    names = {name for dst, power in powers.items() for name in (dst, power[2])}
    start = {name: deltas[name] for name in names if name in deltas}
    of_powers = [line for line in lines if line[0] in powers]
    return deltas | back(of_powers, values, start, table, values.keys() - names, keep=True)
