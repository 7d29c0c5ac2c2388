"""The Taylor series of a list is a list."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ops import f
from ops.series import Bundled, Expansion, Series, Termless

from ..errors import XManError
from ..passes.differentiate import unused_name
from ..passes.writer import ListWriter
from ..wengert import Steps, WengertList, checked_list, inputs_of


def series(steps: Steps, wrt: Sequence[str], order: int) -> WengertList:
    """The list with the Taylor series of its registers: `y_t3` is the third derivative along the x_t1, over
    3!.

    The x_t1, directions of the x in wrt and of their shape, are new inputs. A term that is 0 has no register.
    steps: the list. wrt: its inputs to differentiate by. order: of the last term. XManError for another
    name, and for a new one that the list has already.
    """
    steps, writer = checked_list(steps), ListWriter()
    symbols, expansion = writer.symbols(steps), Expansion(order, Series)
    values: dict[str, Any] = {**symbols}
    for x in inputs_of(steps, wrt):
        values[x] = expansion.series(symbols[x], writer.symbol(unused_name(f"{x}_t1", symbols)))
    for dst, op, args in steps:
        inputs = [values[a] if isinstance(a, str) else a for a in args]
        if any(isinstance(a, (Series, Bundled)) for a in inputs):
            try:
                values[dst] = expansion.record(op, inputs, symbols[dst])
            except Termless as error:
                raise XManError(str(error)) from error
    for y, x in values.items():
        for k in range(1, order + 1) if isinstance(x, Series) and symbols[y].op else ():
            if (term := x.term(k)) is not None:
                term = f.alias(term) if term.name else term
                term.name = unused_name(f"{y}_t{k}", symbols)
    return WengertList([*steps, *writer.named({*symbols, *(f"{x}_t1" for x in wrt)})])
