"""Autograd: the class through which the course's code has always run its lists, with the course's own tables."""
from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, MutableMapping, Sequence
from typing import Any

import ops

from .interpreters import backprop, eval
from .manager import XMan
from .wengert import Steps, WengertList, checked


class Autograd:
    """Evaluates and differentiates the lists of a model.

    model: an XMan. EVAL_FUNS, BP_FUNS: a student's tables, in the forms of G and DG; those of `ops` by default. A rule
    'crossEnt-softMax' in BP_FUNS serves, as it always has, where a crossEnt takes the result of a softMax that nothing
    else reads.
    """

    def __init__(self, model: XMan, EVAL_FUNS: Mapping[str, Callable] = ops.G, BP_FUNS: Mapping[str, Sequence] = ops.DG):
        self.model, self.EVAL_FUNS, self.BP_FUNS = model, EVAL_FUNS, BP_FUNS

    def eval(self, opseq: Steps, valueDict: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """valueDict itself, with the values of all lines added."""
        valueDict.update(eval(opseq, valueDict, self.EVAL_FUNS))
        return valueDict

    def bprop(self, opseq: Steps, valueDict: Mapping[str, Any], **deltaDict: Any) -> dict[str, Any]:
        """The deltas of all registers; eval has been called with the same list and dictionary."""
        opseq = checked(opseq)
        if "crossEnt-softMax" in self.BP_FUNS:
            opseq = fused(opseq, deltaDict)
        return backprop(opseq, valueDict, self.BP_FUNS, **deltaDict)


def fused(opseq: Steps, wanted: Collection[str]) -> WengertList:
    """opseq with each crossEnt(softMax(x), y) as one line, unless something else reads the softMax or it is wanted."""
    reads = Counter(a for _, _, args in opseq for a in args if isinstance(a, str))
    softmax = {dst: args[0] for dst, op, args in opseq if op == "softMax" and reads[dst] == 1 and dst not in wanted}
    pairs = {args[0] for _, op, args in opseq if op == "crossEnt" and args[0] in softmax}
    return WengertList(
        (dst, "crossEnt-softMax", (softmax[args[0]], *args[1:])) if op == "crossEnt" and args[0] in pairs else (dst, op, args)
        for dst, op, args in opseq if dst not in pairs)
