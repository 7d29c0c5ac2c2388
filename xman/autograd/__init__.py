"""Old course code: Autograd runs its lists by its own tables; `translated` rewrites them in our operators."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np

from ops import f

from ..errors import XManError
from ..interpreters import backprop, eval
from ..manager import XMan
from ..register import as_floats
from ..wengert import Line, Steps, WengertList, checked_list, registers


class Autograd:
    """Evaluates and differentiates the lists of a model.

    xman: an XMan. EVAL_FUNS, BP_FUNS: the tables, in the forms of G and DG, as arguments or as attributes of
    a subclass. A rule 'crossEnt-softMax' in BP_FUNS is used where a crossEnt is the only reader of a softMax.
    XManError without tables: only the course knows what its operators mean.
    """

    EVAL_FUNS: Mapping[str, Callable] | None = None
    BP_FUNS: Mapping[str, Sequence] | None = None

    def __init__(self, xman: XMan, EVAL_FUNS: Mapping | None = None, BP_FUNS: Mapping | None = None):
        self.xman = xman
        self.EVAL_FUNS, self.BP_FUNS = EVAL_FUNS or self.EVAL_FUNS, BP_FUNS or self.BP_FUNS
        self._table("EVAL_FUNS")

    def _table(self, name: str) -> Mapping[str, Any]:
        if (table := getattr(self, name)) is None:
            raise XManError(f"Autograd has no {name}, and does not guess what the operators mean (the "
                            "course's mul is a matrix product, that of ops is not): write Autograd(model, "
                            "EVAL_FUNS, BP_FUNS), or Autograd(model, ops.G, ops.DG) for the operators of ops")
        return table

    def eval(self, opseq: Steps, valueDict: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """valueDict itself, with the values of all lines of opseq added; whole parameters become floats."""
        opseq = checked_list(opseq)
        not_floats = [name for name in opseq.inputs if isinstance(x := valueDict.get(name), list)
                 or isinstance(x, np.ndarray) and x.dtype.kind != "f"]
        model_registers = self.xman.registers() if not_floats and isinstance(self.xman, XMan) else {}
        for name in not_floats:
            if name in model_registers and model_registers[name].role == "param":
                valueDict[name] = as_floats(valueDict[name])
        valueDict.update(eval(opseq, valueDict, self._table("EVAL_FUNS")))
        return valueDict

    def bprop(self, opseq: Steps, valueDict: Mapping[str, Any], **deltaDict: Any) -> dict[str, Any]:
        """The deltas of all registers. opseq, valueDict: as `eval` left them. deltaDict: the first deltas."""
        opseq = checked_list(opseq)
        lines = WengertList(reversed(list(self.optimizeForBProp(opseq))))
        if {line[0] for line in opseq}.intersection(deltaDict) - {line[0] for line in lines}:
            lines = opseq  # a given delta belongs to a line that the optimisation drops
        return backprop(lines, valueDict, self._table("BP_FUNS"), **deltaDict)

    def optimizeForBProp(self, opseq: Steps) -> list[Line]:
        """The lines in reverse; a crossEnt that is the only reader of a softMax becomes one crossEnt-softMax.

        A subclass may have its own, as in the course: bprop steps through the lines that it returns, in
        order.
        """
        opseq = checked_list(opseq)
        reads = Counter(a for _, _, args in opseq for a in registers(args))
        softmax = {dst: args[0] for dst, op, args in opseq if op == "softMax" and reads[dst] == 1}
        pairs = {dst: args[0] for dst, op, args in opseq if op == "crossEnt" and isinstance(args[0], str)
                 and args[0] in softmax}
        if "crossEnt-softMax" not in self._table("BP_FUNS"):
            pairs = {}
        return [(dst, "crossEnt-softMax", (softmax[args[0]], *args[1:])) if dst in pairs else (dst, op, args)
                for dst, op, args in reversed(opseq) if dst not in pairs.values()]


# ---- rules from partial derivatives ------------------------------------------------------------------------

def partials(DG: Mapping[str, Sequence[Callable | None]]) -> dict[str, list[Callable | None]]:
    """The adjoint rules for a table of partial derivatives, which are functions of the arguments alone.

        >>> DG = {"add": [lambda a, b: 1, lambda a, b: 1], "square": [lambda a: 2 * a]}
        >>> backprop(steps, values, partials(DG), f=1.0)

    DG: the table; DG[op][i](*args) is ∂op/∂arg_i, on numbers, or entry by entry on arrays. The notes keep
    such a table and multiply in `backprop`; a rule of `ops.DG` gets the delta and multiplies itself, since
    the rule of a matrix product is not a multiple of the delta.
    """
    def rule(partial: Callable[..., Any], i: int) -> Callable[..., Any]:
        return lambda d, out, *args: f.unbroadcast(d * partial(*args), args[i])

    return {op: [p and rule(p, i) for i, p in enumerate(rules)] for op, rules in DG.items()}
