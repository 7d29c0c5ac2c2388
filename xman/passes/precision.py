"""Mixed precision: products of numbers that are rounded to bfloat16."""
from __future__ import annotations

from ops import facts_of

from ..errors import extra
from ..wengert import Line, WengertList, all_registers, fresh, registers


def in_mixed_precision(steps: WengertList) -> WengertList:
    """The list with products of numbers that are rounded to bfloat16; their sums are in float32, where a
    product of two such numbers is exact."""
    extra("ml_dtypes", "jax", "mixed precision")  # its import makes the type known to NumPy
    lines: list[Line] = []
    rounded: dict[str, str] = {}
    reserved = {*all_registers(steps)}
    for dst, op, args in steps:
        product = facts_of(op).flow == "summed" and sum(type(a) is not tuple for a in args) > 1  # or a sum
        for a in registers(args) if product else ():
            if a not in rounded:
                short, rounded[a] = fresh(f"{a}_bfloat16", reserved), fresh(f"{a}_rounded", reserved)
                lines += [(short, "astype", (a, ("bfloat16",))),
                          (rounded[a], "astype", (short, ("float32",)))]
        lines.append((dst, op, tuple(rounded[a] if product and isinstance(a, str) else a for a in args)))
    return WengertList(lines)
