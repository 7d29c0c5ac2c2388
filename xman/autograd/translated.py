"""Lists of the course in the operators of `ops`, so that all of xman works on them."""
from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Mapping

import ops
from ops.expression import SYNONYMS, OperatorTable

from ..errors import XManError, nearest
from ..manager import XMan
from ..notation import apart_from_operators, renamings, shown
from ..passes.writer import ListWriter, Symbol
from ..wengert import Steps, WengertList, checked_list

# what the operators of the course are called in `ops`: mul is the matrix product there, crossEnt(p,
# y) takes the prediction first
COURSE: dict[str, str | Callable] = OperatorTable(
    {op: y for op, y in SYNONYMS.items() if y in ops.G} | {"mul": "dot"})


def translated(steps: Steps | XMan, operators: Mapping[str, str | Callable] = COURSE) -> WengertList | XMan:
    """The list in the operators of `ops`; for a model, a model that gives such lists, for `fit` and others.

        >>> translated([("z1", "mul", ("x", "W")), ("p", "softMax", ("z1",)),
        ...             ("loss", "crossEnt", ("p", "y"))])
        z1 = dot(x, W)
        p = softmax(z1)
        loss = crossEntropy(p, y)

    steps: a list or a model. operators: the meaning of each operator, a name of `ops` or a function in the
    language; an operator that is not there means that of `ops`. COURSE has the names that the course's
    students gave: {**COURSE, "tri_add": lambda a, b, c: a + b + c} adds one of your own. Registers keep their
    names; one that is called like an operator gets an underscore, with a warning. Check the values once
    against your own table: students differed in what a mean or a crossEnt divides by. Raises XManError for an
    unknown operator.
    """
    if isinstance(steps, XMan):
        model = copy.copy(steps)
        model.operationSequence = lambda *outputs, **options: translated(
            steps.operationSequence(*outputs, **options), operators)
        return model
    steps, renamed = apart_from_operators(checked_list(steps))
    for renaming in renamings(renamed):
        warnings.warn(f"in the translated list, {renaming}", stacklevel=2)
    writer, symbols = ListWriter(), {}
    for k, (dst, op, args) in enumerate(steps, 1):
        args = [symbols.setdefault(a, Symbol(writer, a)) if isinstance(a, str) else a for a in args]
        meaning = operators.get(op, op)
        if not callable(meaning) and meaning not in ops.G:
            raise XManError(f"line {k}, {shown(steps[k - 1])}, calls {op!r}, which has no "
                            "translation; say what it means, translated(…, {**COURSE, "
                            f"{op!r}: 'mul'}}), by a name of ops or a function{nearest(op, ops.G)}")
        try:
            out = meaning(*args) if callable(meaning) else writer.write(meaning, args)
        except TypeError as error:
            raise XManError(f"line {k}, {shown(steps[k - 1])}: {error}") from None
        if not isinstance(out, Symbol) or out.name:  # the result is an argument itself, or a number
            out = writer.write("alias", [out])
        out.name, symbols[dst] = dst, out
    return checked_list(WengertList(writer.named(symbols)), ops.G)
